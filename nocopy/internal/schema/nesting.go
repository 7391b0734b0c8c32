package schema

import "math"

// Nesting returns how deep structs may be nested in a value of the type, the outermost included.
// It is unbounded if one of them may contain itself.
func (t *Type) Nesting() int {
	switch t.kind {
	case Record:
		return t.desc.Nesting()
	case List:
		return t.elem.Nesting()
	case Dict:
		return max(t.key.Nesting(), t.elem.Nesting())
	}
	return 0
}

// unbounded is the nesting of a struct that may contain itself.
const unbounded = math.MaxInt16

func (d *Struct) Nesting() int {
	if n := d.nested.Load(); n > 0 {
		return int(n)
	}
	n := d.countNesting(map[*Struct]bool{})
	d.nested.Store(int32(n))
	return n
}

// countNesting returns how deep structs may be nested in one of type d, itself included. It is
// unbounded if one of them may contain itself, or one of the surrounding structs in path.
func (d *Struct) countNesting(path map[*Struct]bool) int {
	if path[d] {
		return unbounded
	}
	d.self.MustBeDefined()
	path[d] = true
	n := 0
	for i := range d.fields {
		n = max(n, d.fields[i].Type.countNesting(path))
	}
	delete(path, d)
	return min(n+1, unbounded)
}

func (t *Type) countNesting(path map[*Struct]bool) int {
	switch {
	case t.kind == Record && t.desc.nested.Load() > 0:
		return t.desc.Nesting()
	case t.kind == Record:
		n := t.desc.countNesting(path)
		t.desc.nested.Store(int32(n))
		return n
	case t.kind == List:
		return t.elem.countNesting(path)
	case t.kind == Dict:
		return max(t.key.countNesting(path), t.elem.countNesting(path))
	}
	return 0
}
