package schema

import (
	"strings"

	"github.com/nocopythrift/nocopythrift/gen/idl"
)

// reserved are the words that Apache's compiler (0.17 to 0.25) refuses as names of definitions,
// fields, methods and values of enums: the keywords of the IDL, former ones, and keywords of the
// languages for which it generates code.
var reserved = words(`
	async binary bool byte const cpp_include cpp_namespace cpp_type delphi_namespace double enum
	exception extends false i16 i32 i64 i8 include java_package list map namespace oneway optional
	perl_package php_namespace py_module required ruby_namespace senum service set slist
	smalltalk_category smalltalk_prefix string struct throws true typedef union void xsd_all
	xsd_attrs xsd_nillable xsd_optional

	__CLASS__ __DIR__ __FILE__ __FUNCTION__ __LINE__ __METHOD__ __NAMESPACE__ abstract alias and
	args as assert BEGIN begin break case catch class clone continue declare def default del delete
	do dynamic elif else elseif elsif END end enddeclare endfor endforeach endif endswitch endwhile
	ensure except exec finally float for foreach from function global goto if implements import in
	inline instanceof interface is lambda module native new next nil not or package pass print
	private protected public raise redo register rescue retry return self sizeof static super
	switch synchronized then this throw transient try undef unless unsigned until use var virtual
	volatile when while with xor yield`)

func words(text string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(text) {
		set[w] = true
	}
	return set
}

// checkName adds an error if the name of a declaration has a dot, and a warning if Apache's
// compiler refuses the name.
func (c *checker) checkName(name string, pos idl.Position, isField bool) {
	switch {
	case strings.Contains(name, "."):
		c.errs.Add(pos, "name %s must not contain a dot", name)
	case reserved[name]:
		c.warn(pos, "Apache's compiler refuses the name %s, which it reserves", name)
	case youngTypes[name] != nil && !isField:
		c.warn(pos, "Apache's compiler refuses the name %s since 0.18, in which it is a type", name)
	}
}

// nameIn returns the name of a type as the file of pos writes it: with its file if that is another
// one.
func (t *Type) nameIn(pos idl.Position) string {
	var in *Program
	switch t.Kind {
	case EnumKind:
		in = t.Enum.Program
	case StructKind:
		in = t.Struct.Program
	}
	if in == nil || in.Path == pos.Filename {
		return t.String()
	}
	return in.Name + "." + t.String()
}

// unknownType adds the error for the name of an unknown type.
func (c *checker) unknownType(p *Program, t *idl.Type) {
	switch t.Name {
	case "float":
		c.errs.Add(t.Pos, "unknown type float: it is fbthrift's dialect of the IDL, which is out of scope; use double")
		return
	case "slist":
		c.errs.Add(t.Pos, "unknown type slist: it is no longer part of the IDL; use string")
		return
	case "list", "set":
		c.errs.Add(t.Pos, "unknown type %s: the type of its elements is missing, as in %s<string>", t.Name, t.Name)
		return
	case "map":
		c.errs.Add(t.Pos, "unknown type map: the types of its keys and values are missing, as in map<string, i64>")
		return
	}
	if missing := notIncluded(p, t.Name); missing != "" {
		c.errs.Add(t.Pos, "unknown type %s%s", t.Name, missing)
		return
	}
	if meant := foreignTypes[strings.ToLower(t.Name)]; meant != "" {
		c.errs.Add(t.Pos, "unknown type %s: use %s", t.Name, meant)
		return
	}
	if meant := c.nearestType(p, t.Name); meant != "" {
		c.errs.Add(t.Pos, "unknown type %s, did you mean %s?", t.Name, meant)
		return
	}
	c.errs.Add(t.Pos, "unknown type %s", t.Name)
}

// notIncluded returns the end of a message about an unknown name: that the file before its last
// dot is not included, if that is the reason.
func notIncluded(p *Program, name string) string {
	if dot := strings.LastIndexByte(name, '.'); dot >= 0 && !includes(p, name[:dot]) {
		return ": no file " + name[:dot] + ".thrift is included"
	}
	return ""
}

// foreignTypes says what to use instead of types of other languages, by their lower-case names.
var foreignTypes = map[string]string{
	"int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64",
	"sbyte": "i8", "short": "i16", "int": "i32 or i64", "integer": "i32 or i64", "long": "i64",
	"uint8": "i8 or i16" + unsigned, "uint16": "i16 or i32" + unsigned, "uint32": "i32 or i64" + unsigned, "uint64": "i64" + unsigned,
	"u8": "i8 or i16" + unsigned, "u16": "i16 or i32" + unsigned, "u32": "i32 or i64" + unsigned, "u64": "i64" + unsigned,
	"uint": "i32 or i64" + unsigned, "unsigned": "i32 or i64" + unsigned,
	"float32": "double", "float64": "double", "f32": "double", "f64": "double", "real": "double", "decimal": "double or string",
	"boolean": "bool", "bit": "bool",
	"str": "string", "text": "string", "varchar": "string", "char": "string", "utf8": "string",
	"bytes": "binary", "blob": "binary", "bytearray": "binary",
	"guid": "uuid", "array": "list<...>", "vector": "list<...>", "slice": "list<...>", "hashset": "set<...>",
	"hashmap": "map<..., ...>", "dict": "map<..., ...>", "any": "a union, or binary", "object": "a struct, or binary",
	"timestamp": "i64", "datetime": "i64 or string", "date": "i64 or string", "time": "i64 or string",
}

const unsigned = ", there are no unsigned types"

// maxGuesses bounds the number of unknown types for which nearestType searches, per set of files.
const maxGuesses = 20

// nearestType returns the type that a misspelt name probably stands for, or "" if none is near. It
// searches p, the files that p includes, and the base types.
func (c *checker) nearestType(p *Program, name string) string {
	if c.guesses++; c.guesses > maxGuesses {
		return ""
	}
	known := []string{"byte"}
	for _, k := range kinds {
		if k.name != "" {
			known = append(known, k.name)
		}
	}
	add := func(prefix string, q *Program) {
		for _, d := range q.AST.Definitions {
			if n := q.types[d.DefName().Text]; n != nil && n.service == nil {
				known = append(known, prefix+d.DefName().Text)
			}
		}
	}
	add("", p)
	for _, q := range p.Includes {
		add(q.Name+".", q.Program)
	}
	return idl.Nearest(name, known)
}
