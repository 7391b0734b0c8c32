package plain

import (
	"fmt"
	"math"
	"slices"

	"github.com/nocopythrift/nocopythrift/nocopy"
)

// Filling structs of plain values from messages, if a Reader has failed.

// filled is a struct of plain values that can be filled from the getters of a message with root S.
type filled[V, S any] interface {
	*V
	ThriftFill(s S, r *Reader)
}

// Refill parses b as a message and fills v from it. After an error, v is zero.
func Refill[S nocopy.StructView, V any, P filled[V, S]](v P, b []byte, opts []nocopy.Option, parse func([]byte, ...nocopy.Option) (S, error)) error {
	s, err := parse(b, atOnce(opts)...)
	if err == nil {
		if err = nocopy.Struct(s).Message().Index(); err == nil { // RequireIndex leaves most unchecked
			err = refill(v, s, b, opts)
		}
		nocopy.Struct(s).Release()
	}
	if err != nil {
		*v = *new(V)
	}
	return err
}

// refill fills v from s, whose bytes were b.
func refill[S, V any, P filled[V, S]](v P, s S, b []byte, opts []nocopy.Option) error {
	r := Reader{b: b, room: roomFor(b, opts)}
	if v.ThriftFill(s, &r); r.room < 0 { // perhaps because of the memory that v had before
		*v = *new(V)
		r.room = roomFor(b, opts)
		v.ThriftFill(s, &r)
	}
	return r.end()
}

// atOnce drops the options that delay checks, since everything is read at once, and those that
// give the caller's bytes to the message. RequireIndex stays unless WithIndex turns it off: an
// index is still required, and is checked with the rest.
func atOnce(opts []nocopy.Option) []nocopy.Option {
	withIndex := slices.Contains(opts, nocopy.Option(nocopy.WithIndex))
	return slices.DeleteFunc(slices.Clone(opts), func(o nocopy.Option) bool {
		switch o {
		case nocopy.Lazy, nocopy.Own, nocopy.Recycle, nocopy.ByIndex, nocopy.WithIndex:
			return true
		}
		return withIndex && o == nocopy.RequireIndex
	})
}

// mostRoom matters on 32-bit systems: a slice could otherwise exceed the largest possible size.
const mostRoom = math.MaxInt / 4

// roomFor returns how much memory the slices of a message with the bytes b may take.
func roomFor(b []byte, opts []nocopy.Option) int64 {
	room := memoryLess + perByte*int64(len(b))
	for _, o := range opts {
		if l, ok := o.(nocopy.Limits); ok && l.MaxIndex > 0 {
			room = int64(l.MaxIndex)
		}
	}
	return min(room, mostRoom)
}

// end returns an error if slices would have taken too much memory.
func (r *Reader) end() error {
	if r.room < 0 {
		return &nocopy.Error{Err: fmt.Errorf("%w: slices of structs for this message of %d bytes take more than Limits.MaxIndex", nocopy.ErrLimit, len(r.b))}
	}
	return nil
}

// Empty returns v without its elements. Its memory counts as in Slice, and Empty may return nil
// like Slice.
func Empty[T any](r *Reader, v []T) []T {
	v, _ = Slice(r, 0, v, 0)
	return v
}
