package golang

import (
	"path"

	"github.com/nocopythrift/nocopythrift/gen/golang/internal/names"
	"github.com/nocopythrift/nocopythrift/gen/idl"
	"github.com/nocopythrift/nocopythrift/gen/schema"
)

// Warnings returns what the code from Generate may surprise with: names that end with an
// underscore, since others have them, and, with opt.Fields, unions and fields that have no plain
// value. They are sorted by file and position.
func Warnings(set *schema.Set, opt Options) idl.ErrorList {
	g := newGenerator(set, opt)
	var list idl.ErrorList
	var order []string
	written, seen := map[string]bool{}, map[*names.Package]bool{}
	for _, p := range g.programs {
		written[p.Path] = true
		order = append(order, p.Path)
	}
	for _, p := range g.programs {
		if pkg := g.packageOf[p]; !seen[pkg] {
			seen[pkg] = true
			for _, w := range pkg.Clashes {
				if written[w.Pos.Filename] {
					list = append(list, w)
				}
			}
		}
		if opt.Fields {
			for _, s := range names.StructsOf(p) {
				g.warnOfFields(s, &list)
			}
		}
	}
	list.Sort(order...)
	return list
}

// warnOfFields adds warnings of what has no plain value: s, if it is a union, or fields of s.
func (g *generator) warnOfFields(s *schema.Struct, list *idl.ErrorList) {
	if s.Shape == schema.IsUnion {
		list.Add(s.Pos, "-fields: union %s has no plain Go struct", s.Name)
		return
	}
	var left []string
	for _, f := range s.Fields {
		if !hasPlain(f.Type) {
			left = append(left, f.Name)
		}
	}
	if text := leftText(g.packageOf[s.Program].Structs[s].Values, left, ""); text != "" {
		list.Add(s.Pos, "-fields: %s", text)
	}
}

// hasPlain reports whether fields of type t have plain values.
func hasPlain(t *schema.Type) bool {
	single := func(t *schema.Type) bool { return t.Kind == schema.EnumKind || scalars[t.Kind].goType != "" }
	switch t.Kind {
	case schema.StructKind:
		return hasFields(t)
	case schema.List:
		return hasFields(t.Elem) || single(t.Elem)
	case schema.SetKind:
		return single(t.Elem)
	case schema.Map:
		return single(t.Key) && single(t.Elem)
	}
	return true
}

// Optional returns the files that Generate does not return, and would return with opt.Fields or
// opt.Reflect: slash-separated and relative to the output directory, as File.Path, with the option
// of each.
func Optional(set *schema.Set, opt Options) map[string]string {
	g := newGenerator(set, opt)
	all := map[string]string{}
	for _, p := range g.programs {
		dir, base := path.Split(g.path(p))
		if !opt.Fields {
			all[dir+"fields-"+base] = "-fields"
		}
		if !opt.Reflect {
			all[dir+"reflect-"+base] = "-reflect"
		}
	}
	for _, p := range g.programs { // of a .thrift file called fields-X
		delete(all, g.path(p))
	}
	return all
}
