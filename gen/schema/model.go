package schema

import "github.com/nocopythrift/nocopythrift/gen/idl"

// Set is everything that was loaded.
type Set struct {
	Programs []*Program // every file once, included files before those that include them
	Roots    []*Program // the files that were asked for
	Warnings idl.ErrorList
}

// Program is one .thrift file.
type Program struct {
	Path     string // as in error messages
	Name     string // base name without extension: the prefix under which includers know it
	Includes []Include
	AST      *idl.File

	Enums    []*Enum
	Typedefs []*Typedef
	Structs  []*Struct // also unions and exceptions
	Consts   []*Const
	Services []*Service

	key      string // identifies the file however it was reached
	types    map[string]*named
	typedefs []*typedef
	consts   map[string]*Const
}

// Include is a file that another includes, with the place where it does.
type Include struct {
	*Program
	Pos idl.Position
}

// Namespace returns the file's namespace for a language, that of "*" failing
// that, or "".
func (p *Program) Namespace(lang string) string {
	if ns := p.namespace(lang); ns != nil {
		return ns.Name.Text
	}
	return ""
}

// NamespacePos returns the place of what Namespace returns, that of the file's
// beginning if there is none.
func (p *Program) NamespacePos(lang string) idl.Position {
	if ns := p.namespace(lang); ns != nil {
		return ns.Name.Pos
	}
	return idl.Position{Filename: p.Path, Line: 1, Column: 1}
}

func (p *Program) namespace(lang string) *idl.Namespace {
	var name, all *idl.Namespace
	for _, ns := range p.AST.Namespaces {
		switch ns.Scope {
		case lang:
			name = ns
		case "*":
			all = ns
		}
	}
	if name == nil {
		return all
	}
	return name
}

// Kind is what a type is once typedefs are resolved.
type Kind uint8

// The kinds of type.
const (
	Bool Kind = iota + 1
	I8
	I16
	I32
	I64
	Double
	String
	Binary
	UUID
	EnumKind
	StructKind // struct, union or exception
	List
	SetKind
	Map
)

// Type is a type with typedefs resolved.
type Type struct {
	Kind   Kind
	Enum   *Enum   // of EnumKind
	Struct *Struct // of StructKind
	Key    *Type   // of Map
	Elem   *Type   // of List, SetKind and Map
}

// Typedef is another name for a type.
type Typedef struct {
	Name, Doc   string
	Pos         idl.Position
	Type        *Type
	Annotations Annotations
}

// Enum is an enumeration.
type Enum struct {
	Program     *Program
	Name, Doc   string
	Pos         idl.Position
	Values      []*EnumValue
	Annotations Annotations
}

// EnumValue is one name of an enumeration. Several may have one value.
type EnumValue struct {
	Name, Doc   string
	Value       int32
	Annotations Annotations
}

// Shape tells structs, unions and exceptions apart.
type Shape uint8

// The shapes of a Struct.
const (
	IsStruct Shape = iota
	IsUnion
	IsException
)

// Struct is a struct, a union or an exception.
type Struct struct {
	Program     *Program
	Shape       Shape
	Name, Doc   string
	Pos         idl.Position
	Fields      []*Field // in declaration order
	Annotations Annotations

	ast *idl.Struct
}

// Requirement says when a field is on the wire.
type Requirement uint8

// The requirements. The fields of a union are Optional.
const (
	DefaultReq Requirement = iota
	Required
	Optional
)

// Field is a field of a struct.
type Field struct {
	ID          int16
	Name, Doc   string
	Pos         idl.Position
	Req         Requirement
	Type        *Type
	Default     *Value // nil without
	Annotations Annotations
}

// Const is a constant.
type Const struct {
	Program   *Program
	Name, Doc string
	Pos       idl.Position
	Type      *Type
	Value     *Value

	ast   *idl.Const
	state evalState
}

// Service is a service.
type Service struct {
	Program     *Program
	Name, Doc   string
	Pos         idl.Position
	Extends     *Service // nil without
	Functions   []*Function
	Annotations Annotations

	ast *idl.Service
}

// Function is a method of a service.
type Function struct {
	Name, Doc   string
	Pos         idl.Position
	Oneway      bool
	Returns     *Type   // nil for void
	Args        *Struct // what a call carries
	Result      *Struct // what a reply carries: success (0) and the declared exceptions; nil when oneway
	Annotations Annotations
}

// Annotations are the (key = "value") pairs of a declaration.
type Annotations map[string]string

func annotations(list []*idl.Annotation) Annotations {
	if len(list) == 0 {
		return nil
	}
	m := Annotations{}
	for _, a := range list {
		m[a.Key] = "1"
		if a.Value != nil {
			m[a.Key] = string(*a.Value)
		}
	}
	return m
}
