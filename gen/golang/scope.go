package golang

import "github.com/nocopythrift/nocopythrift/gen/schema"

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

// names are the Go names of everything in a package.
type names struct {
	taken    scope
	structs  map[*schema.Struct]*structNames
	enums    map[*schema.Enum]*enumNames
	typedefs map[*schema.Typedef]string
	consts   map[*schema.Const]constNames
}

func newNames() *names {
	return &names{
		taken:    scope{},
		structs:  map[*schema.Struct]*structNames{},
		enums:    map[*schema.Enum]*enumNames{},
		typedefs: map[*schema.Typedef]string{},
		consts:   map[*schema.Const]constNames{},
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
	methods := scope(set("Message Release Clone Valid String Unknown Error Which"))
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
