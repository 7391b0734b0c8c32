package thriftimpl

import "github.com/nocopythrift/nocopythrift/nocopy"

// Cut is a part of a message's wire bytes, from one offset to another.
type Cut = nocopy.XCut

// HasType reports whether wire is exactly one value of type t.
func HasType(t nocopy.WireType, wire []byte) bool { return nocopy.X{}.HasType(t, wire) }

// ValueOfWire returns the value of type t with these wire bytes, and refers to them.
func ValueOfWire(t nocopy.WireType, wire []byte) nocopy.Value {
	return nocopy.X{}.ValueOfWire(t, wire)
}
