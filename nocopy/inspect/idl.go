package inspect

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nocopythrift/nocopythrift/gen/schema"
	"github.com/nocopythrift/nocopythrift/nocopy"
)

// IDL holds the names and types of .thrift files. It is immutable. Any number of goroutines may
// use it.
type IDL struct{ set *schema.Set }

// LoadIDL reads a .thrift file and the files that it includes. It looks for these in the folder of
// the including file, then in includeDirs. The error has a line for each mistake, in the form
// file:line:col: message.
func LoadIDL(file string, includeDirs ...string) (*IDL, error) {
	set, err := schema.Load([]string{file}, includeDirs)
	if err != nil {
		return nil, err
	}
	return &IDL{set}, nil
}

// IDLOf returns the names and types of files that package gen/schema has loaded without errors. It
// is for commands of this repository: gen/schema makes no promise, see docs/upgrading.md.
func IDLOf(set *schema.Set) *IDL {
	if set == nil {
		panic("nocopy: inspect.IDLOf without a Set")
	}
	return &IDL{set}
}

// names has the definitions of an IDL that apply to one stream.
type names struct {
	root    *schema.Struct  // the type of bare structs; nil if unknown
	service *schema.Service // the service that is called; nil for any
	methods map[string][]method
	of      map[string]*schema.Service // by name, for multiplexed calls
}

// method is a method of a service.
type method struct {
	of *schema.Service
	*schema.Function
}

// names returns the names for a stream of typ, a struct or service, or "".
func (l *IDL) names(typ string) (*names, error) {
	n := &names{methods: map[string][]method{}, of: map[string]*schema.Service{}}
	for _, p := range l.set.Programs {
		for _, s := range p.Services {
			n.of[s.Name] = s
			for _, f := range s.Functions {
				n.methods[f.Name] = append(n.methods[f.Name], method{s, f})
			}
		}
	}
	if typ == "" {
		return n, nil
	}
	return n, n.find(l.set, typ)
}

// find sets root or service to the definition named typ. Names in included files begin with the
// file's name and a dot.
func (n *names) find(set *schema.Set, typ string) error {
	var known []string
	for _, p := range slices.Backward(set.Programs) {
		prefix := p.Name + "."
		if slices.Contains(set.Roots, p) {
			prefix = ""
		}
		for _, name := range []string{strings.TrimPrefix(typ, p.Name+"."), typ} {
			if prefix+name != typ && p.Name+"."+name != typ {
				continue
			}
			for _, s := range p.Structs {
				if s.Name == name {
					n.root = s
					return nil
				}
			}
			for _, td := range p.Typedefs {
				if td.Name == name && td.Type != nil && td.Type.Kind == schema.StructKind {
					n.root = td.Type.Struct
					return nil
				}
			}
			for _, s := range p.Services {
				if s.Name == name {
					n.service = s
					return nil
				}
			}
		}
		for _, s := range p.Structs {
			known = append(known, prefix+s.Name)
		}
		for _, s := range p.Services {
			known = append(known, prefix+s.Name)
		}
	}
	return fmt.Errorf("inspect: no struct or service %q in the IDL, which has %s", typ, list(known))
}

// list returns the first names as text.
func list(names []string) string {
	const most = 20
	if len(names) == 0 {
		return "none"
	}
	if len(names) > most {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", len(names)-most)
	}
	return strings.Join(names, ", ")
}

// messageStruct returns the struct of a message from the method name in its header, which may
// begin with the name of a service and a colon. If the struct is unknown, it returns nil, and the
// note says why.
func (n *names) messageStruct(name string, typ byte, note string) (*schema.Struct, string) {
	if note != "" {
		return nil, note
	}
	service := n.service
	if of, rest, ok := strings.Cut(name, ":"); ok {
		name = rest
		if service = n.of[of]; service == nil {
			return nil, "the IDL has no service of this name"
		}
	}
	var m *schema.Function
	if service == nil {
		all := n.methods[name]
		if len(all) > 1 {
			return nil, fmt.Sprintf("a method of %s and of %s: which service is meant?", all[0].of.Name, all[1].of.Name)
		}
		if len(all) == 1 {
			m = all[0].Function
		}
	}
	for s := service; s != nil && m == nil; s = s.Extends {
		if i := slices.IndexFunc(s.Functions, func(f *schema.Function) bool { return f.Name == name }); i >= 0 {
			m = s.Functions[i]
		}
	}
	switch {
	case m == nil:
		return nil, "no such method in the IDL"
	case typ != typeReply:
		return m.Args, ""
	case m.Result == nil:
		return nil, "a reply to a oneway method"
	}
	return m.Result, ""
}

// applicationException is the struct of messages of type exception.
var applicationException = &schema.Struct{
	Name: "TApplicationException", Shape: schema.IsException,
	Fields: []*schema.Field{
		{ID: 1, Name: "message", Type: &schema.Type{Kind: schema.String}},
		{ID: 2, Name: "type", Type: &schema.Type{Kind: schema.EnumKind, Enum: exceptionTypes}},
	},
}

var exceptionTypes = &schema.Enum{Name: "TApplicationExceptionType", Values: []*schema.EnumValue{
	{Name: "UNKNOWN", Value: 0}, {Name: "UNKNOWN_METHOD", Value: 1}, {Name: "INVALID_MESSAGE_TYPE", Value: 2},
	{Name: "WRONG_METHOD_NAME", Value: 3}, {Name: "BAD_SEQUENCE_ID", Value: 4}, {Name: "MISSING_RESULT", Value: 5},
	{Name: "INTERNAL_ERROR", Value: 6}, {Name: "PROTOCOL_ERROR", Value: 7}, {Name: "INVALID_TRANSFORM", Value: 8},
	{Name: "INVALID_PROTOCOL", Value: 9}, {Name: "UNSUPPORTED_CLIENT_TYPE", Value: 10},
	{Name: "LOADSHEDDING", Value: 11},
}}

// enumName returns the name of a value, or "".
func enumName(e *schema.Enum, v int32) string {
	for _, known := range e.Values {
		if known.Value == v {
			return known.Name
		}
	}
	return ""
}

func wireType(t *schema.Type) nocopy.WireType { return nocopy.WireType(t.WireType()) }
