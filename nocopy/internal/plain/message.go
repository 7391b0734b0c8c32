package plain

import (
	"fmt"
	"slices"

	"github.com/nocopythrift/nocopythrift/nocopy"
)

// What a struct of plain values needs when its bytes are parsed as a message.

// Options returns the options for parsing the message. It leaves out those that put checks off,
// since everything is read at once, and those that let the message have the caller's bytes.
func (r *Reader) Options(opts []nocopy.Option) []nocopy.Option {
	r.room, r.depth = memoryLess+perByte*len(r.b), 0
	for _, o := range opts {
		if l, ok := o.(nocopy.Limits); ok && l.MaxIndex > 0 {
			r.room = l.MaxIndex
		}
	}
	return slices.DeleteFunc(slices.Clone(opts), func(o nocopy.Option) bool {
		switch o {
		case nocopy.Lazy, nocopy.Own, nocopy.Recycle, nocopy.ByIndex, nocopy.WithIndex:
			return true
		}
		return false
	})
}

// End ends the message, from which a struct has been filled. It returns an error if the slices of
// the struct would take too much memory.
func (r *Reader) End(m *nocopy.Message) error {
	m.Release()
	if r.room < 0 {
		return &nocopy.Error{Err: fmt.Errorf("%w: slices of structs for this message of %d bytes take more than Limits.MaxIndex", nocopy.ErrLimit, len(r.b))}
	}
	return nil
}

// Empty returns v without its elements; it is not nil.
func Empty[T any](v []T) []T {
	if v == nil {
		return []T{}
	}
	return v[:0]
}
