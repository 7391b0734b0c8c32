package golang

import (
	"path"
	"slices"
	"strings"

	"github.com/nocopythrift/nocopythrift/gen/schema"
)

// goPackage is a Go package. It gets the code of all .thrift files that share a namespace.
type goPackage struct {
	dir      string // slash-separated, relative to the output directory
	name     string
	names    *names
	programs []*schema.Program
	written  bool // this run generates some file of it
	used     bool // written, or imported by a package that is written
}

// packages returns the Go package that each file's code goes to. fields is Options.Fields.
func packages(set *schema.Set, opt Options) map[*schema.Program]*goPackage {
	byDir := map[string]*goPackage{}
	services := map[*schema.Service]*serviceNames{}
	of := map[*schema.Program]*goPackage{}
	for _, p := range set.Programs {
		dir := packageDir(p)
		pkg := byDir[dir]
		if pkg == nil {
			pkg = &goPackage{dir: dir, name: packageName(path.Base(dir)), names: newNames(services, opt)}
			byDir[dir] = pkg
		}
		pkg.programs = append(pkg.programs, p)
		pkg.names.addFile(p)
		of[p] = pkg
	}
	return of
}

// packageDir returns the folder for a file's code: a/b/c for "namespace go a.b.c", and
// the file's base name in lower case if it has no namespace, as with Apache's
// generator. Names that the go command would pass over are changed by folderName.
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

// imports returns the other packages whose types a file uses, sorted.
func (g *generator) imports(p *schema.Program) []*goPackage {
	var list []*goPackage
	for _, q := range uses(p) {
		if pkg := g.packageOf[q]; pkg != g.packageOf[p] && !slices.Contains(list, pkg) {
			list = append(list, pkg)
		}
	}
	slices.SortFunc(list, func(a, b *goPackage) int { return strings.Compare(a.dir, b.dir) })
	return list
}

// uses returns the other files whose types a file uses.
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
