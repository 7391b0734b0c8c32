package nocopy

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"

	"github.com/nocopythrift/nocopythrift/internal/entry"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/compact"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/parse"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// ErrCount is the reason of an error of WriteElements and WriteElementsFrame: there were more or
// fewer elements than n.
var ErrCount = errors.New("nocopy: another number of elements than was announced")

// WriteElements writes s to w, with the n elements of the iterator as the list or set of this
// name; see NewElementDecoder for names. Its memory is bounded by s and the largest element, and
// the struct has no limit. The bytes are those of a message with all of it. With the option
// Compact they are in the compact protocol; the other options have no effect.
//
// The list must be unset or empty in s, and the structs that it is in must be set. An empty list
// is replaced where it is. An unset one comes before the fields that the IDL declares after it. A
// required list should be empty, not unset: builds with the tag nocopydebug panic otherwise, as
// they do for all messages that lack a required field. The Rest of an ElementDecoder fits, too.
//
// WriteElements finishes s and the message of each element, and copies them. The iterator may
// yield one handle again and again, changed in between. That is what ElementDecoder.All does.
//
// WriteElements returns the number of bytes written. If the iterator yields an error, it returns
// that. If there are more or fewer than n elements, errors.Is finds ErrCount in the error. If s
// does not fit, nothing was written. After other errors the bytes in w end inside the struct: no
// reader takes them for a message, and nothing else should be written after them.
func WriteElements[S, E StructView](w io.Writer, s S, list string, n int, elements iter.Seq2[E, error], opts ...Option) (int64, error) {
	e, err := newElementWriter(engine.Struct(s), s.ThriftDesc(), elemDesc[E](), list, n, opts)
	if err != nil {
		return 0, err
	}
	return e.write(w, structs(elements), math.MaxInt64)
}

// WriteElementsFrame is WriteElements with the struct's length before it, as Message.WriteFrame
// writes it. It calls the iterator twice, first to find the length. The iterator must yield the
// same elements each time; those of an ElementDecoder come only once. If the struct has more than
// 2 GiB − 1, which an i32 can't say, nothing is written, and errors.Is finds ErrLimit in the
// error.
func WriteElementsFrame[S, E StructView](w io.Writer, s S, list string, n int, elements iter.Seq2[E, error], opts ...Option) (int64, error) {
	e, err := newElementWriter(engine.Struct(s), s.ThriftDesc(), elemDesc[E](), list, n, opts)
	if err != nil {
		return 0, err
	}
	size, err := e.write(io.Discard, structs(elements), math.MaxInt64)
	switch {
	case err != nil:
		return 0, err
	case size > math.MaxInt32:
		return 0, wire.LimitError(fmt.Sprintf("a frame of %d bytes", size))
	}
	e.front = append(binary.BigEndian.AppendUint32(nil, uint32(size)), e.front...)
	return e.write(w, structs(elements), frameLength+size)
}

func elemDesc[E StructView]() *schema.Struct {
	var e E
	return e.ThriftDesc()
}

// structs returns the elements as handles of any type.
func structs[E StructView](elements iter.Seq2[E, error]) iter.Seq2[engine.Struct, error] {
	if elements == nil {
		panic("nocopy: WriteElements of a nil iterator")
	}
	return func(yield func(engine.Struct, error) bool) {
		elements(func(e E, err error) bool { return yield(engine.Struct(e), err) })
	}
}

// elementWriter writes a struct.
type elementWriter struct {
	front, tail []byte // before and after the elements
	elem        *schema.Struct
	n           int
	compact     bool
}

func newElementWriter(s engine.Struct, d, elem *schema.Struct, list string, n int, opts []Option) (*elementWriter, error) {
	path := listPath("WriteElements", d, elem, list)
	flags, _ := engine.ConfigOf(opts)
	if n < 0 || n > math.MaxInt32 {
		return nil, wire.LimitError(fmt.Sprintf("a list of %d elements", n))
	}
	if s.Valid() {
		if err := s.Message().CheckToCopy(); err != nil {
			return nil, err
		}
	}
	s.CheckDesc(d)
	b := engine.AppendPlain(nil, s, d)
	from, to, err := placeOfList(b, path)
	if err != nil {
		return nil, fmt.Errorf("nocopy: WriteElements: %s.%s: %w", d.Name(), list, err)
	}
	f := path[len(path)-1]
	e := &elementWriter{elem: elem, n: n, compact: flags&Compact != 0}
	e.front = append(e.front, b[:from]...)
	e.front = append(e.front, byte(f.Header()>>16), byte(f.Header()>>8), byte(f.Header()), byte(wire.Struct))
	if e.tail = b[to:]; e.compact {
		e.toCompact(len(path))
		return e, nil
	}
	e.front = binary.BigEndian.AppendUint32(e.front, uint32(n))
	return e, nil
}

// placeOfList returns where the list that path leads to is in the struct b, or where it should be.
func placeOfList(b []byte, path []*schema.Field) (from, to int, err error) {
	start := 0
	for k, f := range path {
		var found parse.Field
		place, end, others := -1, start, false
		for x := range parse.Fields(b[start:]) {
			end = start + x.End
			switch other := f.Of().Find(x.Header); {
			case other == f && found.End > 0:
				return 0, 0, fmt.Errorf("%s comes twice", f.Name)
			case other == f:
				found = x
			case other != nil:
				others = true
				if place < 0 && other.Word() > f.Word() {
					place = start + x.From
				}
			}
		}
		last := k == len(path)-1
		switch {
		case found.End == 0 && !last:
			return 0, 0, fmt.Errorf("%s is not set", f.Name)
		case found.End == 0 && others && f.Of().IsUnion():
			return 0, 0, errors.New("another field of the union is set")
		case found.End == 0 && place < 0:
			return end, end, nil
		case found.End == 0:
			return place, place, nil
		}
		from, to, start = start+found.From, start+found.End, start+found.At
	}
	if wire.BE32(b[to-4:]) != 0 || to-from != wire.FieldHeader+wire.ListHeader {
		return 0, 0, errors.New("the list has elements of its own")
	}
	return from, to, nil
}

// toCompact converts front, which ends with the type of the elements, and tail to the compact
// protocol. An empty list is one byte there. The struct that ends after it has the same front, and
// then one STOP for each of the structs that the list is in.
func (e *elementWriter) toCompact(structs int) {
	whole := slices.Concat(e.front, make([]byte, 4), e.tail)
	front := append(e.front, make([]byte, 4+structs)...)
	w := compact.TakeWriter(len(whole))
	defer w.Free()
	must(w.Write(nil, front, entry.IndexID, nil))
	n := len(w.Bytes()) - structs
	e.front = compact.AppendList(slices.Clone(w.Bytes()[:n-1]), wire.Struct, e.n)
	must(w.Write(nil, whole, entry.IndexID, nil))
	e.tail = slices.Clone(w.Bytes()[n:])
}

// must panics if bytes of a message can't be converted to the compact protocol.
func must(err error) {
	if err != nil {
		panic("nocopy: internal error: " + err.Error())
	}
}

// write writes the struct to w. most is how many bytes it may have.
func (e *elementWriter) write(w io.Writer, elements iter.Seq2[engine.Struct, error], most int64) (written int64, err error) {
	if w == nil {
		panic("nocopy: WriteElements to a nil Writer")
	}
	b := slices.Clone(e.front)
	flush := func() error {
		if written+int64(len(b)) > most {
			return fmt.Errorf("%w: they have changed since their length was found", ErrCount)
		}
		n, err := w.Write(b)
		written += int64(max(0, min(n, len(b))))
		if err == nil && n < len(b) {
			err = io.ErrShortWrite
		}
		b = b[:0]
		return err
	}
	c := compact.TakeWriter(0)
	defer c.Free()
	count := 0
	for s, more := range elements {
		if err = more; err == nil {
			if count++; count > e.n {
				err = fmt.Errorf("%w: more than %d", ErrCount, e.n)
			} else if b, err = e.appendElement(b, s, c); err == nil && len(b) >= readAhead {
				err = flush()
			}
		}
		if err != nil {
			return written, err
		}
	}
	if count < e.n {
		return written, fmt.Errorf("%w: %d, not %d", ErrCount, count, e.n)
	}
	b = append(b, e.tail...)
	if err := flush(); err != nil {
		return written, err
	}
	if most < math.MaxInt64 && written < most {
		err = fmt.Errorf("%w: they have changed since their length was found", ErrCount)
	}
	return written, err
}

// appendElement appends an element. c converts it.
func (e *elementWriter) appendElement(b []byte, s engine.Struct, c *compact.Writer) ([]byte, error) {
	if !s.Valid() {
		return b, errors.New("nocopy: WriteElements: an element is absent")
	}
	if err := s.Message().CheckToCopy(); err != nil {
		return b, err
	}
	from := len(b)
	s.CheckDesc(e.elem)
	if b = engine.AppendPlain(b, s, e.elem); e.compact {
		must(c.Write(nil, b[from:], entry.IndexID, nil))
		b = append(b[:from], c.Bytes()...)
	}
	return b, nil
}
