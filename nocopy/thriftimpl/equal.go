package thriftimpl

import "github.com/nocopythrift/nocopythrift/nocopy"

// Equating holds the options of package messages for Equal, one bit each.
type Equating = nocopy.XEquating

// What may be equal.
const (
	EquateNaNs     = nocopy.XEquateNaNs
	EquateDefaults = nocopy.XEquateDefaults
	IgnoreUnknown  = nocopy.XIgnoreUnknown
)

// Equal reports whether the handles a and b, of types t and u, are equal. An absent list, set or
// map has a nil type.
func Equal(a Struct, t *Type, b Struct, u *Type, opt Equating) bool {
	return nocopy.X{}.Equal(a, t, b, u, opt)
}

// AppendKey appends bytes that identify a map key: two keys of one type have the same bytes if and
// only if they are equal. All NaNs are equal here.
func AppendKey(dst []byte, key Value) []byte { return nocopy.X{}.AppendKey(dst, key) }

// SameTypes reports whether the IDL declares t and u alike.
func SameTypes(t, u *Type) bool { return nocopy.X{}.SameTypes(t, u) }

// SameDescs reports whether the IDL declares two structs alike.
func SameDescs(d, e *Desc) bool { return nocopy.X{}.SameDescs(d, e) }
