package thriftimpl

import (
	"fmt"
	"log/slog"

	"github.com/nocopythrift/nocopythrift/nocopy"
)

// FormatOnce formats the message with root s, and releases it.
func FormatOnce[S nocopy.StructView](s S, f fmt.State, verb rune) {
	defer nocopy.Struct(s).Release()
	Format(s, f, verb)
}

// LogValueOnce returns the message with root s for a log, and releases it.
func LogValueOnce[S nocopy.StructView](s S) slog.Value {
	defer nocopy.Struct(s).Release()
	return LogValue(s)
}
