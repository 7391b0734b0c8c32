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

// Version is the generator's version. The first line of each generated file tells it.
const Version = "v0.3.0"

// Options tell what to generate and how.
type Options struct {
	// PackagePrefix is the import path of the output directory.
	PackagePrefix string
	// ModulePath is the import path of the output directory by the nearest go.mod,
	// or "". Packages that are generated in this run are imported by it if there is
	// no PackagePrefix.
	ModulePath string
	// Recursive means that the included files are generated too.
	Recursive bool
	// Kitex means that code for Kitex is generated too.
	Kitex bool
	// Fields means that a type of its fields is generated for each struct, too, and what makes
	// messages, structs and lists of them.
	Fields bool
	// Golint means that initialisms in names are in capitals wherever golint demands it, not only
	// where Apache's generator has them so.
	Golint bool
}

// File is a generated file.
type File struct {
	Path   string // slash-separated, relative to the output directory
	Source []byte
}

//go:embed templates/*.tmpl
var templateFiles embed.FS

var templates = template.Must(template.New("").Funcs(template.FuncMap{"doc": doc}).ParseFS(templateFiles, "templates/*.tmpl"))

// A generator holds the state of one run over all files.
type generator struct {
	set       *schema.Set
	opt       Options
	packageOf map[*schema.Program]*goPackage // the package that each file's code goes to
	programs  []*schema.Program              // the files to generate from
	errs      idl.ErrorList
	valueSize map[*schema.Struct]int // see sizeOfFields

	validation *validation
}

// newGenerator returns a generator that knows which files and packages are written and imported.
func newGenerator(set *schema.Set, opt Options) *generator {
	g := &generator{set: set, opt: opt, packageOf: packages(set, opt), programs: set.Roots}
	if opt.Recursive {
		g.programs = set.Programs
	}
	for _, p := range g.programs {
		pkg := g.packageOf[p]
		pkg.written, pkg.used = true, true
		for _, imported := range g.imports(p) {
			imported.used = true
		}
	}
	return g
}

// Generate returns the Go files for the roots of set, or for all its files if
// opt.Recursive. An error is an idl.ErrorList, and comes without files.
func Generate(set *schema.Set, opt Options) ([]File, error) {
	g := newGenerator(set, opt)
	g.checkPaths()
	g.checkCycles()
	g.validation = g.newValidation()
	var files []File
	for _, p := range g.programs {
		f := g.newFile(p)
		src, err := f.source()
		if err != nil && len(g.errs) == 0 {
			g.bug(p, err)
		}
		files = append(files, File{g.path(p), src})
		if opt.Fields {
			files = append(files, f.fieldsFile(files)...)
		}
		if opt.Kitex {
			files = append(files, g.kitexFiles(p, files)...)
		}
	}
	if len(g.errs) > 0 {
		var order []string
		for _, p := range g.programs {
			order = append(order, p.Path)
		}
		g.errs.Sort(order...)
		return nil, g.errs
	}
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return files, nil
}

// bug reports that the code for p can't be generated.
func (g *generator) bug(p *schema.Program, err error) {
	g.errs.Add(idl.Position{Filename: p.Path, Line: 1, Column: 1}, "nocopyc has a bug, please report it with this file: %s", err)
}

// importAliases chooses the names under which p's code imports other packages, and
// reports imports that Go would refuse.
func (f *file) importAliases(p *schema.Program) {
	taken := scope{}
	for name := range localNames {
		taken[name] = true
	}
	if f.g.opt.Fields {
		for name := range fieldsLocalNames {
			taken[name] = true
		}
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
		line := importLine{Path: at, pkg: pkg}
		if alias != path.Base(pkg.dir) {
			line.Alias = alias
		}
		f.imports = append(f.imports, line)
	}
}

// newFile returns the file for p, whose imports are known.
func (g *generator) newFile(p *schema.Program) *file {
	f := &file{g: g, p: p, pkg: g.packageOf[p], aliases: map[*goPackage]string{}, needs: map[string]bool{},
		hidden: map[string]bool{}, uses: map[*goPackage]bool{}}
	f.importAliases(p)
	return f
}

// source returns the Go source for one .thrift file. Errors in the IDL go to g.errs; the error
// that it returns is a fault of the generator.
func (f *file) source() ([]byte, error) {
	p := f.p
	view := fileView{Version: Version, Source: plainName(path.Base(strings.ReplaceAll(p.Path, `\`, "/"))), Package: f.pkg.name}
	for _, e := range p.Enums {
		view.Enums = append(view.Enums, f.enumView(e))
	}
	for _, t := range p.Typedefs {
		view.Typedefs = append(view.Typedefs, typedefView{withDeprecation(t.Doc, t.Annotations), f.pkg.names.typedefs[t], f.goType(t.Type)})
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
	view.Validators = f.validators()
	view.Validate = f.needs["validate"]
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
	if err := templates.ExecuteTemplate(&out, "file.tmpl", view); err != nil {
		return nil, err
	}
	return formatted(out.Bytes())
}

// formatted returns a Go file as gofmt formats it.
func formatted(src []byte) ([]byte, error) {
	// The formatter may turn a comment's line into a heading, which it marks only when it
	// formats again.
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
