package probe

// Opt is a value that may be unknown. Unknown is never reported as 0.
type Opt[T any] struct {
	V  T
	OK bool
}

// Some wraps a known value.
func Some[T any](v T) Opt[T] { return Opt[T]{V: v, OK: true} }

// Get returns the value and whether it is known.
func (o Opt[T]) Get() (T, bool) { return o.V, o.OK }
