package golang

import (
	"bytes"
	"embed"
	"fmt"
	"go/format"
	"path"
	"slices"
	"strings"
	"text/template"

	"github.com/nocopythrift/nocopythrift/gen/idl"
	"github.com/nocopythrift/nocopythrift/gen/schema"
)

// Version stands in the first line of generated files.
const Version = "v0.1.0"

// Options say what to generate and how.
type Options struct {
	// PackagePrefix is the import path of the output directory.
	PackagePrefix string
	// ModulePath is what the import path of the output directory is according
	// to the go.mod above it, or "". It serves the packages of this run when
	// there is no prefix.
	ModulePath string
	// Recursive asks for the included files too.
	Recursive bool
}

// File is a generated file.
type File struct {
	Path   string // slash-separated, below the output directory
	Source []byte
}

//go:embed templates/*.tmpl
var templateFiles embed.FS

var templates = template.Must(template.New("").Funcs(template.FuncMap{"doc": doc}).ParseFS(templateFiles, "templates/*.tmpl"))

type generator struct {
	set      *schema.Set
	opt      Options
	of       map[*schema.Program]*goPackage
	programs []*schema.Program // the files to generate from
	errs     idl.ErrorList
}

func newGenerator(set *schema.Set, opt Options) *generator {
	g := &generator{set: set, opt: opt, of: packages(set), programs: set.Roots}
	if opt.Recursive {
		g.programs = set.Programs
	}
	for _, p := range g.programs {
		pkg := g.of[p]
		pkg.written, pkg.used = true, true
		for _, imported := range g.imports(p) {
			imported.used = true
		}
	}
	return g
}

// Generate writes the Go source for a set's roots, or for all of its files. On
// error, an idl.ErrorList, there are no files.
func Generate(set *schema.Set, opt Options) ([]File, error) {
	g := newGenerator(set, opt)
	g.checkPaths()
	g.checkCycles()
	var files []File
	for _, p := range g.programs {
		src, err := g.file(p)
		if err != nil && len(g.errs) == 0 {
			g.errs.Add(idl.Position{Filename: p.Path, Line: 1, Column: 1}, "nocopyc has a bug, please report it with this file: %s", err)
		}
		files = append(files, File{g.path(p), src})
	}
	if err := g.errs.Err(); err != nil {
		return nil, err
	}
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return files, nil
}

// importAliases decides under which names other packages are imported.
func (f *file) importAliases(p *schema.Program) {
	taken := scope{}
	for name := range locals {
		taken[name] = true
	}
	for _, pkg := range f.g.imports(p) {
		at := f.g.importPath(pkg)
		f.g.checkImport(p, pkg, at)
		alias := pkg.name
		for taken[alias] || predeclared[alias] || f.pkg.names.taken[alias] {
			alias += "_"
		}
		taken[alias] = true
		f.aliases[pkg] = alias
		line := importLine{Path: at}
		if alias != path.Base(pkg.dir) {
			line.Alias = alias
		}
		f.imports = append(f.imports, line)
	}
}

func (g *generator) file(p *schema.Program) ([]byte, error) {
	f := &file{g: g, p: p, pkg: g.of[p], aliases: map[*goPackage]string{}, needs: map[string]bool{}, hidden: map[string]bool{}}
	f.importAliases(p)
	view := fileView{Version: Version, Source: plainName(path.Base(strings.ReplaceAll(p.Path, `\`, "/"))), Package: f.pkg.name}
	for _, e := range p.Enums {
		view.Enums = append(view.Enums, f.enumView(e))
		f.needs["fmt"] = true
	}
	for _, t := range p.Typedefs {
		view.Typedefs = append(view.Typedefs, typedefView{withDeprecation(t.Doc, t.Annotations), f.pkg.names.typedefs[t], f.goType(t.Type)})
	}
	for _, c := range p.Consts {
		view.Consts = append(view.Consts, f.constView(c))
	}
	for _, s := range p.Structs {
		view.Structs = append(view.Structs, f.structView(s))
		f.needs["iter"] = true
	}
	for _, s := range p.Services {
		view.Services = append(view.Services, f.serviceView(s))
		for _, fn := range s.Functions {
			view.Structs = append(view.Structs, f.structView(fn.Args))
			if fn.Result != nil {
				view.Structs = append(view.Structs, f.structView(fn.Result))
			}
			f.needs["iter"] = true
		}
		f.needs["context"] = f.needs["context"] || len(s.Functions) > 0
	}
	for _, name := range []string{"context", "fmt", "iter", "math", "sync"} {
		if f.needs[name] {
			view.Std = append(view.Std, name)
		}
	}
	view.Imports = f.imports
	var out bytes.Buffer
	if err := templates.ExecuteTemplate(&out, "file.tmpl", view); err != nil {
		return nil, err
	}
	// Formatting a comment can make a heading of a line, which formatting then marks as one.
	src := out.Bytes()
	for range 5 {
		before := src
		var err error
		if src, err = format.Source(src); err != nil {
			return nil, fmt.Errorf("generated code does not parse: %w", err)
		}
		if bytes.Equal(src, before) {
			break
		}
	}
	return src, nil
}
