package compact

import (
	"encoding/binary"
	"errors"
	"math"
	"sync"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// ErrInvalid is a Writer's error for bytes that are not exactly one struct in Thrift Binary.
var ErrInvalid = errors.New("not a struct in Thrift Binary")

// Writer converts a struct in Thrift Binary to the compact protocol. The result has the same bytes
// as Apache's Go library would write: ids have the short form wherever possible.
type Writer struct {
	memory
	out     func([]byte) error
	without int16 // the id of the field to leave out
}

var writers = sync.Pool{New: func() any { return new(Writer) }}

// TakeWriter returns a Writer with memory for the usual result of n bytes of input.
func TakeWriter(n int) *Writer {
	w := writers.Get().(*Writer)
	w.fit(n)
	return w
}

// Free gives the Writer and its memory back.
func (w *Writer) Free() {
	w.free()
	writers.Put(w)
}

// Write writes front, and then b converted, which must be exactly one struct. It leaves out a
// binary field of that struct whose id is without. If to is not nil, Write calls it with parts of
// the result as they are made: memory does not grow. Bytes then returns the last part. The error
// is to's, or ErrInvalid.
func (w *Writer) Write(front, b []byte, without int16, to func([]byte) error) error {
	w.n, w.out, w.w, w.without = 0, to, w.w[:cap(w.w)], without
	defer func() { w.out = nil }()
	if err := w.room(len(front)); err != nil {
		return err
	}
	w.n = copy(w.w, front)
	w.stack = append(w.stack[:0], level{kind: record})
	for i := 0; ; {
		l := &w.stack[len(w.stack)-1]
		var err error
		depth := len(w.stack)
		if l.kind == record {
			i, err = w.fields(l, b, i)
		} else {
			i, err = w.elements(l, b, i)
		}
		switch {
		case err != nil:
			return err
		case len(w.stack) > depth:
			continue
		case depth > 1:
			w.stack = w.stack[:depth-1]
			continue
		case i != len(b):
			return ErrInvalid
		}
		return nil
	}
}

// room makes room for n bytes and one more token.
func (w *Writer) room(n int) error {
	if w.n+n+spaceFor <= len(w.w) {
		return nil
	}
	if w.out != nil && w.n > 0 {
		if err := w.out(w.w[:w.n]); err != nil {
			return err
		}
		if w.n = 0; n+spaceFor <= len(w.w) {
			return nil
		}
	}
	w.grow(max(2*len(w.w), w.n+n+spaceFor, 512))
	return nil
}

// fields writes fields of a struct until the struct ends, or a nested struct or container has
// begun.
func (w *Writer) fields(l *level, b []byte, i int) (int, error) {
	last := l.last
	m, n := w.w, w.n
	for {
		if n+spaceFor > len(m) {
			w.n = n
			if err := w.room(0); err != nil {
				return i, err
			}
			m, n = w.w, w.n
		}
		if i >= len(b) {
			return i, ErrInvalid
		}
		t := wire.Type(b[i])
		if t == wire.Stop {
			m[n] = 0
			n++
			i++
			if !w.nextElement() {
				w.n = n
				return i, nil
			}
			last = 0
			continue
		}
		kind := compactOf[t]
		if len(b)-i < wire.FieldHeader+1 || kind == 0 {
			return i, ErrInvalid
		}
		id := int16(binary.BigEndian.Uint16(b[i+1:]))
		i += wire.FieldHeader
		if w.leavesOut(id, t) {
			if i = skipText(b, i); i < 0 {
				return 0, ErrInvalid
			}
			continue
		}
		if t == wire.Bool && b[i] == 0 {
			kind = isFalse
		}
		if delta := int(id) - int(last); uint(delta-1) < 15 {
			m[n] = byte(delta)<<4 | kind
			n++
		} else {
			m[n] = kind
			n = putVarint(m, n+1, zig(int64(id)))
		}
		last = id
		if t == wire.Bool {
			i++
			continue
		}
		if t == wire.String && len(b)-i >= 36 {
			if size := int(binary.BigEndian.Uint32(b[i:])); uint(size) <= 32 {
				m[n] = byte(size)
				*(*[32]byte)(m[n+1:]) = *(*[32]byte)(b[i+4:])
				n += 1 + size
				i += 4 + size
				continue
			}
		}
		w.n, l.last = n, id
		depth := len(w.stack)
		var err error
		if i, err = w.value(t, b, i); err != nil || len(w.stack) > depth {
			return i, err
		}
		m, n = w.w, w.n
	}
}

// leavesOut reports whether the field with this id and type is left out. Only w.without is, a
// string of the outermost struct.
func (w *Writer) leavesOut(id int16, t wire.Type) bool {
	return id == w.without && t == wire.String && len(w.stack) == 1
}

// value writes the value at b[i], which has type t of Thrift Binary. For a struct or a non-empty
// container, it writes only the header, and adds a level. The caller has made room for a token.
func (w *Writer) value(t wire.Type, b []byte, i int) (int, error) {
	size := int(sizeOf[t])
	if size > len(b)-i {
		return i, ErrInvalid
	}
	m, n := w.w, w.n
	switch t {
	case wire.Bool:
		if m[n] = isTrue; b[i] == 0 {
			m[n] = isFalse
		}
		w.n++
	case wire.I8:
		m[n] = b[i]
		w.n++
	case wire.I16:
		w.n = putVarint(m, n, zig(int64(int16(binary.BigEndian.Uint16(b[i:])))))
	case wire.I32:
		w.n = putVarint(m, n, zig(int64(int32(binary.BigEndian.Uint32(b[i:])))))
	case wire.I64:
		w.n = putVarint(m, n, zig(int64(binary.BigEndian.Uint64(b[i:]))))
	case wire.Double:
		binary.LittleEndian.PutUint64(m[n:], binary.BigEndian.Uint64(b[i:]))
		w.n += 8
	case wire.String:
		return w.text(b, i)
	case wire.Struct:
		w.stack = append(w.stack, level{kind: record})
	case wire.List, wire.Set:
		if !w.list(wire.Type(b[i]), binary.BigEndian.Uint32(b[i+1:])) {
			return i, ErrInvalid
		}
	case wire.Map:
		if !w.dict(wire.Type(b[i]), wire.Type(b[i+1]), binary.BigEndian.Uint32(b[i+2:])) {
			return i, ErrInvalid
		}
	case wire.UUID:
		w.n += copy(m[n:n+size], b[i:])
	default:
		return i, ErrInvalid
	}
	return i + size, nil
}

// list writes the header of a list or set of count elements, and adds a level unless it is empty.
// It reports whether there can be such a list.
func (w *Writer) list(elem wire.Type, count uint32) bool {
	kind := compactOf[elem]
	if kind == 0 && count > 0 || count > math.MaxInt32 {
		return false
	}
	if count < 15 {
		w.w[w.n] = byte(count)<<4 | kind
		w.n++
	} else {
		w.w[w.n] = 0xf0 | kind
		w.n = putVarint(w.w, w.n+1, uint64(count))
	}
	if count > 0 {
		w.stack = append(w.stack, level{kind: list, left: count, keys: byte(elem), elem: byte(elem)})
	}
	return true
}

// dict is list for a map of count pairs.
func (w *Writer) dict(keys, elem wire.Type, count uint32) bool {
	w.n = putVarint(w.w, w.n, uint64(count))
	if count == 0 {
		return true
	}
	if compactOf[keys] == 0 || compactOf[elem] == 0 || count > math.MaxInt32 {
		return false
	}
	w.w[w.n] = compactOf[keys]<<4 | compactOf[elem]
	w.n++
	w.stack = append(w.stack, level{kind: dict, left: 2 * count, keys: byte(keys), elem: byte(elem)})
	return true
}

// AppendList appends the header of a list or set of n elements of this type, n at least 0.
func AppendList(dst []byte, elem wire.Type, n int) []byte {
	if n < 15 {
		return append(dst, byte(n)<<4|compactOf[elem])
	}
	return AppendNumber(append(dst, 0xf0|compactOf[elem]), uint64(n))
}

// text writes a string or binary.
func (w *Writer) text(b []byte, i int) (int, error) {
	size := binary.BigEndian.Uint32(b[i:])
	i += 4
	if size <= 32 && len(b)-i >= 32 {
		m := w.w[w.n:]
		m[0] = byte(size)
		*(*[32]byte)(m[1:]) = *(*[32]byte)(b[i:])
		w.n += 1 + int(size)
		return i + int(size), nil
	}
	if uint64(size) > uint64(len(b)-i) {
		return i, ErrInvalid
	}
	w.n = putVarint(w.w, w.n, uint64(size))
	end := i + int(size)
	if w.out != nil && size > PieceSize/2 { // passes it on without copying
		if err := w.out(w.w[:w.n]); err != nil {
			return i, err
		}
		w.n = 0
		return end, w.out(b[i:end])
	}
	if err := w.room(int(size)); err != nil {
		return i, err
	}
	w.n += copy(w.w[w.n:], b[i:end])
	return end, nil
}

// skipText returns the index after the text at b[i], or -1.
func skipText(b []byte, i int) int {
	if len(b)-i < 4 || uint64(binary.BigEndian.Uint32(b[i:])) > uint64(len(b)-i-4) {
		return -1
	}
	return i + 4 + int(binary.BigEndian.Uint32(b[i:]))
}

// elements writes elements of a list, or keys and values of a map, until it ends, or a nested
// struct or container has begun.
func (w *Writer) elements(l *level, b []byte, i int) (int, error) {
	if t := wire.Type(l.elem); l.kind == list && (t == wire.I16 || t == wire.I32 || t == wire.I64) {
		return w.numbers(l, b, i)
	}
	depth := len(w.stack)
	for l.left > 0 {
		if w.n+spaceFor > len(w.w) {
			if err := w.room(0); err != nil {
				return i, err
			}
		}
		t := l.elem
		if l.left%2 == 0 {
			t = l.keys
		}
		l.left--
		var err error
		if i, err = w.value(wire.Type(t), b, i); err != nil || len(w.stack) > depth {
			return i, err
		}
	}
	return i, nil
}

// numbers writes elements that are numbers.
func (w *Writer) numbers(l *level, b []byte, i int) (int, error) {
	size := int(sizeOf[l.elem])
	if uint64(l.left) > uint64(len(b)-i)/uint64(size) {
		return i, ErrInvalid
	}
	m, n := w.w, w.n
	for ; l.left > 0; l.left-- {
		if n+spaceFor > len(m) {
			w.n = n
			if err := w.room(0); err != nil {
				return i, err
			}
			m, n = w.w, w.n
		}
		var v int64
		switch size {
		case 2:
			v = int64(int16(binary.BigEndian.Uint16(b[i:])))
		case 4:
			v = int64(int32(binary.BigEndian.Uint32(b[i:])))
		default:
			v = int64(binary.BigEndian.Uint64(b[i:]))
		}
		i += size
		if u := zig(v); u < 0x80 {
			m[n] = byte(u)
			n++
		} else {
			n = putVarint(m, n, u)
		}
	}
	w.n = n
	return i, nil
}
