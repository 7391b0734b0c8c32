package rpc

import (
	"encoding/binary"
	"slices"

	"github.com/nocopythrift/nocopythrift/internal/entry"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// sentField is a field that goes out with a call's arguments in the place of theirs with its id.
type sentField struct {
	id   int16
	wire []byte // header and value; empty: the arguments' are left out
}

// Field returns the value of the field of the arguments with this id, and whether there is one.
// The arguments' type need not have the field. If there are several, Field returns the first. It
// does not decode the fields before it. The value aliases Args and is valid as long as they are.
func (c *Call) Field(id int16) (nocopy.Value, bool) {
	for _, f := range c.fields {
		if f.id == id {
			if len(f.wire) == 0 {
				return nocopy.Value{}, false
			}
			return thriftimpl.ValueOfWire(nocopy.WireType(f.wire[0]), f.wire[3:]), true
		}
	}
	if thriftimpl.Struct(c.Args).Sendable() != nil { // it finishes them for one goroutine at a time
		return nocopy.Value{}, false
	}
	return thriftimpl.Struct(c.Args).FindField(id)
}

// SetField adds a field with this id at the end of the arguments, replacing any field with that
// id. Peers that do not know it skip it. wire holds the wire bytes of its value, of type t; they
// are copied. SetField does nothing and returns false if the arguments' type has a field with the
// id.
//
// On a client, Args stay unchanged. The field is sent with every later try of this Call, or of
// copies that are made of it later. Tries at the same time may therefore send different values. On
// a server, Args change. An interceptor must not change them while a next is under way.
func (c *Call) SetField(id int16, t nocopy.WireType, wire []byte) bool {
	if !thriftimpl.HasType(t, wire) {
		panic("nocopy: rpc.Call.SetField: the bytes are no " + t.String())
	}
	head := binary.BigEndian.AppendUint16([]byte{byte(t)}, uint16(id))
	return c.replaceField(id, slices.Concat(head, wire))
}

// RemoveField removes all fields with this id from the arguments. On a client, it affects every
// later try of this Call, and of copies that are made of it later. It does nothing and returns
// false if the arguments' type has a field with the id.
func (c *Call) RemoveField(id int16) bool { return c.replaceField(id, nil) }

func (c *Call) replaceField(id int16, wire []byte) bool {
	if c.Method == nil || c.Method.Args.NumberByID(id) >= 0 {
		return false
	}
	if c.clientTries == nil {
		args := thriftimpl.Struct(c.Args)
		args.RemoveFields(id)
		if len(wire) > 0 {
			args.AppendUnknown(c.Method.Args, id, thriftimpl.ValueOfWire(nocopy.WireType(wire[0]), wire[3:]))
		}
		return true
	}
	fields := slices.DeleteFunc(slices.Clone(c.fields), func(f sentField) bool { return f.id == id })
	c.fields = append(fields, sentField{id, wire}) // not in place: copies of the Call have the others
	return true
}

// tailOf returns what is sent of args, which are finished, with these fields: all but the parts in
// cuts and the STOP, and then the tail.
func tailOf(args nocopy.Struct, fields []sentField) (cuts []thriftimpl.Cut, tail []byte) {
	for _, f := range fields {
		_, all := thriftimpl.Struct(args).FindFields(f.id)
		cuts = append(cuts, all...)
		tail = append(tail, f.wire...)
	}
	if thriftimpl.Struct(args).CarriesIndex() { // of bytes that are others now
		_, all := thriftimpl.Struct(args).FindFields(entry.IndexID)
		cuts = append(cuts, all...)
	}
	slices.SortFunc(cuts, func(a, b thriftimpl.Cut) int { return a.From - b.From })
	return cuts, append(tail, byte(nocopy.WireStop))
}
