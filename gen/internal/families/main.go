// Command families writes the functions that nocopy and packages below it need once for each base
// type, and those that differ only in the type of a list or map. types.go has the table of these
// types, and each package has a template. For a new base type, add a line to the table.
package main

import (
	"bytes"
	"embed"
	"flag"
	"go/format"
	"log"
	"os"
	"path/filepath"
	"text/template"
)

//go:embed *.tmpl
var templates embed.FS

// outputs are the files below package nocopy, by the template that makes each. uuid is the Go type
// of a uuid in that package, and boolByte its function that returns the byte of a bool.
var outputs = []struct{ template, file, uuid, boolByte string }{
	{"containers.go.tmpl", "containers.go", "UUID", "engine.BoolByte"},
	{"engine.go.tmpl", "internal/engine/basetypes.go", "[16]byte", "BoolByte"},
	{"plain.go.tmpl", "internal/plain/basetypes.go", "nocopy.UUID", "engine.BoolByte"},
	{"thriftimpl.go.tmpl", "thriftimpl/basetypes.go", "nocopy.UUID", ""},
}

func main() {
	log.SetFlags(0)
	dir := flag.String("o", ".", "write files of package nocopy, and of packages below it, to `DIR`")
	flag.Parse()
	all := template.Must(template.ParseFS(templates, "*.tmpl"))
	for _, o := range outputs {
		var text bytes.Buffer
		data := tables{Bases: basesFor(o.uuid, o.boolByte), Containers: containers}
		if err := all.ExecuteTemplate(&text, o.template, data); err != nil {
			log.Fatal(err)
		}
		src, err := format.Source(text.Bytes())
		if err != nil {
			log.Fatalf("%s: %v\n%s", o.file, err, text.Bytes())
		}
		name := filepath.Join(*dir, filepath.FromSlash(o.file))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			log.Fatal(err)
		}
		if err := os.WriteFile(name, src, 0o644); err != nil {
			log.Fatal(err)
		}
	}
}
