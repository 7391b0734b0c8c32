package golang

import (
	"path"

	"github.com/nocopythrift/nocopythrift/gen/golang/internal/names"
	"github.com/nocopythrift/nocopythrift/gen/schema"
)

// reflectView is the template's input for the file that has IDL as text.
type reflectView struct {
	Version, Source, Package, Var string
	Files                         []schema.Source
}

// reflectVar returns the name of the variable that has the IDL of f's services; "" if it has none.
func (f *file) reflectVar() string {
	if !f.g.opt.Reflect || len(f.p.Services) == 0 {
		return ""
	}
	return f.pkg.IDLFiles[f.p]
}

// reflectFile returns the file that Options.Reflect adds for f: its IDL, and that of all that it
// includes. others are the files that have been generated before. It returns none if f has no
// services.
func (f *file) reflectFile(others []File) []File {
	name := f.reflectVar()
	if name == "" {
		return nil
	}
	files, err := f.g.set.Bundle(f.p)
	if err != nil {
		f.g.errs.Add(f.p.NamespacePos("go"), "-reflect: %s", err)
		return nil
	}
	dir, base := path.Split(f.g.path(f.p))
	file := dir + "reflect-" + base
	f.g.checkTwice(f.p, file, others)
	view := reflectView{Version, names.PlainName(path.Base(files[0].Path)), f.pkg.Name, name, files}
	return []File{{file, f.g.execute(f.p, "reflect.tmpl", view)}}
}
