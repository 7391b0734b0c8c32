// Command fixedlists writes fixedlists.go of package nocopy: the lists of elements of fixed size,
// which differ in nothing but the element's type and how it is loaded and stored.
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
var text string

type kind struct {
	Name, Elem, Param, IDL, Set string
	Size                        int
	// Load is an expression over @, the element's bytes, Store a statement over b, them too, and v.
	Load, Store string
	// All is how package byteorder calls a slice of such elements; empty if they are converted one by
	// one.
	All string
}

var kinds = []kind{
	{Name: "BoolList", Elem: "bool", IDL: "bool", Set: "SetBools", Size: 1, Load: "@[0] != 0", Store: "b[0] = encodeBool(v).fixed[0]"},
	{Name: "Int8List", Elem: "int8", IDL: "i8", Set: "SetInt8s", Size: 1, All: "Int8s", Load: "int8(@[0])", Store: "b[0] = byte(v)"},
	{Name: "Int16List", Elem: "int16", IDL: "i16", Set: "SetInt16s", Size: 2, All: "Int16s",
		Load: "int16(binary.BigEndian.Uint16(@))", Store: "binary.BigEndian.PutUint16(b, uint16(v))"},
	{Name: "Int32List", Elem: "int32", IDL: "i32", Set: "SetInt32s", Size: 4, All: "Int32s",
		Load: "int32(binary.BigEndian.Uint32(@))", Store: "binary.BigEndian.PutUint32(b, uint32(v))"},
	{Name: "Int64List", Elem: "int64", IDL: "i64", Set: "SetInt64s", Size: 8, All: "Int64s",
		Load: "int64(binary.BigEndian.Uint64(@))", Store: "binary.BigEndian.PutUint64(b, uint64(v))"},
	{Name: "Float64List", Elem: "float64", IDL: "double", Set: "SetFloat64s", Size: 8, All: "Float64s",
		Load: "math.Float64frombits(binary.BigEndian.Uint64(@))", Store: "binary.BigEndian.PutUint64(b, math.Float64bits(v))"},
	{Name: "UUIDList", Elem: "UUID", IDL: "uuid", Set: "SetUUIDs", Size: 16, Load: "UUID(@[:16])", Store: "copy(b, v[:])"},
	{Name: "EnumList", Elem: "E", Param: "E", IDL: "an enum", Size: 4, All: "Int32s",
		Load: "E(binary.BigEndian.Uint32(@))", Store: "binary.BigEndian.PutUint32(b, uint32(v))"},
}

// From returns the expression that loads an element from these bytes.
func (k kind) From(b string) string { return strings.ReplaceAll(k.Load, "@", b) }

func main() {
	log.SetFlags(0)
	dir := flag.String("o", ".", "write fixedlists.go to `DIR`")
	flag.Parse()
	var out bytes.Buffer
	if err := template.Must(template.New("").Parse(text)).Execute(&out, kinds); err != nil {
		log.Fatal(err)
	}
	src, err := format.Source(out.Bytes())
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(*dir, "fixedlists.go"), src, 0o644); err != nil {
		log.Fatal(err)
	}
}
