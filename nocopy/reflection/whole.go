package reflection

import (
	"errors"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/impl"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/jsonvalue"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// OfStruct returns s, which d describes, as a Message. For packages that make messages by their
// descriptors, such as package dynamic. It panics if s is the root of a message of another type.
func OfStruct(d *nocopy.Desc, s thriftimpl.Struct) Message {
	s.CheckDesc(d)
	return Message{s, d}
}

// ValueOf returns v as a Value that is set. For the same packages.
func ValueOf(v impl.Value) Value { return Value{v, true} }

// Message returns the message that contains m. Its Bytes are those of the whole message.
// m.AppendTo appends only those of m.
func (m Message) Message() *nocopy.Message { return nocopy.Struct(m.s).Message() }

// AppendTo appends a copy of the struct's wire bytes to dst.
func (m Message) AppendTo(dst []byte) []byte { return m.s.AppendStruct(dst, m.desc()) }

// Clone returns the root of a new message with a copy of m.
func (m Message) Clone() Message { return Message{m.s.Clone(m.desc()), m.desc()} }

// Release releases the message. m must be its root. Release does nothing for the zero Message.
func (m Message) Release() { m.s.Release() }

// MarshalJSON returns the message as JSON, as the method of generated types does; see package
// nocopyjson.
func (m Message) MarshalJSON() ([]byte, error) {
	return jsonvalue.MarshalValue(m.desc(), nocopy.Struct(m.s))
}

// MarshalJSONTo writes the message as JSON, as the method of generated types does.
func (m Message) MarshalJSONTo(e thriftimpl.JSONOut) error {
	return jsonvalue.MarshalTo(m.desc(), nocopy.Struct(m.s), e)
}

// UnmarshalJSON reads a JSON text as the method of generated types does, and sets *m to the root
// of a new message of the same type. It skips unknown fields; null gives an absent struct. The
// message that m referred to before is not changed. m may be an absent struct, but not the zero
// Message, which has no type; for that the error is ErrNoType. Other errors are an *nocopy.Error
// with the offset in the text. After an error *m is unchanged.
func (m *Message) UnmarshalJSON(text []byte) error {
	if m.d == nil {
		return ErrNoType
	}
	s, err := jsonvalue.UnmarshalValue(m.d, text)
	if err == nil {
		m.s = thriftimpl.Struct(s)
	}
	return err
}

// UnmarshalJSONFrom is UnmarshalJSON for encoding/json/v2, as the method of generated types is.
func (m *Message) UnmarshalJSONFrom(d thriftimpl.JSONIn) error {
	if m.d == nil {
		return ErrNoType
	}
	s, err := jsonvalue.UnmarshalFrom(m.d, d)
	if err == nil {
		m.s = thriftimpl.Struct(s)
	}
	return err
}

// ErrNoType is the error of reading JSON into the zero Message.
var ErrNoType = errors.New("JSON can't be read into the zero Message, which has no type: make it with New of a dynamic.Type")
