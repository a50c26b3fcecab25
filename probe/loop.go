package probe

import (
	"io"
	"time"
	"unicode/utf8"

	"tokprobe/probe/wire"
)

// maxTextBytes bounds the text that is kept of one answer.
const maxTextBytes = 1 << 20

// maxGaps bounds the gaps that are kept of one answer: 512 KiB. No answer that
// was asked for has as many tokens; a server that sends millions of them must
// not cost a result its megabytes.
const maxGaps = 64 << 10

// stream is what the read loop has seen of one answer.
type stream struct {
	body     *stampedBody
	keepText bool

	chunks       int           // token events
	first, last  time.Duration // since t0; only with chunks > 0
	firstContent Opt[time.Duration]
	gaps         []time.Duration
	maxGap       time.Duration
	thinking     bool // some reasoning was streamed

	readOfLast int // stampedBody.reads of the latest token event
	inRead     int // token events of that read
	maxInRead  int

	usage     wire.Usage
	finish    string
	id, model string
	text      []byte
	reasoning []byte
	end       time.Duration // since t0; when the answer was complete
	complete  bool
}

// read pulls events until the answer ends one way or another. nil means that
// the answer is complete; token is told the time of every token event.
func (s *stream) read(dec wire.Decoder, token func(time.Duration)) error {
	for {
		ev, err := dec.Next()
		if err == io.EOF {
			s.complete, s.end = true, s.body.at
			return nil
		}
		if err != nil {
			return err
		}
		if ev.Token {
			s.token(&ev, s.body.at)
			token(s.body.at)
		}
		s.note(&ev)
	}
}

// token records a token event that was complete at the given time.
func (s *stream) token(ev *wire.Event, at time.Duration) {
	if s.chunks == 0 {
		s.first = at
	} else {
		gap := at - s.last
		if len(s.gaps) < maxGaps {
			s.gaps = append(s.gaps, gap)
		}
		s.maxGap = max(s.maxGap, gap)
	}
	s.last = at
	s.chunks++
	if ev.Content && !s.firstContent.OK {
		s.firstContent = Some(at)
	}
	if s.readOfLast != s.body.reads {
		s.readOfLast, s.inRead = s.body.reads, 0
	}
	s.inRead++
	s.maxInRead = max(s.maxInRead, s.inRead)
}

// note keeps what an event says besides its time.
func (s *stream) note(ev *wire.Event) {
	s.thinking = s.thinking || ev.Thinking
	if len(ev.Finish) > 0 && string(ev.Finish) != s.finish {
		s.finish = identifier(string(ev.Finish))
	}
	if s.id == "" && len(ev.ID) > 0 {
		s.id = identifier(string(ev.ID))
	}
	if s.model == "" && len(ev.Model) > 0 {
		s.model = identifier(string(ev.Model))
	}
	if ev.HasUsage {
		newer(&s.usage.Prompt, ev.Usage.Prompt)
		newer(&s.usage.Output, ev.Usage.Output)
		newer(&s.usage.Cached, ev.Usage.Cached)
		newer(&s.usage.Reasoning, ev.Usage.Reasoning)
	}
	if s.keepText {
		s.text = appendText(s.text, ev.Text)
		s.reasoning = appendText(s.reasoning, ev.Reasoning)
	}
}

// newer lets the last usage object win, count by count: some servers split
// their counts over two objects.
func newer(have *wire.Count, got wire.Count) {
	if got.Known {
		*have = got
	}
}

// appendText adds a piece up to the bound, cut between characters.
func appendText(have, piece []byte) []byte {
	room := maxTextBytes - len(have)
	if len(piece) > room {
		for room > 0 && !utf8.RuneStart(piece[room]) {
			room--
		}
		piece = piece[:room]
	}
	return append(have, piece...)
}

// coalesced says whether something on the way buffered: a read with at least
// two token events and more than a tenth of all. 64 tokens of which one read
// had 2 are fine, one read with 7 is not.
func (s *stream) coalesced() bool {
	return s.maxInRead >= 2 && s.maxInRead*10 > s.chunks
}
