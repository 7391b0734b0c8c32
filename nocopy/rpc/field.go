package rpc

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/impl"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/client"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// Field returns the value of the field of the arguments with this id, and whether there is one.
// The arguments' type need not have the field. If there are several, Field returns the first. It
// does not decode the fields before it. The value aliases Args and is valid as long as they are.
func (c *Call) Field(id int16) (nocopy.Value, bool) {
	for _, f := range c.fields {
		if f.ID == id {
			if len(f.Wire) == 0 {
				return nocopy.Value{}, false
			}
			return impl.ValueOfWire(nocopy.WireType(f.Wire[0]), f.Wire[3:]), true
		}
	}
	if thriftimpl.Struct(c.Args).Sendable() != nil { // it finishes them for one goroutine at a time
		return nocopy.Value{}, false
	}
	v, ok := thriftimpl.Struct(c.Args).FindField(id)
	return nocopy.Value(v), ok
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
	if !impl.HasType(t, wire) {
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
	if !c.onClient() {
		args := thriftimpl.Struct(c.Args)
		args.RemoveFields(id)
		if len(wire) > 0 {
			args.AppendUnknown(c.Method.Args, id, impl.WireValue(impl.ValueOfWire(nocopy.WireType(wire[0]), wire[3:])))
		}
		return true
	}
	fields := slices.DeleteFunc(slices.Clone(c.fields), func(f client.Field) bool { return f.ID == id })
	// Not in place: copies of the Call have the others
	c.fields = append(fields, client.Field{ID: id, Wire: wire})
	return true
}

// This file has Field and SetField for each base type. Getters report false if the first field
// with the id is of another type, or there is none; setters as SetField does.

// Bool returns the bool in the field of the arguments with this id, and whether there is one; see
// Field.
func (c *Call) Bool(id int16) (bool, bool) {
	v, ok := c.Field(id)
	return v.Bool(), ok && v.Type == nocopy.WireBool
}

// Int8 returns the i8 in a field of the arguments, as Bool does for a bool.
func (c *Call) Int8(id int16) (int8, bool) {
	v, ok := c.Field(id)
	return v.Int8(), ok && v.Type == nocopy.WireI8
}

// Int16 returns the i16 in a field of the arguments, as Bool does for a bool.
func (c *Call) Int16(id int16) (int16, bool) {
	v, ok := c.Field(id)
	return v.Int16(), ok && v.Type == nocopy.WireI16
}

// Int32 returns the i32 or enum in a field of the arguments, as Bool does for a bool.
func (c *Call) Int32(id int16) (int32, bool) {
	v, ok := c.Field(id)
	return v.Int32(), ok && v.Type == nocopy.WireI32
}

// Int64 returns the i64 in a field of the arguments, as Bool does for a bool.
func (c *Call) Int64(id int16) (int64, bool) {
	v, ok := c.Field(id)
	return v.Int64(), ok && v.Type == nocopy.WireI64
}

// Float64 returns the double in a field of the arguments, as Bool does for a bool.
func (c *Call) Float64(id int16) (float64, bool) {
	v, ok := c.Field(id)
	return v.Float64(), ok && v.Type == nocopy.WireDouble
}

// UUID returns the uuid in a field of the arguments, as Bool does for a bool.
func (c *Call) UUID(id int16) (nocopy.UUID, bool) {
	v, ok := c.Field(id)
	return v.UUID(), ok && v.Type == nocopy.WireUUID
}

// Text returns the string in the field of the arguments with this id, and whether there is one;
// see Field. It aliases Args and is valid as long as they are.
func (c *Call) Text(id int16) (string, bool) {
	v, ok := c.Field(id)
	return v.Text(), ok && v.Type == nocopy.WireString
}

// Bytes returns the binary in a field of the arguments, as Text does for a string. It must not be
// changed.
func (c *Call) Bytes(id int16) ([]byte, bool) {
	v, ok := c.Field(id)
	return v.Bytes(), ok && v.Type == nocopy.WireString
}

// SetBool adds a bool to the arguments, in a field with this id; see SetField. It does nothing and
// returns false if the arguments' type has a field with the id.
func (c *Call) SetBool(id int16, v bool) bool {
	b := byte(0)
	if v {
		b = 1
	}
	return c.SetField(id, nocopy.WireBool, []byte{b})
}

// SetInt8 adds an i8 to the arguments, as SetBool does for a bool.
func (c *Call) SetInt8(id int16, v int8) bool {
	return c.SetField(id, nocopy.WireI8, []byte{byte(v)})
}

// SetInt16 adds an i16 to the arguments, as SetBool does for a bool.
func (c *Call) SetInt16(id int16, v int16) bool {
	return c.SetField(id, nocopy.WireI16, binary.BigEndian.AppendUint16(nil, uint16(v)))
}

// SetInt32 adds an i32 or enum to the arguments, as SetBool does for a bool.
func (c *Call) SetInt32(id int16, v int32) bool {
	return c.SetField(id, nocopy.WireI32, binary.BigEndian.AppendUint32(nil, uint32(v)))
}

// SetInt64 adds an i64 to the arguments, as SetBool does for a bool.
func (c *Call) SetInt64(id int16, v int64) bool {
	return c.SetField(id, nocopy.WireI64, binary.BigEndian.AppendUint64(nil, uint64(v)))
}

// SetFloat64 adds a double to the arguments, as SetBool does for a bool.
func (c *Call) SetFloat64(id int16, v float64) bool {
	return c.SetField(id, nocopy.WireDouble, binary.BigEndian.AppendUint64(nil, math.Float64bits(v)))
}

// SetUUID adds a uuid to the arguments, as SetBool does for a bool.
func (c *Call) SetUUID(id int16, v nocopy.UUID) bool {
	return c.SetField(id, nocopy.WireUUID, v[:])
}

// SetText adds a copy of a string to the arguments, as SetBool does for a bool.
func (c *Call) SetText(id int16, v string) bool {
	return c.SetField(id, nocopy.WireString, append(binary.BigEndian.AppendUint32(nil, uint32(len(v))), v...))
}

// SetBytes adds a copy of a binary to the arguments, as SetBool does for a bool.
func (c *Call) SetBytes(id int16, v []byte) bool {
	return c.SetField(id, nocopy.WireString, append(binary.BigEndian.AppendUint32(nil, uint32(len(v))), v...))
}
