package nocopy

import (
	"log/slog"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/render"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// Desc is the descriptor of a struct, union or exception. Generated code has one for each type,
// such as order.OrderDesc. Functions that work on messages of any type take it. Package descriptor
// reads it. Programs may call Name. Its other methods are for generated code and the engine, and
// may change.
type Desc = schema.Struct

// View is the constraint that every handle satisfies: handles of generated structs and of
// containers.
type View interface{ engine.View }

// StructView is the constraint that handles of generated structs, unions and exceptions satisfy. A
// generic function learns the type of its parameter from ThriftDesc.
type StructView interface {
	View
	// ThriftDesc returns the descriptor of the type, which package descriptor reads.
	ThriftDesc() *Desc
}

// AnyStruct is a handle of any generated type, or of a type known only by its descriptor. Packages
// that work on messages of all types accept it.
type AnyStruct interface {
	// ThriftDesc returns the descriptor of the type, which package descriptor reads.
	ThriftDesc() *Desc
	// ThriftStruct returns the handle without its type: Struct(s.ThriftStruct()) is a [Struct].
	ThriftStruct() engine.Struct
}

// AnyHandle is a handle of any generated struct type, which is also an AnyStruct, or of a list,
// set or map.
type AnyHandle interface{ ThriftStruct() engine.Struct }

// Struct is the handle of a struct of any type. It consists of a message, the message's generation
// and an entry of its index. Generated types are declared with it, as in type Order nocopy.Struct.
// Handles are values: they may be copied freely, and end with the message's Release. Compare them
// with their method Equal: a == b is true only for two handles of one place in one message.
//
// To read its fields, convert a Struct to its generated type, as in Order(s). After conversion to
// another type, the values that it reads mean nothing, and the program may panic or run out of
// memory. It never reads or writes memory outside the message.
//
// A setter refuses a handle that was converted to another type, before it changes anything, if it
// can tell the type. It can for a root, and for a list, set or map. A struct inside a message does
// not know its type: a word for that would make each index larger, and checking the bytes would
// take as long as copying them. If it is set as another type, the message may then contain a part
// of it, or bytes that peers refuse. Release that message.
//
// Two packages of generated code may have the same struct, such as code of two versions. If both
// declare it alike, with the fields in one order, and the structs in it, too, a handle of one may
// be converted to the type of the other: getters, setters, Clone and JSON accept it.
type Struct engine.Struct

// Message returns the message of the struct. It must not be used after Release. For an absent
// struct, or the zero handle, it is an empty message that can't be changed.
func (s Struct) Message() *Message { return (*Message)(engine.Struct(s).Message()) }

// Valid reports whether the struct is present. It is false for the handle of an absent struct and
// for the zero handle.
func (s Struct) Valid() bool { return engine.Struct(s).Valid() }

// Release releases the message. s must be its root. Release does nothing if s is absent, or if the
// message is already released. With the build tag nocopydebug a second Release panics.
func (s Struct) Release() { engine.Struct(s).Release() }

// StringAs returns the struct, which d describes, as text, as its type's String does. For the zero
// handle, such as the result of a oneway call, d may be nil.
func (s Struct) StringAs(d *Desc) string {
	engine.Struct(s).CheckDesc(d)
	return render.Text(engine.Struct(s), d)
}

// Format is StringAs.
//
// Deprecated: Use StringAs. This is not the method of [fmt.Formatter].
//
//go:fix inline
func (s Struct) Format(d *Desc) string { return s.StringAs(d) }

// String returns the root of a message, such as arguments and results of package rpc, as text, as
// its type's String does. For another struct, whose type is unknown here, it returns only a
// placeholder; use StringAs.
func (s Struct) String() string {
	if d := engine.Struct(s).RootDesc(); d != nil {
		return render.Text(engine.Struct(s), d)
	}
	return engine.Struct(s).UnknownText()
}

// GoString returns the text of String after the type's name, for %#v.
func (s Struct) GoString() string {
	if d := engine.Struct(s).RootDesc(); d != nil {
		return d.Name() + render.Text(engine.Struct(s), d)
	}
	return engine.Struct(s).UnknownText()
}

// LogValue returns the root of a message for package slog, as its type's LogValue does. For
// another struct it returns the text of String.
func (s Struct) LogValue() slog.Value {
	if d := engine.Struct(s).RootDesc(); d != nil {
		return render.LogValue(engine.Struct(s), d)
	}
	return slog.StringValue(engine.Struct(s).UnknownText())
}

// Clone returns the root of a new message with a copy of the struct, which d describes. Small
// copies share slabs of 64 KiB; see Message.Repack.
func (s Struct) Clone(d *Desc) Struct {
	engine.Struct(s).CheckDesc(d)
	return Struct(engine.Struct(s).Clone(d))
}
