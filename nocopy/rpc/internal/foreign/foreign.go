// Package foreign calls methods of values that a program has handed in: errors, panics' values and
// loggers. The methods may do anything, and the caller still goes on. Package rpc and its parts
// call it.
package foreign

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
)

// Limits, in bytes, of a name and of another text in a log.
const (
	MaxName = 256
	MaxText = 1 << 10
)

// Shortened returns s, or its beginning if it has more than most bytes, as UTF-8.
func Shortened(s string, most int) string {
	if len(s) > most {
		s = s[:most] + "…"
	}
	return strings.ToValidUTF8(s, "\ufffd")
}

// Text returns v as text. v's methods may do anything. Package fmt survives a method that panics,
// but not if the methods of the panic's value panic as well, nor a method that ends its goroutine.
func Text(v any) (text string) {
	if s, ok := v.(string); ok {
		return s
	}
	text = fmt.Sprintf("a %T, whose text can't be had", v)
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() { recover() }()
		text = fmt.Sprint(v)
	}()
	<-done
	return text
}

// Log writes to a logger, which may do anything. It runs on a goroutine of its own, which it may
// even end.
func Log(l *slog.Logger, level slog.Level, what string, args []any) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() { recover() }()
		l.Log(context.Background(), level, "rpc: "+what, args...)
	}()
	<-done
}
