package idl

import "github.com/alecthomas/participle/v2/lexer"

// File is one .thrift file.
type File struct {
	Name        string // as passed to Parse
	Includes    []*Include
	CppIncludes []*CppInclude
	Namespaces  []*Namespace
	Definitions []Definition // in the order of the file

	// Warnings report text that Apache's compiler refuses or reads differently.
	Warnings ErrorList

	// Broken holds the words of the text that did not parse. An undefined name that is among them
	// may be defined there.
	Broken map[string]bool

	Complete bool // the text has no errors
}

// Definition is a *Const, *Typedef, *Enum, *Struct or *Service.
type Definition interface {
	// DefName is the defined name with its position.
	DefName() Ident
}

// Ident is a name with its position.
type Ident struct {
	Pos  Position
	Text string `parser:"@Ident"`
}

// FieldName is a name that may also be a keyword.
type FieldName struct {
	Pos  Position
	Text string `parser:"@(Ident | Keyword)"`
}

// Include is an include line.
type Include struct {
	Pos  Position
	Path Literal `parser:"'include' @String"`
}

// CppInclude is a cpp_include line, which has a meaning only in C++.
type CppInclude struct {
	Pos  Position
	Path Literal `parser:"'cpp_include' @String"`
}

// Namespace gives a file its package in one language, or in all ("*").
type Namespace struct {
	Pos         Position
	Scope       string        `parser:"'namespace' @(Ident | '*')"`
	Name        Ident         `parser:"@@"`
	Annotations []*Annotation `parser:"( '(' @@* ')' )?"`
}

// Annotation is one (key = "value"). A missing value is the same as "1".
type Annotation struct {
	Pos   Position
	Key   string   `parser:"@(Ident | Keyword)"`
	Value *Literal `parser:"( '=' @String )? (',' | ';')?"`
}

// Const is a constant.
type Const struct {
	Pos    Position
	Tokens []lexer.Token
	Doc    string
	Type   *Type  `parser:"'const' @@"`
	Name   Ident  `parser:"@@"`
	Value  *Value `parser:"'=' @@ (',' | ';')?"`
	// Annotations have no effect; Apache's compiler refuses them.
	Annotations []*Annotation `parser:"( '(' @@* ')' (',' | ';')? )?"`
}

// Typedef is another name for a type.
type Typedef struct {
	Pos         Position
	Tokens      []lexer.Token
	Doc         string
	Type        *Type         `parser:"'typedef' @@"`
	Name        Ident         `parser:"@@"`
	Annotations []*Annotation `parser:"( '(' @@* ')' )? (',' | ';')?"`
}

// Enum is an enumeration.
type Enum struct {
	Pos         Position
	Tokens      []lexer.Token
	Doc         string
	Name        Ident         `parser:"'enum' @@"`
	Values      []*EnumValue  `parser:"'{' @@* '}'"`
	Annotations []*Annotation `parser:"( '(' @@* ')' )?"`
}

// EnumValue is one name of an enumeration.
type EnumValue struct {
	Pos         Position
	Tokens      []lexer.Token
	Doc         string
	Name        Ident         `parser:"@@"`
	Value       *Int          `parser:"( '=' @Int )?"`
	Annotations []*Annotation `parser:"( '(' @@* ')' )? (',' | ';')?"`
}

// Struct is a struct, a union or an exception; Kind says which.
type Struct struct {
	Pos         Position
	Tokens      []lexer.Token
	Doc         string
	Kind        string        `parser:"@('struct' | 'union' | 'exception')"`
	Name        Ident         `parser:"@@"`
	XsdAll      bool          `parser:"@'xsd_all'?"`
	Fields      []*Field      `parser:"'{' @@* '}'"`
	Annotations []*Annotation `parser:"( '(' @@* ')' )?"`
}

// Field is a field of a struct, an argument or a declared exception.
type Field struct {
	Pos         Position
	Tokens      []lexer.Token
	Doc         string
	ID          *Int          `parser:"( @Int ':' )?"`
	Requirement string        `parser:"@( 'required' | 'optional' )?"`
	Type        *Type         `parser:"@@"`
	Reference   bool          `parser:"@'&'?"`
	Name        FieldName     `parser:"@@"`
	Default     *Value        `parser:"( '=' @@ )?"`
	XsdOptional bool          `parser:"@'xsd_optional'?"`
	XsdNillable bool          `parser:"@'xsd_nillable'?"`
	XsdAttrs    []*Field      `parser:"( 'xsd_attrs' '{' @@* '}' )?"`
	Annotations []*Annotation `parser:"( '(' @@* ')' )? (',' | ';')?"`
}

// Service is a service.
type Service struct {
	Pos         Position
	Tokens      []lexer.Token
	Doc         string
	Name        Ident         `parser:"'service' @@"`
	Extends     *Ident        `parser:"( 'extends' @@ )?"`
	Functions   []*Function   `parser:"'{' @@* '}'"`
	Annotations []*Annotation `parser:"( '(' @@* ')' )?"`
}

// Function is a method of a service.
type Function struct {
	Pos         Position
	Tokens      []lexer.Token
	Doc         string
	Oneway      bool          `parser:"@( 'oneway' | 'async' )?"`
	Void        bool          `parser:"( @'void'"`
	Result      *Type         `parser:"| @@ )"`
	Name        Ident         `parser:"@@"`
	Args        []*Field      `parser:"'(' @@* ')'"`
	Throws      []*Field      `parser:"( 'throws' '(' @@* ')' )?"`
	Annotations []*Annotation `parser:"( '(' @@* ')' )? (',' | ';')?"`
}

// Type is a type as a declaration uses it: exactly one of Map, Set, List, Base and Name is set.
type Type struct {
	Pos         Position
	Map         *MapType      `parser:"( @@"`
	Set         *SetType      `parser:"| @@"`
	List        *ListType     `parser:"| @@"`
	Base        string        `parser:"| @('bool' | 'byte' | 'i8' | 'i16' | 'i32' | 'i64' | 'double' | 'string' | 'binary')"`
	Name        string        `parser:"| @Ident )"`
	Annotations []*Annotation `parser:"( '(' @@* ')' )?"`
}

// MapType is map<Key, Value>.
type MapType struct {
	CppType *Literal `parser:"'map':Keyword ( 'cpp_type' @String )?"`
	Key     *Type    `parser:"'<' @@ ','"`
	Value   *Type    `parser:"@@ '>'"`
}

// SetType is set<Elem>.
type SetType struct {
	CppType *Literal `parser:"'set':Keyword ( 'cpp_type' @String )?"`
	Elem    *Type    `parser:"'<' @@ '>'"`
}

// ListType is list<Elem>. CppTypeOld is a cpp_type after the list, an older form.
type ListType struct {
	CppType    *Literal `parser:"'list':Keyword ( 'cpp_type' @String )?"`
	Elem       *Type    `parser:"'<' @@ '>'"`
	CppTypeOld *Literal `parser:"( 'cpp_type' @String )?"`
}

// Value is a constant value: exactly one of its fields after Pos is set. The words true
// and false are a Ref.
type Value struct {
	Pos    Position
	Int    *Int       `parser:"  @Int"`
	Double *Double    `parser:"| @Double"`
	Text   *Literal   `parser:"| @String"`
	Ref    *string    `parser:"| @Ident"`
	List   *ListValue `parser:"| @@"`
	Map    *MapValue  `parser:"| @@"`
}

// ListValue is [a, b, c].
type ListValue struct {
	Elems []*Value `parser:"'[' ( @@ (',' | ';')? )* ']'"`
}

// MapValue is {k: v, ...}, the value of a map or a struct.
type MapValue struct {
	Entries []*MapEntry `parser:"'{' @@* '}'"`
}

// MapEntry is one k: v.
type MapEntry struct {
	Key   *Value `parser:"@@ ':'"`
	Value *Value `parser:"@@ (',' | ';')?"`
}

// Int is the value of an integer literal.
type Int int64

// Double is the value of a floating-point literal.
type Double float64

// Literal is the text of a string literal without quotes, its escapes resolved.
type Literal string

// DefName implements Definition.
func (d *Const) DefName() Ident { return d.Name }

// DefName implements Definition.
func (d *Typedef) DefName() Ident { return d.Name }

// DefName implements Definition.
func (d *Enum) DefName() Ident { return d.Name }

// DefName implements Definition.
func (d *Struct) DefName() Ident { return d.Name }

// DefName implements Definition.
func (d *Service) DefName() Ident { return d.Name }

// Capture implements participle.Capture.
func (v *Int) Capture(texts []string) error {
	i, _ := parseInt(texts[0]) // the scanner has reported numbers that do not fit
	*v = Int(i)
	return nil
}

// Capture implements participle.Capture.
func (v *Double) Capture(texts []string) error {
	f, _ := parseDouble(texts[0]) // the scanner has reported numbers that do not fit
	*v = Double(f)
	return nil
}

// Capture implements participle.Capture.
func (v *Literal) Capture(texts []string) error {
	*v = Literal(unquote(texts[0]))
	return nil
}
