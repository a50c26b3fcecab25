package sim

import "fmt"

// openAIFramer renders both OpenAI protocols: they differ in the piece that
// holds the text.
type openAIFramer struct {
	head
	role     string // first event; empty sends none
	text     string // event up to the text
	thinking string // event up to the thought; completions have none
	after    string // from the end of the text to the end of choices
	finish   string // event with %s for the finish reason, up to the end of choices
	bare     string // event with empty choices
	object   string // whole answer up to choices
	message  func(text, thinking []byte, finish string) string
}

func newChatFramer(h head) framer {
	start := fmt.Sprintf(`data: {"id":"chatcmpl-%s","object":"chat.completion.chunk","created":%d,"model":%s,"choices":[`, h.id, h.created, quote(h.model))
	field := h.style.ReasoningField
	if field == "" {
		field = "reasoning_content"
	}
	f := &openAIFramer{
		head:     h,
		text:     start + `{"index":0,"delta":{"content":"`,
		thinking: start + `{"index":0,"delta":{` + quote(field) + `:"`,
		after:    `"},"logprobs":null,"finish_reason":null}]`,
		finish:   start + `{"index":0,"delta":{},"logprobs":null,"finish_reason":"%s"}]`,
		bare:     start + `]`,
		object:   fmt.Sprintf(`{"id":"chatcmpl-%s","object":"chat.completion","created":%d,"model":%s,"choices":[`, h.id, h.created, quote(h.model)),
	}
	if !h.style.NoRoleChunk {
		f.role = start + `{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}]`
	}
	f.message = func(text, thinking []byte, finish string) string {
		thought := ""
		if len(thinking) > 0 {
			thought = "," + quote(field) + ":" + quote(string(thinking))
		}
		return fmt.Sprintf(`{"index":0,"message":{"role":"assistant","content":%s%s},"logprobs":null,"finish_reason":"%s"}`, quote(string(text)), thought, finish)
	}
	return f
}

func newCompletionsFramer(h head) framer {
	start := fmt.Sprintf(`data: {"id":"cmpl-%s","object":"text_completion","created":%d,"model":%s,"choices":[`, h.id, h.created, quote(h.model))
	return &openAIFramer{
		head:   h,
		text:   start + `{"index":0,"text":"`,
		after:  `","logprobs":null,"finish_reason":null}]`,
		finish: start + `{"index":0,"text":"","logprobs":null,"finish_reason":"%s"}]`,
		bare:   start + `]`,
		object: fmt.Sprintf(`{"id":"cmpl-%s","object":"text_completion","created":%d,"model":%s,"choices":[`, h.id, h.created, quote(h.model)),
		message: func(text, _ []byte, finish string) string {
			return fmt.Sprintf(`{"index":0,"text":%s,"logprobs":null,"finish_reason":"%s"}`, quote(string(text)), finish)
		},
	}
}

func (f *openAIFramer) open(b []byte, u usage) []byte {
	if f.role == "" {
		return b
	}
	return f.running(append(b, f.role...), u)
}

func (f *openAIFramer) delta(b []byte, tokens []byte, thinking bool, u usage) []byte {
	if thinking {
		b = append(b, f.thinking...)
	} else {
		b = append(b, f.text...)
	}
	b = append(b, tokens...)
	return f.running(append(b, f.after...), u)
}

// running ends an event, with the totals so far if every event carries them.
func (f *openAIFramer) running(b []byte, u usage) []byte {
	if f.every {
		b = openAIUsage(append(b, `,"usage":`...), u)
	}
	return append(b, "}\n\n"...)
}

func (f *openAIFramer) close(b []byte, finish string, u usage) []byte {
	b = fmt.Appendf(b, f.finish, finish)
	if f.style.Usage == UsageInFinish {
		b = openAIUsage(append(b, `,"usage":`...), u)
		b = append(b, "}\n\n"...)
	} else {
		b = f.running(b, u)
	}
	if f.every || f.style.Usage == UsageOwnEvent && f.usage {
		b = openAIUsage(append(append(b, f.bare...), `,"usage":`...), u)
		b = append(b, "}\n\n"...)
	}
	return append(b, "data: [DONE]\n\n"...)
}

func (f *openAIFramer) fail(b []byte, e apiError) []byte {
	b = append(append(b, "data: "...), openAIError(e)...)
	return append(b, "\n\ndata: [DONE]\n\n"...)
}

func (f *openAIFramer) whole(b []byte, text, thinking []byte, end ending) []byte {
	b = append(append(b, f.object...), f.message(text, thinking, end.finish)...)
	b = openAIUsage(append(b, `],"usage":`...), end.usage)
	return append(b, "}\n"...)
}
