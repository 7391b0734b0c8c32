package audit

import (
	"maps"
	"slices"

	"github.com/nocopythrift/nocopythrift/gen/idl"
	"github.com/nocopythrift/nocopythrift/gen/schema"
)

// pairs maps files and definitions of the old Version to those of the new one.
type pairs struct {
	files    []filePair
	structs  map[*schema.Struct]*schema.Struct
	enums    map[*schema.Enum]*schema.Enum
	services map[*schema.Service]*schema.Service
	typedefs map[*schema.Typedef]*schema.Typedef
	consts   map[*schema.Const]*schema.Const
}

// A filePair is a file in both Versions. new is nil if the new Version lacks the file; lack is
// then the place where it would be. There is no such place for a file that is no longer included:
// its definitions may be elsewhere or unused.
type filePair struct {
	old, new *schema.Program
	lack     idl.Position
}

// pair pairs the files and the definitions of two Versions.
func pair(old, new *Version) pairs {
	p := pairs{
		structs:  map[*schema.Struct]*schema.Struct{},
		enums:    map[*schema.Enum]*schema.Enum{},
		services: map[*schema.Service]*schema.Service{},
		typedefs: map[*schema.Typedef]*schema.Typedef{},
		consts:   map[*schema.Const]*schema.Const{},
	}
	p.pairFiles(old, new)
	structs := newIndex(new, p.files, func(f *schema.Program) []*schema.Struct { return f.Structs }, func(s *schema.Struct) string { return s.Name })
	enums := newIndex(new, p.files, func(f *schema.Program) []*schema.Enum { return f.Enums }, func(e *schema.Enum) string { return e.Name })
	services := newIndex(new, p.files, func(f *schema.Program) []*schema.Service { return f.Services }, func(s *schema.Service) string { return s.Name })
	typedefs := newIndex(new, p.files, func(f *schema.Program) []*schema.Typedef { return f.Typedefs }, func(t *schema.Typedef) string { return t.Name })
	consts := newIndex(new, p.files, func(f *schema.Program) []*schema.Const { return f.Consts }, func(k *schema.Const) string { return k.Name })
	for _, f := range p.files {
		structs.match(f, f.old.Structs, p.structs)
		enums.match(f, f.old.Enums, p.enums)
		services.match(f, f.old.Services, p.services)
		typedefs.match(f, f.old.Typedefs, p.typedefs)
		consts.match(f, f.old.Consts, p.consts)
	}
	return p
}

// pairFiles pairs the files given for the Versions by their paths, and included files by their
// include lines. If one file no longer includes a file, another one may still do so. Which files
// have no pair is therefore known only at the end.
func (p *pairs) pairFiles(old, new *Version) {
	paired := map[*schema.Program]bool{}
	var add func(o, n *schema.Program)
	add = func(o, n *schema.Program) {
		if n == nil || paired[o] {
			return
		}
		paired[o] = true
		p.files = append(p.files, filePair{old: o, new: n})
		included := includes(o, n)
		for _, inc := range o.Includes {
			if !old.given[inc.Program] { // given files are paired by path
				add(inc.Program, included[inc.Program])
			}
		}
	}
	lacks := map[*schema.Program]idl.Position{}
	if old.single != nil && new.single != nil {
		add(old.single, new.single)
	} else {
		for _, path := range slices.Sorted(maps.Keys(old.files)) {
			add(old.files[path], new.files[path])
			lacks[old.files[path]] = idl.Position{Filename: new.place(path), Line: 1, Column: 1}
		}
	}
	for _, o := range old.set.Programs {
		if !paired[o] {
			p.files = append(p.files, filePair{old: o, lack: lacks[o]})
		}
	}
}

// includes returns the pair in n for each file that o includes: the file with the same path in the
// include line, or else the first file with the same name whose path o does not have.
func includes(o, n *schema.Program) map[*schema.Program]*schema.Program {
	byWords, byName := map[string]*schema.Program{}, map[string]*schema.Program{}
	before, now := includeWords(o), includeWords(n)
	had := map[string]bool{}
	for _, words := range before {
		had[words] = true
	}
	for _, inc := range n.Includes {
		words := now[inc.Pos]
		byWords[words] = inc.Program
		if !had[words] && byName[inc.Name] == nil {
			byName[inc.Name] = inc.Program
		}
	}
	found := map[*schema.Program]*schema.Program{}
	for _, inc := range o.Includes {
		found[inc.Program] = byWords[before[inc.Pos]]
		if found[inc.Program] == nil {
			found[inc.Program] = byName[inc.Name]
		}
	}
	return found
}

// includeWords returns the paths in a file's include lines, by position.
func includeWords(p *schema.Program) map[idl.Position]string {
	words := map[idl.Position]string{}
	for _, line := range p.AST.Includes {
		words[line.Pos] = string(line.Path)
	}
	return words
}

// An index holds the definitions of one kind in the new Version.
type index[D comparable] struct {
	name func(D) string
	list func(*schema.Program) []D
	in   map[*schema.Program]map[string]D
	// byName has the definitions whose old file has no definition of that name.
	byName map[string][]D
}

// newIndex returns an index of the definitions that list returns for each file.
func newIndex[D comparable](new *Version, files []filePair, list func(*schema.Program) []D, name func(D) string) *index[D] {
	x := &index[D]{name: name, in: map[*schema.Program]map[string]D{}, byName: map[string][]D{}, list: list}
	before := map[*schema.Program][]D{}
	for _, f := range files {
		if f.new != nil {
			before[f.new] = append(before[f.new], list(f.old)...)
		}
	}
	for _, p := range new.set.Programs {
		x.in[p] = map[string]D{}
		had := map[string]bool{}
		for _, d := range before[p] {
			had[name(d)] = true
		}
		for _, d := range list(p) {
			x.in[p][name(d)] = d
			if !had[name(d)] {
				x.byName[name(d)] = append(x.byName[name(d)], d)
			}
		}
	}
	return x
}

// match pairs each definition of an old file with the definition of the same name in the same
// file, or else with the only definition of that name in another file that did not have it before.
func (x *index[D]) match(f filePair, old []D, into map[D]D) {
	var none D
	for _, d := range old {
		if f.new != nil {
			if to := x.in[f.new][x.name(d)]; to != none {
				into[d] = to
				continue
			}
		}
		if moved := x.byName[x.name(d)]; len(moved) == 1 {
			into[d] = moved[0]
		}
	}
}
