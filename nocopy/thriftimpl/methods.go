package thriftimpl

import (
	"fmt"
	"iter"
	"log/slog"

	"github.com/nocopythrift/nocopythrift/nocopy"
)

// String implements the methods String and Error of generated types.
func String[S nocopy.StructView](s S) string { return Struct(s).Format(s.ThriftDesc()) }

// Format implements the method Format of generated types.
func Format[S nocopy.StructView](s S, f fmt.State, verb rune) {
	Struct(s).FormatTo(f, verb, s.ThriftDesc())
}

// LogValue implements the method LogValue of generated types.
func LogValue[S nocopy.StructView](s S) slog.Value { return Struct(s).LogValue(s.ThriftDesc()) }

// Equals implements the method Equal of generated types.
func Equals[S nocopy.StructView](s, t S) bool {
	return Struct(s).Equal(s.ThriftDesc(), Struct(t))
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
