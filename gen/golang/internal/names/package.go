package names

import (
	"path"
	"slices"
	"strings"

	"github.com/nocopythrift/nocopythrift/gen/schema"
)

// Package is a Go package. It gets the code of all .thrift files that share a namespace.
type Package struct {
	Dir  string // slash-separated, relative to the output directory
	Name string
	*Names
	Written bool // this run generates at least one of its files
	Used    bool // written, or imported by a package that is written
}

// Packages maps each file to the Go package of its code.
type Packages map[*schema.Program]*Package

// PackagesOf returns the packages for all files of set.
func PackagesOf(set *schema.Set, opt Options) Packages {
	byDir := map[string]*Package{}
	services := map[*schema.Service]*Service{}
	of := Packages{}
	for _, p := range set.Programs {
		dir := packageDir(p)
		pkg := byDir[dir]
		if pkg == nil {
			pkg = &Package{Dir: dir, Name: PackageName(path.Base(dir)), Names: newNames(services, opt)}
			byDir[dir] = pkg
		}
		pkg.addFile(p)
		of[p] = pkg
	}
	return of
}

// packageDir returns the folder for a file's code: a/b/c for "namespace go a.b.c", and the file's
// base name in lower case if it has no namespace, as with Apache's generator. FolderName changes
// names that the go command would ignore.
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
			folders = append(folders, FolderName(part))
		}
	}
	if len(folders) == 0 {
		return "thrift"
	}
	return strings.Join(folders, "/")
}

// Imports returns the other packages whose types a file uses, sorted.
func (of Packages) Imports(p *schema.Program) []*Package {
	var list []*Package
	for _, q := range Uses(p) {
		if pkg := of[q]; pkg != of[p] && !slices.Contains(list, pkg) {
			list = append(list, pkg)
		}
	}
	slices.SortFunc(list, func(a, b *Package) int { return strings.Compare(a.Dir, b.Dir) })
	return list
}

// Uses returns the other files whose types a file uses.
func Uses(p *schema.Program) []*schema.Program {
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
