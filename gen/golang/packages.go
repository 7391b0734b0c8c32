package golang

import (
	"path"
	"slices"
	"strings"

	"github.com/nocopythrift/nocopythrift/gen/schema"
)

// goPackage is a Go package: all files with one namespace.
type goPackage struct {
	dir      string // slash-separated, below the output directory
	name     string
	names    *names
	programs []*schema.Program
	written  bool // some file of it is generated in this run
	used     bool // written, or imported by one that is
}

// packages sorts the files of a set into Go packages.
func packages(set *schema.Set) map[*schema.Program]*goPackage {
	byDir := map[string]*goPackage{}
	services := map[*schema.Service]*serviceNames{}
	of := map[*schema.Program]*goPackage{}
	for _, p := range set.Programs {
		dir := packageDir(p)
		pkg := byDir[dir]
		if pkg == nil {
			pkg = &goPackage{dir: dir, name: packageName(path.Base(dir)), names: newNames(services)}
			byDir[dir] = pkg
		}
		pkg.programs = append(pkg.programs, p)
		pkg.names.add(p)
		of[p] = pkg
	}
	return of
}

// packageDir is a/b/c for "namespace go a.b.c". A file without a namespace has
// its base name in lower case, as Apache's generator does it. Names that the go
// command would not see are escaped.
func packageDir(p *schema.Program) string {
	ns := p.Namespace("go")
	if ns == "" {
		ns = strings.Map(func(r rune) rune {
			if r == '.' || r == '-' || r == '_' || 'a' <= r && r <= 'z' || '0' <= r && r <= '9' {
				return r
			}
			return '_'
		}, strings.ToLower(p.Name))
	}
	var folders []string
	for part := range strings.SplitSeq(ns, ".") {
		if part != "" {
			folders = append(folders, folderName(part))
		}
	}
	if len(folders) == 0 {
		return "thrift"
	}
	return strings.Join(folders, "/")
}

// imports lists the other packages whose types a file uses.
func (g *generator) imports(p *schema.Program) []*goPackage {
	var list []*goPackage
	for _, q := range uses(p) {
		if pkg := g.of[q]; pkg != g.of[p] && !slices.Contains(list, pkg) {
			list = append(list, pkg)
		}
	}
	slices.SortFunc(list, func(a, b *goPackage) int { return strings.Compare(a.dir, b.dir) })
	return list
}

// uses lists the other files whose types a file uses.
func uses(p *schema.Program) []*schema.Program {
	var list []*schema.Program
	add := func(q *schema.Program) {
		if q != p && !slices.Contains(list, q) {
			list = append(list, q)
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
	fields := func(s *schema.Struct) {
		if s != nil {
			for _, f := range s.Fields {
				visit(f.Type)
			}
		}
	}
	for _, s := range p.Structs {
		fields(s)
	}
	for _, s := range p.Services {
		if s.Extends != nil {
			add(s.Extends.Program)
		}
		for _, f := range s.Functions {
			fields(f.Args)
			fields(f.Result)
		}
	}
	for _, c := range p.Consts {
		visit(c.Type)
	}
	for _, t := range p.Typedefs {
		visit(t.Type)
	}
	return list
}
