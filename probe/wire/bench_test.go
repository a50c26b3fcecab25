package wire

import (
	"bytes"
	"io"
	"runtime"
	"testing"
)

// ordinary holds one token event per dialect, as real servers send them.
var ordinary = map[string]string{
	"openai-chat":        `data: {"id":"chatcmpl-a10f","object":"chat.completion.chunk","created":1767000001,"model":"aurora-mini","system_fingerprint":"fp_3f1","choices":[{"index":0,"delta":{"content":" calm"},"logprobs":null,"finish_reason":null}],"usage":null}` + "\n\n",
	"openai-completions": `data: {"id":"cmpl-1","object":"text_completion","created":1767000023,"model":"classic-1b","choices":[{"index":0,"text":" Yes\n","logprobs":null,"finish_reason":null}],"usage":{"prompt_tokens":21,"total_tokens":23,"completion_tokens":2}}` + "\n\n",
	"anthropic-messages": "event: content_block_delta\n" + `data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":" it is \u00e9."}}` + "\n\n",
}

const benchEvents = 1000

// BenchmarkDecode reports the cost of one ordinary token event.
func BenchmarkDecode(b *testing.B) {
	for _, name := range Names() {
		d, _ := Lookup(name)
		body := append(bytes.Repeat([]byte(ordinary[name]), benchEvents), "data: [DONE]\n\n"...)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			for b.Loop() {
				decodeEvents(b, d.NewDecoder(bytes.NewReader(body)))
			}
			runtime.ReadMemStats(&after)
			events := float64(b.N) * benchEvents
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/events, "ns/event")
			b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/events, "B/event")
			b.ReportMetric(float64(after.Mallocs-before.Mallocs)/events, "allocs/event")
			b.ReportMetric(float64(len(ordinary[name])), "bytes/event")
		})
	}
}

func decodeEvents(tb testing.TB, dec Decoder) {
	n := 0
	for {
		ev, err := dec.Next()
		if err == io.EOF {
			break
		}
		if err != nil || !ev.Token {
			tb.Fatalf("event %d: token=%v, %v", n, ev.Token, err)
		}
		n++
	}
	if n != benchEvents {
		tb.Fatalf("%d events, want %d", n, benchEvents)
	}
}

// TestNoAllocations holds ordinary token events to none: what a decoder
// allocates does not depend on how many there are.
func TestNoAllocations(t *testing.T) {
	for _, name := range Names() {
		d, _ := Lookup(name)
		measure := func(events int) float64 {
			body := append(bytes.Repeat([]byte(ordinary[name]), events), "data: [DONE]\n\n"...)
			return testing.AllocsPerRun(10, func() {
				dec := d.NewDecoder(bytes.NewReader(body))
				for {
					if _, err := dec.Next(); err != nil {
						return
					}
				}
			})
		}
		if few, many := measure(2), measure(2000); many != few {
			t.Errorf("%s: %v allocations for 2 events, %v for 2000", name, few, many)
		}
	}
}
