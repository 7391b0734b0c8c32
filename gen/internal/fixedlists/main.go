// Command fixedlists writes the files fixedlists.go of package nocopy, with the lists of
// fixed-size elements, and of package engine, with the functions that they need. The lists differ
// only in the element's type, and in how it is loaded and stored.
package main

import (
	"bytes"
	_ "embed"
	"flag"
	"go/format"
	"log"
	"os"
	"path/filepath"
	"strings"
	"text/template"
)

//go:embed fixedlists.go.tmpl
var face string

//go:embed engine.go.tmpl
var inside string

type kind struct {
	Name, Elem, IDL string
	Size            int
	// Param is the type parameter of the list, and Constraint its constraint.
	Param, Constraint string
	// At and Set are the engine's methods that load an element and set a field to a slice. Many is
	// the type of the slice, if the elements have a type parameter there.
	At, Set, Many string
	// Load is an expression with @ for the element's bytes. Store is a statement with b for the
	// bytes and v for the element.
	Load, Store string
	// All is the name of a slice of such elements in functions of package byteorder, or empty if
	// they are converted one by one.
	All string
}

var kinds = []kind{
	{Name: "BoolList", Elem: "bool", IDL: "bool", At: "BoolAt", Set: "SetBools", Size: 1, Load: "@[0] != 0", Store: "b[0] = engine.BoolByte(v)"},
	{Name: "Int8List", Elem: "int8", IDL: "i8", At: "Int8At", Set: "SetInt8s", Size: 1, All: "Int8s", Load: "int8(@[0])", Store: "b[0] = byte(v)"},
	{Name: "Int16List", Elem: "int16", IDL: "i16", At: "Int16At", Set: "SetInt16s", Size: 2, All: "Int16s",
		Load: "int16(binary.BigEndian.Uint16(@))", Store: "binary.BigEndian.PutUint16(b, uint16(v))"},
	{Name: "Int32List", Elem: "int32", IDL: "i32", At: "Int32At", Set: "SetInt32s", Size: 4, All: "Int32s",
		Load: "int32(binary.BigEndian.Uint32(@))", Store: "binary.BigEndian.PutUint32(b, uint32(v))"},
	{Name: "Int64List", Elem: "int64", IDL: "i64", At: "Int64At", Set: "SetInt64s", Size: 8, All: "Int64s",
		Load: "int64(binary.BigEndian.Uint64(@))", Store: "binary.BigEndian.PutUint64(b, uint64(v))"},
	{Name: "Float64List", Elem: "float64", IDL: "double", At: "Float64At", Set: "SetFloat64s", Size: 8, All: "Float64s",
		Load: "math.Float64frombits(binary.BigEndian.Uint64(@))", Store: "binary.BigEndian.PutUint64(b, math.Float64bits(v))"},
	{Name: "UUIDList", Elem: "UUID", IDL: "uuid", At: "UUIDAt", Many: "UUIDs", Constraint: "~[16]byte", Size: 16,
		Load: "UUID(@[:16])", Store: "copy(b, v[:])"},
	{Name: "EnumList", Elem: "E", Param: "E", IDL: "an enum", Many: "Enums", Constraint: "~int32", Size: 4, All: "Int32s",
		Load: "E(binary.BigEndian.Uint32(@))", Store: "binary.BigEndian.PutUint32(b, uint32(v))"},
}

// From returns the expression that loads an element from these bytes.
func (k kind) From(b string) string { return strings.ReplaceAll(k.Load, "@", b) }

// Get returns the expression that loads element i of list l.
func (k kind) Get() string {
	if k.At == "" {
		return k.Elem + "(engine.Struct(l).Int32At(i))"
	}
	return "engine.Struct(l)." + k.At + "(i)"
}

// inEngine returns k for package engine, which has no type for uuids.
func (k kind) inEngine() kind {
	k.Store = strings.ReplaceAll(k.Store, "engine.", "")
	if k.Elem == "UUID" {
		k.Elem, k.Load, k.Param = "[16]byte", "[16]byte(@[:16])", "U"
	}
	return k
}

func main() {
	log.SetFlags(0)
	dir := flag.String("o", ".", "write files of packages nocopy and engine below `DIR`")
	flag.Parse()
	write(filepath.Join(*dir, "fixedlists.go"), face, kinds)
	var below []kind
	for _, k := range kinds {
		below = append(below, k.inEngine())
	}
	write(filepath.Join(*dir, "internal", "engine", "fixedlists.go"), inside, below)
}

func write(name, text string, kinds []kind) {
	var out bytes.Buffer
	if err := template.Must(template.New("").Parse(text)).Execute(&out, kinds); err != nil {
		log.Fatal(err)
	}
	save(name, out.Bytes())
}

func save(name string, text []byte) {
	src, err := format.Source(text)
	if err != nil {
		log.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(name, src, 0o644); err != nil {
		log.Fatal(err)
	}
}
