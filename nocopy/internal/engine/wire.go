package engine

import "github.com/nocopythrift/nocopythrift/nocopy/internal/wire"

// WireType is the type code in the header of a field, list, set or map.
type WireType = wire.Type

// The wire types by the names that package nocopy has for them.
const (
	WireStop   WireType = wire.Stop
	WireBool   WireType = wire.Bool
	WireI8     WireType = wire.I8
	WireDouble WireType = wire.Double
	WireI16    WireType = wire.I16
	WireI32    WireType = wire.I32
	WireI64    WireType = wire.I64
	WireString WireType = wire.String
	WireStruct WireType = wire.Struct
	WireMap    WireType = wire.Map
	WireSet    WireType = wire.Set
	WireList   WireType = wire.List
	WireUUID   WireType = wire.UUID
)
