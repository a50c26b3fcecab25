package configs

import (
	"fmt"
	"io"
)

// Secret is a text that shows itself nowhere: every way of printing and
// encoding gives <secret>. string(s) is the only way to the text.
type Secret string

// String implements fmt.Stringer.
func (s Secret) String() string { return masked }

// GoString implements fmt.GoStringer, for %#v.
func (s Secret) GoString() string { return masked }

// Format implements fmt.Formatter, for every verb there is, %x included.
func (s Secret) Format(f fmt.State, _ rune) { io.WriteString(f, masked) }

// MarshalText implements encoding.TextMarshaler.
func (s Secret) MarshalText() ([]byte, error) { return []byte(masked), nil }

// MarshalJSON implements json.Marshaler.
func (s Secret) MarshalJSON() ([]byte, error) { return []byte(`"` + masked + `"`), nil }

// MarshalYAML implements yaml.Marshaler.
func (s Secret) MarshalYAML() (any, error) { return masked, nil }
