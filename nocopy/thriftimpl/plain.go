package thriftimpl

import (
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/plain"
)

// Writer appends structs of plain values, and Reader reads them.
type (
	Writer = plain.Writer
	Reader = plain.Reader
)

// Failed is the position of a Reader that cannot go on.
const Failed = plain.Failed

// WriteEnums writes a list or set of enums.
func WriteEnums[E ~int32](w *Writer, at int, f Field, v []E) int {
	return plain.WriteEnums(w, at, f, v)
}

// Distinct returns v without the elements that equal an earlier one.
func Distinct[T comparable](v []T) []T { return plain.Distinct(v) }

// DistinctFloat64s is Distinct for doubles.
func DistinctFloat64s(v []float64) []float64 { return plain.DistinctFloat64s(v) }

// DistinctSlices is Distinct for binaries.
func DistinctSlices(v [][]byte) [][]byte { return plain.DistinctSlices(v) }

// ReadEnum reads an enum.
func ReadEnum[E ~int32](r *Reader, at int, f Field, absent E) (E, int) {
	return plain.ReadEnum(r, at, f, absent)
}

// ReadEnums reads a list or set of enums.
func ReadEnums[E ~int32](r *Reader, at int, f Field, v []E) ([]E, int) {
	return plain.ReadEnums(r, at, f, v)
}

// ReadEnumValue reads a key or value of a map.
func ReadEnumValue[E ~int32](r *Reader, at int) (E, int) { return plain.ReadEnumValue[E](r, at) }

// PlainSlice returns v with n elements.
func PlainSlice[T any](r *Reader, at int, v []T, n int) ([]T, int) { return plain.Slice(r, at, v, n) }

// NewPlain returns p, or a new one.
func NewPlain[T any](r *Reader, at int, p *T) (*T, int) { return plain.New(r, at, p) }

// Unique returns at if no key comes twice among the pairs.
func Unique[K comparable, V any](at int, v []nocopy.Pair[K, V]) int { return plain.Unique(at, v) }

// UniqueBinary is Unique for keys that are binaries.
func UniqueBinary[V any](at int, v []nocopy.Pair[[]byte, V]) int { return plain.UniqueBinary(at, v) }

// Refill parses b as a message and fills v from it.
func Refill[S nocopy.StructView, V any, P interface {
	*V
	ThriftFill(s S, r *Reader)
}](v P, b []byte, opts []nocopy.Option, parse func([]byte, ...nocopy.Option) (S, error)) error {
	return plain.Refill[S, V](v, b, opts, parse)
}

// ReadBy reads a list of structs and passes each element to a function.
func ReadBy[V any, P interface {
	*V
	ThriftRead(r *Reader, at int) int
}](r *Reader, at int, f Field, take func(int, P) error) int {
	return plain.ReadBy[V](r, at, f, take)
}

// Called returns the error of a function that has taken elements of v.
func Called[V any](r *Reader, v *V, at int) error { return plain.Called(r, v, at) }

// CallBy calls a function with the elements of a list, unless it is nil.
func CallBy[V any](list *[]V, take func(int, *V) error) error { return plain.CallBy(list, take) }

// Empty returns v without its elements.
func Empty[T any](r *Reader, v []T) []T { return plain.Empty(r, v) }
