package sweep

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"unicode/utf8"

	"tokprobe/probe"
	"tokprobe/probe/wire"
)

// Dataset is the prompts of a file.
type Dataset struct {
	Prompts []probe.Prompt
	Good    int       // usable entries, of which Prompts is a sample
	Bad     []BadLine // the first 20
	Skipped int       // all bad entries
}

// BadLine is an entry that could not be used.
type BadLine struct {
	Line int // counted from 1, where the entry begins
	Why  string
}

// Sampling says what is taken of a data set.
type Sampling struct {
	Name      string
	Seed      uint64
	Most      int // prompts kept at most; 0 means 1,000
	MaxTokens int // of the answers; 0 means probe.DefaultMaxTokens
}

const (
	defaultSample = 1000
	maxEntry      = 16 << 20
	maxBadLines   = 20
	// maxDataset bounds what is read in all: a pipe whose writer never stops
	// would else be read for ever.
	maxDataset = 4 << 30
)

// ReadDataset reads prompts from JSON lines or one JSON array. An entry is an
// object with one of
//
//	conversations: [{from, value}, …]  as ShareGPT: the first human turn
//	messages: [{role, content}, …]     as OpenAI: up to the last user message
//	prompt: "…"
//
// Entries that are none of these are skipped and reported with the number of
// their line. The sample is drawn with the seed: the same file and seed give
// the same prompts. No usable entry is an error, and so are more than 4 GiB.
func ReadDataset(src io.Reader, how Sampling) (Dataset, error) {
	return readDataset(&cappedReader{src: src, left: maxDataset}, how)
}

func readDataset(src *cappedReader, how Sampling) (Dataset, error) {
	if how.Most <= 0 {
		how.Most = defaultSample
	}
	d := &datasetReader{how: how, rng: rand.New(rand.NewPCG(how.Seed, 0xda7a))}
	in := &lineCounter{r: bufio.NewReaderSize(src, 64<<10)}
	first, err := in.peek()
	if err == nil && first == '[' {
		err = d.array(in)
	} else if err == nil {
		err = d.lines(in)
	}
	if src.over { // the array reader takes it for a broken entry
		err = errHugeDataset
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return Dataset{}, err
	}
	if d.out.Good == 0 {
		return Dataset{}, d.none()
	}
	return d.out, nil
}

var errHugeDataset = errors.New("the data set is larger than 4 GiB: cut it down, such as with head or split")

// cappedReader fails where io.LimitReader would pretend that the file ends.
type cappedReader struct {
	src  io.Reader
	left int64
	over bool
}

// Read implements io.Reader.
func (c *cappedReader) Read(p []byte) (int, error) {
	n, err := c.src.Read(p)
	if c.left -= int64(n); c.left < 0 {
		c.over = true
		return 0, errHugeDataset
	}
	return n, err
}

type datasetReader struct {
	how Sampling
	rng *rand.Rand
	out Dataset
}

func (d *datasetReader) none() error {
	if d.out.Skipped == 0 {
		return errors.New("the data set is empty: want lines such as {\"prompt\": \"…\"}")
	}
	bad := d.out.Bad[0]
	return fmt.Errorf("the data set has no usable entry: %d were skipped, the first at line %d: %s", d.out.Skipped, bad.Line, bad.Why)
}

func (d *datasetReader) lines(in *lineCounter) error {
	for {
		line, number, err := in.line()
		if text := bytes.TrimSpace(line); len(text) > 0 {
			d.entry(text, number)
		} else if errors.Is(err, errLongLine) {
			d.bad(number, "longer than 16 MiB")
			continue
		}
		if err != nil {
			return err
		}
	}
}

// array reads the elements one at a time. A syntax error ends it: where the
// next element would begin is not known.
func (d *datasetReader) array(in *lineCounter) error {
	dec := json.NewDecoder(in)
	if _, err := dec.Token(); err != nil {
		return err
	}
	for dec.More() {
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			at := dec.InputOffset()
			var syntax *json.SyntaxError
			if errors.As(err, &syntax) {
				at = syntax.Offset
			}
			d.bad(in.lineAt(at), "no valid JSON from here on: "+err.Error())
			return nil
		}
		d.entry(raw, in.lineAt(dec.InputOffset()-int64(len(raw))))
	}
	return nil
}

// entry takes one entry into the sample: of the k-th good one, with k beyond
// the size of the sample, the chance to get in is size/k.
func (d *datasetReader) entry(raw []byte, line int) {
	messages, err := readEntry(raw)
	if err != nil {
		d.bad(line, err.Error())
		return
	}
	d.out.Good++
	p := probe.Prompt{Name: d.how.Name, MaxTokens: d.how.MaxTokens, Messages: messages}
	if len(d.out.Prompts) < d.how.Most {
		d.out.Prompts = append(d.out.Prompts, p)
	} else if at := d.rng.IntN(d.out.Good); at < d.how.Most {
		d.out.Prompts[at] = p
	}
}

func (d *datasetReader) bad(line int, why string) {
	d.out.Skipped++
	if len(d.out.Bad) < maxBadLines {
		d.out.Bad = append(d.out.Bad, BadLine{line, why})
	}
}

// readEntry finds the question of one entry.
func readEntry(raw []byte) ([]wire.Message, error) {
	if !utf8.Valid(raw) {
		return nil, errors.New("no valid UTF-8")
	}
	var e struct {
		Conversations []struct{ From, Value string } `json:"conversations"`
		Messages      []struct {
			Role    string
			Content json.RawMessage
		} `json:"messages"`
		Prompt *string `json:"prompt"`
	}
	if err := json.Unmarshal(raw, &e); err != nil {
		var kind *json.UnmarshalTypeError
		if errors.As(err, &kind) {
			return nil, fmt.Errorf("%s is a %s where another type belongs", or(kind.Field, "the entry"), kind.Value)
		}
		return nil, errors.New("no valid JSON: want one object a line, or one array of them")
	}
	switch {
	case e.Prompt != nil && *e.Prompt != "":
		return []wire.Message{{Role: "user", Content: *e.Prompt}}, nil
	case len(e.Conversations) > 0:
		for _, turn := range e.Conversations {
			if turn.Value != "" && (turn.From == "" || turn.From == "human" || turn.From == "user") {
				return []wire.Message{{Role: "user", Content: turn.Value}}, nil
			}
		}
		return nil, errors.New("conversations has no human turn with a value")
	case len(e.Messages) > 0:
		var list []wire.Message
		keep := 0
		for i, m := range e.Messages {
			text, err := contentText(m.Content)
			if err != nil {
				return nil, fmt.Errorf("messages[%d].content: %w", i, err)
			}
			list = append(list, wire.Message{Role: or(m.Role, "user"), Content: text})
			if list[i].Role == "user" && text != "" {
				keep = i + 1
			}
		}
		if keep == 0 {
			return nil, errors.New("messages has no user message with a text")
		}
		return list[:keep], nil
	}
	return nil, errors.New("has none of conversations, messages and prompt, or an empty one")
}

// contentText is a text, or the texts of a list of parts.
func contentText(raw json.RawMessage) (string, error) {
	var text string
	if len(raw) == 0 || json.Unmarshal(raw, &text) == nil {
		return text, nil
	}
	var parts []struct{ Type, Text string }
	if json.Unmarshal(raw, &parts) != nil {
		return "", errors.New("neither a text nor a list of parts")
	}
	for _, p := range parts {
		if p.Type != "text" {
			return "", fmt.Errorf("a part of type %q, and only texts can be sent", p.Type)
		}
		text += p.Text
	}
	return text, nil
}
