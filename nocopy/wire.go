package nocopy

import "github.com/nocopythrift/nocopythrift/nocopy/internal/wire"

// WireType is the type code in the header of a field, list, set or map. Its method String returns
// the IDL's name of the type.
type WireType = wire.Type

// The wire types of Thrift Binary, with the numbers of its specification. On the wire, enums are
// i32 and binaries are strings.
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
