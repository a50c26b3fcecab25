package wire

import (
	"io"
	"strings"
)

func encodeCompletions(r Request) ([]byte, error) {
	if len(r.Messages) == 0 {
		return nil, errNoMessages
	}
	texts := make([]string, len(r.Messages))
	for i, m := range r.Messages {
		texts[i] = m.Content
	}
	body := openaiBody(r, "max_tokens")
	body["prompt"] = strings.Join(texts, "\n\n")
	return finishBody(body, r.Params)
}

func newCompletionsDecoder(r io.Reader) Decoder { return newDecoder(r, completionsMember, nil) }

func completionsMember(d *decoder, name []byte) { openaiMember(d, name, completionsChoice) }

func completionsChoice(d *decoder, name []byte) {
	if string(name) == "text" {
		d.c.choice.text.set(&d.w)
	} else {
		d.w.skip()
	}
}
