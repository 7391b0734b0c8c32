package reflection

import (
	"fmt"
	"log/slog"
)

// String returns the message as text, compact and readable.
func (m Message) String() string { return m.s.Format(m.desc()) }

// Format writes the message for package fmt, as generated types do: %+v on lines of their own,
// indented, %#v with the type's name before it.
func (m Message) Format(f fmt.State, verb rune) { m.s.FormatTo(f, verb, m.desc()) }

// LogValue returns the message for package slog, as that of generated types: a group of bounded
// size, without what is redacted.
func (m Message) LogValue() slog.Value { return m.s.LogValue(m.desc()) }
