package golang

import (
	"bytes"
	"path"
	"strings"

	"github.com/nocopythrift/nocopythrift/gen/golang/internal/names"
)

// The views are the templates' input.

type fileView struct {
	Version, Source, Package string
	Std                      []string
	Nocopy, Validate         bool // the packages are used
	Imports                  []importLine
	Enums                    []enumView
	Typedefs                 []typedefView
	Consts                   []constView
	Structs                  []structView
	Services                 []serviceView
	Registered               []structView // without the structs of services
	Validators               []string     // the Validate methods
}

type typedefView struct{ Doc, Name, Type string }

// source returns the Go source for one .thrift file. Errors in the IDL are added to g.errs. A
// returned error is a fault of the generator.
func (f *file) source() ([]byte, error) {
	p := f.p
	view := fileView{Version: Version, Source: names.PlainName(path.Base(strings.ReplaceAll(p.Path, `\`, "/"))), Package: f.pkg.Name}
	for _, e := range p.Enums {
		view.Enums = append(view.Enums, f.enumView(e))
	}
	for _, t := range p.Typedefs {
		view.Typedefs = append(view.Typedefs, typedefView{withDeprecation(t.Doc, t.Annotations), f.pkg.Typedefs[t], f.goType(t.Type)})
	}
	for _, c := range p.Consts {
		view.Consts = append(view.Consts, f.constView(c))
	}
	for _, s := range p.Structs {
		view.Structs = append(view.Structs, f.structView(s))
	}
	view.Registered = view.Structs
	for _, s := range p.Services {
		view.Services = append(view.Services, f.serviceView(s))
		for _, fn := range s.Functions {
			view.Structs = append(view.Structs, f.structView(fn.Args))
			if fn.Result != nil {
				view.Structs = append(view.Structs, f.structView(fn.Result))
			}
		}
		f.needs["context"] = f.needs["context"] || len(s.Functions) > 0
	}
	view.Validators = f.g.rules.Methods(p, f.pkg.Names)
	view.Validate = len(view.Validators) > 0
	for _, name := range []string{"fmt", "io", "iter", "log/slog"} {
		f.needs[name] = len(view.Structs) > 0
	}
	for _, name := range []string{"context", "fmt", "io", "iter", "log/slog", "math", "sync"} {
		if f.needs[name] {
			view.Std = append(view.Std, name)
		}
	}
	view.Imports, view.Nocopy = f.imports, f.needs["nocopy"] || len(view.Structs) > 0
	var out bytes.Buffer
	if err := templates.Execute(&out, "file.tmpl", view); err != nil {
		return nil, err
	}
	return f.g.formatted(out.Bytes())
}
