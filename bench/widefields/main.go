// Command widefields writes the repetitive code for the many fields of workload W: the IDL of all
// peers, and the application's use of the fields, a package for each peer. generate.sh calls it.
//
//	go run ./widefields DIR
package main

import (
	"bytes"
	"embed"
	"fmt"
	"go/format"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/nocopythrift/nocopythrift/bench/data"
)

// A template sees an output: the peer's name, the fields, and the peer's types.
//
//go:embed *.tmpl
var templates embed.FS

type types = map[data.FieldKind]string

// output is a file to be written. Only the declaration of a struct has types.
type output struct {
	file, template, Peer string
	Types                types
}

var outputs = []output{
	{"idl/wide.thrift", "thrift.tmpl", "", types{data.TextField: "string", data.IntField: "i64", data.DoubleField: "double", data.BoolField: "bool"}},
	{"idl/wide.proto", "proto.tmpl", "", types{data.TextField: "string", data.IntField: "int64", data.DoubleField: "double", data.BoolField: "bool"}},
	{"idl/wide.capnp", "capnp.tmpl", "", types{data.TextField: "Text", data.IntField: "Int64", data.DoubleField: "Float64", data.BoolField: "Bool"}},
	{"idl/wide.fbs", "fbs.tmpl", "", types{data.TextField: "string", data.IntField: "long", data.DoubleField: "double", data.BoolField: "bool"}},
	{"msgp/wide/wide.go", "msgp.tmpl", "", types{data.TextField: "string", data.IntField: "int64", data.DoubleField: "float64", data.BoolField: "bool"}},
	goCode("kitex", "structs.go.tmpl"), goCode("fastgo", "structs.go.tmpl"), goCode("frugal", "structs.go.tmpl"),
	goCode("apache", "structs.go.tmpl"), goCode("vtproto", "structs.go.tmpl"), goCode("msgp", "structs.go.tmpl"),
	goCode("nocopy", "nocopy.go.tmpl"), goCode("capnp", "capnp.go.tmpl"), goCode("flat", "flat.go.tmpl"),
}

func goCode(peer, template string) output {
	return output{file: peer + "/widefields/widefields.go", template: template, Peer: peer}
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: widefields DIR")
		os.Exit(2)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "widefields:", err)
		os.Exit(1)
	}
}

// write writes all outputs below dir.
func write(dir string) error {
	t, err := template.New("").Funcs(template.FuncMap{"sum": sum, "lower": strings.ToLower, "dec": func(n int16) int16 { return n - 1 }}).ParseFS(templates, "*.tmpl")
	if err != nil {
		return err
	}
	for _, o := range outputs {
		var text bytes.Buffer
		if err := t.ExecuteTemplate(&text, o.template, o); err != nil {
			return err
		}
		b := text.Bytes()
		if filepath.Ext(o.file) == ".go" {
			if b, err = format.Source(b); err != nil {
				return fmt.Errorf("%s: %w", o.file, err)
			}
		}
		file := filepath.Join(dir, o.file)
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(file, b, 0o666); err != nil {
			return err
		}
	}
	return nil
}

// Fields returns the fields of a wide struct.
func (output) Fields() []data.FieldDecl { return data.WideFields }

// sum returns the function that says what a value of a kind adds to a sum.
func sum(k data.FieldKind) string {
	switch k {
	case data.TextField:
		return "data.Str"
	case data.IntField:
		return "uint64"
	case data.DoubleField:
		return "data.F64"
	}
	return "data.Bool"
}
