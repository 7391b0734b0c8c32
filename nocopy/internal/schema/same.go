package schema

// descPair is a pair of structs that may be the same.
type descPair struct{ d, e *Struct }

// SameTypes reports whether the IDL declares t and u alike.
func SameTypes(t, u *Type) bool {
	if t == u {
		return true
	}
	if d, e := t.Struct(), u.Struct(); d != nil && e != nil {
		return SameDescs(d, e)
	}
	return alike(t, u, map[descPair]bool{})
}

// SameDescs reports whether the IDL declares two structs alike.
func SameDescs(d, e *Struct) bool {
	if d == e || d.same.Load() == e {
		return true
	}
	if !alikeDescs(d, e, map[descPair]bool{}) {
		return false
	}
	d.same.Store(e)
	return true
}

// alike reports whether the IDL declares t and u alike. It assumes that the pairs of structs in
// seen are alike.
func alike(t, u *Type, seen map[descPair]bool) bool {
	switch {
	case t == u:
		return true
	case t == nil || u == nil || t.Wire() != u.Wire() || t.Binary() != u.Binary() || (t.Enum() == nil) != (u.Enum() == nil):
		return false
	case t.Enum() != nil:
		return t.Enum().TypeName() == u.Enum().TypeName()
	case t.Struct() != nil:
		return alikeDescs(t.Struct(), u.Struct(), seen)
	}
	return alike(t.Key(), u.Key(), seen) && alike(t.Elem(), u.Elem(), seen)
}

func alikeDescs(d, e *Struct, seen map[descPair]bool) bool {
	if d == e || seen[descPair{d, e}] {
		return true
	}
	seen[descPair{d, e}] = true
	if d.Name() != e.Name() || d.IsUnion() != e.IsUnion() || d.IsException() != e.IsException() || d.NumFields() != e.NumFields() {
		return false
	}
	for i := range d.NumFields() {
		f := d.FieldDesc(i)
		k := e.NumberByID(f.ID)
		if k < 0 {
			return false
		}
		g := e.FieldDesc(k)
		if f.Name != g.Name || f.Req != g.Req || f.Default != g.Default || !alike(f.Type, g.Type, seen) {
			return false
		}
	}
	return true
}

// Equal reports whether t and u have the same values on the wire: base types of the same name,
// structs with the same descriptor, and containers of such types. All enums are equal, as are
// string and binary.
func (t *Type) Equal(u *Type) bool {
	switch {
	case t == u:
		return true
	case t == nil || u == nil || t.wire != u.wire:
		return false
	case t.kind == Record:
		return t.desc == u.desc
	case t.kind == Dict:
		return t.key.Equal(u.key) && t.elem.Equal(u.elem)
	}
	return t.kind != List || t.elem.Equal(u.elem)
}
