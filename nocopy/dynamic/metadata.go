package dynamic

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/reflection"
)

// This file turns the metadata that servers of fbthrift say into IDL.

// metadataMethod is the method of fbthrift's servers that returns their types.
const metadataMethod = "getThriftServiceMetadata"

// metadataIDL declares what it returns, as far as it is of use here.
const metadataIDL = `
struct Element { 1: optional Type value }
struct Pair { 1: optional Type key, 2: optional Type value }
struct Name { 1: string name, 2: optional Type of }
union Type { 1: i32 primitive, 2: Element list, 3: Element set, 4: Pair map, 5: Name enum, 6: Name structure, 7: Name uni, 8: Name alias }
struct Enum { 1: string name, 2: map<i32, string> elements }
struct Field { 1: i32 id, 2: Type type, 3: string name, 4: bool optional }
struct Struct { 1: string name, 2: list<Field> fields, 3: bool isUnion }
struct Function { 1: string name, 2: Type returns, 3: list<Field> arguments, 4: list<Field> exceptions, 5: bool isOneway }
struct Service { 1: string name, 2: list<Function> functions, 3: optional string parent }
struct Metadata { 2: map<string, Enum> enums, 4: map<string, Struct> structs, 5: map<string, Struct> exceptions, 6: map<string, Service> services }
struct Reference { 1: string name }
struct Response { 2: Metadata metadata, 3: list<Reference> services }
struct Result { 0: optional Response success }`

var parseMetadata = resultOf(metadataIDL, nocopy.Limits{MaxBytes: 8 * defaultMaxBytes, MaxIndex: 8 << 20, MaxDepth: 64})

const metadataFile = "metadata.thrift"

// readMetadata returns the Description that metadata amount to: one file. Names, which are such as
// "module.Name", lose the module if they are unique without. Fields and methods are left out if
// their types have no counterpart in Apache's IDL, such as float and streams.
func readMetadata(b []byte) (*Description, error) {
	response, err := parseMetadata(b)
	if err != nil {
		return nil, err
	}
	defer response.Message().Release()
	v, _ := response.Get("metadata")
	w := &metadata{Message: v.Message(), names: map[string]string{}}
	w.nameAll()
	var d Description
	for _, e := range w.sorted("enums") {
		w.enum(e)
	}
	for _, s := range w.sorted("structs") {
		kind := "struct"
		if isUnion, _ := s.Get("isUnion"); isUnion.Bool() {
			kind = "union"
		}
		w.structure(kind, s)
	}
	for _, s := range w.sorted("exceptions") {
		w.structure("exception", s)
	}
	w.services(&d)
	if w.text.Len() == 0 {
		return nil, errors.New("it has no types and no services")
	}
	if w.text.Len() > defaultMaxBytes {
		return nil, fmt.Errorf("as IDL it has more than %d bytes", defaultMaxBytes)
	}
	d.Files = map[string]string{metadataFile: w.text.String()}
	for _, s := range list(response, "services").All() {
		if name := w.names[text(s.Message(), "name")]; name != "" {
			d.Services = append(d.Services, ServiceName{Service: "metadata." + name})
		}
	}
	return &d, nil
}

// metadata writes metadata as IDL.
type metadata struct {
	Message
	names map[string]string // by the names in the metadata
	text  strings.Builder
}

// identifier matches names that can stand in IDL. Others could forge IDL.
var identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// sorted returns the values of a map by names, in the order of these.
func (w *metadata) sorted(name string) []Message {
	v, _ := w.Get(name)
	byName := map[string]Message{}
	for k, v := range v.Map().All() {
		byName[string(k.Bytes())] = v.Message()
	}
	var all []Message
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		if w.names[name] != "" || len(w.names) == 0 {
			all = append(all, byName[name])
		}
	}
	return all
}

// nameAll chooses a name in the IDL for each enum, struct, exception and service.
func (w *metadata) nameAll() {
	var full []string
	for _, kind := range []string{"enums", "structs", "exceptions", "services"} {
		v, _ := w.Get(kind)
		for k := range v.Map().All() {
			full = append(full, string(k.Bytes()))
		}
	}
	slices.Sort(full)
	short := func(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }
	uses := map[string]int{}
	for _, name := range full {
		uses[short(name)]++
	}
	for _, name := range full {
		in := short(name)
		if uses[in] > 1 {
			in = strings.ReplaceAll(name, ".", "_")
		}
		if identifier.MatchString(in) {
			w.names[name] = in
		}
	}
}

func (w *metadata) enum(e Message) {
	fmt.Fprintf(&w.text, "enum %s {\n", w.names[text(e, "name")])
	v, _ := e.Get("elements")
	for k, name := range v.Map().All() {
		if name := string(name.Bytes()); identifier.MatchString(name) {
			fmt.Fprintf(&w.text, "  %s = %d\n", name, k.Int())
		}
	}
	w.text.WriteString("}\n")
}

func (w *metadata) structure(kind string, s Message) {
	fields, _ := w.fields(list(s, "fields"), kind != "union", "\n")
	fmt.Fprintf(&w.text, "%s %s {\n%s}\n", kind, w.names[text(s, "name")], fields)
}

// fields returns fields as IDL, each with an end. It reports whether all have counterparts.
func (w *metadata) fields(fields reflection.List, mayBeOptional bool, end string) (idl string, complete bool) {
	complete = true
	var b strings.Builder
	for _, f := range fields.All() {
		f := f.Message()
		id, _ := f.Get("id")
		t, _ := f.Get("type")
		of, ok := w.typ(t.Message())
		name := text(f, "name")
		if !ok || !identifier.MatchString(name) {
			complete = false
			continue
		}
		optional := ""
		if is, _ := f.Get("optional"); is.Bool() && mayBeOptional {
			optional = "optional "
		}
		fmt.Fprintf(&b, "  %d: %s%s %s%s", id.Int(), optional, of, name, end)
	}
	return b.String(), complete
}

// primitives are the types of fbthrift's ThriftPrimitiveType; float has no counterpart.
var primitives = map[int64]string{1: "bool", 2: "i8", 3: "i16", 4: "i32", 5: "i64", 7: "double", 8: "binary", 9: "string", 10: "void"}

// typ returns a type as IDL, and whether there is such a type.
func (w *metadata) typ(t Message) (string, bool) {
	for f, v := range t.All() {
		switch f.Name() {
		case "primitive":
			name, ok := primitives[v.Int()]
			return name, ok
		case "list", "set":
			elem, _ := v.Message().Get("value")
			of, ok := w.typ(elem.Message())
			return f.Name() + "<" + of + ">", ok
		case "map":
			key, _ := v.Message().Get("key")
			elem, _ := v.Message().Get("value")
			of, ok := w.typ(key.Message())
			to, ok2 := w.typ(elem.Message())
			return "map<" + of + ", " + to + ">", ok && ok2
		case "alias":
			of, _ := v.Message().Get("of")
			return w.typ(of.Message())
		default:
			name := w.names[text(v.Message(), "name")]
			return name, name != ""
		}
	}
	return "", false
}

// services writes the services, those that others extend first.
func (w *metadata) services(d *Description) {
	byName := map[string]Message{}
	all := w.sorted("services")
	for _, s := range all {
		byName[text(s, "name")] = s
	}
	written := map[string]bool{}
	var write func(s Message)
	write = func(s Message) {
		name := text(s, "name")
		if written[name] {
			return
		}
		written[name] = true
		extends := ""
		parent, known := byName[text(s, "parent")]
		if known {
			write(parent)
			extends = " extends " + w.names[text(parent, "name")]
		}
		fmt.Fprintf(&w.text, "service %s%s {\n", w.names[name], extends)
		for _, f := range list(s, "functions").All() {
			w.function(f.Message())
		}
		w.text.WriteString("}\n")
	}
	for _, s := range all {
		write(s)
	}
}

// function writes a method, if its types have counterparts.
func (w *metadata) function(f Message) {
	v, _ := f.Get("returns")
	returns, ok := w.typ(v.Message())
	name := text(f, "name")
	if !ok || !identifier.MatchString(name) {
		return
	}
	if oneway, _ := f.Get("isOneway"); oneway.Bool() {
		returns = "oneway void"
	}
	args, complete := w.fields(list(f, "arguments"), false, ",")
	if !complete {
		return
	}
	fmt.Fprintf(&w.text, "  %s %s(%s)", returns, name, args)
	if thrown, _ := w.fields(list(f, "exceptions"), false, ","); thrown != "" {
		fmt.Fprintf(&w.text, " throws (%s)", thrown)
	}
	w.text.WriteString("\n")
}
