package gateway

import (
	"encoding/binary"
	"errors"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/dynamic"
)

// errNotInBody is the error for a field that comes from elsewhere than the body, or from nowhere.
var errNotInBody = errors.New("the body can't have this field")

// thriftMessage returns the message that a body in Thrift Binary is. All of it is checked:
// other Thrift servers than ours close a connection on which malformed arguments come, and other
// requests use that, too.
// A field that can't be in JSON can't be in the body either.
func (r *route) thriftMessage(body []byte) (dynamic.Message, error) {
	msg, err := r.root.typ().Parse(body, nocopy.ValidUTF8, limits)
	if err != nil {
		return msg, err
	}
	walk := bodyWalk{body: body}
	if err := walk.structure(r.root.fields); err != nil {
		err.Path = r.root.desc.Name() + "." + err.Path
		return msg, err
	}
	return msg, nil
}

// A bodyWalk passes over a struct that Parse has accepted. If a field comes several times, it
// looks at each occurrence: Parse keeps the last one, but another library may merge them.
type bodyWalk struct {
	body []byte
	at   int // how far it has come
}

// structure passes over a struct. fields are the fields of its view, nil if it has none. It
// returns an error if the body has a field that must come from elsewhere, even with another type
// than the IDL's. The error's path begins with the names of fields.
func (w *bodyWalk) structure(fields map[int16]viewField) *nocopy.Error {
	for {
		start := w.at
		w.at++
		wire := nocopy.WireType(w.body[start])
		if wire == nocopy.WireStop {
			return nil
		}
		f := fields[int16(binary.BigEndian.Uint16(w.body[w.at:]))]
		w.at += 2
		if f.elsewhere {
			return &nocopy.Error{Offset: start, Path: f.name, Err: errNotInBody}
		}
		if err := w.value(wire, f.nested()); err != nil {
			err.Path = f.name + "." + err.Path
			return err
		}
	}
}

// value passes over a value. If it is a struct with a view, fields are the view's fields.
func (w *bodyWalk) value(wire nocopy.WireType, fields map[int16]viewField) *nocopy.Error {
	switch wire {
	case nocopy.WireStruct:
		return w.structure(fields)
	case nocopy.WireString:
		n := w.number()
		w.at += n
	case nocopy.WireList, nocopy.WireSet:
		elem := nocopy.WireType(w.body[w.at])
		w.at++
		for range w.number() {
			w.value(elem, nil)
		}
	case nocopy.WireMap:
		key, elem := nocopy.WireType(w.body[w.at]), nocopy.WireType(w.body[w.at+1])
		w.at += 2
		for range w.number() {
			w.value(key, nil)
			w.value(elem, nil)
		}
	default:
		w.at += sizes[wire]
	}
	return nil
}

// number returns the length of a text, or the number of elements, that is next in the body.
func (w *bodyWalk) number() int {
	w.at += 4
	return int(binary.BigEndian.Uint32(w.body[w.at-4:]))
}

// sizes has the sizes of the values of fixed size, by their wire types.
var sizes = [...]int{
	nocopy.WireBool: 1, nocopy.WireI8: 1, nocopy.WireI16: 2, nocopy.WireI32: 4, nocopy.WireI64: 8,
	nocopy.WireDouble: 8, nocopy.WireUUID: 16,
}
