package apachethrift

import (
	"context"
	"encoding/binary"
	"fmt"
	"strconv"

	"github.com/apache/thrift/lib/go/thrift"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// writer writes the wire bytes of a complete message to a protocol, field by field.
type writer struct {
	ctx   context.Context
	p     thrift.TProtocol
	b     []byte   // the bytes that were not yet written
	depth int      // how many structs and containers are around the next value
	plain bool     // strings are written like binaries
	path  []string // of an error, from the innermost part to the outermost
}

// writeBytes writes the struct of type d with the wire bytes b.
func writeBytes(ctx context.Context, p thrift.TProtocol, d *thriftimpl.Desc, b []byte) error {
	// A TBinaryProtocol would write the same bytes, and buffers none.
	if straight, ok := p.(*thrift.TBinaryProtocol); ok {
		_, err := straight.Transport().Write(b)
		return located(d, nil, err)
	}
	w := writer{ctx: ctx, p: p, b: b, plain: isPlain(p)}
	err := w.structure(d)
	return located(d, w.path, err)
}

// located adds the path before an error of writing.
func located(d *thriftimpl.Desc, path []string, err error) error {
	if err == nil {
		return nil
	}
	where := joinPath(d, path) + ": "
	if e, ok := err.(thrift.TException); ok {
		return thrift.PrependError(where, e) // keeps the error's type
	}
	return fmt.Errorf("%s%w", where, err)
}

// isPlain reports whether p treats strings and binaries alike.
func isPlain(p thrift.TProtocol) bool {
	switch p.(type) {
	case *thrift.TBinaryProtocol, *thrift.TCompactProtocol, *thrift.THeaderProtocol:
		return true
	}
	return false
}

// in adds a part to the path of an error.
func (w *writer) in(part string, err error) error {
	w.path = append(w.path, part)
	return err
}

// next returns the next n bytes.
func (w *writer) next(n int) []byte {
	b := w.b[:n:n]
	w.b = w.b[n:]
	return b
}

func (w *writer) count() int { return int(int32(binary.BigEndian.Uint32(w.next(4)))) }

func (w *writer) structure(d *thriftimpl.Desc) error {
	name := ""
	if d != nil {
		name = d.Name()
	}
	if err := w.p.WriteStructBegin(w.ctx, name); err != nil {
		return err
	}
	for {
		t := thrift.TType(w.next(1)[0])
		if t == thrift.STOP {
			if err := w.p.WriteFieldStop(w.ctx); err != nil {
				return err
			}
			return w.p.WriteStructEnd(w.ctx)
		}
		id := int16(binary.BigEndian.Uint16(w.next(2)))
		typ := fieldType(d, t, id)
		if typ != nil {
			name = d.FieldDesc(d.NumberByID(id)).Name
		} else {
			name = strconv.Itoa(int(id))
		}
		err := w.p.WriteFieldBegin(w.ctx, name, t, id)
		if err == nil {
			err = w.value(t, typ)
		}
		if err == nil {
			err = w.p.WriteFieldEnd(w.ctx)
		}
		if err != nil {
			return w.in("."+name, err)
		}
	}
}

// value writes the next value, of type t. typ is its declared type, or nil.
func (w *writer) value(t thrift.TType, typ *thriftimpl.Type) error {
	if isScalar, err := w.scalar(t, typ); isScalar {
		return err
	}
	if w.depth++; w.depth > mostNesting {
		return fmt.Errorf("%w: nested too deeply", nocopy.ErrLimit)
	}
	defer func() { w.depth-- }()
	switch t {
	case thrift.STRUCT:
		if typ == nil {
			return w.structure(nil)
		}
		return w.structure(typ.Struct())
	case thrift.LIST:
		return w.elements(typ, w.p.WriteListBegin, w.p.WriteListEnd)
	case thrift.SET:
		return w.elements(typ, w.p.WriteSetBegin, w.p.WriteSetEnd)
	}
	return w.pairs(typ)
}

// mostNesting bounds the nesting of a message that is written. Messages parsed with the largest
// limits are not nested deeper.
const mostNesting = 1 << 18

func (w *writer) elements(typ *thriftimpl.Type, begin func(context.Context, thrift.TType, int) error, end func(context.Context) error) error {
	t, n := thrift.TType(w.next(1)[0]), w.count()
	var declared *thriftimpl.Type
	if typ != nil {
		declared = typ.Elem()
	}
	t, err := elementType(t, n, declared)
	if err == nil {
		err = begin(w.ctx, t, n)
	}
	if err != nil {
		return err
	}
	declared = as(declared, t)
	for k := range n {
		if err := w.value(t, declared); err != nil {
			return w.in("["+strconv.Itoa(k)+"]", err)
		}
	}
	return end(w.ctx)
}

func (w *writer) pairs(typ *thriftimpl.Type) error {
	types := w.next(2)
	n := w.count()
	var declaredKey, declared *thriftimpl.Type
	if typ != nil {
		declaredKey, declared = typ.Key(), typ.Elem()
	}
	key, err := elementType(thrift.TType(types[0]), n, declaredKey)
	if err != nil {
		return err
	}
	elem, err := elementType(thrift.TType(types[1]), n, declared)
	if err != nil {
		return err
	}
	declaredKey, declared = as(declaredKey, key), as(declared, elem)
	if err := w.p.WriteMapBegin(w.ctx, key, elem, n); err != nil {
		return err
	}
	for k := range n {
		err := w.value(key, declaredKey)
		if err == nil {
			err = w.value(elem, declared)
		}
		if err != nil {
			return w.in("["+strconv.Itoa(k)+"]", err)
		}
	}
	return w.p.WriteMapEnd(w.ctx)
}
