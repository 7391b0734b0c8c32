package dynamic

import (
	"io"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/descriptor"
	"github.com/nocopythrift/nocopythrift/nocopy/nocopyjson"
	"github.com/nocopythrift/nocopythrift/nocopy/reflection"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// Message is a message of any type. Package reflection documents how its fields are read and set
// by name or id.
type Message = reflection.Message

// Type is a struct, union or exception, and makes messages. Its embedded description has the
// fields. The zero Type describes none, and makes no messages.
type Type struct{ descriptor.Struct }

func typeOf(d *thriftimpl.Desc) Type { return Type{descriptor.StructOfDesc(d)} }

// TypeOf returns the type of a message, which may also be generated.
func TypeOf(m nocopy.AnyStruct) Type { return Type{descriptor.StructOf(m)} }

// message returns s, which d describes, as a Message.
func message(d *thriftimpl.Desc, s thriftimpl.Struct) Message { return reflection.OfStruct(d, s) }

// desc returns the descriptor. It panics if there is none.
func (t Type) desc() *thriftimpl.Desc {
	if !t.Valid() {
		panic("nocopy: a message of the zero dynamic.Type")
	}
	return t.Desc()
}

// New returns a new message. Fields of fixed size are set, unless they are optional; others are
// not. In a union no field is set.
func (t Type) New(opts ...nocopy.Option) Message {
	return message(t.desc(), thriftimpl.New(t.desc(), opts...))
}

// Parse checks that b is exactly one message of the type and returns it. The message refers to b,
// which must not change while the message, or anything read from it, is in use. Nothing writes to
// b, except with the option nocopy.Own. The error is a *nocopy.Error.
func (t Type) Parse(b []byte, opts ...nocopy.Option) (Message, error) {
	s, err := thriftimpl.Parse(t.desc(), b, opts...)
	if err != nil {
		return Message{}, err
	}
	return message(t.desc(), s), nil
}

// Read reads one message of n bytes from r, as nocopy.Read does.
func (t Type) Read(r io.Reader, n int, opts ...nocopy.Option) (Message, error) {
	s, err := nocopy.Read[nocopy.Struct](t.desc(), r, n, opts...)
	if err != nil {
		return Message{}, err
	}
	return message(t.desc(), thriftimpl.Struct(s)), nil
}

func isHandle(t *thriftimpl.Type) bool {
	switch t.Wire() {
	case nocopy.WireStruct, nocopy.WireList, nocopy.WireSet, nocopy.WireMap:
		return true
	}
	return false
}

// FromJSON returns a new message from a JSON text, as nocopyjson.Unmarshal does. It accepts the
// options of package nocopyjson. The error is a *nocopy.Error with the offset in the text.
// nocopyjson.Marshal does the reverse.
func (t Type) FromJSON(text []byte, opts ...nocopy.Option) (Message, error) {
	s, err := nocopyjson.UnmarshalAs(t.desc(), text, opts...)
	if err != nil {
		return Message{}, err
	}
	return message(t.desc(), thriftimpl.Struct(s)), nil
}
