package nocopy

import (
	"io"
	"iter"
)

// ElementDecoder reads structs of type S whose list is too long to be in memory, or whose first
// elements are needed before the last ones arrive. It gives the elements of one list or set of
// structs of type E one by one, and the other fields as a message. Its memory is bounded by the
// largest element and the other fields together, and neither the list nor the struct has a limit.
//
//	d := nocopy.NewElementDecoder[order.Order, order.Line](conn, "lines")
//	head, err := d.Head()        // the fields that came before the list
//	...
//	for line, err := range d.All() {
//		...                  // line is valid until the next one
//	}
//	o, err := d.Rest()           // all fields except the elements
//
// Head and All may be left out. After Rest, Head or Next begins the next struct of the stream.
//
// The struct is checked as ParseX checks it, part by part as the methods return it. Parsing all of
// it would give the same fields and elements, or an error, with these exceptions:
//
//   - If the list comes a second time, the first one's elements have been given already: that is
//     an error. So is a second struct that the list may be in.
//   - A list whose elements are not structs counts as an unknown field, as in ParseX, and stays in
//     the message of Rest.
//   - An unknown field of the struct may have one level of structs less than ParseX allows it.
//   - A wire index at the end of the struct is dropped.
//
// ElementDecoder's methods may be called by one goroutine at a time. One that is left before an
// error or the end of the stream needs no call: the garbage collector takes its memory.
type ElementDecoder[S, E StructView] struct {
	// MaxTotal bounds each struct, with all elements, in bytes of Thrift Binary. 0 means no limit.
	// Limits.MaxBytes bounds each element, and the other fields together.
	MaxTotal int64

	in *elementStream
}

// NewElementDecoder returns an ElementDecoder of bare structs: there is no length before a struct.
// list is the name of the list or set in the IDL, such as "lines". If it is in another struct, the
// names of the fields that lead there come before it: "batch.lines". NewElementDecoder panics if
// there is no such list, or its elements are not of type E. The elements of maps, and those that
// are no structs, can't be read one by one.
//
// The options are those of ParseX. Limits hold for each element, and for the message of Head or
// Rest. Own is implied. ByIndex, RequireIndex and WithIndex have no effect. With Compact, structs
// are in the compact protocol.
func NewElementDecoder[S, E StructView](r io.Reader, list string, opts ...Option) *ElementDecoder[S, E] {
	var s S
	var e E
	return &ElementDecoder[S, E]{in: newElementStream(s.ThriftDesc(), e.ThriftDesc(), list, r, false, opts)}
}

// NewFrameElementDecoder returns an ElementDecoder of frames: each struct follows its length in 4
// bytes, as Message.WriteFrame writes it. A frame has at most 2 GiB − 1, because its length is an
// i32: larger structs can be sent only without a frame. Otherwise it is like NewElementDecoder.
func NewFrameElementDecoder[S, E StructView](r io.Reader, list string, opts ...Option) *ElementDecoder[S, E] {
	var s S
	var e E
	return &ElementDecoder[S, E]{in: newElementStream(s.ThriftDesc(), e.ThriftDesc(), list, r, true, opts)}
}

// Head begins the next struct and returns a message with the fields that come before the list. The
// list is in it, and empty, if it has come. Required fields may be missing: they may still come.
// The message is independent and should be released. What is left of the struct before, if Rest
// was not called, is read, checked and dropped. At the end of the stream the error is io.EOF.
func (d *ElementDecoder[S, E]) Head() (S, error) {
	s, err := d.stream().head()
	return S(s), err
}

// Len returns how many elements the list has, as the sender says, or 0 if it has not come. It is 0
// before Head or Next.
func (d *ElementDecoder[S, E]) Len() int { return d.stream().count }

// Next returns the next element. After the last one, or if there is no list, the error is io.EOF.
// If no struct was begun, Next begins one: io.EOF then also means the end of the stream, and Head
// tells the difference.
//
// The element is the root of a message. It may be changed, sent, and set in other messages. It
// ends with the next call of Next, Head or Rest, or with Release, which need not be called. Its
// handles panic afterwards; its Message is then that of the next element. Clone returns one that
// stays. Strings and bytes that were read from it
// stay valid, unless the option Recycle was given.
//
// A stream that ends too early gives an *Error with io.ErrUnexpectedEOF. The Reader's other errors
// are returned unchanged, after the elements that arrived before. Bad data gives an *Error. Its
// Offset counts from the beginning of the struct, which is at ElementDecoder.Offset in the stream,
// and its Path has the element's number. With Compact, an Offset is in the compact bytes if the
// protocol is violated. It is in the converted bytes if only the values are wrong, such as strings
// that are not UTF-8 or required fields that are missing. After an error, all methods return it.
func (d *ElementDecoder[S, E]) Next() (E, error) {
	e, err := d.stream().next()
	return E(e), err
}

// All iterates over the remaining elements, as Next returns them. If there is an error, it comes
// last, with an absent E. A program may leave the loop. Another loop, or Next, then goes on with
// the element after the current one. If the program calls Rest or Head in the loop, the loop ends.
func (d *ElementDecoder[S, E]) All() iter.Seq2[E, error] {
	in := d.stream()
	return func(yield func(E, error) bool) {
		for number := 0; number == 0 || number == in.number && in.phase != between; number = in.number {
			e, err := in.next()
			if err == io.EOF || !yield(E(e), err) || err != nil {
				return
			}
		}
	}
}

// Rest reads the struct to its end, and returns a message with all of its fields, those before and
// those after the list. The list is in it, and empty, if it has come: Len says how many elements
// there were. Unknown fields are in it, too. Elements that were not read are read, checked and
// dropped. The message is independent and should be released. If there is no struct any more, the
// error is io.EOF.
//
// Only Rest finds errors that come after the elements, such as a missing required field.
func (d *ElementDecoder[S, E]) Rest() (S, error) {
	s, err := d.stream().restOf()
	return S(s), err
}

// Offset returns the position in the stream of the struct that was begun, or else of the next one,
// in bytes. A frame begins with its length.
func (d *ElementDecoder[S, E]) Offset() int64 { return d.stream().offset }

func (d *ElementDecoder[S, E]) stream() *elementStream {
	if d == nil || d.in == nil {
		panic("nocopy: ElementDecoder that was not made by NewElementDecoder")
	}
	d.in.maxTotal = d.MaxTotal
	return d.in
}
