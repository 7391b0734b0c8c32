package reflection

import (
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/nocopyjson"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// OfStruct returns s, which d describes, as a Message. For packages that make messages by their
// descriptors, such as package dynamic.
func OfStruct(d *thriftimpl.Desc, s thriftimpl.Struct) Message { return Message{s, d} }

// ValueOf returns v as a Value that is set. For the same packages.
func ValueOf(v thriftimpl.Value) Value { return Value{v, true} }

// Message returns the message that holds m: its Bytes are those of the whole message, AppendTo's
// those of m alone.
func (m Message) Message() *nocopy.Message { return m.s.Message() }

// AppendTo appends the struct's wire bytes to dst.
func (m Message) AppendTo(dst []byte) []byte { return m.s.AppendStruct(dst, m.desc()) }

// Clone returns the root of a message of its own with a copy of m.
func (m Message) Clone() Message { return Message{m.s.Clone(m.desc()), m.desc()} }

// Release releases the message, of which m must be the root. Of the zero Message it does nothing.
func (m Message) Release() { m.s.Release() }

// ValueFor returns v, of which Message's Set tells what it can be, as a value of type t. For the
// same packages. The error tells why v can't be one.
func ValueFor(t *thriftimpl.Type, v any) (thriftimpl.Value, error) { return valueFor(t, v) }

// MarshalJSON returns the message as JSON, as package nocopyjson has it.
func (m Message) MarshalJSON() ([]byte, error) { return nocopyjson.Marshal(m) }
