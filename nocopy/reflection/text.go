package reflection

import (
	"fmt"
	"log/slog"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/impl"
)

// String returns the message as compact, readable text.
func (m Message) String() string { return impl.StringOf(m.s, m.desc()) }

// Format writes the message for package fmt, as generated types do: with %+v on indented lines,
// with %#v with the type's name before it.
func (m Message) Format(f fmt.State, verb rune) { impl.FormatOf(m.s, f, verb, m.desc()) }

// LogValue returns the message for package slog, as generated types do: a group of bounded size,
// without redacted values.
func (m Message) LogValue() slog.Value { return impl.LogValueOf(m.s, m.desc()) }
