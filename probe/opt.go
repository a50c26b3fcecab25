package probe

import "encoding/json"

// Opt is a value that may be unknown. Unknown is never reported as 0.
//
// In JSON it is the bare value, or null. A field tagged omitzero is left out
// while it is unknown, and is written when it is a known 0.
type Opt[T any] struct {
	V  T
	OK bool
}

// Some wraps a known value.
func Some[T any](v T) Opt[T] { return Opt[T]{V: v, OK: true} }

// Get returns the value and whether it is known.
func (o Opt[T]) Get() (T, bool) { return o.V, o.OK }

// MarshalJSON writes the value, or null while it is unknown.
func (o Opt[T]) MarshalJSON() ([]byte, error) {
	if !o.OK {
		return []byte("null"), nil
	}
	return json.Marshal(o.V)
}

// UnmarshalJSON reads a value; null leaves it unknown.
func (o *Opt[T]) UnmarshalJSON(b []byte) error {
	*o = Opt[T]{}
	if string(b) == "null" {
		return nil
	}
	if err := json.Unmarshal(b, &o.V); err != nil {
		return err
	}
	o.OK = true
	return nil
}
