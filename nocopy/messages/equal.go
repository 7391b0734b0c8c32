package messages

import (
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/impl"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// Option changes which values Equal considers equal.
type Option uint8

const (
	// EquateNaNs makes all NaNs equal.
	EquateNaNs = Option(impl.EquateNaNs)
	// EquateDefaults compares what getters return: an unset field equals one with the IDL's default,
	// or with the zero or an empty value. In a union, it still matters which field is set.
	EquateDefaults = Option(impl.EquateDefaults)
	// IgnoreUnknown ignores fields that the IDL does not know.
	IgnoreUnknown = Option(impl.IgnoreUnknown)
)

// Equal reports whether a and b are equal, by the rules in the package's overview. Each is a
// struct, list, set or map. (a == b would compare the handles, which differ from message to
// message.) Equal completes values that are being built in a and b. It changes nothing else. It
// panics if a or b is a root that was converted to another type that the IDL declares differently.
func Equal[A, B nocopy.AnyHandle](a A, b B, opts ...Option) bool {
	var equating impl.Equating
	for _, o := range opts {
		equating |= impl.Equating(o)
	}
	s, t := handleOf(a)
	o, u := handleOf(b)
	return impl.Equal(s, t, o, u, equating)
}

// handleOf returns a handle without its Go type, and its IDL type. The type is nil for an absent
// list, set or map.
func handleOf[H nocopy.AnyHandle](h H) (thriftimpl.Struct, *thriftimpl.Type) {
	if any(h) == nil {
		return thriftimpl.Struct{}, nil
	}
	if m, ok := any(h).(nocopy.AnyStruct); ok {
		impl.CheckNil(m)
		if m.ThriftDesc() == nil { // the zero reflection.Message
			return thriftimpl.Struct{}, nil
		}
		d, s := impl.Parts(m)
		return s, thriftimpl.StructOf(d)
	}
	s := h.ThriftStruct()
	return s, s.ContainerType()
}
