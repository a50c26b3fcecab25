// Package probetest helps to test what probes: it replays recorded answers over
// TCP, byte for byte, and scripts answers on a virtual clock.
package probetest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Case is one answer of an endpoint with what a prober should report for it,
// as described in testdata/wire-cases/README.md.
type Case struct {
	Name     string            `json:"name"`
	Source   string            `json:"source"`
	Protocol string            `json:"protocol"`
	Status   int               `json:"status"`
	Headers  map[string]string `json:"headers"`
	Body     []Segment         `json:"body"`
	End      string            `json:"end"` // close, truncate, reset or hang
	HangMS   *int              `json:"hang_ms"`
	Expect   Expect            `json:"expect"`
}

// Segment is bytes that are sent in one write after a pause.
type Segment struct {
	AfterMS int     `json:"after_ms"`
	Data    *string `json:"data"`
	Base64  []byte  `json:"base64"`
}

// Bytes returns what is sent.
func (s Segment) Bytes() []byte {
	if s.Data != nil {
		return []byte(*s.Data)
	}
	return s.Base64
}

// Expect is what a prober should report.
type Expect struct {
	Outcome             string  `json:"outcome"`
	HTTPStatus          int     `json:"http_status"`
	TTFTSegment         *int    `json:"ttft_segment"`
	FirstContentSegment *int    `json:"first_content_segment"`
	LastTokenSegment    *int    `json:"last_token_segment"`
	OutputTokens        int64   `json:"output_tokens"`
	OutputTokensSource  string  `json:"output_tokens_source"`
	PromptTokens        *int64  `json:"prompt_tokens"`
	CachedTokens        *int64  `json:"cached_tokens"`
	FinishReason        *string `json:"finish_reason"`
	Text                *string `json:"text"`
	ReasoningText       *string `json:"reasoning_text"`
	TPOTDefined         bool    `json:"tpot_defined"`
	Why                 string  `json:"why"`
}

// Planned returns when a segment is to be sent, counted from the request.
func (c Case) Planned(segment int) time.Duration {
	ms := 0
	for _, s := range c.Body[:segment+1] {
		ms += s.AfterMS
	}
	return time.Duration(ms) * time.Millisecond
}

// Load reads every case of a folder, in the order of their names. A folder
// without cases is an error, as is a field that is not known.
func Load(dir string) ([]Case, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s: no wire cases (*.json) there", dir)
	}
	slices.Sort(files)
	cases := make([]Case, 0, len(files))
	for _, file := range files {
		c, err := load(file)
		if err != nil {
			return nil, err
		}
		cases = append(cases, c)
	}
	return cases, nil
}

func load(file string) (Case, error) {
	var c Case
	f, err := os.Open(file)
	if err != nil {
		return c, err
	}
	defer f.Close()
	d := json.NewDecoder(f)
	d.DisallowUnknownFields()
	if err := d.Decode(&c); err != nil {
		return c, fmt.Errorf("%s: %w", file, err)
	}
	if want := strings.TrimSuffix(filepath.Base(file), ".json"); c.Name != want {
		return c, fmt.Errorf("%s: name is %q", file, c.Name)
	}
	switch c.End {
	case "close", "truncate", "reset", "hang":
	default:
		return c, fmt.Errorf("%s: end is %q", file, c.End)
	}
	return c, nil
}
