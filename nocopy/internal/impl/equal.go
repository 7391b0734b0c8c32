package impl

import (
	"github.com/nocopythrift/nocopythrift/nocopy/internal/render"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// Equating holds the options of package messages for Equal, one bit each.
type Equating = render.Equating

// The bits of Equating.
const (
	EquateNaNs     = render.EquateNaNs
	EquateDefaults = render.EquateDefaults
	IgnoreUnknown  = render.IgnoreUnknown
)

// Equal reports whether the handles a and b, of types t and u, are equal. An absent list, set or
// map has a nil type.
func Equal(a Struct, t *Type, b Struct, u *Type, opt Equating) bool {
	return render.Equal(a, t, b, u, opt)
}

// AppendKey appends bytes that identify a map's key: two keys of one type have the same bytes if
// and only if they are equal. All NaNs have the same bytes; unequal reports whether the key is or
// contains one, and therefore equals nothing.
func AppendKey(dst []byte, key Value) (_ []byte, unequal bool) { return render.AppendKey(dst, key) }

// AppendElement is AppendKey for an element of a set. As elements, 0 and −0 are equal.
func AppendElement(dst []byte, v Value) (_ []byte, unequal bool) {
	return render.AppendElement(dst, v)
}

// SameTypes reports whether the IDL declares t and u alike.
func SameTypes(t, u *Type) bool { return schema.SameTypes(t, u) }

// SameLayout reports whether the IDL declares two structs alike, in one order of fields. Then a
// handle of one may be used as one of the other.
func SameLayout(d, e *Desc) bool { return schema.SameLayout(d, e) }

// Apart completes a text that refuses a t where a u is needed: it says how the two differ if both
// have the same name.
func Apart(t, u *Type) string { return schema.Apart(t, u) }

// SameDescs reports whether the IDL declares two structs alike, in any order of fields.
func SameDescs(d, e *Desc) bool { return schema.SameDescs(d, e) }
