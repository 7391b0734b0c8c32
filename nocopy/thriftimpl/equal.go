package thriftimpl

import "github.com/nocopythrift/nocopythrift/nocopy"

// Equating is what Equal takes for equal besides what is: the options of package messages.
type Equating = nocopy.XEquating

// What may be equal.
const (
	EquateNaNs     = nocopy.XEquateNaNs
	EquateDefaults = nocopy.XEquateDefaults
	IgnoreUnknown  = nocopy.XIgnoreUnknown
)

// Equal reports whether a and b, handles of types t and u, are equal. The type is nil of a list,
// set or map that is absent.
func Equal(a Struct, t *Type, b Struct, u *Type, opt Equating) bool {
	return nocopy.X{}.Equal(a, t, b, u, opt)
}

// AppendKey appends bytes that two map keys of the same type share if and only if they are equal,
// with all NaNs equal.
func AppendKey(dst []byte, key Value) []byte { return nocopy.X{}.AppendKey(dst, key) }

// SameTypes reports whether t and u are the same as the IDL declares them.
func SameTypes(t, u *Type) bool { return nocopy.X{}.SameTypes(t, u) }

// SameDescs reports whether two structs are the same as the IDL declares them.
func SameDescs(d, e *Desc) bool { return nocopy.X{}.SameDescs(d, e) }
