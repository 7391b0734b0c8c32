package impl

import (
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
)

// Cut is a part of a message's wire bytes, from one offset to another.
type Cut = engine.Cut

// WireValue is a nocopy.Value in the form of the accessors of Struct.
type WireValue = engine.WireValue

// HasType reports whether wire is exactly one value of type t.
func HasType(t nocopy.WireType, wire []byte) bool { return engine.HasType(t, wire) }

// ValueOfWire returns the value of type t with these wire bytes, and refers to them.
func ValueOfWire(t nocopy.WireType, wire []byte) nocopy.Value {
	return nocopy.Value(engine.ValueOfWire(t, wire))
}
