package schema

import (
	"slices"

	"github.com/nocopythrift/nocopythrift/gen/idl"
)

// Set is the model of all files that were loaded.
type Set struct {
	Programs []*Program // every file once, included files first
	Roots    []*Program // the files that were passed to Load
	Warnings idl.ErrorList
}

// Program is one .thrift file.
type Program struct {
	Path     string // as in error messages
	Name     string // base name without extension: the prefix of its names in including files
	Includes []Include
	Source   []byte // the file's text
	AST      *idl.File

	Enums    []*Enum
	Typedefs []*Typedef
	Structs  []*Struct // also unions and exceptions
	Consts   []*Const
	Services []*Service

	canonical string // identifies the file: the same for all paths that lead to it
	types     map[string]*definition
	typedefs  []*typedef
	consts    map[string]*Const
}

// Include is an included file. Pos is the position of the include line.
type Include struct {
	*Program
	Pos idl.Position
}

// Namespace returns the file's namespace for a language, or else the namespace for "*", or else
// "".
func (p *Program) Namespace(lang string) string {
	if ns := p.namespace(lang); ns != nil {
		return ns.Name.Text
	}
	return ""
}

// NamespacePos returns the position of the namespace that Namespace returns, or the beginning of
// the file if there is none.
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

// Type is a type with typedefs resolved.
type Type struct {
	Kind   Kind
	Enum   *Enum   // if EnumKind
	Struct *Struct // if StructKind
	Key    *Type   // if Map
	Elem   *Type   // the elements of List and SetKind, the values of Map

	size int // number of types in its text, with typedefs resolved; 0 means 1
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

	byName  map[string]*EnumValue // see value
	numbers map[int64]bool        // see has
}

// EnumValue is a value of an enumeration. Several may have the same number.
type EnumValue struct {
	Name, Doc   string
	Pos         idl.Position
	Value       int32
	Annotations Annotations
}

// Shape is the kind of a Struct.
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

	ast     *idl.Struct
	numbers map[string]int // of the fields, by their names; see index
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
	Default     *Value // nil if there is none
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
	Extends     *Service // the extended service, or nil
	Functions   []*Function
	Annotations Annotations

	ast *idl.Service
}

// Function is a method of a service.
type Function struct {
	Name, Doc string
	Pos       idl.Position
	Oneway    bool
	Returns   *Type   // nil if void
	Args      *Struct // the struct of the arguments
	// The struct of the result: success (0) and the declared exceptions; nil if oneway
	Result      *Struct
	Annotations Annotations
}

// Annotations are the (key = "value") pairs of a declaration, in order. A key may come several
// times.
type Annotations []Annotation

// Annotation is (key = "value"), or (key), whose value is "1".
type Annotation struct{ Key, Value string }

// Get returns the last value of a key, and whether there is one.
func (a Annotations) Get(key string) (value string, ok bool) {
	for _, x := range slices.Backward(a) {
		if x.Key == key {
			return x.Value, true
		}
	}
	return "", false
}

func annotations(list []*idl.Annotation) Annotations {
	var all Annotations
	for _, a := range list {
		value := "1"
		if a.Value != nil {
			value = string(*a.Value)
		}
		all = append(all, Annotation{a.Key, value})
	}
	return all
}
