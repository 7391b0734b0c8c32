package descriptor

import (
	"fmt"
	"iter"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/impl"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// Requiredness reports whether the IDL declares a field required or optional.
type Requiredness = impl.Requiredness

// The requirednesses of the IDL. Default is for a field that is declared neither required nor
// optional.
const (
	Default  = impl.DefaultReq
	Required = thriftimpl.Required
	Optional = thriftimpl.Optional
)

// Annotation is an annotation of the IDL, (name = "value"). Without a value, the value is "1", as
// with Apache's compiler.
type Annotation = thriftimpl.Annotation

// info is the common part of declarations.
type info struct{ i *thriftimpl.Info }

// Doc returns the comment that documents the declaration in the IDL, or "".
func (i info) Doc() string {
	if i.i == nil {
		return ""
	}
	return i.i.Doc
}

// Annotations returns an iterator over the annotations in the IDL's order. A name may come several
// times.
func (i info) Annotations() iter.Seq[Annotation] {
	return func(yield func(Annotation) bool) {
		if i.i == nil {
			return
		}
		for _, a := range i.i.Annotations {
			if !yield(a) {
				return
			}
		}
	}
}

// Annotation returns the value of the last annotation with a name, and whether there is one.
func (i info) Annotation(name string) (value string, ok bool) {
	if i.i == nil {
		return "", false
	}
	return i.i.Annotation(name)
}

// Shape tells structs, unions and exceptions apart.
type Shape uint8

// The shapes of a struct.
const (
	ShapeStruct Shape = iota
	ShapeUnion
	ShapeException
)

// The former names of the shapes.
//
// Deprecated: Use ShapeStruct, ShapeUnion and ShapeException.
//
//go:fix inline
const (
	IsStruct    = ShapeStruct
	IsUnion     = ShapeUnion
	IsException = ShapeException
)

// String returns "struct", "union" or "exception".
func (s Shape) String() string {
	if s > ShapeException {
		return fmt.Sprintf("Shape(%d)", uint8(s))
	}
	return [...]string{"struct", "union", "exception"}[s]
}

// Struct describes a struct, union or exception. The zero Struct describes none: it has no name
// and no fields.
type Struct struct {
	info
	d *thriftimpl.Desc
}

// StructOf returns the description of a generated or dynamic type. v may be any handle of the
// type, including the zero handle:
//
//	descriptor.StructOf(order.Order{})
func StructOf(v nocopy.AnyStruct) Struct {
	impl.CheckNil(v)
	return StructOfDesc(v.ThriftDesc())
}

// StructOfDesc returns the description of the type with descriptor d, such as order.OrderDesc of
// generated code.
func StructOfDesc(d *nocopy.Desc) Struct {
	if d == nil {
		return Struct{}
	}
	return Struct{info{d.Info()}, d}
}

// Of is StructOfDesc.
//
// Deprecated: Use StructOfDesc, or StructOf with a handle.
//
//go:fix inline
func Of(d *nocopy.Desc) Struct { return StructOfDesc(d) }

// Valid reports whether s describes anything. It is false for the zero value.
func (s Struct) Valid() bool { return s.d != nil }

// none is the descriptor used for a Struct that describes nothing. It has no name and no fields.
var none = func() *thriftimpl.Desc {
	d := thriftimpl.NewDesc("")
	d.Define()
	return d
}()

func (s Struct) orNone() *thriftimpl.Desc {
	if s.d == nil {
		return none
	}
	return s.d
}

// Desc returns the descriptor as package nocopy uses it, or nil if s is not valid.
func (s Struct) Desc() *nocopy.Desc { return s.d }

// Name returns the IDL's name of the struct, without its file.
func (s Struct) Name() string { return s.orNone().Name() }

// Shape returns whether it is a struct, a union or an exception.
func (s Struct) Shape() Shape {
	switch {
	case s.orNone().IsUnion():
		return ShapeUnion
	case s.orNone().IsException():
		return ShapeException
	}
	return ShapeStruct
}

// NumFields returns the number of fields.
func (s Struct) NumFields() int { return s.orNone().NumFields() }

// Field returns field i, in the IDL's order. It panics if i is out of range.
func (s Struct) Field(i int) Field {
	if n := s.NumFields(); i < 0 || i >= n {
		panic(fmt.Sprintf("nocopy: field %d of a struct of %d fields", i, n))
	}
	f := s.d.FieldDesc(i)
	return Field{info{&f.Info}, s.d, i}
}

// Fields returns an iterator over the fields, in the IDL's order.
func (s Struct) Fields() iter.Seq[Field] {
	return func(yield func(Field) bool) {
		for i := range s.NumFields() {
			if !yield(s.Field(i)) {
				return
			}
		}
	}
}

// ByName returns the field with this name, and whether there is one.
func (s Struct) ByName(name string) (f Field, ok bool) { return s.at(s.orNone().NumberByName(name)) }

// ByID returns the field with this id, and whether there is one.
func (s Struct) ByID(id int16) (f Field, ok bool) { return s.at(s.orNone().NumberByID(id)) }

func (s Struct) at(i int) (Field, bool) {
	if i < 0 {
		return Field{}, false
	}
	return s.Field(i), true
}

// Field describes a field of a struct, an argument of a method, or a declared exception of a
// method. The zero Field describes none: it has no name and no type.
type Field struct {
	info
	d *thriftimpl.Desc
	i int
}

func (f Field) desc() *thriftimpl.FieldDesc {
	if f.d == nil {
		return new(thriftimpl.FieldDesc)
	}
	return f.d.FieldDesc(f.i)
}

// ID returns the field's id.
func (f Field) ID() int16 { return f.desc().ID }

// Name returns the IDL's name of the field.
func (f Field) Name() string { return f.desc().Name }

// Type returns the field's type.
func (f Field) Type() Type { return Type{f.desc().Type} }

// Requiredness returns whether the IDL declares the field required or optional.
func (f Field) Requiredness() Requiredness { return f.desc().Req }

// Struct returns the struct to which the field belongs.
func (f Field) Struct() Struct { return StructOfDesc(f.d) }

// Index returns the number of the field in the IDL's order, from 0.
func (f Field) Index() int { return f.i }

// HasDefault reports whether the IDL gives the field a default.
func (f Field) HasDefault() bool { return f.desc().Default != "" }

// DefaultWire returns the wire bytes of the field's default in the IDL, or "".
func (f Field) DefaultWire() string { return f.desc().Default }

// Type is a type of the IDL, with typedefs resolved. The zero Type is no type: its wire type is 0.
type Type struct{ t *thriftimpl.Type }

func (t Type) orNone() *thriftimpl.Type {
	if t.t == nil {
		return new(thriftimpl.Type)
	}
	return t.t
}

// TypeOf returns the description of type t.
func TypeOf(t *thriftimpl.Type) Type { return Type{t} }

// Desc returns the descriptor of the type, as package nocopy uses it, or nil for the zero Type.
func (t Type) Desc() *thriftimpl.Type { return t.t }

// Type is Desc.
//
// Deprecated: Use Desc.
//
//go:fix inline
func (t Type) Type() *thriftimpl.Type { return t.Desc() }

// WireType returns the type of values on the wire. Enums are i32 there, and binaries are strings.
func (t Type) WireType() nocopy.WireType { return t.orNone().Wire() }

// Wire is WireType.
//
// Deprecated: Use WireType. Elsewhere Wire returns bytes.
//
//go:fix inline
func (t Type) Wire() nocopy.WireType { return t.WireType() }

// IsBinary reports whether the type is binary.
func (t Type) IsBinary() bool { return t.orNone().Binary() }

// Struct returns the description of a struct, union or exception. For other types it is not valid.
func (t Type) Struct() Struct { return StructOfDesc(t.orNone().Struct()) }

// Enum returns the description of an enum. For other types it is not valid.
func (t Type) Enum() Enum { return EnumOf(t.orNone().Enum()) }

// Elem returns the element type of a list or set, or the value type of a map. It panics for other
// types.
func (t Type) Elem() Type { return part(t, t.orNone().Elem(), "elements") }

// Key returns the key type of a map. It panics for other types.
func (t Type) Key() Type { return part(t, t.orNone().Key(), "keys") }

func part(t Type, p *thriftimpl.Type, what string) Type {
	if p == nil {
		panic("nocopy: " + t.String() + " has no " + what)
	}
	return Type{p}
}

// String returns the type in the syntax of the IDL. Structs and enums come without their files.
func (t Type) String() string { return t.t.String() }

// Enum describes an enum. The zero Enum describes none: it has no name and no values.
type Enum struct {
	info
	e *thriftimpl.Enum
}

// EnumOf returns the description of the enum with descriptor e, such as order.ColorDesc of
// generated code.
func EnumOf(e *thriftimpl.Enum) Enum {
	if e == nil {
		return Enum{}
	}
	return Enum{info{e.Info()}, e}
}

// Valid reports whether e describes anything.
func (e Enum) Valid() bool { return e.e != nil }

var noEnum = thriftimpl.NewEnum("", nil)

func (e Enum) orNone() *thriftimpl.Enum {
	if e.e == nil {
		return noEnum
	}
	return e.e
}

// Name returns the IDL's name of the enum, without its file.
func (e Enum) Name() string { return e.orNone().TypeName() }

// Values returns an iterator over the values, in the IDL's order.
func (e Enum) Values() iter.Seq[EnumValue] {
	return func(yield func(EnumValue) bool) {
		values := e.orNone().Values()
		for i := range values {
			if !yield(EnumValue{info{&values[i].Info}, &values[i]}) {
				return
			}
		}
	}
}

// ByName returns the value with this name, and whether there is one.
func (e Enum) ByName(name string) (v EnumValue, ok bool) {
	for v := range e.Values() {
		if v.Name() == name {
			return v, true
		}
	}
	return EnumValue{}, false
}

// ByNumber returns the first value with this number, and whether there is one.
func (e Enum) ByNumber(n int32) (v EnumValue, ok bool) {
	for v := range e.Values() {
		if v.Number() == n {
			return v, true
		}
	}
	return EnumValue{}, false
}

// EnumValue describes a value of an enum. The zero EnumValue describes none: it has no name.
type EnumValue struct {
	info
	v *thriftimpl.EnumValue
}

func (v EnumValue) orNone() *thriftimpl.EnumValue {
	if v.v == nil {
		return new(thriftimpl.EnumValue)
	}
	return v.v
}

// Name returns the IDL's name of the value.
func (v EnumValue) Name() string { return v.orNone().Name }

// Number returns the number of the value on the wire.
func (v EnumValue) Number() int32 { return v.orNone().Value }

// Const describes a constant.
type Const struct {
	info
	c *thriftimpl.ConstDesc
}

// ConstOf returns the description of the constant with descriptor c.
func ConstOf(c *thriftimpl.ConstDesc) Const {
	if c == nil {
		return Const{}
	}
	return Const{info{&c.Info}, c}
}

// Valid reports whether c describes anything.
func (c Const) Valid() bool { return c.c != nil }

func (c Const) orNone() *thriftimpl.ConstDesc {
	if c.c == nil {
		return new(thriftimpl.ConstDesc)
	}
	return c.c
}

// Name returns the IDL's name of the constant.
func (c Const) Name() string { return c.orNone().Name }

// Type returns the type of the constant.
func (c Const) Type() Type { return Type{c.orNone().Type} }

// Wire returns the wire bytes of the constant's value.
func (c Const) Wire() string { return c.orNone().Wire }

// Service describes a service.
type Service struct {
	info
	s *thriftimpl.Service
}

// ServiceOf returns the description of the service with descriptor s.
func ServiceOf(s *thriftimpl.Service) Service {
	if s == nil {
		return Service{}
	}
	return Service{info{&s.Info}, s}
}

// Valid reports whether s describes anything. It is false for the zero value.
func (s Service) Valid() bool { return s.s != nil }

func (s Service) orNone() *thriftimpl.Service {
	if s.s == nil {
		return new(thriftimpl.Service)
	}
	return s.s
}

// Name returns the IDL's name of the service, without its file.
func (s Service) Name() string { return s.orNone().Name }

// Extends returns the name of the extended service, with its file as in "base.Base", or "" if
// there is none. FindService finds it.
func (s Service) Extends() string { return s.orNone().Extends }

// Methods returns an iterator over the methods of the service itself, in the IDL's order.
func (s Service) Methods() iter.Seq[Method] {
	return func(yield func(Method) bool) {
		methods := s.orNone().Methods
		for i := range methods {
			m := &methods[i]
			if !yield(Method{info{&m.Info}, m}) {
				return
			}
		}
	}
}

// ByName returns the service's own method with this name, and whether there is one.
func (s Service) ByName(name string) (m Method, ok bool) {
	for m := range s.Methods() {
		if m.Name() == name {
			return m, true
		}
	}
	return Method{}, false
}

// Method describes a method of a service. The zero Method describes none: it has no name, has no
// arguments and is oneway.
type Method struct {
	info
	m *thriftimpl.Method
}

// MethodOf returns the description of the method with descriptor m.
func MethodOf(m *thriftimpl.Method) Method {
	if m == nil {
		return Method{}
	}
	return Method{info{&m.Info}, m}
}

func (m Method) orNone() *thriftimpl.Method {
	if m.m == nil {
		return new(thriftimpl.Method)
	}
	return m.m
}

// Name returns the IDL's name of the method.
func (m Method) Name() string { return m.orNone().Name }

// Oneway reports whether calls get no reply.
func (m Method) Oneway() bool { return m.orNone().Result == nil }

// Args returns the struct of a call. Its fields are the arguments.
func (m Method) Args() Struct { return StructOfDesc(m.orNone().Args) }

// Result returns the struct of a reply. It has field 0, if the method returns a value, and one
// field per declared exception. For a oneway method it is not valid.
func (m Method) Result() Struct { return StructOfDesc(m.orNone().Result) }

// Returns returns the type of the method's return value, and whether there is one.
func (m Method) Returns() (t Type, ok bool) {
	if m.Oneway() {
		return Type{}, false
	}
	f, ok := m.Result().ByID(0)
	if !ok {
		return Type{}, false
	}
	return f.Type(), true
}

// Throws returns an iterator over the fields of the declared exceptions in the result.
func (m Method) Throws() iter.Seq[Field] {
	return func(yield func(Field) bool) {
		if m.Oneway() {
			return
		}
		for f := range m.Result().Fields() {
			if f.ID() != 0 && !yield(f) {
				return
			}
		}
	}
}
