package thriftimpl

import (
	"fmt"
	"iter"
	"log/slog"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/render"
)

// String implements the methods String and Error of generated types.
func String[S nocopy.StructView](s S) string { return StringOf(Struct(s), s.ThriftDesc()) }

// StringOf is String of a struct that d describes.
func StringOf(s Struct, d *Desc) string { return render.Text(s, d) }

// Format implements the method Format of generated types.
func Format[S nocopy.StructView](s S, f fmt.State, verb rune) {
	FormatOf(Struct(s), f, verb, s.ThriftDesc())
}

// FormatOf is Format of a struct that d describes.
func FormatOf(s Struct, f fmt.State, verb rune, d *Desc) { render.Format(f, verb, s, d) }

// LogValue implements the method LogValue of generated types.
func LogValue[S nocopy.StructView](s S) slog.Value { return LogValueOf(Struct(s), s.ThriftDesc()) }

// LogValueOf is LogValue of a struct that d describes.
func LogValueOf(s Struct, d *Desc) slog.Value { return render.LogValue(s, d) }

// Equals implements the method Equal of generated types.
func Equals[S nocopy.StructView](s, t S) bool {
	return render.EqualStructs(Struct(s), Struct(t), s.ThriftDesc())
}

// Unknown implements the method Unknown of generated types.
func Unknown[S nocopy.StructView](s S) iter.Seq2[int16, nocopy.Value] {
	return UnknownOf(Struct(s), s.ThriftDesc())
}

// UnknownOf is Unknown of a struct that d describes.
func UnknownOf(s Struct, d *Desc) iter.Seq2[int16, nocopy.Value] {
	return func(yield func(int16, nocopy.Value) bool) {
		s.Unknown(d)(func(id int16, v WireValue) bool { return yield(id, nocopy.Value(v)) })
	}
}
