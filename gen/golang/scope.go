package golang

import (
	"maps"
	"regexp"

	"github.com/nocopythrift/nocopythrift/gen/schema"
)

// scope hands out names, each only once: the second to want a name gets a
// trailing underscore.
type scope map[string]bool

func (s scope) take(name string) string {
	for s[name] || predeclared[name] {
		name += "_"
	}
	s[name] = true
	return name
}

// structNames are the Go names that come from a struct.
type structNames struct {
	Type, New, Parse, Desc, Which string
	Fields                        []fieldNames
}

type fieldNames struct {
	Go    string // GetGo, SetGo, ...
	Const string // the field constant
	Arm   string // unions: the constant that Which returns
}

type enumNames struct {
	Type, Parse string
	Values      []string
}

type constNames struct{ Name, Var string }

// serviceNames are the Go names that come from a service.
type serviceNames struct {
	Handler, NewProcessor, Client, NewClient string
	Methods                                  []methodNames
}

type methodNames struct {
	Go  string // the method of the handler and of the client
	Var string // the variable that describes it to package rpc
}

// names are the Go names of everything in a package.
type names struct {
	taken    scope
	structs  map[*schema.Struct]*structNames
	enums    map[*schema.Enum]*enumNames
	typedefs map[*schema.Typedef]string
	consts   map[*schema.Const]constNames
	services map[*schema.Service]*serviceNames // of all packages, since services extend those of others
}

func newNames(services map[*schema.Service]*serviceNames) *names {
	return &names{
		taken:    scope{},
		structs:  map[*schema.Struct]*structNames{},
		enums:    map[*schema.Enum]*enumNames{},
		typedefs: map[*schema.Typedef]string{},
		consts:   map[*schema.Const]constNames{},
		services: services,
	}
}

// add names what a file defines. The most visible names choose first: types,
// then what belongs to them, then typedefs and constants. A file that others
// include is named before them, so that they cannot change its names.
func (n *names) add(p *schema.Program) {
	for _, s := range p.Structs {
		n.structs[s] = &structNames{Type: n.taken.take(publicName(s.Name))}
	}
	for _, e := range p.Enums {
		n.enums[e] = &enumNames{Type: n.taken.take(publicName(e.Name))}
	}
	for _, e := range p.Enums {
		en := n.enums[e]
		for _, v := range e.Values {
			en.Values = append(en.Values, n.taken.take(en.Type+"_"+v.Name))
		}
		en.Parse = n.taken.take("Parse" + en.Type)
	}
	for _, s := range p.Structs {
		n.members(s)
	}
	for _, s := range p.Services {
		n.service(s)
	}
	for _, t := range p.Typedefs {
		n.typedefs[t] = n.taken.take(publicName(t.Name))
	}
	for _, c := range p.Consts {
		name := n.taken.take(publicName(c.Name))
		n.consts[c] = constNames{name, n.taken.take(privateName(name) + "Const")}
	}
}

func (n *names) members(s *schema.Struct) {
	sn := n.structs[s]
	sn.New = n.taken.take("New" + sn.Type)
	sn.Parse = n.taken.take("Parse" + sn.Type)
	sn.Desc = n.taken.take(sn.Type + "Desc")
	if s.Shape == schema.IsUnion {
		sn.Which = n.taken.take(sn.Type + "Which")
	}
	methods := maps.Clone(structMethods)
	for _, f := range s.Fields {
		name := publicName(f.Name)
		for methods["Get"+name] || methods["Set"+name] || methods["IsSet"+name] || methods["Unset"+name] || methods["New"+name] {
			name += "_"
		}
		for _, verb := range []string{"Get", "Set", "IsSet", "Unset", "New"} {
			methods[verb+name] = true
		}
		fn := fieldNames{Go: name, Const: n.taken.take(privateName(sn.Type) + name)}
		if sn.Which != "" {
			fn.Arm = n.taken.take(sn.Type + "_" + name)
		}
		sn.Fields = append(sn.Fields, fn)
	}
}

// structMethods are the methods that every struct, union or exception has, as
// the template declares them.
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

// vetted are the methods that go vet wants to have the signatures which they
// have in Go's own packages.
var vetted = set(`GobDecode GobEncode MarshalJSON MarshalXML ReadByte ReadRune UnmarshalJSON UnmarshalXML
	UnreadByte UnreadRune WriteByte`)

// service names what belongs to a service. The arguments and results of its
// methods are structs called VGetArgs and VGetResult, which no struct of the
// IDL can be called: see publicName. A service is named after the one that it
// extends.
func (n *names) service(s *schema.Service) {
	if n.services[s] != nil {
		return
	}
	if s.Extends != nil && s.Extends.Program == s.Program {
		n.service(s.Extends)
	}
	name := publicName(s.Name)
	sn := &serviceNames{
		Handler:      n.taken.take(name + "Handler"),
		NewProcessor: n.taken.take("New" + name + "Processor"),
		Client:       n.taken.take(name + "Client"),
		NewClient:    n.taken.take("New" + name + "Client"),
	}
	n.services[s] = sn
	// A method must not hide those that are inherited, nor the clients that these come from.
	methods := scope(maps.Clone(vetted))
	for b := s.Extends; b != nil; b = b.Extends {
		base := n.services[b]
		methods[base.Client] = true
		for _, m := range base.Methods {
			methods[m.Go] = true
		}
	}
	for _, f := range s.Functions {
		m := methodNames{Go: methods.take(publicName(f.Name))}
		for _, part := range []struct {
			s      *schema.Struct
			suffix string
		}{{f.Args, "Args"}, {f.Result, "Result"}} {
			if part.s != nil {
				n.structs[part.s] = &structNames{Type: n.taken.take(name + m.Go + part.suffix)}
				n.members(part.s)
			}
		}
		m.Var = n.taken.take(privateName(name) + m.Go)
		sn.Methods = append(sn.Methods, m)
	}
}
