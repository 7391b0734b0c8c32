package plain

import (
	"fmt"

	"github.com/nocopythrift/nocopythrift/nocopy"
)

// Large lists of structs, whose elements a function takes one by one.

// read is a struct of plain values.
type read[V any] interface {
	*V
	ThriftRead(r *Reader, at int) int
}

// Call makes the functions that take elements be called from now on. Before, everything has been
// read once, and has the usual form.
func (r *Reader) Call() { *r = Reader{b: r.b, room: roomFor(r.b, nil), calls: true} }

// Called returns the error of a function that has taken elements of v, if there was one. at is
// where reading has ended. It panics if that is not the end: all had been read before.
func Called[V any](r *Reader, v *V, at int) error {
	if r.err == nil && at != len(r.b) {
		panic(fmt.Sprintf("nocopy: the bytes of %T have changed while a function had its elements", *v))
	}
	return r.err
}

// ReadBy reads field f, a list of structs, into the same memory one after the other. It passes
// each to the function take if functions are to be called, and fails if that returns an error.
func ReadBy[V any, P read[V]](r *Reader, at int, f Field, take func(int, P) error) int {
	n, at := r.List(at, f, nocopy.WireStruct, 1)
	at = r.Enter(at)
	v, room := P(new(V)), r.room
	for i := 0; i < n && at != Failed; i++ {
		r.room = room // elements have the same memory
		if at = v.ThriftRead(r, at); at == Failed || !r.calls {
			continue
		}
		if r.err = take(i, v); r.err != nil {
			return Failed
		}
	}
	r.Leave()
	return at
}

// CallBy passes the elements of a list to the function take, unless that is nil, and takes them
// out of the list.
func CallBy[V any](list *[]V, take func(int, *V) error) error {
	if take == nil {
		return nil
	}
	v := *list
	*list = nil
	for i := range v {
		if err := take(i, &v[i]); err != nil {
			return err
		}
	}
	return nil
}
