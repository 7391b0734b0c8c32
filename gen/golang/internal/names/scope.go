package names

import (
	"go/token"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/nocopythrift/nocopythrift/gen/schema"
)

// Scope holds the names that are taken.
type Scope map[string]bool

// Unique returns name, with underscores added until it differs from all taken and all predeclared
// names, and marks the result as taken.
func (s Scope) Unique(name string) string {
	for s[name] || Predeclared[name] {
		name += "_"
	}
	s[name] = true
	return name
}

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
}

// Options tells which names are needed, and how they are formed.
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
	}
}

// public returns the Go name of an IDL name.
func (n *Names) public(name string) string {
	if name = Public(name); n.opt.Golint {
		return asGolint(name)
	}
	return name
}

// addFile chooses the names of p's definitions: first of types, then of their members, then of
// typedefs and constants. Included files must be added before the files that include them, so that
// these cannot change their names.
func (n *Names) addFile(p *schema.Program) {
	for _, s := range p.Structs {
		n.Structs[s] = &Struct{Type: n.Taken.Unique(n.public(s.Name))}
	}
	for _, e := range p.Enums {
		n.Enums[e] = &Enum{Type: n.Taken.Unique(n.public(e.Name))}
	}
	for _, e := range p.Enums {
		en := n.Enums[e]
		for _, v := range e.Values {
			en.Values = append(en.Values, n.Taken.Unique(en.Type+"_"+v.Name))
		}
		en.Parse = n.Taken.Unique("Parse" + en.Type)
		en.Desc = n.Taken.Unique(en.Type + "Desc")
		en.All = n.Taken.Unique(en.Type + "Values")
	}
	for _, s := range p.Structs {
		n.members(s)
	}
	for _, s := range p.Services {
		n.service(s)
	}
	for _, t := range p.Typedefs {
		n.Typedefs[t] = n.Taken.Unique(n.public(t.Name))
	}
	for _, c := range p.Consts {
		name := n.Taken.Unique(n.public(c.Name))
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
	sn.Values = n.Taken.Unique(sn.Type + "Fields")
	sn.Defaults = n.Taken.Unique("Default" + sn.Values)
	sn.NewOf = n.Taken.Unique(sn.New + "Of")
	sn.ParseValues = n.Taken.Unique("Parse" + sn.Values)
	sn.By, sn.ParseBy = n.Taken.Unique(sn.Type+"By"), n.Taken.Unique("Parse"+sn.Type+"By")
}

// members chooses the names of the members of s. The type already has its name.
func (n *Names) members(s *schema.Struct) {
	sn := n.Structs[s]
	sn.New = n.Taken.Unique("New" + sn.Type)
	sn.Parse = n.Taken.Unique("Parse" + sn.Type)
	sn.Read = n.Taken.Unique("Read" + sn.Type)
	sn.Desc = n.Taken.Unique(sn.Type + "Desc")
	if s.Shape == schema.IsUnion {
		sn.Which = n.Taken.Unique(sn.Type + "Which")
	}
	methods := maps.Clone(n.opt.Methods)
	for _, f := range s.Fields {
		name := n.public(f.Name)
		for methods["Get"+name] || methods["Set"+name] || methods["IsSet"+name] || methods["Unset"+name] || methods["New"+name] {
			name += "_"
		}
		for _, verb := range []string{"Get", "Set", "IsSet", "Unset", "New"} {
			methods[verb+name] = true
		}
		fn := Field{Go: name, Const: n.Taken.Unique(Private(sn.Type) + name)}
		if sn.Which != "" {
			fn.Arm = n.Taken.Unique(sn.Type + "_" + name)
		}
		sn.Fields = append(sn.Fields, fn)
	}
	for i, f := range s.Fields { // fields choose first
		if f.Type.Kind == schema.Map {
			sn.Fields[i].SetMap = methods.Unique("Set" + sn.Fields[i].Go + "Map")
		}
	}
	values := maps.Clone(n.opt.ValuesMethods)
	for i := range s.Fields {
		f := &sn.Fields[i]
		f.SetOf, f.SetBy = methods.Unique("Set"+f.Go+"Of"), methods.Unique("Set"+f.Go+"By")
		f.Value = f.Go
		if !token.IsExported(f.Value) {
			f.Value = "X" + f.Value
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
	sn := &Service{
		Handler:       n.Taken.Unique(name + "Handler"),
		NewProcessor:  n.Taken.Unique("New" + name + "Processor"),
		Unimplemented: n.Taken.Unique("Unimplemented" + name + "Handler"),
		Client:        n.Taken.Unique(name + "Client"),
		NewClient:     n.Taken.Unique("New" + name + "Client"),
	}
	n.Services[s] = sn
	// A method must not hide inherited methods, nor the embedded clients that they come from.
	methods := Scope(maps.Clone(vettedMethods))
	for b := s.Extends; b != nil; b = b.Extends {
		base := n.Services[b]
		methods[base.Client] = true
		for _, m := range base.Methods {
			methods[m.Go] = true
		}
	}
	for _, f := range s.Functions {
		m := Method{Go: methods.Unique(n.public(f.Name))}
		for _, part := range []struct {
			s      *schema.Struct
			suffix string
		}{{f.Args, "Args"}, {f.Result, "Result"}} {
			if part.s != nil {
				n.Structs[part.s] = &Struct{Type: n.Taken.Unique(name + m.Go + part.suffix)}
				n.members(part.s)
			}
		}
		m.Var = n.Taken.Unique(Private(name) + m.Go)
		sn.Methods = append(sn.Methods, m)
	}
}
