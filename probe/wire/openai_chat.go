package wire

import (
	"errors"
	"io"
)

var errNoMessages = errors.New("request body: no messages")

func encodeChat(r Request) ([]byte, error) {
	if len(r.Messages) == 0 {
		return nil, errNoMessages
	}
	limit := r.MaxTokensField
	if limit == "" {
		limit = "max_tokens"
	}
	body := openaiBody(r, limit)
	messages := make([]wireMessage, len(r.Messages))
	for i, m := range r.Messages {
		messages[i] = wireMessage(m)
	}
	body["messages"] = messages
	return finishBody(body, r.Params)
}

func newChatDecoder(r io.Reader) Decoder { return newDecoder(r, chatMember, nil) }

func chatMember(d *decoder, name []byte) { openaiMember(d, name, chatChoice) }

func chatChoice(d *decoder, name []byte) {
	w := &d.w
	if string(name) != "delta" || w.kind() != '{' {
		w.skip()
		return
	}
	p := &d.c.choice
	w.enter('{')
	for n := 0; w.more(n, '}'); n++ {
		switch string(w.member()) {
		case "content":
			if w.kind() == '[' {
				chatParts(d)
			} else {
				p.text.set(w)
			}
		case "reasoning_content":
			p.reasoning.set(w)
		case "reasoning":
			p.thought.set(w)
		case "tool_calls":
			chatToolCalls(d)
		default:
			w.skip()
		}
	}
}

// chatParts reads a content that is a list of parts instead of a string, as
// [{"type":"text","text":"…"}]; thinking is a text or a list of parts itself.
func chatParts(d *decoder) {
	w, p := &d.w, &d.c.choice
	w.enter('[')
	for n := 0; w.more(n, ']'); n++ {
		if !w.enter('{') {
			continue
		}
		for k := 0; w.more(k, '}'); k++ {
			switch string(w.member()) {
			case "text":
				raw, escaped, _ := w.str()
				p.text.add(raw, escaped)
			case "thinking":
				chatThinking(w, &p.reasoning)
			default:
				w.skip()
			}
		}
	}
}

func chatThinking(w *walker, to *joined) {
	if w.kind() != '[' {
		raw, escaped, _ := w.str()
		to.add(raw, escaped)
		return
	}
	w.enter('[')
	for n := 0; w.more(n, ']'); n++ {
		if !w.enter('{') {
			continue
		}
		for k := 0; w.more(k, '}'); k++ {
			if string(w.member()) == "text" {
				raw, escaped, _ := w.str()
				to.add(raw, escaped)
			} else {
				w.skip()
			}
		}
	}
}

// chatToolCalls looks for arguments: they are output, the name of a call is not.
func chatToolCalls(d *decoder) {
	w, p := &d.w, &d.c.choice
	if !w.enter('[') {
		return
	}
	for n := 0; w.more(n, ']'); n++ {
		if !w.enter('{') {
			continue
		}
		for k := 0; w.more(k, '}'); k++ {
			if string(w.member()) == "function" {
				p.arguments = chatArguments(w) || p.arguments
			} else {
				w.skip()
			}
		}
	}
}

// chatArguments reports whether a function brings arguments that are not empty.
func chatArguments(w *walker) bool {
	some := false
	if !w.enter('{') {
		return false
	}
	for n := 0; w.more(n, '}'); n++ {
		if string(w.member()) == "arguments" {
			raw, _, _ := w.str()
			some = len(raw) > 0
		} else {
			w.skip()
		}
	}
	return some
}
