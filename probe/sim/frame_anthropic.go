package sim

import "fmt"

// anthropicFramer renders Anthropic's messages: thinking and text are blocks
// that open and close around their deltas.
type anthropicFramer struct {
	head
	block    int // index of the open block; −1 before the first
	thinking bool
}

func newAnthropicFramer(h head) framer { return &anthropicFramer{head: h, block: -1} }

// stopReasons translates the finish reasons of OpenAI.
var stopReasons = map[string]string{"stop": "end_turn", "length": "max_tokens", "content_filter": "refusal"}

// message is the object of message_start, and with content the whole answer.
func (f *anthropicFramer) message(content, stop string, u usage) string {
	return fmt.Sprintf(`{"id":"msg_%s","type":"message","role":"assistant","model":%s,"content":[%s],"stop_reason":%s,"stop_sequence":null,`+
		`"usage":{"input_tokens":%d,"cache_creation_input_tokens":0,"cache_read_input_tokens":%d,"output_tokens":%d}}`,
		f.id, quote(f.model), content, stop, u.prompt-u.cached, u.cached, u.output)
}

func (f *anthropicFramer) open(b []byte, u usage) []byte {
	u.output = 1 // a placeholder, as the real one sends it
	b = fmt.Appendf(b, "event: message_start\ndata: {\"type\":\"message_start\",\"message\":%s}\n\n", f.message("", "null", u))
	return append(b, "event: ping\ndata: {\"type\":\"ping\"}\n\n"...)
}

func (f *anthropicFramer) delta(b []byte, tokens []byte, thinking bool, _ usage) []byte {
	if f.block < 0 || f.thinking != thinking {
		b = f.openBlock(f.closeBlock(b), thinking)
	}
	b = append(b, "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":"...)
	b = append(b, byte('0'+f.block))
	if thinking {
		b = append(b, `,"delta":{"type":"thinking_delta","thinking":"`...)
	} else {
		b = append(b, `,"delta":{"type":"text_delta","text":"`...)
	}
	return append(append(b, tokens...), "\"}}\n\n"...)
}

func (f *anthropicFramer) openBlock(b []byte, thinking bool) []byte {
	f.block++
	f.thinking = thinking
	kind := `{"type":"text","text":""}`
	if thinking {
		kind = `{"type":"thinking","thinking":"","signature":""}`
	}
	return fmt.Appendf(b, "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":%d,\"content_block\":%s}\n\n", f.block, kind)
}

func (f *anthropicFramer) closeBlock(b []byte) []byte {
	if f.block < 0 {
		return b
	}
	if f.thinking {
		b = fmt.Appendf(b, "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":%d,\"delta\":{\"type\":\"signature_delta\",\"signature\":\"c2lt\"}}\n\n", f.block)
	}
	return fmt.Appendf(b, "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":%d}\n\n", f.block)
}

func (f *anthropicFramer) close(b []byte, finish string, u usage) []byte {
	b = f.closeBlock(b)
	b = fmt.Appendf(b, "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"%s\",\"stop_sequence\":null},"+
		"\"usage\":{\"input_tokens\":%d,\"cache_creation_input_tokens\":0,\"cache_read_input_tokens\":%d,\"output_tokens\":%d}}\n\n",
		stopReasons[finish], u.prompt-u.cached, u.cached, u.output)
	return append(b, "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"...)
}

func (f *anthropicFramer) fail(b []byte, e apiError) []byte {
	return fmt.Appendf(b, "event: error\ndata: %s\n\n", anthropicError(e))
}

func (f *anthropicFramer) whole(b []byte, text, thinking []byte, end ending) []byte {
	content := fmt.Sprintf(`{"type":"text","text":%s}`, quote(string(text)))
	if len(thinking) > 0 {
		content = fmt.Sprintf(`{"type":"thinking","thinking":%s,"signature":"c2lt"},`, quote(string(thinking))) + content
	}
	return append(b, f.message(content, quote(stopReasons[end.finish]), end.usage)+"\n"...)
}
