package schema

import (
	"cmp"
	"slices"

	"github.com/nocopythrift/nocopythrift/internal/entry"
)

// Compiling a struct needs facts about everything that it may contain, at any depth. Survey
// computes them for all structs together, in time proportional to their fields. An IDL of
// thousands of structs that refer to each other may come from an untrusted source.

// Survey sets nests and widest of the structs that a value of type t may contain and that have no
// programs yet. The caller holds the lock on code.
func Survey(t *Type) {
	var all []*Struct
	around := map[*Struct][]*Struct{} // the structs that have the key in a field
	waiting := t.Structs(nil)
	for len(waiting) > 0 {
		d := waiting[len(waiting)-1]
		waiting = waiting[:len(waiting)-1]
		if _, seen := around[d]; seen || d.programs.Load() != nil {
			continue
		}
		d.self.MustBeDefined()
		around[d] = nil
		all = append(all, d)
		for i := range d.fields {
			waiting = d.fields[i].Type.Structs(waiting)
		}
	}
	for _, d := range all {
		d.widest = d.mostWords()
		for i := range d.fields {
			ft := d.fields[i].Type
			d.nests = d.nests || ft.NestedInside()
			for _, in := range ft.Structs(nil) {
				if in.programs.Load() != nil {
					d.nests, d.widest = d.nests || in.nests, max(d.widest, in.widest)
				} else if to := around[in]; len(to) == 0 || to[len(to)-1] != d {
					around[in] = append(to, d)
				}
			}
		}
	}
	var nest []*Struct
	for _, d := range all {
		if d.nests {
			nest = append(nest, d)
		}
	}
	for len(nest) > 0 {
		d := nest[len(nest)-1]
		nest = nest[:len(nest)-1]
		for _, outer := range around[d] {
			if !outer.nests {
				outer.nests = true
				nest = append(nest, outer)
			}
		}
	}
	// The widest first: its width is final for all structs around it
	slices.SortFunc(all, func(a, b *Struct) int { return cmp.Compare(b.widest, a.widest) })
	done := make(map[*Struct]bool, len(all))
	for _, d := range all {
		wide := []*Struct{d}
		for len(wide) > 0 {
			inner := wide[len(wide)-1]
			wide = wide[:len(wide)-1]
			if done[inner] {
				continue
			}
			done[inner] = true
			inner.widest = d.widest
			wide = append(wide, around[inner]...)
		}
	}
	for _, d := range all {
		for i := range d.fields {
			f := &d.fields[i]
			for _, in := range f.Type.Structs(nil) {
				f.widest = max(f.widest, in.widest)
			}
		}
	}
}

// Structs appends the structs in a value of the type, without the structs nested in them.
func (t *Type) Structs(all []*Struct) []*Struct {
	switch t.kind {
	case Record:
		return append(all, t.desc)
	case List:
		return t.elem.Structs(all)
	case Dict:
		return t.elem.Structs(t.key.Structs(all))
	}
	return all
}

// NestedInside reports whether a value of the type contains containers of containers. It does not
// look into structs.
func (t *Type) NestedInside() bool {
	switch t.kind {
	case List:
		return t.Nested() || t.elem.NestedInside()
	case Dict:
		return t.Nested() || t.key.NestedInside() || t.elem.NestedInside()
	}
	return false
}

// mostWords returns the largest number of words of a struct's entry, its table included. It does
// not count the words that each byte of the message allows.
func (d *Struct) mostWords() int {
	n := d.words
	if d.wide && d.Span() <= entry.FlatWords {
		n += int(entry.BareTable(d.Span()))
	} else if d.wide {
		n += int(entry.BareTable(entry.Chunks(d.Span())) + entry.Chunks(d.Span())*(1+entry.BareTable(entry.ChunkSpan)))
	}
	return n
}
