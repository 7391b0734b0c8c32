package thriftimpl

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

// AppendKey appends bytes that identify a map key: two keys of one type have the same bytes if and
// only if they are equal. All NaNs are equal here.
func AppendKey(dst []byte, key Value) []byte { return render.AppendKey(dst, key) }

// SameTypes reports whether the IDL declares t and u alike.
func SameTypes(t, u *Type) bool { return schema.SameTypes(t, u) }

// SameDescs reports whether the IDL declares two structs alike.
func SameDescs(d, e *Desc) bool { return schema.SameDescs(d, e) }
