package wire

import (
	"bytes"
	"io"
)

// decoder is what the dialects share: framing, errors, terminators and the
// question whether an answer is complete. A dialect reads the members of one
// JSON object.
type decoder struct {
	in       lines
	w        walker
	c        chunk
	member   func(*decoder, []byte) // reads the value of one top-level member
	settle   func(*decoder)         // after the last member; may be nil
	finished bool                   // choice 0 had a finish reason
	err      error                  // what every further Next returns
}

// chunk is what one event brought, reused from event to event.
type chunk struct {
	ev              Event
	text, reasoning joined
	finish          joined
	id, model       joined
	suspect         bool   // has a member that error objects have: look closely
	code, message   bool   // top-level members of that name
	done            bool   // the event ends the answer
	choice          choice // of the openai dialects: the one at hand
	part            part   // of the anthropic dialect
}

func newDecoder(r io.Reader, member func(*decoder, []byte), settle func(*decoder)) *decoder {
	return &decoder{in: newLines(r), member: member, settle: settle}
}

// Next implements Decoder.
func (d *decoder) Next() (Event, error) {
	for d.err == nil {
		it := d.in.next()
		switch it.kind {
		case itemEvent:
			if d.event(it) {
				return d.c.ev, nil
			}
		case itemStray:
			if d.stray(it.data) {
				return d.c.ev, nil
			}
		case itemField:
			if d.errorField(it.data) {
				return d.c.ev, nil
			}
		case itemEnd:
			d.err = it.err
			if it.err == io.EOF && !d.finished {
				d.err = io.ErrUnexpectedEOF
			}
		}
	}
	return Event{}, d.err
}

// event reads the data of one event. It returns true if d.c.ev is worth
// handing out; d.err may be set as well, for the call after that.
func (d *decoder) event(it item) bool {
	data := it.data
	if string(data) == "[DONE]" {
		d.err = io.EOF
		return false
	}
	if fault := d.object(data); fault != sound {
		// Half an event at the end of a body is no fault of its own.
		if it.last && (fault == short || bytes.HasPrefix([]byte("[DONE]"), data)) {
			return false
		}
		d.err = &FormatError{What: "data that is not JSON", Sample: sample(data)}
		return false
	}
	c := &d.c
	if c.suspect || c.code && c.message || it.name || data[0] == '[' {
		if r := readError(data); r.is || it.name && !c.ev.Token {
			d.err = r.object()
		}
	}
	d.finished = d.finished || c.ev.Finish != nil
	if d.err == nil && c.done {
		d.err = io.EOF
	}
	ev := &c.ev
	return ev.Token || ev.HasUsage || ev.Finish != nil || ev.ID != nil || ev.Model != nil
}

// object reads one JSON text into d.c.
func (d *decoder) object(data []byte) fault {
	w, c := &d.w, &d.c
	w.reset(data)
	c.reset()
	if w.enter('{') {
		for n := 0; w.more(n, '}'); n++ {
			d.top(w.member())
		}
	}
	w.end()
	if w.fault != sound {
		return w.fault
	}
	if d.settle != nil {
		d.settle(d)
	}
	c.ev.Text, c.ev.Reasoning, c.ev.Finish = c.text.b, c.reasoning.b, c.finish.b
	c.ev.ID, c.ev.Model = c.id.b, c.model.b
	return sound
}

// top reads one member of the object itself: those that make an error object
// here, the others by the dialect.
func (d *decoder) top(name []byte) {
	w, c := &d.w, &d.c
	switch string(name) {
	case "error":
		k := w.kind()
		c.suspect = c.suspect || k != 'n' && k != 'f'
		w.skip()
	case "object":
		raw, _, _ := w.str()
		c.suspect = c.suspect || string(raw) == "error"
	case "code":
		c.code = true
		w.skip()
	case "message":
		c.message = true
		d.member(d, name)
	default:
		d.member(d, name)
	}
}

// stray judges a JSON text outside any field. Before the first event it is the
// whole answer, not streamed; after it, it is an unknown field.
func (d *decoder) stray(text []byte) bool {
	r := readError(text)
	switch {
	case r.fault != sound:
		d.in.junk = true
	case r.is:
		return d.failed(r.object())
	case !d.in.sawData:
		d.err = &FormatError{What: "a JSON answer that was not streamed", Sample: sample(text)}
	}
	return false
}

// errorField judges the value of a field called error: whatever it says, it
// says that something failed. Null and false do not.
func (d *decoder) errorField(text []byte) bool {
	r := readError(text)
	switch {
	case r.fault == sound && (r.json == 'n' || r.json == 'f'):
		return false
	case r.fault == sound && (r.json == '{' || r.json == '[' || r.json == '"'):
		return d.failed(r.object())
	}
	return d.failed(plain(text))
}

// failed ends the answer with an error that stood outside any event. The data
// lines before it are an event although no blank line came.
func (d *decoder) failed(e *ErrorObject) bool {
	hand := d.in.dataAtHand()
	worth := len(hand) > 0 && d.event(item{data: hand, last: true})
	if _, unreadable := d.err.(*FormatError); d.err == nil || unreadable {
		d.err = e
	}
	return worth
}

func (c *chunk) reset() {
	c.ev = Event{}
	c.text.b, c.reasoning.b, c.finish.b, c.id.b, c.model.b = nil, nil, nil, nil, nil
	c.suspect, c.code, c.message, c.done = false, false, false, false
	c.part.reset()
}
