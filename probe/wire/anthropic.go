package wire

import (
	"errors"
	"io"
	"strings"
)

// anthropicMaxTokens is sent where a request names no bound: the API refuses a
// body without one.
const anthropicMaxTokens = 64

// encodeMessages leaves out IgnoreEOS and MinTokens, which the API refuses. It
// has no system role: such messages become the field "system".
func encodeMessages(r Request) ([]byte, error) {
	var system []string
	messages := []wireMessage{}
	for _, m := range r.Messages {
		if m.Role == "system" {
			system = append(system, m.Content)
		} else {
			messages = append(messages, wireMessage(m))
		}
	}
	if len(messages) == 0 {
		return nil, errors.New("request body: no message but of the role system, and the API demands one")
	}
	body := commonBody(r)
	body["messages"] = messages
	if system != nil {
		body["system"] = strings.Join(system, "\n\n")
	}
	body["max_tokens"] = anthropicMaxTokens
	if r.MaxTokens > 0 {
		body["max_tokens"] = r.MaxTokens
	}
	return finishBody(body, r.Params)
}

func newMessagesDecoder(r io.Reader) Decoder {
	return newDecoder(r, messagesMember, messagesSettle)
}

// part is what the members of one event say; what it means is known when the
// type is, and members come in any order.
type part struct {
	kind, deltaKind      joined
	text, thinking, stop joined
	arguments            bool
	usage                Usage // beside the delta
	startUsage           Usage // inside the message of message_start
}

func messagesMember(d *decoder, name []byte) {
	w, p := &d.w, &d.c.part
	switch string(name) {
	case "type":
		p.kind.set(w)
	case "message":
		if w.enter('{') {
			for n := 0; w.more(n, '}'); n++ {
				messagesMessage(d, w.member())
			}
		}
	case "delta":
		if w.enter('{') {
			for n := 0; w.more(n, '}'); n++ {
				messagesDelta(d, w.member())
			}
		}
	case "usage":
		messagesUsage(w, &p.usage)
	default:
		w.skip()
	}
}

// messagesMessage reads a member of the message inside message_start.
func messagesMessage(d *decoder, name []byte) {
	w, c := &d.w, &d.c
	switch string(name) {
	case "id":
		c.id.set(w)
	case "model":
		c.model.set(w)
	case "usage":
		messagesUsage(w, &c.part.startUsage)
	default:
		w.skip()
	}
}

func messagesDelta(d *decoder, name []byte) {
	w, p := &d.w, &d.c.part
	switch string(name) {
	case "type":
		p.deltaKind.set(w)
	case "text":
		p.text.set(w)
	case "thinking":
		p.thinking.set(w)
	case "partial_json":
		raw, _, _ := w.str()
		p.arguments = len(raw) > 0
	case "stop_reason":
		p.stop.set(w)
	default:
		w.skip()
	}
}

// messagesUsage reads a usage object. The whole prompt is input + cache read +
// cache creation, and known only from an event that gives the input.
func messagesUsage(w *walker, u *Usage) {
	if !w.enter('{') {
		return
	}
	*u = Usage{}
	var input, created Count
	for n := 0; w.more(n, '}'); n++ {
		switch string(w.member()) {
		case "input_tokens":
			input = count(w)
		case "cache_creation_input_tokens":
			created = count(w)
		case "cache_read_input_tokens":
			u.Cached = count(w)
		case "output_tokens":
			u.Output = count(w)
		default:
			w.skip()
		}
	}
	if input.Known {
		u.Prompt = positive(Count{N: input.N + created.N + u.Cached.N, Known: true})
	}
}

// messagesSettle decides what the event was by the type inside the JSON: the
// event's own name may be missing.
func messagesSettle(d *decoder) {
	c, p := &d.c, &d.c.part
	ev := &c.ev
	switch string(p.kind.b) {
	case "message_start":
		// Its output count is a placeholder for what is to come.
		p.startUsage.Output = Count{}
		ev.Usage = p.startUsage
	case "content_block_delta":
		switch string(p.deltaKind.b) {
		case "text_delta":
			c.text.move(&p.text)
			ev.Content = c.text.b != nil
		case "thinking_delta":
			c.reasoning.move(&p.thinking)
			ev.Thinking = c.reasoning.b != nil
		case "input_json_delta":
			ev.Token = p.arguments
		}
		ev.Token = ev.Token || ev.Content || ev.Thinking
	case "message_delta":
		c.finish.move(&p.stop)
		ev.Usage = p.usage
	case "message_stop":
		c.done = true
	case "error":
		c.suspect = true
	}
	ev.HasUsage = ev.Usage != Usage{}
}

func (p *part) reset() {
	p.kind.b, p.deltaKind.b, p.text.b, p.thinking.b, p.stop.b = nil, nil, nil, nil, nil
	p.arguments, p.usage, p.startUsage = false, Usage{}, Usage{}
}
