package golang

import (
	"path"

	"github.com/nocopythrift/nocopythrift/gen/golang/internal/names"
	"github.com/nocopythrift/nocopythrift/gen/schema"
)

// A file is the Go file that is being written for the .thrift file p. Its methods return
// expressions in the form needed there.
type file struct {
	g       *generator
	p       *schema.Program
	pkg     *names.Package
	aliases map[*names.Package]string // the import name of each package
	imports []importLine
	needs   map[string]bool         // the imported standard packages, and "nocopy"
	uses    map[*names.Package]bool // the other packages that the code uses
}

type importLine struct {
	Alias, Path string
	pkg         *names.Package
}

// newFile returns the file for p, whose imports are known.
func (g *generator) newFile(p *schema.Program) *file {
	f := g.fileIn(g.packageOf[p], p)
	f.importAliases(p)
	return f
}

// fileIn returns a file of pkg for p that imports nothing yet.
func (g *generator) fileIn(pkg *names.Package, p *schema.Program) *file {
	return &file{g: g, p: p, pkg: pkg, aliases: map[*names.Package]string{}, needs: map[string]bool{},
		uses: map[*names.Package]bool{}}
}

// importAliases chooses the names under which p's code imports other packages, and
// reports imports that Go would refuse.
func (f *file) importAliases(p *schema.Program) {
	taken := names.Scope{}
	for name := range names.Locals {
		taken[name] = true
	}
	if f.g.opt.Fields {
		for name := range names.FieldsLocals {
			taken[name] = true
		}
	}
	for _, pkg := range f.g.packageOf.Imports(p) {
		at := f.g.importPath(pkg)
		f.g.checkImport(p, pkg, at)
		alias := names.Free(pkg.Name, func(alias string) bool {
			return taken[alias] || names.Predeclared[alias] || f.pkg.Taken[alias]
		})
		taken[alias] = true
		f.aliases[pkg] = alias
		line := importLine{Path: at, pkg: pkg}
		if alias != path.Base(pkg.Dir) {
			line.Alias = alias
		}
		f.imports = append(f.imports, line)
	}
}

// qualify returns the expression for name, which p's package declares.
func (f *file) qualify(p *schema.Program, name string) string {
	return f.withPackage(f.g.packageOf[p], name)
}

// withPackage returns the expression for name in this file: with an import alias, unless pkg is
// the file's own package.
func (f *file) withPackage(pkg *names.Package, name string) string {
	if pkg == f.pkg {
		return name
	}
	f.uses[pkg] = true
	return f.aliases[pkg] + "." + name
}
