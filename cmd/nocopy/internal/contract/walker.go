package contract

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/nocopythrift/nocopythrift/internal/valuerules"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/descriptor"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// A walker compares the wire bytes of one message with its type. The bytes are well-formed, since
// they have been read as a message of unknown type; they are not nested deeper than that may be.
type walker struct {
	*Verifier
	side   string
	method descriptor.Method
	name   string // the method's, as findings have it
	wire   []byte // what is left

	path     []byte
	hidden   int // how many redacted fields are around the value
	findings int
}

// found counts a finding about the value at the path.
func (w *walker) found(kind, text, detail string) {
	w.findings++
	w.Verifier.found(Finding{Side: w.side, Method: w.name, Path: string(w.path), Kind: kind, Text: text}, detail)
}

// root compares the arguments or the result of the method, whose type is s.
func (w *walker) root(s descriptor.Struct) {
	w.path = []byte(w.pathOf(""))
	if w.side == server {
		w.path = []byte("reply") // of fields that are none of the result's
	}
	known := w.structure(s, true)
	_, returns := w.method.Returns()
	switch {
	case w.side == client:
	case known > 1:
		w.found(twoResults, fmt.Sprintf("%d of result and exceptions are set, clients take one", known), "")
	case returns && known == 0 && w.findings == 0:
		w.found(noResult, "neither a result nor an exception of the IDL", "")
	}
}

// pathOf returns the path that findings have for one in the arguments or the result.
func (w *walker) pathOf(path string) string {
	if w.side == client {
		return strings.TrimSuffix("args."+path, ".")
	}
	name := path
	if end := strings.IndexAny(path, ".["); end >= 0 {
		name = path[:end]
	}
	f, ok := w.method.Result().ByName(name)
	switch rest := path[len(name):]; {
	case ok && f.ID() == 0:
		return "result" + rest
	case ok:
		return f.Type().Struct().Name() + rest
	}
	return path
}

// enter adds a field to the path. leave takes it away.
func (w *walker) enter(f descriptor.Field, root bool) (leave func()) {
	before := w.path
	switch {
	case w.hidden > 0:
	case root:
		w.path = []byte(w.pathOf(f.Name()))
	default:
		w.path = append(append(w.path, '.'), f.Name()...)
	}
	hides := valuerules.Redacts(f) || valuerules.Redacts(f.Struct())
	if hides {
		w.hidden++
	}
	return func() {
		if hides {
			w.hidden--
		}
		w.path = before
	}
}

// structure compares a struct, and returns how many of its fields are there.
func (w *walker) structure(s descriptor.Struct, root bool) (known int) {
	seen := make([]bool, s.NumFields())
	for {
		t := nocopy.WireType(w.number(1))
		if t == nocopy.WireStop {
			break
		}
		id := int16(w.number(2))
		f, ok := s.ByID(id)
		if !ok {
			if !root || id != rpc.HeaderField {
				w.unknown(id, t)
			}
			w.skip(t)
			continue
		}
		seen[f.Index()] = true
		known++
		leave := w.enter(f, root)
		w.value(t, f.Type())
		leave()
	}
	for f := range s.Fields() {
		if f.Requiredness() == descriptor.Required && !seen[f.Index()] {
			leave := w.enter(f, root)
			w.found(missingRequired, "is required, and missing", "")
			leave()
		}
	}
	if s.Shape() == descriptor.ShapeUnion && known != 1 {
		text := fmt.Sprintf("%d fields of the union %s are set", known, s.Name())
		w.found(unionFields, text, text)
	}
	return known
}

// unknown reports a field that the IDL does not have.
func (w *walker) unknown(id int16, t nocopy.WireType) {
	before := len(w.path)
	if w.hidden == 0 {
		w.path = strconv.AppendInt(append(w.path, '.'), int64(id), 10)
	}
	w.found(unknownField, fmt.Sprintf("the IDL has no such field (%s)", t), t.String())
	w.path = w.path[:before]
}

// value compares a value whose type on the wire is t.
func (w *walker) value(t nocopy.WireType, typ descriptor.Type) {
	if t != typ.WireType() {
		w.mismatch(t.String(), typ)
		w.skip(t)
		return
	}
	switch t {
	case nocopy.WireStruct:
		w.structure(typ.Struct(), false)
	case nocopy.WireList, nocopy.WireSet:
		elem, n := nocopy.WireType(w.number(1)), int32(w.number(4))
		if n > 0 && elem != typ.Elem().WireType() {
			w.mismatch(fmt.Sprintf("%s of %s", t, elem), typ)
			w.skipAll(n, elem)
			return
		}
		w.elements(n, typ.Elem())
	case nocopy.WireMap:
		key, elem, n := nocopy.WireType(w.number(1)), nocopy.WireType(w.number(1)), int32(w.number(4))
		if n > 0 && (key != typ.Key().WireType() || elem != typ.Elem().WireType()) {
			w.mismatch(fmt.Sprintf("map of %s and %s", key, elem), typ)
			w.skipAll(n, key, elem)
			return
		}
		w.elements(n, typ.Key(), typ.Elem())
	case nocopy.WireString:
		if text := w.bytes(int(int32(w.number(4)))); !typ.IsBinary() && !utf8.Valid(text) {
			w.found(notUTF8, "is not UTF-8", "")
		}
	case nocopy.WireI32:
		w.enum(int32(w.number(4)), typ.Enum())
	default:
		w.skip(t)
	}
}

// mismatch reports a value of another type than the IDL's.
func (w *walker) mismatch(have string, typ descriptor.Type) {
	w.found(wrongType, fmt.Sprintf("is of the type %s, the IDL has %s", have, typ), have)
}

// enum compares a number with the values of an enum, if it is of one.
func (w *walker) enum(n int32, e descriptor.Enum) {
	if !e.Valid() {
		return
	}
	if _, ok := e.ByNumber(n); ok {
		return
	}
	shown := "the value"
	if w.hidden == 0 {
		shown = strconv.Itoa(int(n))
	}
	w.found(notInEnum, fmt.Sprintf("%s is not in the enum %s", shown, e.Name()), "")
}

// elements compares what is in a container: n times values of these types.
func (w *walker) elements(n int32, types ...descriptor.Type) {
	before := len(w.path)
	if w.hidden == 0 {
		w.path = append(w.path, "[*]"...)
	}
	for range n {
		for _, typ := range types {
			w.value(typ.WireType(), typ)
		}
		if len(w.wire) == 0 {
			break
		}
	}
	w.path = w.path[:before]
}

// skip skips a value of a type.
func (w *walker) skip(t nocopy.WireType) {
	switch t {
	case nocopy.WireBool, nocopy.WireI8:
		w.bytes(1)
	case nocopy.WireI16:
		w.bytes(2)
	case nocopy.WireI32:
		w.bytes(4)
	case nocopy.WireI64, nocopy.WireDouble:
		w.bytes(8)
	case nocopy.WireUUID:
		w.bytes(16)
	case nocopy.WireString:
		w.bytes(int(int32(w.number(4))))
	case nocopy.WireStruct:
		for t := nocopy.WireType(w.number(1)); t != nocopy.WireStop; t = nocopy.WireType(w.number(1)) {
			w.bytes(2)
			w.skip(t)
		}
	case nocopy.WireList, nocopy.WireSet:
		elem := nocopy.WireType(w.number(1))
		w.skipAll(int32(w.number(4)), elem)
	case nocopy.WireMap:
		key, elem := nocopy.WireType(w.number(1)), nocopy.WireType(w.number(1))
		w.skipAll(int32(w.number(4)), key, elem)
	default:
		w.wire = nil
	}
}

// skipAll skips n times values of these types.
func (w *walker) skipAll(n int32, types ...nocopy.WireType) {
	for range n {
		for _, t := range types {
			w.skip(t)
		}
		if len(w.wire) == 0 {
			break
		}
	}
}

// bytes takes bytes off the wire. If there are fewer, it takes all, and returns none.
func (w *walker) bytes(n int) []byte {
	if n < 0 || n > len(w.wire) {
		w.wire = nil
		return nil
	}
	b := w.wire[:n]
	w.wire = w.wire[n:]
	return b
}

// number takes a number of up to 4 bytes off the wire; 0 if there are fewer bytes, as at the end
// of a struct.
func (w *walker) number(size int) uint32 {
	var b [4]byte
	copy(b[4-size:], w.bytes(size))
	return binary.BigEndian.Uint32(b[:])
}
