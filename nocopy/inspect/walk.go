package inspect

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/nocopythrift/nocopythrift/gen/schema"
	"github.com/nocopythrift/nocopythrift/nocopy"
)

// maxDepth is how deep structs and containers may stand in each other.
const maxDepth = 10_000

// A walker reads a stream and makes rows of it. Without out it only checks.
type walker struct {
	in    input
	out   sink
	form  Form
	names *names // nil without an IDL
	max   int    // how many bytes of a text are shown, negative for all

	path []byte // of the value that is being read
	seen []bool // which fields of the IDL's structs around it have come
	// The first required field that is missing: the dump goes on after it
	missing error
	partial bool // the stream goes on after the bytes that are there: where they end is no fault
}

// sink is where rows go. The row and what it refers to are valid during the call only.
type sink interface {
	put(r *row) error
	flush() error
}

// errMore is the error of a partial stream where its bytes end.
var errMore = errors.New("more bytes are needed")

// stream dumps all of the stream, whose form is found out first.
func (w *walker) stream() error {
	if more, err := w.in.more(); !more {
		return err
	}
	form, note, err := w.form, "", error(nil)
	if form == Auto {
		if form, note, err = detect(w.in.r); err != nil {
			return err
		}
	}
	w.form = form
	if err := w.put(&row{Kind: kindInput, Form: form.String(), Note: note}); err != nil {
		return err
	}
	for {
		if w.in.r.Buffered() == 0 && w.out != nil {
			if err := w.out.flush(); err != nil { // the next byte may be long in coming
				return err
			}
		}
		more, err := w.in.more()
		if err != nil {
			return w.faultAt(w.in.off, 0, &readError{err})
		}
		if !more {
			return w.missing
		}
		if err := w.unit(); err != nil {
			return err
		}
	}
}

// unit dumps a frame; or a message or struct without one.
func (w *walker) unit() error {
	w.path, w.seen = w.path[:0], w.seen[:0]
	if !w.form.framed() {
		return w.message(0)
	}
	w.in.begin()
	b, err := w.in.next(4)
	if err != nil {
		return w.broken(&row{Kind: kindFrame}, err)
	}
	n := int64(int32(binary.BigEndian.Uint32(b)))
	r := row{Kind: kindFrame, Length: &n}
	switch {
	case n < 0:
		return w.brokenAt(&r, w.in.row, nocopy.ErrNegative)
	case n > 1<<30 && w.out == nil:
		return w.brokenAt(&r, w.in.row, errors.New("too large to be a frame"))
	}
	if err := w.put(&r); err != nil {
		return err
	}
	w.in.end = w.in.off + n
	for first := true; first || w.in.off < w.in.end; first = false {
		w.path = w.path[:0]
		if !first && !w.form.messages() {
			if w.in.begin(); w.names != nil && w.names.root != nil {
				w.path = append(w.path, w.names.root.Name...)
			}
			return w.faultAt(w.in.off, 1, fmt.Errorf("%d %w", w.in.end-w.in.off, nocopy.ErrTrailing))
		}
		if err := w.message(1); err != nil {
			return err
		}
	}
	w.in.end = -1
	return nil
}

// message dumps a message or, if there are none, a bare struct.
func (w *walker) message(depth int) error {
	w.in.begin()
	if w.form.messages() {
		return w.header(depth)
	}
	var s *schema.Struct
	r := row{Kind: kindStruct, Depth: depth, Type: "struct"}
	if w.names != nil {
		if s = w.names.root; s != nil {
			r.Type = s.Name
		}
	}
	if err := w.put(&r); err != nil {
		return err
	}
	return w.root(s, depth+1)
}

// root dumps the struct that a message is.
func (w *walker) root(s *schema.Struct, depth int) error {
	if s != nil {
		w.path = append(w.path, s.Name...)
	}
	return w.structure(s, depth)
}

// messageTypes are the types of messages, as headers have them.
var messageTypes = [...]string{1: "call", 2: "reply", 3: "exception", 4: "oneway"}

const (
	typeReply     = 2
	typeException = 3
)

const (
	maxName      = 1 << 16 // the most bytes of a method's name, as package rpc has it
	maxShownName = 256     // the most bytes of it that are shown
)

// plausibleName reports whether a stream whose form is not known may have a method of this name.
func plausibleName(name []byte) bool {
	for _, c := range name {
		if c < ' ' || c == 0x7f {
			return false
		}
	}
	return true
}

// header dumps a message.
func (w *walker) header(depth int) error {
	r := row{Kind: kindMessage, Depth: depth}
	b, err := w.in.next(4)
	if err != nil {
		return w.broken(&r, err)
	}
	first := binary.BigEndian.Uint32(b)
	strict := int32(first) < 0
	r.Strict = &strict
	typ, at := byte(first), w.in.row
	if strict {
		if first>>16 != 0x8001 {
			return w.brokenAt(&r, at, fmt.Errorf("not a Thrift binary message: version %#x", first>>16))
		}
		if !validMessageType(typ) {
			return w.brokenAt(&r, at+3, fmt.Errorf("no such message type: %d", typ))
		}
		r.Message = messageTypes[typ]
		at = w.in.off
		if b, err = w.in.next(4); err != nil {
			return w.broken(&r, err)
		}
		first = binary.BigEndian.Uint32(b)
	}
	switch n := int64(int32(first)); {
	case n < 0:
		return w.brokenAt(&r, at, nocopy.ErrNegative)
	case n > maxName:
		return w.brokenAt(&r, at, fmt.Errorf("%w: method name of %d bytes", nocopy.ErrLimit, n))
	}
	name, valid, err := w.in.text(int64(first), maxShownName)
	r.Name = string(name)
	switch {
	case w.out == nil && !plausibleName(name):
		return w.brokenAt(&r, at, errors.New("the method's name is not text"))
	case !valid:
		r.Note = "the name is not UTF-8"
	case len(name) < int(first):
		r.Note = fmt.Sprintf("the name has %d bytes", first)
	}
	if err != nil {
		return w.broken(&r, err)
	}
	if !strict {
		if b, err = w.in.next(1); err != nil {
			return w.broken(&r, err)
		}
		if typ = b[0]; !validMessageType(typ) {
			return w.brokenAt(&r, w.in.off-1, fmt.Errorf("no such message type: %d", typ))
		}
		r.Message = messageTypes[typ]
	}
	if b, err = w.in.next(4); err != nil {
		return w.broken(&r, err)
	}
	seqid := int32(binary.BigEndian.Uint32(b))
	r.SeqID = &seqid
	s := applicationException
	if typ != typeException {
		s = nil
		if w.names != nil {
			s, r.Note = w.names.messageStruct(r.Name, typ, r.Note)
		}
	}
	if err := w.put(&r); err != nil {
		return err
	}
	return w.root(s, depth+1)
}

func validMessageType(t byte) bool { return t >= 1 && int(t) < len(messageTypes) }

// structure dumps a struct's fields and its STOP. s is nil if its type is not known.
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
		if s != nil {
			typ = w.field(s, id, t, &r, w.seen[first:])
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
		if err := w.value(&r, t, typ); err != nil {
			return err
		}
		w.path = w.path[:before]
	}
}

// field fills in what the IDL says about a field, and returns its type; nil if the IDL has none
// with that id and wire type. seen are those of the struct's fields that have come.
func (w *walker) field(s *schema.Struct, id int16, t nocopy.WireType, r *row, seen []bool) *schema.Type {
	i := slices.IndexFunc(s.Fields, func(f *schema.Field) bool { return f.ID == id })
	switch {
	case i < 0:
		r.Note = "not in the IDL"
		return nil
	case s.Fields[i].Type == nil || wireType(s.Fields[i].Type) != t:
		r.Note = fmt.Sprintf("not the IDL's type: %s %s", s.Fields[i].Type, s.Fields[i].Name)
		return nil
	case seen[i]:
		r.Note = "comes again"
	}
	seen[i] = true
	r.Name = s.Fields[i].Name
	return s.Fields[i].Type
}

// checkRequired notes the first required field of a struct that has not come.
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

// value dumps a value of the wire type t, of which the row r has the beginning. typ is nil if its
// type is not known.
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
		typ = nil
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
			typ, keyType = nil, nil
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

// container checks the header of a list, set or map, whose count n is at offset at after its
// types, and puts its row. Without elements the types are anything.
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
				r.Note = fmt.Sprintf("not the IDL's type: %v in the place of %s", t, declared[i])
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

// put puts a row with the bytes that were read since begin.
func (w *walker) put(r *row) error {
	if w.out == nil {
		return nil
	}
	r.Offset, r.Size, r.raw = w.in.row, w.in.off-w.in.row, w.in.raw
	if r.Kind != kindInput && r.Kind != kindFrame && r.Kind != kindMessage {
		r.Path = shortPath(w.path)
	}
	return w.out.put(r)
}

// broken puts what there is of a row and the fault that ends it, where the bytes end.
func (w *walker) broken(r *row, err error) error { return w.brokenAt(r, w.in.off, err) }

// brokenAt is broken for a fault at another offset.
func (w *walker) brokenAt(r *row, at int64, err error) error {
	if w.in.off > w.in.row {
		if r.Kind == kindField && r.ID == nil {
			r.Type = ""
		}
		if err := w.put(r); err != nil {
			return err
		}
	}
	return w.faultAt(at, r.Depth, err)
}

// faultAt puts a row about what is wrong and returns the error: a *nocopy.Error, or the Reader's if
// the stream could not be read.
func (w *walker) faultAt(at int64, depth int, err error) error {
	if w.partial && err == io.ErrUnexpectedEOF {
		return errMore
	}
	fault := &nocopy.Error{Offset: int(min(at, math.MaxInt)), Path: shortPath(w.path), Err: err}
	var gap *gapError // a live connection's, which tells of it
	if w.out != nil && !errors.As(err, &gap) {
		r := row{Kind: kindFault, Offset: at, Depth: depth, Path: fault.Path, Error: err.Error()}
		if err := w.out.put(&r); err != nil {
			return err
		}
	}
	var read *readError
	if errors.As(err, &read) {
		return read.err
	}
	return fault
}

// mostPath is the most bytes of a path that are shown.
const mostPath = 200

// shortPath returns a path as text; of a long one the end.
func shortPath(path []byte) string {
	if len(path) > mostPath {
		return "…" + string(path[len(path)-mostPath:])
	}
	return string(path)
}

// sizes are those of values whose wire type has only one.
var sizes = [...]int{nocopy.WireBool: 1, nocopy.WireI8: 1, nocopy.WireDouble: 8, nocopy.WireI16: 2, nocopy.WireI32: 4, nocopy.WireI64: 8, nocopy.WireUUID: 16}

func validType(t nocopy.WireType) bool {
	switch t {
	case nocopy.WireString, nocopy.WireStruct, nocopy.WireMap, nocopy.WireSet, nocopy.WireList:
		return true
	}
	return int(t) < len(sizes) && sizes[t] > 0
}

func typeError(t nocopy.WireType) error { return fmt.Errorf("%w: %d", nocopy.ErrType, t) }
