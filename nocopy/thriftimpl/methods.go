package thriftimpl

import (
	"fmt"
	"iter"
	"log/slog"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/impl"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/render"
)

// String implements the methods String and Error of generated types.
func String[S nocopy.StructView](s S) string { return render.Text(Struct(s), s.ThriftDesc()) }

// Format implements the method Format of generated types.
func Format[S nocopy.StructView](s S, f fmt.State, verb rune) {
	render.Format(f, verb, Struct(s), s.ThriftDesc())
}

// LogValue implements the method LogValue of generated types.
func LogValue[S nocopy.StructView](s S) slog.Value { return render.LogValue(Struct(s), s.ThriftDesc()) }

// Equals implements the method Equal of generated types.
func Equals[S nocopy.StructView](s, t S) bool {
	return render.EqualStructs(Struct(s), Struct(t), s.ThriftDesc())
}

// Unknown implements the method Unknown of generated types.
func Unknown[S nocopy.StructView](s S) iter.Seq2[int16, nocopy.Value] {
	return impl.UnknownOf(Struct(s), s.ThriftDesc())
}
