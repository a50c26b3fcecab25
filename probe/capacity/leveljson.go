package capacity

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
)

// LoadNumber is a number that may be infinite, which JSON writes as "inf".
type LoadNumber float64

// MarshalJSON writes the number, or "inf".
func (n LoadNumber) MarshalJSON() ([]byte, error) {
	if math.IsInf(float64(n), 1) {
		return []byte(`"inf"`), nil
	}
	return json.Marshal(float64(n))
}

// UnmarshalJSON reads a number or "inf".
func (n *LoadNumber) UnmarshalJSON(b []byte) error {
	if string(b) == `"inf"` {
		*n = LoadNumber(math.Inf(1))
		return nil
	}
	return json.Unmarshal(b, (*float64)(n))
}

// plainLevel is a Level without its methods.
type plainLevel Level

// MarshalJSON writes the level as one flat object: its fields, then for each
// metric that was measured mean_, median_, std_, p50_, p90_, p95_ and p99_ keys
// (mean_ttft_ms) and the number of values (ttft_samples). The chunk gaps are
// written as vllm's itl and, the same numbers, as chunk_gap.
func (l Level) MarshalJSON() ([]byte, error) {
	base, err := json.Marshal(plainLevel(l))
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	b.Write(base[:len(base)-1])
	for _, m := range Metrics() {
		s, ok := l.Stats[m]
		if !ok || s.N == 0 {
			continue
		}
		for _, name := range m.names() {
			fmt.Fprintf(&b, ",%q:%d", name+"_samples", s.N)
			for _, f := range s.fields() {
				v, err := json.Marshal(*f.v)
				if err != nil {
					return nil, fmt.Errorf("%s of %s at load %g: %w", f.name, m, l.Load, err)
				}
				fmt.Fprintf(&b, ",%q:%s", f.name+"_"+name+m.suffix(), v)
			}
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// UnmarshalJSON reads what MarshalJSON wrote. Keys it does not know are
// ignored, so newer reports can be read as far as they are understood.
func (l *Level) UnmarshalJSON(data []byte) error {
	*l = Level{}
	if err := json.Unmarshal(data, (*plainLevel)(l)); err != nil {
		return err
	}
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(data, &raw); err != nil {
		return err
	}
	l.Stats = make(map[Metric]Summary)
	for _, m := range Metrics() {
		var s Summary
		if err := readNumber(raw, string(m)+"_samples", &s.N); err != nil {
			return err
		}
		for _, f := range s.fields() {
			if err := readNumber(raw, f.name+"_"+string(m)+m.suffix(), f.v); err != nil {
				return err
			}
		}
		if s.N > 0 {
			l.Stats[m] = s
		}
	}
	return nil
}

func readNumber(raw map[string]json.RawMessage, key string, to any) error {
	v, ok := raw[key]
	if !ok {
		return nil
	}
	if err := json.Unmarshal(v, to); err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	return nil
}

// names are the names a metric has in keys.
func (m Metric) names() []string {
	if m == ITL {
		return []string{"itl", "chunk_gap"}
	}
	return []string{string(m)}
}
