package reflection

import (
	"fmt"
	"iter"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/descriptor"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// Message is a handle of a struct, union or exception of any type. The zero Message is an absent
// struct of no type, which has no fields.
type Message struct {
	s thriftimpl.Struct
	d *thriftimpl.Desc
}

// none describes the zero Message.
var none = func() *thriftimpl.Desc {
	d := thriftimpl.NewDesc("")
	d.Define()
	return d
}()

// desc returns the descriptor of the message's type, none if it has no type.
func (m Message) desc() *thriftimpl.Desc {
	if m.d == nil {
		return none
	}
	return m.d
}

// Of returns v as a Message. v is of a generated type, or a dynamic message.
func Of(v nocopy.AnyStruct) Message {
	thriftimpl.CheckNil(v)
	return Message{v.ThriftStruct(), v.ThriftDesc()}
}

// Descriptor returns the description of the message's type.
func (m Message) Descriptor() descriptor.Struct { return descriptor.Of(m.d) }

// ThriftDesc returns the descriptor of the message's type, nil if it has none.
func (m Message) ThriftDesc() *thriftimpl.Desc { return m.d }

// ThriftStruct returns the handle, so that a Message can be given to what takes messages of any
// type.
func (m Message) ThriftStruct() thriftimpl.Struct { return m.s }

// Valid reports whether the struct is there, as the Valid of generated types does.
func (m Message) Valid() bool { return m.s.Valid() }

// Range iterates over the fields that are set and that the IDL knows, in the IDL's order. What is
// being built in the message is completed first, so that required fields are among them; Has and
// Get read it as it is, like generated getters. The message must not be changed meanwhile, but for
// fields that are not containers.
func (m Message) Range() iter.Seq2[descriptor.Field, Value] {
	return func(yield func(descriptor.Field, Value) bool) {
		d := m.desc()
		m.s.Complete()
		for i := m.s.NextField(d, 0); i < d.NumFields(); i = m.s.NextField(d, i+1) {
			if m.s.HasField(m.desc().Field(i)) && !yield(m.Descriptor().Field(i), m.at(i)) {
				return
			}
		}
	}
}

// Unknown iterates over the fields that the IDL does not know, by their ids, as the Unknown of
// generated types does.
func (m Message) Unknown() iter.Seq2[int16, nocopy.Value] { return m.s.Unknown(m.desc()) }

// at returns field number i.
func (m Message) at(i int) Value {
	f := m.d.Field(i)
	return Value{m.s.Value(f, m.d), m.s.HasField(f)}
}

// A FieldError tells that a message has no field by a name or id, or that a value does not fit
// the field.
type FieldError struct {
	Struct string // the IDL's name of the message's type
	Field  string // the field's name, or its id where it was asked for by that
	Err    error
}

// Error names the struct and the field, and where in the field's value the fault is.
func (e *FieldError) Error() string {
	if in, ok := e.Err.(*ValueError); ok {
		return e.Struct + "." + e.Field + in.Error()
	}
	return e.Struct + "." + e.Field + ": " + e.Err.Error()
}

// Unwrap returns what is wrong with the field.
func (e *FieldError) Unwrap() error { return e.Err }

func (m Message) named(name string) (int, error) {
	if i := m.desc().NumberByName(name); i >= 0 {
		return i, nil
	}
	return -1, &FieldError{m.desc().Name(), name, descriptor.ErrNotFound}
}

func (m Message) withID(id int16) (int, error) {
	if i := m.desc().NumberByID(id); i >= 0 {
		return i, nil
	}
	return -1, &FieldError{m.desc().Name(), fmt.Sprint(id), descriptor.ErrNotFound}
}

// Has reports whether the field with a name is set. If there is no such field it is not.
func (m Message) Has(name string) bool { return m.has(m.desc().NumberByName(name)) }

// HasID is Has by the field's id.
func (m Message) HasID(id int16) bool { return m.has(m.desc().NumberByID(id)) }

func (m Message) has(i int) bool { return i >= 0 && m.s.HasField(m.d.Field(i)) }

// Get returns the field with a name: of one that is not set the IDL's default, or the zero value.
// The error is a *FieldError, if there is no such field.
func (m Message) Get(name string) (Value, error) {
	i, err := m.named(name)
	if err != nil {
		return Value{}, err
	}
	return m.at(i), nil
}

// GetID is Get by the field's id.
func (m Message) GetID(id int16) (Value, error) {
	i, err := m.withID(id)
	if err != nil {
		return Value{}, err
	}
	return m.at(i), nil
}

// Set sets the field with a name to v, which is one of
//
//   - a Value, List or Map, or a message of the field's type;
//   - the Go value that Value's Interface returns for the field's type, or one of a type that is
//     derived from it;
//   - for integers, any of Go's integers, and a float64 that is a whole number up to 2⁵³; for
//     doubles also an integer, if a double can be it exactly; for both a json.Number;
//   - for enums also the name of a value;
//   - for strings and binaries, both a string and a []byte;
//   - for lists and sets, a slice or array of such values, such as []any or []string. Of elements
//     that come twice in a set one is left, unless they are structs or containers: these must
//     differ;
//   - for maps, a Go map, such as map[string]any, or a []Pair. Keys may also be texts of numbers,
//     bools and uuids. Of keys that are the same the last counts, in a Go map by their text;
//   - for structs, a Go map from the names of fields to their values, of which those that are nil
//     are not set.
//
// Structs and containers are copied, by reference where they are large, and a []byte of 4 KiB and
// more is referred to, as generated setters do. The error is a *FieldError, which tells where in v
// the fault is: then nothing was set. nil is no value: Unset removes a field.
func (m Message) Set(name string, v any) error {
	i, err := m.named(name)
	if err != nil {
		return err
	}
	return m.set(i, v)
}

// SetID is Set by the field's id.
func (m Message) SetID(id int16, v any) error {
	i, err := m.withID(id)
	if err != nil {
		return err
	}
	return m.set(i, v)
}

func (m Message) set(i int, v any) error {
	f := m.d.FieldDesc(i)
	x, err := convert(f.Type, v, 0)
	if err != nil {
		return &FieldError{m.d.Name(), f.Name, withinField(m.d, f, err)}
	}
	m.s.SetValue(m.d.Field(i), m.d, x)
	return nil
}

// New sets the field with a name, a struct or container, to an empty one and returns it to be
// filled. The error is a *FieldError.
func (m Message) New(name string) (Value, error) {
	i, err := m.named(name)
	if err != nil {
		return Value{}, err
	}
	f := m.d.FieldDesc(i)
	if !isHandle(f.Type) {
		return Value{}, &FieldError{m.d.Name(), f.Name, fmt.Errorf("%v is no struct or container", f.Type)}
	}
	return Value{m.s.NewValue(m.d.Field(i), m.d, 0), true}, nil
}

// Unset removes the field with a name; a required one gets its default back. The error is a
// *FieldError, if there is no such field.
func (m Message) Unset(name string) error {
	i, err := m.named(name)
	if err == nil {
		m.s.UnsetValue(m.d.Field(i), m.d)
	}
	return err
}

// UnsetID is Unset by the field's id.
func (m Message) UnsetID(id int16) error {
	i, err := m.withID(id)
	if err == nil {
		m.s.UnsetValue(m.d.Field(i), m.d)
	}
	return err
}
