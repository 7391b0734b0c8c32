package golang

import (
	"go/token"
	"maps"
	"regexp"
	"slices"

	"github.com/nocopythrift/nocopythrift/gen/schema"
)

// scope holds the names that are taken.
type scope map[string]bool

// unique returns name, with as many underscores added as it takes to differ from all taken
// and all predeclared names, and marks it as taken.
func (s scope) unique(name string) string {
	for s[name] || predeclared[name] {
		name += "_"
	}
	s[name] = true
	return name
}

// structNames holds the Go names of a struct's declarations.
type structNames struct {
	Type, New, Parse, Read, Desc, Which string
	Fields                              []fieldNames
	// With Options.Fields, of a struct that is no union: the type of its fields, the function that
	// returns one with the IDL's defaults, and the one that makes a message of them
	Values, Defaults, NewOf string
}

type fieldNames struct {
	Go     string // the part of method names: Name in GetName and SetName
	Const  string // the field constant
	Arm    string // the constant that a union's Which returns; "" in a struct
	SetMap string // the method that takes a Go map, of fields that have one
	// With Options.Fields: the field of the type of fields, and of lists of structs the methods that
	// take a slice of these and a function
	Value, SetOf, SetBy string
}

type enumNames struct {
	Type, Parse, Desc, All string
	Values                 []string
}

type constNames struct{ Name, Var string }

// serviceNames holds the Go names of a service's declarations.
type serviceNames struct {
	Handler, Unimplemented, NewProcessor, Client, NewClient string
	Methods                                                 []methodNames
}

type methodNames struct {
	Go  string // the name of the handler's and of the client's method
	Var string // the variable that holds its *rpc.Method
}

// names holds the Go names of everything in a package.
type names struct {
	taken    scope
	fields   bool // as Options.Fields
	golint   bool // as Options.Golint
	structs  map[*schema.Struct]*structNames
	enums    map[*schema.Enum]*enumNames
	typedefs map[*schema.Typedef]string
	consts   map[*schema.Const]constNames
	// Of all packages: a service may extend another package's
	services map[*schema.Service]*serviceNames
}

// newNames returns the names of an empty package. services is shared by all packages.
func newNames(services map[*schema.Service]*serviceNames, opt Options) *names {
	return &names{
		taken:    scope{},
		fields:   opt.Fields,
		golint:   opt.Golint,
		structs:  map[*schema.Struct]*structNames{},
		enums:    map[*schema.Enum]*enumNames{},
		typedefs: map[*schema.Typedef]string{},
		consts:   map[*schema.Const]constNames{},
		services: services,
	}
}

// public returns the Go name of an IDL name.
func (n *names) public(name string) string {
	if name = publicName(name); n.golint {
		return asGolint(name)
	}
	return name
}

// addFile chooses the names of what p defines. Types choose first, then their members,
// then typedefs and constants. Included files must be added before those that
// include them, which then cannot change their names.
func (n *names) addFile(p *schema.Program) {
	for _, s := range p.Structs {
		n.structs[s] = &structNames{Type: n.taken.unique(n.public(s.Name))}
	}
	for _, e := range p.Enums {
		n.enums[e] = &enumNames{Type: n.taken.unique(n.public(e.Name))}
	}
	for _, e := range p.Enums {
		en := n.enums[e]
		for _, v := range e.Values {
			en.Values = append(en.Values, n.taken.unique(en.Type+"_"+v.Name))
		}
		en.Parse = n.taken.unique("Parse" + en.Type)
		en.Desc = n.taken.unique(en.Type + "Desc")
		en.All = n.taken.unique(en.Type + "Values")
	}
	for _, s := range p.Structs {
		n.members(s)
	}
	for _, s := range p.Services {
		n.service(s)
	}
	for _, t := range p.Typedefs {
		n.typedefs[t] = n.taken.unique(n.public(t.Name))
	}
	for _, c := range p.Consts {
		name := n.taken.unique(n.public(c.Name))
		n.consts[c] = constNames{name, n.taken.unique(privateName(name) + "Const")}
	}
	if n.fields { // last, so that other names do not depend on it
		for _, s := range structsOf(p) {
			n.values(s)
		}
	}
}

// structsOf returns the structs of p and those of its services' methods.
func structsOf(p *schema.Program) []*schema.Struct {
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

// values chooses the names of what Options.Fields adds for s, at the level of the package.
func (n *names) values(s *schema.Struct) {
	if s.Shape == schema.IsUnion {
		return
	}
	sn := n.structs[s]
	sn.Values = n.taken.unique(sn.Type + "Fields")
	sn.Defaults = n.taken.unique("Default" + sn.Values)
	sn.NewOf = n.taken.unique(sn.New + "Of")
}

// members chooses the names of what belongs to the type of s, which has its name already.
func (n *names) members(s *schema.Struct) {
	sn := n.structs[s]
	sn.New = n.taken.unique("New" + sn.Type)
	sn.Parse = n.taken.unique("Parse" + sn.Type)
	sn.Read = n.taken.unique("Read" + sn.Type)
	sn.Desc = n.taken.unique(sn.Type + "Desc")
	if s.Shape == schema.IsUnion {
		sn.Which = n.taken.unique(sn.Type + "Which")
	}
	methods := maps.Clone(structMethods)
	for _, f := range s.Fields {
		name := n.public(f.Name)
		for methods["Get"+name] || methods["Set"+name] || methods["IsSet"+name] || methods["Unset"+name] || methods["New"+name] {
			name += "_"
		}
		for _, verb := range []string{"Get", "Set", "IsSet", "Unset", "New"} {
			methods[verb+name] = true
		}
		fn := fieldNames{Go: name, Const: n.taken.unique(privateName(sn.Type) + name)}
		if sn.Which != "" {
			fn.Arm = n.taken.unique(sn.Type + "_" + name)
		}
		sn.Fields = append(sn.Fields, fn)
	}
	for i, f := range s.Fields { // names of fields come first
		if f.Type.Kind == schema.Map {
			sn.Fields[i].SetMap = methods.unique("Set" + sn.Fields[i].Go + "Map")
		}
	}
	values := scope{"ThriftPut": true, "Format": true, "LogValue": true}
	for i := range s.Fields {
		f := &sn.Fields[i]
		f.SetOf, f.SetBy = methods.unique("Set"+f.Go+"Of"), methods.unique("Set"+f.Go+"By")
		f.Value = f.Go
		if !token.IsExported(f.Value) {
			f.Value = "X" + f.Value
		}
		f.Value = values.unique(f.Value)
	}
}

// structMethods holds the names of the methods that every struct, union or exception
// has. They are read from the template that declares them.
var structMethods = func() scope {
	text, err := templateFiles.ReadFile("templates/struct.tmpl")
	if err != nil {
		panic(err)
	}
	methods := scope{}
	for _, m := range regexp.MustCompile(`func \(s \*?{{\.Type}}\) (\w+)\(`).FindAllSubmatch(text, -1) {
		methods[string(m[1])] = true
	}
	return methods
}()

// vettedMethods holds the method names for which go vet demands the signature that the
// standard library gives them.
var vettedMethods = wordSet(`GobDecode GobEncode MarshalJSON MarshalXML ReadByte ReadRune UnmarshalJSON UnmarshalXML
	UnreadByte UnreadRune WriteByte`)

// service chooses the names of a service's declarations, those of the service that it
// extends before its own. Arguments and results of its methods are structs called
// VGetArgs and VGetResult; publicName gives no struct of the IDL such a name.
func (n *names) service(s *schema.Service) {
	if n.services[s] != nil {
		return
	}
	if s.Extends != nil && s.Extends.Program == s.Program {
		n.service(s.Extends)
	}
	name := n.public(s.Name)
	sn := &serviceNames{
		Handler:       n.taken.unique(name + "Handler"),
		NewProcessor:  n.taken.unique("New" + name + "Processor"),
		Unimplemented: n.taken.unique("Unimplemented" + name + "Handler"),
		Client:        n.taken.unique(name + "Client"),
		NewClient:     n.taken.unique("New" + name + "Client"),
	}
	n.services[s] = sn
	// A method must not hide those that are inherited, nor the clients that these come from.
	methods := scope(maps.Clone(vettedMethods))
	for b := s.Extends; b != nil; b = b.Extends {
		base := n.services[b]
		methods[base.Client] = true
		for _, m := range base.Methods {
			methods[m.Go] = true
		}
	}
	for _, f := range s.Functions {
		m := methodNames{Go: methods.unique(n.public(f.Name))}
		for _, part := range []struct {
			s      *schema.Struct
			suffix string
		}{{f.Args, "Args"}, {f.Result, "Result"}} {
			if part.s != nil {
				n.structs[part.s] = &structNames{Type: n.taken.unique(name + m.Go + part.suffix)}
				n.members(part.s)
			}
		}
		m.Var = n.taken.unique(privateName(name) + m.Go)
		sn.Methods = append(sn.Methods, m)
	}
}
