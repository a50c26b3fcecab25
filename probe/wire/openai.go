package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// What openai-chat and openai-completions share.

// choice is one element of choices, reused from element to element.
type choice struct {
	index     int64
	text      joined
	reasoning joined // reasoning_content
	thought   joined // reasoning: the same text under the other name
	finish    joined
	arguments bool // a tool call's arguments were not empty
}

// openaiMember reads a top-level member; member reads one of a choice.
func openaiMember(d *decoder, name []byte, member func(*decoder, []byte)) {
	w, c := &d.w, &d.c
	switch string(name) {
	case "id":
		c.id.set(w)
	case "model":
		c.model.set(w)
	case "type":
		raw, _, _ := w.str()
		c.suspect = c.suspect || string(raw) == "error"
	case "choices":
		if w.enter('[') {
			for n := 0; w.more(n, ']'); n++ {
				openaiChoice(d, n, member)
			}
		}
	case "usage":
		openaiUsage(d)
	default:
		w.skip()
	}
}

// openaiChoice reads element n of choices. Without an index it is choice n.
func openaiChoice(d *decoder, n int, member func(*decoder, []byte)) {
	w, c := &d.w, &d.c
	p := &c.choice
	p.index = int64(n)
	p.text.b, p.reasoning.b, p.thought.b, p.finish.b, p.arguments = nil, nil, nil, nil, false
	if !w.enter('{') {
		return
	}
	for k := 0; w.more(k, '}'); k++ {
		switch name := w.member(); string(name) {
		case "index":
			if i := count(w); i.Known {
				p.index = i.N
			}
		case "finish_reason":
			p.finish.set(w)
		default:
			member(d, name)
		}
	}
	if p.reasoning.b == nil { // one text under two names is one text
		p.reasoning, p.thought = p.thought, p.reasoning
	}
	ev := &c.ev
	ev.Content = ev.Content || p.text.b != nil
	ev.Thinking = ev.Thinking || p.reasoning.b != nil
	ev.Token = ev.Content || ev.Thinking || ev.Token || p.arguments
	if p.index == 0 {
		c.text.move(&p.text)
		c.reasoning.move(&p.reasoning)
		if p.finish.b != nil {
			c.finish, p.finish = p.finish, c.finish
		}
	}
}

// openaiUsage reads a usage object. A prompt of 0 tokens is unknown. An output
// of 0 is known: whether it can be believed depends on the tokens received.
func openaiUsage(d *decoder) {
	w, u := &d.w, &d.c.ev.Usage
	if !w.enter('{') {
		return
	}
	var hit Count
	*u = Usage{}
	for n := 0; w.more(n, '}'); n++ {
		switch string(w.member()) {
		case "prompt_tokens":
			u.Prompt = positive(count(w))
		case "completion_tokens":
			u.Output = count(w)
		case "prompt_tokens_details":
			detailCount(w, "cached_tokens", &u.Cached)
		case "completion_tokens_details":
			detailCount(w, "reasoning_tokens", &u.Reasoning)
		case "prompt_cache_hit_tokens":
			hit = count(w)
		default:
			w.skip()
		}
	}
	if !u.Cached.Known {
		u.Cached = hit
	}
	d.c.ev.HasUsage = *u != Usage{}
}

// detailCount reads one count of a nested object.
func detailCount(w *walker, name string, to *Count) {
	if !w.enter('{') {
		return
	}
	for n := 0; w.more(n, '}'); n++ {
		if string(w.member()) == name {
			*to = count(w)
		} else {
			w.skip()
		}
	}
}

// openaiBody is the part of a request body that both dialects have.
func openaiBody(r Request, maxTokens string) map[string]any {
	body := commonBody(r)
	if !r.NoStreamOptions {
		body["stream_options"] = map[string]any{"include_usage": true}
	}
	if r.MaxTokens > 0 {
		body[maxTokens] = r.MaxTokens
	}
	if r.IgnoreEOS {
		body["ignore_eos"] = true
	}
	if r.MinTokens > 0 {
		body["min_tokens"] = r.MinTokens
	}
	return body
}

func commonBody(r Request) map[string]any {
	body := map[string]any{"stream": true}
	if r.Model != "" {
		body["model"] = r.Model
	}
	return body
}

// finishBody merges the params, which win, and writes the body. Members are
// sorted by name: prompts are compared by the hash of their bodies.
func finishBody(body, params map[string]any) ([]byte, error) {
	for name, v := range params {
		body[name] = v
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(body); err != nil {
		return nil, fmt.Errorf("request body: %w", err)
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}

// wireMessage fixes the order of a message's members.
type wireMessage struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}
