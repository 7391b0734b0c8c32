package names

import (
	"go/token"
	"maps"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode"

	"github.com/nocopythrift/nocopythrift/gen/idl"
	"github.com/nocopythrift/nocopythrift/gen/schema"
)

// Scope holds the names that are taken.
type Scope map[string]bool

// Unique returns name, or what Free makes of it, so that it differs from all taken and all
// predeclared names, and marks the result as taken.
func (s Scope) Unique(name string) string {
	name = Free(name, func(name string) bool { return s[name] || Predeclared[name] })
	s[name] = true
	return name
}

// Free returns name with the fewest underscores with which it is not taken. If maxUnderscores are
// too few, they are followed by a number, so that many equal names stay short and are found fast.
func Free(name string, taken func(name string) bool) string {
	for range maxUnderscores {
		if !taken(name) {
			return name
		}
		name += "_"
	}
	numbered := func(n int) string { return name + strconv.Itoa(n) }
	free := 1
	for taken(numbered(free)) {
		free *= 2
	}
	return numbered(sort.Search(free, func(n int) bool { return !taken(numbered(n)) }))
}

const maxUnderscores = 8

// Struct holds the Go names of a struct's declarations.
type Struct struct {
	Type, New, Parse, Read, Desc, Which string
	Fields                              []Field
	// With Options.Fields, for a struct that is not a union: the type of plain values, the
	// function that returns them with the IDL's defaults, the function that makes a message from
	// them, and the function that parses them
	Values, Defaults, NewOf, ParseValues string
	// If it has lists of structs: the type of the functions that take their elements, and the
	// function that calls them
	By, ParseBy string
}

// Field holds the Go names of a field's declarations.
type Field struct {
	Go     string // the part of method names: Name in GetName and SetName
	Const  string // the field constant
	Arm    string // the constant that a union's Which returns; "" in a struct
	SetMap string // the method that takes a Go map, if there is one
	// With Options.Fields: the field of the type of plain values and, for lists of structs, the
	// methods that take a slice of plain values, and a function
	Value, SetOf, SetBy string
}

// Enum holds the Go names of an enum's declarations.
type Enum struct {
	Type, Parse, Desc, All string
	Values                 []string
}

// Const holds the Go names of a constant and of the variable that describes it.
type Const struct{ Name, Var string }

// Service holds the Go names of a service's declarations.
type Service struct {
	Handler, Unimplemented, NewProcessor, Client, NewClient string
	Methods                                                 []Method
}

// Method holds the Go names of a method.
type Method struct {
	Go  string // the name of the method of the handler and of the client
	Var string // the variable that holds its *rpc.Method
}

// Names holds the Go names of everything in a package.
type Names struct {
	Taken    Scope
	opt      Options
	Structs  map[*schema.Struct]*Struct
	Enums    map[*schema.Enum]*Enum
	Typedefs map[*schema.Typedef]string
	Consts   map[*schema.Const]Const
	// Services of all packages: a service may extend one of another package
	Services map[*schema.Service]*Service
	IDLFiles map[*schema.Program]string // the variables that hold the IDL of services

	Clashes idl.ErrorList    // warnings of names with an underscore, since another has the name
	owners  map[string]owner // of exported names of the package
}

// An owner is what a name was chosen for.
type owner struct {
	what string // such as "struct User"
	file string // that declares it
}

// take returns name as Unique does, for what is declared at pos, and warns if the name was taken.
func (n *Names) take(name, what string, pos idl.Position) string {
	got := n.Taken.Unique(name)
	if other, ok := n.owners[name]; ok && got != name {
		if other.file != pos.Filename {
			other.what += " of " + other.file
		}
		n.clash(pos, what, got, other.what, name)
	}
	n.owners[got] = owner{what, pos.Filename}
	return got
}

// clash adds the warning that what gets the name got in Go, since other has the name.
func (n *Names) clash(pos idl.Position, what, got, other, name string) {
	n.Clashes.Add(pos, "%s is %s in Go: %s has the name %s", what, got, other, name)
}

// words are the words for structs by their shapes.
var words = map[schema.Shape]string{schema.IsStruct: "struct ", schema.IsUnion: "union ", schema.IsException: "exception "}

// Options says which names are needed, and how they are formed.
type Options struct {
	Fields, Golint bool  // as in golang.Options
	Methods        Scope // the methods of every struct, union and exception
	ValuesMethods  Scope // the methods of every type of plain values
}

// newNames returns the names of an empty package. services is shared by all packages.
func newNames(services map[*schema.Service]*Service, opt Options) *Names {
	return &Names{
		Taken:    Scope{},
		opt:      opt,
		Structs:  map[*schema.Struct]*Struct{},
		Enums:    map[*schema.Enum]*Enum{},
		Typedefs: map[*schema.Typedef]string{},
		Consts:   map[*schema.Const]Const{},
		Services: services,
		IDLFiles: map[*schema.Program]string{},
		owners:   map[string]owner{},
	}
}

// public returns the Go name of an IDL name.
func (n *Names) public(name string) string { return n.linted(Public(name)) }

func (n *Names) linted(name string) string {
	if n.opt.Golint {
		return asGolint(name)
	}
	return name
}

// addFile chooses the names of p's definitions: first of types, then of their members, then of
// typedefs and constants. Included files must be added before the files that include them, so that
// these cannot change their names.
func (n *Names) addFile(p *schema.Program) {
	for _, s := range p.Structs {
		n.Structs[s] = &Struct{Type: n.take(n.public(s.Name), words[s.Shape]+s.Name, s.Pos)}
	}
	for _, e := range p.Enums {
		n.Enums[e] = &Enum{Type: n.take(n.public(e.Name), "enum "+e.Name, e.Pos)}
	}
	for _, e := range p.Enums {
		en := n.Enums[e]
		for _, v := range e.Values {
			en.Values = append(en.Values, n.take(en.Type+"_"+v.Name, "value "+e.Name+"."+v.Name, v.Pos))
		}
		take := func(name string) string { return n.take(name, name+" of enum "+e.Name, e.Pos) }
		en.Parse, en.Desc, en.All = take("Parse"+en.Type), take(en.Type+"Desc"), take(en.Type+"Values")
	}
	for _, s := range p.Structs {
		n.members(s, words[s.Shape]+s.Name)
	}
	for _, s := range p.Services {
		n.service(s)
	}
	for _, t := range p.Typedefs {
		n.Typedefs[t] = n.take(n.public(t.Name), "typedef "+t.Name, t.Pos)
	}
	for _, c := range p.Consts {
		name := n.take(n.public(c.Name), "constant "+c.Name, c.Pos)
		n.Consts[c] = Const{name, n.Taken.Unique(Private(name) + "Const")}
	}
	if n.opt.Fields { // last, so that other names do not depend on the option
		for _, s := range StructsOf(p) {
			n.values(s)
		}
	}
	n.IDLFiles[p] = n.Taken.Unique("idlOf" + strings.Map(letter, p.Name))
}

// letter returns c, or an underscore if a Go name can't have it.
func letter(c rune) rune {
	if c == '_' || unicode.IsLetter(c) || unicode.IsDigit(c) {
		return c
	}
	return '_'
}

// StructsOf returns the structs of p, and the structs of the arguments and results of its
// services' methods.
func StructsOf(p *schema.Program) []*schema.Struct {
	list := slices.Clone(p.Structs)
	for _, s := range p.Services {
		for _, f := range s.Functions {
			list = append(list, f.Args)
			if f.Result != nil {
				list = append(list, f.Result)
			}
		}
	}
	return list
}

// values chooses the package-level names that Options.Fields adds for s.
func (n *Names) values(s *schema.Struct) {
	if s.Shape == schema.IsUnion {
		return
	}
	sn := n.Structs[s]
	take := func(name string) string { return n.take(name, name+" of struct "+s.Name, s.Pos) }
	sn.Values = take(sn.Type + "Fields")
	sn.Defaults = take("Default" + sn.Values)
	sn.NewOf = take(sn.New + "Of")
	sn.ParseValues = take("Parse" + sn.Values)
	sn.By, sn.ParseBy = take(sn.Type+"By"), take("Parse"+sn.Type+"By")
}

// verbs begin the names of the methods that each field may have.
var verbs = []string{"Get", "Set", "IsSet", "Unset", "New"}

// members chooses the names of the members of s, which what names. The type already has its name.
func (n *Names) members(s *schema.Struct, what string) {
	sn := n.Structs[s]
	take := func(name string) string { return n.take(name, name+" of "+what, s.Pos) }
	sn.New = take("New" + sn.Type)
	sn.Parse = take("Parse" + sn.Type)
	sn.Read = take("Read" + sn.Type)
	sn.Desc = take(sn.Type + "Desc")
	if s.Shape == schema.IsUnion {
		sn.Which = take(sn.Type + "Which")
	}
	methods := maps.Clone(n.opt.Methods)
	n.fields(s, what, methods)
	n.setters(s, what, methods)
	n.plainFields(s, what)
}

// fields chooses the Go names of the fields of s, which what names, and takes their accessors'
// names out of methods.
func (n *Names) fields(s *schema.Struct, what string, methods Scope) {
	sn := n.Structs[s]
	fields := map[string]string{} // by the Go names
	for _, f := range s.Fields {
		name := n.linted(Part(f.Name)) // after Get and other verbs
		wanted := name
		name = Free(name, func(name string) bool {
			return slices.ContainsFunc(verbs, func(verb string) bool { return methods[verb+name] })
		})
		for _, verb := range verbs {
			methods[verb+name] = true
		}
		if other := fields[wanted]; other != "" {
			n.clash(f.Pos, "field "+f.Name+" of "+what, name, "field "+other, wanted)
		}
		fields[name] = f.Name
		fn := Field{Go: name, Const: n.Taken.Unique(Private(sn.Type) + name)}
		if sn.Which != "" {
			fn.Arm = n.take(sn.Type+"_"+name, "the constant of field "+f.Name+" of "+what, f.Pos)
		}
		sn.Fields = append(sn.Fields, fn)
	}
}

// setters chooses the names of the other methods that set fields of s. what describes s in errors,
// methods has the names that are taken.
func (n *Names) setters(s *schema.Struct, what string, methods Scope) {
	sn := n.Structs[s]
	method := func(f *schema.Field, isMade bool, name string) string {
		got := methods.Unique(name)
		if isMade && got != name {
			n.clash(f.Pos, name+" of field "+f.Name+" of "+what, got, "a method of another field", name)
		}
		return got
	}
	for i, f := range s.Fields { // fields choose first
		if f.Type.Kind == schema.Map {
			sn.Fields[i].SetMap = method(f, true, "Set"+sn.Fields[i].Go+"Map")
		}
	}
	for i, field := range s.Fields {
		f := &sn.Fields[i]
		isMade := n.opt.Fields && field.Type.Kind == schema.List && field.Type.Elem.Kind == schema.StructKind
		f.SetOf, f.SetBy = method(field, isMade, "Set"+f.Go+"Of"), method(field, isMade, "Set"+f.Go+"By")
	}
}

// plainFields chooses the names of the fields of the Go struct of plain values that s, which what
// names, has with Options.Fields.
func (n *Names) plainFields(s *schema.Struct, what string) {
	sn := n.Structs[s]
	values := maps.Clone(n.opt.ValuesMethods)
	for i, field := range s.Fields {
		f := &sn.Fields[i]
		f.Value = f.Go
		if !token.IsExported(f.Value) {
			f.Value = "X" + f.Value
		}
		if wanted := f.Value; n.opt.Fields && values[wanted] && n.opt.ValuesMethods[wanted] {
			n.clash(field.Pos, "field "+field.Name+" of "+what, wanted+"_", "a method of "+sn.Type+"Fields", wanted)
		}
		f.Value = values.Unique(f.Value)
	}
}

// vettedMethods holds the method names for which go vet demands the standard library's signature.
var vettedMethods = Words(`GobDecode GobEncode MarshalJSON MarshalXML ReadByte ReadRune UnmarshalJSON UnmarshalXML
	UnreadByte UnreadRune WriteByte`)

// service chooses the names of a service's declarations, after those of the service that it
// extends. Arguments and results of a method get of service V are structs called VGetArgs and
// VGetResult; Public gives no struct of the IDL such a name.
func (n *Names) service(s *schema.Service) {
	if n.Services[s] != nil {
		return
	}
	if s.Extends != nil && s.Extends.Program == s.Program {
		n.service(s.Extends)
	}
	name := n.public(s.Name)
	take := func(name string) string { return n.take(name, name+" of service "+s.Name, s.Pos) }
	sn := &Service{
		Handler:       take(name + "Handler"),
		NewProcessor:  take("New" + name + "Processor"),
		Unimplemented: take("Unimplemented" + name + "Handler"),
		Client:        take(name + "Client"),
		NewClient:     take("New" + name + "Client"),
	}
	n.Services[s] = sn
	// A method must not hide inherited methods, nor the embedded clients that they come from.
	methods := Scope(maps.Clone(vettedMethods))
	owners := map[string]string{}
	for name := range vettedMethods {
		owners[name] = "a method of the standard library with other arguments"
	}
	for b := s.Extends; b != nil; b = b.Extends {
		base := n.Services[b]
		methods[base.Client], owners[base.Client] = true, "the client of service "+b.Name
		for i, m := range base.Methods {
			methods[m.Go], owners[m.Go] = true, "method "+b.Functions[i].Name+" of service "+b.Name
		}
	}
	for _, f := range s.Functions {
		wanted := n.public(f.Name)
		m := Method{Go: methods.Unique(wanted)}
		if other := owners[wanted]; other != "" {
			n.clash(f.Pos, "method "+f.Name+" of service "+s.Name, m.Go, other, wanted)
		}
		owners[m.Go] = "method " + f.Name
		for _, part := range []struct {
			s            *schema.Struct
			suffix, what string
		}{{f.Args, "Args", "arguments"}, {f.Result, "Result", "result"}} {
			if part.s != nil {
				what := "the " + part.what + " of method " + f.Name
				n.Structs[part.s] = &Struct{Type: n.take(name+m.Go+part.suffix, what, f.Pos)}
				n.members(part.s, what)
			}
		}
		m.Var = n.Taken.Unique(Private(name) + m.Go)
		sn.Methods = append(sn.Methods, m)
	}
}
