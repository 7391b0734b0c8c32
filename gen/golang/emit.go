package golang

import (
	"bytes"
	"embed"
	"fmt"
	"go/format"
	"regexp"

	"github.com/nocopythrift/nocopythrift/gen/golang/internal/names"
	"github.com/nocopythrift/nocopythrift/gen/golang/internal/rules"
	"github.com/nocopythrift/nocopythrift/gen/idl"
	"github.com/nocopythrift/nocopythrift/gen/schema"
	"github.com/nocopythrift/nocopythrift/internal/template"
)

// Version is the generator's version, which is in the first line of each generated file.
const Version = "v1.0.0-rc.1"

// Options tell what to generate and how.
type Options struct {
	// PackagePrefix is the import path of the output directory.
	PackagePrefix string
	// ModulePath is the import path of the output directory according to the nearest go.mod, or
	// "". Without a PackagePrefix, it is the prefix of the import paths of packages that this run
	// generates.
	ModulePath string
	// Recursive also generates code for included files.
	Recursive bool
	// Kitex also generates code for Kitex.
	Kitex bool
	// Fields also generates a Go struct of plain values for each struct, and the functions and
	// methods that make messages, structs and lists from it.
	Fields bool
	// Reflect also generates the text of the IDL of services, for servers that tell it to clients.
	Reflect bool
	// Golint capitalises initialisms in names wherever golint demands it, not only where Apache's
	// generator does.
	Golint bool
}

// File is a generated file.
type File struct {
	Path   string // slash-separated, relative to the output directory
	Source []byte
}

//go:embed templates/*.tmpl
var templateFiles embed.FS

var templates = func() *template.Set {
	s, err := template.FromFiles(templateFiles, "templates/*.tmpl", template.Functions{"doc": doc, "results": results})
	if err != nil {
		panic(err)
	}
	return s
}()

// structMethods holds the names of the methods of every struct, union or exception, read from the
// template that declares them.
var structMethods = methodsIn("struct.tmpl", `func \(s \*?{{\.Type}}\) (\w+)\(`)

// valuesMethods holds the names of the methods of every type of plain values.
var valuesMethods = methodsIn("fields.tmpl", `func \(v \*?{{\.Values}}\) (\w+)\(`)

// methodsIn returns the names of the methods that a template declares. The pattern finds them.
func methodsIn(template, pattern string) names.Scope {
	text, err := templateFiles.ReadFile("templates/" + template)
	if err != nil {
		panic(err)
	}
	methods := names.Scope{}
	for _, m := range regexp.MustCompile(pattern).FindAllSubmatch(text, -1) {
		methods[string(m[1])] = true
	}
	return methods
}

// A generator holds the state of one run over all files.
type generator struct {
	set       *schema.Set
	opt       Options
	packageOf names.Packages    // the package that each file's code goes to
	programs  []*schema.Program // the files to generate from
	errs      idl.ErrorList
	valueSize map[*schema.Struct]int // see sizeOfFields
	rules     *rules.Rules           // what Validate methods check
	checking  bool                   // only errors matter
}

// newGenerator returns a generator. It determines which files and packages are written and
// imported.
func newGenerator(set *schema.Set, opt Options) *generator {
	g := &generator{set: set, opt: opt, packageOf: names.PackagesOf(set, names.Options{Fields: opt.Fields, Golint: opt.Golint, Methods: structMethods, ValuesMethods: valuesMethods}), programs: set.Roots}
	if opt.Recursive {
		g.programs = set.Programs
	}
	for _, p := range g.programs {
		pkg := g.packageOf[p]
		pkg.Written, pkg.Used = true, true
		for _, imported := range g.packageOf.Imports(p) {
			imported.Used = true
		}
	}
	return g
}

// bug reports that the code for p can't be generated.
func (g *generator) bug(p *schema.Program, err error) {
	g.errs.Add(idl.Position{Filename: p.Path, Line: 1, Column: 1}, "nocopyc has a bug, please report it with this file: %s", err)
}

// execute returns the formatted output of a template.
func (g *generator) execute(p *schema.Program, name string, view any) []byte {
	var out bytes.Buffer
	err := templates.Execute(&out, name, view)
	var src []byte
	if err == nil {
		src, err = g.formatted(out.Bytes())
	}
	if err != nil && len(g.errs) == 0 {
		g.bug(p, err)
	}
	return src
}

// formatted formats a Go file as gofmt does, unless only errors matter.
func (g *generator) formatted(src []byte) ([]byte, error) {
	if g.checking {
		return src, nil
	}
	// The formatter may turn a comment's line into a heading, but marks it only when it formats
	// again.
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
