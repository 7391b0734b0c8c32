package reflection

import (
	"fmt"
	"iter"
	"strings"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/descriptor"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/impl"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// Message is a handle of a struct, union or exception of any type. The zero Message is an absent
// struct of no type, which has no fields.
type Message struct {
	s thriftimpl.Struct
	d *thriftimpl.Desc
}

// none is the descriptor of the zero Message.
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

// Of returns v as a Message. v has a generated type, or is a dynamic message. Of panics if v is
// nil, or a root that was converted to another type that the IDL declares differently.
func Of(v nocopy.AnyStruct) Message {
	impl.CheckNil(v)
	d, s := v.ThriftDesc(), v.ThriftStruct()
	if d != nil {
		s.CheckDesc(d)
	}
	return Message{s, d}
}

// Descriptor returns the description of the message's type.
func (m Message) Descriptor() descriptor.Struct { return descriptor.StructOfDesc(m.d) }

// ThriftDesc returns the descriptor of the message's type, or nil for the zero Message.
func (m Message) ThriftDesc() *nocopy.Desc { return m.d }

// ThriftStruct returns the handle. It lets functions that accept messages of any type accept a
// Message.
func (m Message) ThriftStruct() thriftimpl.Struct { return m.s }

// Valid reports whether the struct is present, as Valid of generated types does.
func (m Message) Valid() bool { return m.s.Valid() }

// All iterates over the known fields that are set, in the IDL's order. It first completes what
// is being built in the message, which sets required fields. (Has and Get do not, as generated
// getters do not.) During the iteration, only fields that are not containers may be changed.
func (m Message) All() iter.Seq2[descriptor.Field, Value] {
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

// Unknown iterates over the fields that the IDL does not know, with their ids, as Unknown of
// generated types does.
func (m Message) Unknown() iter.Seq2[int16, nocopy.Value] { return impl.UnknownOf(m.s, m.desc()) }

// at returns the value of field number i.
func (m Message) at(i int) Value {
	f := m.d.Field(i)
	return Value{m.s.Value(f, m.d), m.s.HasField(f)}
}

// A FieldError reports that a message has no field with a name or id, or that a value does not fit
// the field.
type FieldError struct {
	Struct string // the IDL's name of the message's type
	Field  string // the field's name, or its id if the program used the id
	Err    error
}

// Error names the struct, the field, and the place of the fault in the field's value.
func (e *FieldError) Error() string {
	if in, ok := e.Err.(*ValueError); ok {
		return e.Struct + "." + e.Field + in.Error()
	}
	return e.Struct + "." + e.Field + ": " + e.Err.Error()
}

// Unwrap returns the reason.
func (e *FieldError) Unwrap() error { return e.Err }

func (m Message) named(name string) (int, error) {
	if i := m.desc().NumberByName(name); i >= 0 {
		return i, nil
	}
	return -1, &FieldError{m.desc().Name(), name, noField(m.desc(), name)}
}

// noField returns the error for a name that no field of the struct has. It lists the existing
// names, up to mostNames bytes. If name is a path, it says that only Lookup takes paths.
func noField(d *thriftimpl.Desc, name string) error {
	var has strings.Builder
	for i := range d.NumFields() {
		if f := d.FieldDesc(i).Name; has.Len()+len(f) <= mostNames {
			has.WriteString(", " + f)
		} else {
			has.WriteString(", …")
			break
		}
	}
	fields := strings.TrimPrefix(has.String(), ", ")
	if fields == "" {
		fields = "none"
	}
	err := fmt.Errorf("%w; the fields are %s", descriptor.ErrNotFound, fields)
	if i := strings.IndexAny(name, ".["); i > 0 {
		if d.NumberByName(name[:i]) >= 0 {
			return fmt.Errorf("%w: %s is a field, and only Lookup follows a path from there", descriptor.ErrNotFound, name[:i])
		}
		return fmt.Errorf("%w. Only Lookup takes paths", err)
	}
	return err
}

const mostNames = 200

func (m Message) withID(id int16) (int, error) {
	if i := m.desc().NumberByID(id); i >= 0 {
		return i, nil
	}
	return -1, &FieldError{m.desc().Name(), fmt.Sprint(id), descriptor.ErrNotFound}
}

// Has reports whether the field with this name is set. It is false if there is no such field.
func (m Message) Has(name string) bool { return m.has(m.desc().NumberByName(name)) }

// HasByID is Has by field id.
func (m Message) HasByID(id int16) bool { return m.has(m.desc().NumberByID(id)) }

func (m Message) has(i int) bool { return i >= 0 && m.s.HasField(m.d.Field(i)) }

// Get returns the field with this name. If the field is not set, Get returns the IDL's default or
// the zero value. The error is a *FieldError if there is no such field.
func (m Message) Get(name string) (Value, error) {
	i, err := m.named(name)
	if err != nil {
		return Value{}, err
	}
	return m.at(i), nil
}

// GetByID is Get by field id.
func (m Message) GetByID(id int16) (Value, error) {
	i, err := m.withID(id)
	if err != nil {
		return Value{}, err
	}
	return m.at(i), nil
}

// Set sets the field with this name to v. Which values it accepts depends on the field's type:
//
//   - for all types, a Value, List or Map, a message of the field's type, or the Go value that
//     Value's Interface returns, also of a type derived from it;
//   - for integers, any of Go's integers, a float64 that is a whole number up to 2⁵³, or a
//     json.Number;
//   - for doubles, an integer that a double can represent exactly, or a json.Number;
//   - for enums, the name of a value;
//   - for strings and binaries, a string or a []byte;
//   - for lists and sets, a slice or array of such values, such as []any or []string. Repeated
//     elements of a set are left out; structs and containers in a set must differ;
//   - for maps, a Go map, such as map[string]any, or a []Pair. Keys may also be texts of numbers,
//     bools and uuids. Of equal keys the last counts, in a Go map by their text;
//   - for structs, a Go map from field names to values. Nil values are not set.
//
// Structs and containers are copied; large parts are linked. A []byte of 4 KiB or more is referred
// to, and must not change until the message is released. The error is a *FieldError with the place
// of the fault in v; nothing was set then. nil is not a value: use Unset to remove a field.
func (m Message) Set(name string, v any) error {
	i, err := m.named(name)
	if err != nil {
		return err
	}
	return m.set(i, v)
}

// SetByID is Set by field id.
func (m Message) SetByID(id int16, v any) error {
	i, err := m.withID(id)
	if err != nil {
		return err
	}
	return m.set(i, v)
}

func (m Message) set(i int, v any) error {
	f := m.d.FieldDesc(i)
	err := useIn(f.Type, v, 0, func(x impl.Value) { m.s.SetValue(m.d.Field(i), m.d, x) })
	if err != nil {
		return &FieldError{m.d.Name(), f.Name, withinField(m.d, f, err)}
	}
	return nil
}

// New sets the field with this name, a struct or container, to an empty one and returns it to be
// filled. The error is a *FieldError.
func (m Message) New(name string) (Value, error) {
	i, err := m.named(name)
	if err != nil {
		return Value{}, err
	}
	return m.new(i)
}

// NewByID is New by field id.
func (m Message) NewByID(id int16) (Value, error) {
	i, err := m.withID(id)
	if err != nil {
		return Value{}, err
	}
	return m.new(i)
}

func (m Message) new(i int) (Value, error) {
	f := m.d.FieldDesc(i)
	if !isHandle(f.Type) {
		return Value{}, &FieldError{m.d.Name(), f.Name, fmt.Errorf("%v is no struct or container", f.Type)}
	}
	return Value{m.s.NewValue(m.d.Field(i), m.d, 0), true}, nil
}

// Unset removes the field with this name. A required field gets its default instead. The error is
// a *FieldError if there is no such field.
func (m Message) Unset(name string) error {
	i, err := m.named(name)
	if err == nil {
		m.s.UnsetValue(m.d.Field(i), m.d)
	}
	return err
}

// UnsetByID is Unset by field id.
func (m Message) UnsetByID(id int16) error {
	i, err := m.withID(id)
	if err == nil {
		m.s.UnsetValue(m.d.Field(i), m.d)
	}
	return err
}
