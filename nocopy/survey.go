package nocopy

import (
	"cmp"
	"slices"
)

// Compiling asks of each struct what may be in it, however deep. survey finds that out for all
// structs together, in time proportional to their fields: an IDL of thousands of structs that
// refer to each other may come from a stranger.

// survey sets nests and widest of the structs that may be in a value of type t, and have no
// programs yet. The lock on code is held.
func survey(t *XType) {
	var all []*XDesc
	around := map[*XDesc][]*XDesc{} // the structs that have a struct in a field
	waiting := t.structs(nil)
	for len(waiting) > 0 {
		d := waiting[len(waiting)-1]
		waiting = waiting[:len(waiting)-1]
		if _, seen := around[d]; seen || d.programs.Load() != nil {
			continue
		}
		d.self.mustBeDefined()
		around[d] = nil
		all = append(all, d)
		for i := range d.fields {
			waiting = d.fields[i].typ.structs(waiting)
		}
	}
	for _, d := range all {
		d.widest = d.mostWords()
		for i := range d.fields {
			ft := d.fields[i].typ
			d.nests = d.nests || ft.nestedInside()
			for _, in := range ft.structs(nil) {
				if in.programs.Load() != nil {
					d.nests, d.widest = d.nests || in.nests, max(d.widest, in.widest)
				} else if to := around[in]; len(to) == 0 || to[len(to)-1] != d {
					around[in] = append(to, d)
				}
			}
		}
	}
	var nest []*XDesc
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
	// The widest first: whatever is around it needs no other
	slices.SortFunc(all, func(a, b *XDesc) int { return cmp.Compare(b.widest, a.widest) })
	done := make(map[*XDesc]bool, len(all))
	for _, d := range all {
		wide := []*XDesc{d}
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
}

// structs appends the structs that a value of the type is or consists of, without those inside of
// them.
func (t *XType) structs(all []*XDesc) []*XDesc {
	switch t.kind {
	case record:
		return append(all, t.desc)
	case list:
		return t.elem.structs(all)
	case dict:
		return t.elem.structs(t.key.structs(all))
	}
	return all
}

// nestedInside reports whether there are containers of containers in a value of the type, without
// looking into structs.
func (t *XType) nestedInside() bool {
	switch t.kind {
	case list:
		return t.nested() || t.elem.nestedInside()
	case dict:
		return t.nested() || t.key.nestedInside() || t.elem.nestedInside()
	}
	return false
}
