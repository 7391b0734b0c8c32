package plain

import (
	"fmt"

	"github.com/nocopythrift/nocopythrift/nocopy"
)

// Reading large lists of structs: a function takes the elements one by one.

// read is a struct of plain values.
type read[V any] interface {
	*V
	ThriftRead(r *Reader, at int) int
}

// Call makes ReadBy call the functions that take elements from now on. Everything must have been
// read once before, and have the usual form.
func (r *Reader) Call() { *r = Reader{b: r.b, room: roomFor(r.b, nil), calls: true} }

// Called returns the error of a function that has taken elements of v, if there was one. at is the
// position at which reading has ended. Called panics if that is not the end, since everything had
// been read once before.
func Called[V any](r *Reader, v *V, at int) error {
	if r.err == nil && at != len(r.b) {
		panic(fmt.Sprintf("nocopy: the bytes of %T have changed while a function had its elements", *v))
	}
	return r.err
}

// ReadBy reads field f, a list of structs, one element after another into the same memory. After
// Call, it passes each element to take, and fails if take returns an error.
func ReadBy[V any, P read[V]](r *Reader, at int, f Field, take func(int, P) error) int {
	n, at := r.List(at, f, nocopy.WireStruct, 1)
	at = r.Enter(at)
	v, room := P(new(V)), r.room
	for i := 0; i < n && at != Failed; i++ {
		r.room = room // elements share the same memory
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

// CallBy passes the elements of a list to take and removes them from the list. It does nothing if
// take is nil.
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
