package inspect

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/nocopythrift/nocopythrift/gen/schema"
	"github.com/nocopythrift/nocopythrift/nocopy"
)

// maxDepth is how deep structs and containers may be nested.
const maxDepth = 10_000

// A walker reads a stream and turns it into rows. Without out it only checks the stream.
type walker struct {
	in    input
	out   sink
	form  Form
	names *names // nil without an IDL
	max   int    // how many bytes of a text are shown, negative for all

	path []byte // of the value that is being read
	seen []bool // which fields have come, for each surrounding struct of the IDL
	// The error for the first missing required field; the dump continues after it
	missing error
	// Whether the list or map that was read last, or one nested in it, has other element types
	// than in the IDL. Parse treats its field as missing then
	mismatched bool
	partial    bool // the stream continues after the available bytes, whose end is no fault
}

// sink receives rows. A row, and the memory that it refers to, are valid only during the call.
type sink interface{ put(r *row) error }

// errMore is the error at the end of the bytes of a partial stream.
var errMore = errors.New("more bytes are needed")

// structure dumps a struct's fields and its STOP. s is nil if its type is unknown.
func (w *walker) structure(s *schema.Struct, depth int) error {
	first := len(w.seen)
	if s != nil {
		w.seen = append(w.seen, make([]bool, len(s.Fields))...)
		defer func() { w.seen = w.seen[:first] }()
	}
	for {
		w.in.begin()
		r := row{Kind: kindField, Depth: depth}
		b, err := w.in.next(1)
		if err != nil {
			return w.broken(&r, err)
		}
		t := nocopy.WireType(b[0])
		if t == nocopy.WireStop {
			r.Kind = kindStop
			if err := w.put(&r); err != nil {
				return err
			}
			return w.checkRequired(s, w.seen[first:], depth)
		}
		if !validType(t) {
			return w.brokenAt(&r, w.in.row, typeError(t))
		}
		if b, err = w.in.next(2); err != nil {
			return w.broken(&r, err)
		}
		id := int16(binary.BigEndian.Uint16(b))
		r.ID = &id
		var typ *schema.Type
		known := -1
		if s != nil {
			typ, known = w.field(s, id, t, &r, w.seen[first:])
		}
		before := len(w.path)
		if before > 0 {
			w.path = append(w.path, '.')
		}
		if typ != nil {
			w.path = append(w.path, r.Name...)
		} else {
			w.path = strconv.AppendInt(w.path, int64(id), 10)
		}
		outside := w.mismatched
		w.mismatched = false
		if err := w.value(&r, t, typ); err != nil {
			return err
		}
		if known >= 0 && !w.mismatched {
			w.seen[first+known] = true
		}
		w.mismatched = outside
		w.path = w.path[:before]
	}
}

// field fills in the IDL's facts about a field, and returns its type and its number in s. If the
// IDL has no field with that id and wire type, it returns nil and -1. seen says which fields of
// the struct have come.
func (w *walker) field(s *schema.Struct, id int16, t nocopy.WireType, r *row, seen []bool) (*schema.Type, int) {
	i := slices.IndexFunc(s.Fields, func(f *schema.Field) bool { return f.ID == id })
	switch {
	case i < 0:
		r.Note = "not in the IDL"
		return nil, -1
	case s.Fields[i].Type == nil || wireType(s.Fields[i].Type) != t:
		r.Note = fmt.Sprintf("not the IDL's type: %s %s", s.Fields[i].Type, s.Fields[i].Name)
		return nil, -1
	case seen[i]:
		r.Note = "comes again"
	}
	r.Name = s.Fields[i].Name
	return s.Fields[i].Type, i
}

// checkRequired notes the first missing required field of a struct.
func (w *walker) checkRequired(s *schema.Struct, seen []bool, depth int) error {
	if s == nil {
		return nil
	}
	for i, f := range s.Fields {
		if f.Req != schema.Required || seen[i] {
			continue
		}
		before := len(w.path)
		w.path = append(append(w.path, '.'), f.Name...)
		err := w.faultAt(w.in.row, depth, nocopy.ErrMissingRequired)
		w.path = w.path[:before]
		var fault *nocopy.Error
		if !errors.As(err, &fault) {
			return err
		}
		if w.missing == nil {
			w.missing = err
		}
	}
	return nil
}

// value dumps a value of wire type t, and completes its row r. typ is its IDL type, or nil if that
// is unknown.
func (w *walker) value(r *row, t nocopy.WireType, typ *schema.Type) error {
	r.Type = t.String()
	if typ != nil {
		r.Type = typ.String()
	}
	switch t {
	case nocopy.WireString:
		return w.text(r, typ)
	case nocopy.WireStruct:
		if r.Depth > maxDepth {
			return w.brokenAt(r, w.in.off, fmt.Errorf("%w: nested more than %d deep", nocopy.ErrLimit, maxDepth))
		}
		if err := w.put(r); err != nil {
			return err
		}
		var s *schema.Struct
		if typ != nil {
			s = typ.Struct
		}
		return w.structure(s, r.Depth+1)
	case nocopy.WireList, nocopy.WireSet:
		return w.list(r, typ)
	case nocopy.WireMap:
		return w.dict(r, typ)
	}
	return w.fixed(r, t, typ)
}

// fixed is value for a value of fixed size.
func (w *walker) fixed(r *row, t nocopy.WireType, typ *schema.Type) error {
	b, err := w.in.next(sizes[t])
	if err != nil {
		return w.broken(r, err)
	}
	if w.out == nil {
		return nil
	}
	switch t {
	case nocopy.WireBool:
		if r.Value = b[0] != 0; b[0] > 1 {
			r.Note = "a bool that is neither 0 nor 1"
		}
	case nocopy.WireI8:
		r.Value = int64(int8(b[0]))
	case nocopy.WireI16:
		r.Value = int64(int16(binary.BigEndian.Uint16(b)))
	case nocopy.WireI32:
		v := int32(binary.BigEndian.Uint32(b))
		r.Value = int64(v)
		if typ != nil && typ.Enum != nil {
			r.Enum = enumName(typ.Enum, v)
		}
	case nocopy.WireI64:
		r.Value = int64(binary.BigEndian.Uint64(b))
	case nocopy.WireDouble:
		r.setDouble(math.Float64frombits(binary.BigEndian.Uint64(b)))
	case nocopy.WireUUID:
		r.Value = nocopy.UUID(b).String()
	}
	return w.put(r)
}

func (w *walker) text(r *row, typ *schema.Type) error {
	at := w.in.off
	b, err := w.in.next(4)
	if err != nil {
		return w.broken(r, err)
	}
	n := int64(int32(binary.BigEndian.Uint32(b)))
	if n < 0 {
		return w.brokenAt(r, at, nocopy.ErrNegative)
	}
	b, valid, err := w.in.text(n, w.max)
	binary := typ != nil && typ.Kind == schema.Binary
	if w.out != nil {
		r.setText(b, n, valid && !binary)
		if !valid && !binary && err == nil {
			r.Note = "not UTF-8"
		}
	}
	if err != nil {
		return w.broken(r, err)
	}
	return w.put(r)
}

func (w *walker) list(r *row, typ *schema.Type) error {
	at := w.in.off
	b, err := w.in.next(5)
	if err != nil {
		return w.broken(r, err)
	}
	elem, n := nocopy.WireType(b[0]), int64(int32(binary.BigEndian.Uint32(b[1:])))
	if typ == nil {
		r.Type += "<" + elem.String() + ">"
	}
	if err := w.container(r, n, at+1, typ, elem); err != nil {
		return err
	}
	if typ != nil && n > 0 && wireType(typ.Elem) != elem {
		typ, w.mismatched = nil, true
	}
	for i := range n {
		if err := w.element(kindElement, i, r.Depth+1, elem, elementType(typ)); err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) dict(r *row, typ *schema.Type) error {
	at := w.in.off
	b, err := w.in.next(6)
	if err != nil {
		return w.broken(r, err)
	}
	key, elem, n := nocopy.WireType(b[0]), nocopy.WireType(b[1]), int64(int32(binary.BigEndian.Uint32(b[2:])))
	if typ == nil {
		r.Type += "<" + key.String() + "," + elem.String() + ">"
	}
	if err := w.container(r, n, at+2, typ, key, elem); err != nil {
		return err
	}
	var keyType *schema.Type
	if typ != nil {
		if keyType = typ.Key; n > 0 && (wireType(typ.Key) != key || wireType(typ.Elem) != elem) {
			typ, keyType, w.mismatched = nil, nil, true
		}
	}
	for i := range n {
		if err := w.element(kindKey, i, r.Depth+1, key, keyType); err != nil {
			return err
		}
		if err := w.element(kindValue, i, r.Depth+1, elem, elementType(typ)); err != nil {
			return err
		}
	}
	return nil
}

func elementType(typ *schema.Type) *schema.Type {
	if typ == nil {
		return nil
	}
	return typ.Elem
}

// container checks the header of a list, set or map and writes its row. Its count n is at offset
// at, after its types. Without elements, any types are accepted.
func (w *walker) container(r *row, n, at int64, typ *schema.Type, types ...nocopy.WireType) error {
	if n < 0 {
		return w.brokenAt(r, at, nocopy.ErrNegative)
	}
	r.Count = &n
	for i, t := range types {
		if n > 0 && !validType(t) {
			return w.brokenAt(r, at-int64(len(types)-i), typeError(t))
		}
	}
	if r.Depth > maxDepth {
		return w.brokenAt(r, w.in.off, fmt.Errorf("%w: nested more than %d deep", nocopy.ErrLimit, maxDepth))
	}
	if typ != nil && n > 0 {
		declared := []*schema.Type{typ.Elem}
		if typ.Kind == schema.Map {
			declared = []*schema.Type{typ.Key, typ.Elem}
		}
		for i, t := range types {
			if wireType(declared[i]) != t {
				r.Note = fmt.Sprintf("not the IDL's type: %v instead of %s", t, declared[i])
			}
		}
	}
	return w.put(r)
}

// element dumps element i of a container.
func (w *walker) element(k kind, i int64, depth int, t nocopy.WireType, typ *schema.Type) error {
	w.in.begin()
	before := len(w.path)
	w.path = append(strconv.AppendInt(append(w.path, '['), i, 10), ']')
	if err := w.value(&row{Kind: k, Depth: depth, Index: &i}, t, typ); err != nil {
		return err
	}
	w.path = w.path[:before]
	return nil
}

// sizes has the sizes of values of fixed-size wire types.
var sizes = [...]int{nocopy.WireBool: 1, nocopy.WireI8: 1, nocopy.WireDouble: 8, nocopy.WireI16: 2, nocopy.WireI32: 4, nocopy.WireI64: 8, nocopy.WireUUID: 16}

func validType(t nocopy.WireType) bool {
	switch t {
	case nocopy.WireString, nocopy.WireStruct, nocopy.WireMap, nocopy.WireSet, nocopy.WireList:
		return true
	}
	return int(t) < len(sizes) && sizes[t] > 0
}

func typeError(t nocopy.WireType) error { return fmt.Errorf("%w: %d", nocopy.ErrType, t) }
