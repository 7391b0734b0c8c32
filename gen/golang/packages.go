package golang

import (
	"path"
	"slices"
	"strings"

	"github.com/nocopythrift/nocopythrift/gen/idl"
	"github.com/nocopythrift/nocopythrift/gen/schema"
)

// goPackage is a Go package: all files with one namespace.
type goPackage struct {
	dir      string // slash-separated, below the output directory
	name     string
	names    *names
	programs []*schema.Program
	written  bool // some file of it is generated in this run
}

// packages sorts the files of a set into Go packages.
func packages(set *schema.Set) map[*schema.Program]*goPackage {
	byDir := map[string]*goPackage{}
	of := map[*schema.Program]*goPackage{}
	for _, p := range set.Programs {
		dir := packageDir(p)
		pkg := byDir[dir]
		if pkg == nil {
			pkg = &goPackage{dir: dir, name: packageName(path.Base(dir)), names: newNames()}
			byDir[dir] = pkg
		}
		pkg.programs = append(pkg.programs, p)
		pkg.names.add(p)
		of[p] = pkg
	}
	return of
}

// packageDir is a/b/c for "namespace go a.b.c". A file without a namespace has
// its base name in lower case, as Apache's generator does it.
func packageDir(p *schema.Program) string {
	ns := p.Namespace("go")
	if ns == "" {
		ns = strings.Map(func(r rune) rune {
			if r == '.' || r == '-' || r == '_' || 'a' <= r && r <= 'z' || '0' <= r && r <= '9' {
				return r
			}
			return '_'
		}, strings.ToLower(p.Name))
		ns = strings.Trim(ns, ".")
	}
	if ns == "" {
		ns = "thrift"
	}
	return strings.ReplaceAll(ns, ".", "/")
}

// imports lists the other packages whose types a file uses.
func (g *generator) imports(p *schema.Program) []*goPackage {
	var list []*goPackage
	add := func(q *schema.Program) {
		if pkg := g.of[q]; pkg != g.of[p] && !slices.Contains(list, pkg) {
			list = append(list, pkg)
		}
	}
	var visit func(t *schema.Type)
	visit = func(t *schema.Type) {
		switch {
		case t == nil:
		case t.Struct != nil:
			add(t.Struct.Program)
		case t.Enum != nil:
			add(t.Enum.Program)
		default:
			visit(t.Key)
			visit(t.Elem)
		}
	}
	for _, s := range p.Structs {
		for _, f := range s.Fields {
			visit(f.Type)
		}
	}
	for _, s := range p.Services {
		if s.Extends != nil {
			add(s.Extends.Program)
		}
		for _, f := range s.Functions {
			for _, part := range []*schema.Struct{f.Args, f.Result} {
				if part == nil {
					continue
				}
				for _, field := range part.Fields {
					visit(field.Type)
				}
			}
		}
	}
	for _, c := range p.Consts {
		visit(c.Type)
	}
	for _, t := range p.Typedefs {
		visit(t.Type)
	}
	slices.SortFunc(list, func(a, b *goPackage) int { return strings.Compare(a.dir, b.dir) })
	return list
}

// includeOf is the place where p includes, perhaps through others, a file of
// package pkg.
func (g *generator) includeOf(p *schema.Program, pkg *goPackage) idl.Position {
	seen := map[*schema.Program]bool{}
	var reaches func(q *schema.Program) bool
	reaches = func(q *schema.Program) bool {
		if g.of[q] == pkg {
			return true
		}
		if seen[q] {
			return false
		}
		seen[q] = true
		return slices.ContainsFunc(q.Includes, func(i schema.Include) bool { return reaches(i.Program) })
	}
	for _, i := range p.Includes {
		if reaches(i.Program) {
			return i.Pos
		}
	}
	return idl.Position{Filename: p.Path, Line: 1, Column: 1}
}

// importPath is the path under which a package is imported, "" if unknown.
func (g *generator) importPath(pkg *goPackage) string {
	switch {
	case g.opt.PackagePrefix != "":
		return path.Join(g.opt.PackagePrefix, pkg.dir)
	case pkg.written && g.opt.ModulePath != "":
		return path.Join(g.opt.ModulePath, pkg.dir)
	}
	return ""
}

// checkCycles reports Go packages that would import each other although the
// files do not include each other in a circle.
func (g *generator) checkCycles() {
	uses := map[*goPackage][]*goPackage{}
	where := map[[2]*goPackage]*schema.Program{}
	for _, p := range g.set.Programs {
		for _, pkg := range g.imports(p) {
			from := g.of[p]
			if !slices.Contains(uses[from], pkg) {
				uses[from] = append(uses[from], pkg)
				where[[2]*goPackage{from, pkg}] = p
			}
		}
	}
	const underway, done = 1, 2
	state := map[*goPackage]int{}
	var stack []*goPackage
	var visit func(pkg *goPackage)
	visit = func(pkg *goPackage) {
		state[pkg] = underway
		stack = append(stack, pkg)
		for _, next := range uses[pkg] {
			switch state[next] {
			case 0:
				visit(next)
			case underway:
				p := where[[2]*goPackage{pkg, next}]
				g.errs.Add(g.includeOf(p, next), "Go packages would import each other: %s", dirs(stack, next))
			}
		}
		stack = stack[:len(stack)-1]
		state[pkg] = done
	}
	for _, p := range g.set.Programs {
		if state[g.of[p]] == 0 {
			visit(g.of[p])
		}
	}
}

func dirs(stack []*goPackage, first *goPackage) string {
	var names []string
	for _, pkg := range stack[slices.Index(stack, first):] {
		names = append(names, pkg.dir)
	}
	return strings.Join(append(names, first.dir), " → ")
}
