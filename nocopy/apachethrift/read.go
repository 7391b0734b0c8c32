package apachethrift

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/thrift/lib/go/thrift"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/impl"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// reader converts the values that a protocol reads to wire bytes of Thrift Binary. It uses the
// types that arrive. The declared types only distinguish binaries from strings, and give the
// element types of empty containers. A field with another type than declared becomes an unknown
// field. The parser checks everything else.
type reader struct {
	ctx   context.Context
	p     thrift.TProtocol
	b     []byte
	most  int      // the largest number of bytes
	depth int      // how many more structs, and containers of unknown fields, may be nested
	plain bool     // strings are read like binaries
	path  []string // of an error, from the innermost part to the outermost
}

// wireBytes reads a struct from p, which d describes, and returns its wire bytes.
func wireBytes(ctx context.Context, p thrift.TProtocol, d *thriftimpl.Desc, l nocopy.Limits) ([]byte, error) {
	if simple, ok := p.(*thrift.TSimpleJSONProtocol); ok && simple != nil {
		return nil, &nocopy.Error{Path: d.Name(), Err: errSimpleJSON}
	}
	r := &reader{ctx: ctx, p: p, b: make([]byte, 0, 512), plain: isPlain(p), most: l.MaxBytes, depth: l.MaxDepth}
	if r.most <= 0 {
		r.most = impl.DefaultMaxBytes
	}
	if r.depth <= 0 {
		r.depth = impl.DefaultMaxDepth
	}
	// Parse checks the exact depth. This limit only bounds the stack.
	r.depth = 2*min(r.depth, impl.MostDepth) + 1
	err := r.structure(d)
	if err == nil {
		return r.b, nil
	}
	return nil, &nocopy.Error{Offset: len(r.b), Path: joinPath(d, r.path), Err: reason(err)}
}

// joinPath returns the path in a struct of type d. The parts are in reverse order, the innermost
// first.
func joinPath(d *thriftimpl.Desc, parts []string) string {
	parts = append(parts, d.Name())
	slices.Reverse(parts)
	return strings.Join(parts, "")
}

// in adds a part to the path of an error.
func (r *reader) in(part string, err error) error {
	r.path = append(r.path, part)
	return err
}

// inField adds a field's name, or its id if it is unknown.
func (r *reader) inField(d *thriftimpl.Desc, id int16, err error) error {
	if d != nil {
		if i := d.NumberByID(id); i >= 0 {
			return r.in("."+d.FieldDesc(i).Name, err)
		}
	}
	return r.in("."+strconv.Itoa(int(id)), err)
}

func (r *reader) structure(d *thriftimpl.Desc) error {
	if _, err := r.p.ReadStructBegin(r.ctx); err != nil {
		return err
	}
	for {
		_, t, id, err := r.p.ReadFieldBegin(r.ctx)
		switch {
		case err != nil:
			return err
		case t == thrift.STOP:
			r.b = append(r.b, thrift.STOP)
			return r.p.ReadStructEnd(r.ctx)
		}
		r.b = binary.BigEndian.AppendUint16(append(r.b, byte(t)), uint16(id))
		if err = r.value(t, fieldType(d, t, id)); err == nil {
			err = r.p.ReadFieldEnd(r.ctx)
		}
		if err != nil {
			return r.inField(d, id, err)
		}
	}
}

// fieldType returns the type of the field with this id, or nil if it is unknown or its wire type
// is not t.
func fieldType(d *thriftimpl.Desc, t thrift.TType, id int16) *thriftimpl.Type {
	if d == nil {
		return nil
	}
	if i := d.NumberByID(id); i >= 0 {
		return as(d.FieldDesc(i).Type, t)
	}
	return nil
}

// as returns typ if its wire type is t, otherwise nil.
func as(typ *thriftimpl.Type, t thrift.TType) *thriftimpl.Type {
	if typ != nil && thrift.TType(typ.Wire()) == t {
		return typ
	}
	return nil
}

// value reads a value of type t and appends its wire bytes. typ is its declared type, or nil.
func (r *reader) value(t thrift.TType, typ *thriftimpl.Type) error {
	isScalar, err := r.scalar(t, typ)
	if !isScalar {
		err = r.nested(t, typ)
	}
	if err == nil && len(r.b) > r.most {
		return fmt.Errorf("%w: message of more than Limits.MaxBytes = %d", nocopy.ErrLimit, r.most)
	}
	return err
}

// nested reads a struct, list, set or map of type t. typ is its declared type, or nil if the field
// is unknown.
func (r *reader) nested(t thrift.TType, typ *thriftimpl.Type) error {
	if typ == nil || t == thrift.STRUCT {
		if r.depth--; r.depth < 0 {
			return fmt.Errorf("%w: nested too deeply", nocopy.ErrLimit)
		}
		defer func() { r.depth++ }()
	}
	switch t {
	case thrift.STRUCT:
		if typ == nil {
			return r.structure(nil)
		}
		return r.structure(typ.Struct())
	case thrift.LIST:
		elem, n, err := r.p.ReadListBegin(r.ctx)
		if err == nil {
			err = r.elements(elem, n, typ)
		}
		if err == nil {
			err = r.p.ReadListEnd(r.ctx)
		}
		return err
	case thrift.SET:
		elem, n, err := r.p.ReadSetBegin(r.ctx)
		if err == nil {
			err = r.elements(elem, n, typ)
		}
		if err == nil {
			err = r.p.ReadSetEnd(r.ctx)
		}
		return err
	case thrift.MAP:
		key, elem, n, err := r.p.ReadMapBegin(r.ctx)
		if err == nil {
			err = r.pairs(key, elem, n, typ)
		}
		if err == nil {
			err = r.p.ReadMapEnd(r.ctx)
		}
		return err
	}
	return fmt.Errorf("%w: %d", nocopy.ErrType, t)
}

// elements reads the n elements of a list or set of type typ. Memory grows as elements arrive, not
// with n.
func (r *reader) elements(elem thrift.TType, n int, typ *thriftimpl.Type) error {
	if err := checkCount(n); err != nil {
		return err
	}
	var declared *thriftimpl.Type
	if typ != nil {
		declared = typ.Elem()
	}
	elem, err := elementType(elem, n, declared)
	if err != nil {
		return err
	}
	declared = as(declared, elem)
	r.b = binary.BigEndian.AppendUint32(append(r.b, byte(elem)), uint32(n))
	for k := range n {
		if err := r.value(elem, declared); err != nil {
			return r.in("["+strconv.Itoa(k)+"]", err)
		}
	}
	return nil
}

// pairs reads the n pairs of a map. Memory grows as pairs arrive, not with n.
func (r *reader) pairs(key, elem thrift.TType, n int, typ *thriftimpl.Type) error {
	if err := checkCount(n); err != nil {
		return err
	}
	var declaredKey, declared *thriftimpl.Type
	if typ != nil {
		declaredKey, declared = typ.Key(), typ.Elem()
	}
	key, err := elementType(key, n, declaredKey)
	if err != nil {
		return err
	}
	if elem, err = elementType(elem, n, declared); err != nil {
		return err
	}
	declaredKey, declared = as(declaredKey, key), as(declared, elem)
	r.b = binary.BigEndian.AppendUint32(append(r.b, byte(key), byte(elem)), uint32(n))
	for k := range n {
		err := r.value(key, declaredKey)
		if err == nil {
			err = r.value(elem, declared)
		}
		if err != nil {
			return r.in("["+strconv.Itoa(k)+"]", err)
		}
	}
	return nil
}

func checkCount(n int) error {
	switch {
	case n < 0:
		return fmt.Errorf("%w: %d elements", nocopy.ErrNegative, n)
	case n > math.MaxInt32:
		return fmt.Errorf("%w: %d elements", nocopy.ErrLimit, n)
	}
	return nil
}

// elementType returns the type of the n elements of a container. t is their type in the protocol,
// declared their type in the IDL, or nil. For an empty container, the declared type counts, since
// protocols may give it any type.
func elementType(t thrift.TType, n int, declared *thriftimpl.Type) (thrift.TType, error) {
	switch {
	case n == 0 && declared != nil:
		return thrift.TType(declared.Wire()), nil
	case isType(t):
		return t, nil
	case n == 0:
		return thrift.BYTE, nil
	}
	return t, fmt.Errorf("%w: %d", nocopy.ErrType, t)
}
