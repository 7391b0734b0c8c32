package dynamic

import (
	"io"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/descriptor"
	"github.com/nocopythrift/nocopythrift/nocopy/nocopyjson"
	"github.com/nocopythrift/nocopythrift/nocopy/reflection"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// Message is a message of any type: see package reflection for how fields are read and set by
// their names or ids.
type Message = reflection.Message

// Type is a struct, union or exception, of which messages can be made. The description that it has
// tells its fields. The zero Type describes none, and makes no messages.
type Type struct{ descriptor.Struct }

func typeOf(d *thriftimpl.Desc) Type { return Type{descriptor.Of(d)} }

// TypeOf returns the type of a message, also of a generated one.
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

// New returns a new message. Fields of fixed size are set unless optional; others are not. Of a
// union no field is set.
func (t Type) New(opts ...nocopy.Option) Message {
	return message(t.desc(), thriftimpl.New(t.desc(), opts...))
}

// Parse checks that b is exactly one message of the type and returns it. The message refers to b,
// which must stay as it is for as long as the message or anything read from it is in use; it is
// never written to unless the option nocopy.Own is given. The error is a *nocopy.Error.
func (t Type) Parse(b []byte, opts ...nocopy.Option) (Message, error) {
	s, err := thriftimpl.Parse(t.desc(), b, opts...)
	if err != nil {
		return Message{}, err
	}
	return message(t.desc(), s), nil
}

// Read reads n bytes from r, which are one message of the type, as nocopy.Read does.
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

// FromJSON returns a new message of a JSON text, as nocopyjson.Unmarshal does, with the options of
// package nocopyjson. The error is a *nocopy.Error with the offset in the text. nocopyjson.Marshal
// returns messages as JSON.
func (t Type) FromJSON(text []byte, opts ...nocopy.Option) (Message, error) {
	s, err := nocopyjson.UnmarshalAs(t.desc(), text, opts...)
	if err != nil {
		return Message{}, err
	}
	return message(t.desc(), thriftimpl.Struct(s)), nil
}
