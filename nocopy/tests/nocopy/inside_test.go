// What tests reach of package nocopy as generated code does, and of its inside.

package nocopy_test

import (
	"encoding/binary"
	"strconv"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/internal/entry"
	"github.com/nocopythrift/nocopythrift/nocopy"
)

// Functions and types that generated code has by package thriftimpl.
var (
	impl   = nocopy.X{}
	inside = impl.Inside()

	newStruct     = impl.New
	parseStruct   = impl.Parse
	newStructDesc = impl.NewDesc
	newUnionDesc  = impl.NewUnionDesc
	newConst      = impl.NewConst
	structTypeOf  = impl.StructOf
	listTypeOf    = impl.ListOf
	setTypeOf     = impl.SetOf
	mapTypeOf     = impl.MapOf

	typeBool   = impl.BaseType(nocopy.WireBool)
	typeI8     = impl.BaseType(nocopy.WireI8)
	typeI16    = impl.BaseType(nocopy.WireI16)
	typeI32    = impl.BaseType(nocopy.WireI32)
	typeI64    = impl.BaseType(nocopy.WireI64)
	typeDouble = impl.BaseType(nocopy.WireDouble)
	typeString = impl.BaseType(nocopy.WireString)
	typeUUID   = impl.BaseType(nocopy.WireUUID)
	typeBinary = impl.BinaryType()
)

func newEnum(name string, values []nocopy.XEnumValue, info []nocopy.XInfo) *nocopy.XEnum {
	return impl.NewEnum(name, values, info...)
}

// emptyHandle returns the handle of an absent struct or container.
func emptyHandle() nocopy.XStruct { return nocopy.XStruct(impl.Absent()) }

// armWord returns the word that Which of a union returns when f is set.
func armWord(f nocopy.XField) int32 { return int32(f >> entry.WordShift) }

// Sizes on the wire and in messages.
const (
	fieldHeader = 3
	textHeader  = 4
	referSize   = 4 << 10       // texts from here on are referred to
	maxCount    = chain.MaxSize // of a list
)

// Texts of panics.
const (
	panicStale     = "nocopy: handle used after Release"
	panicAbsent    = "nocopy" + setterOnAbsent + "NewX first"
	panicTwice     = "nocopy: message released twice"
	panicNotRoot   = "nocopy: Release called on a handle that is not its message's root"
	setterOnAbsent = ": setter called on an absent struct or container: use "
	zeroHandleText = "<none>"
)

func itoa(i int) string { return strconv.Itoa(i) }

func appendBE32(dst []byte, v uint32) []byte { return binary.BigEndian.AppendUint32(dst, v) }

// messageOf returns the message of a handle of any kind.
func messageOf[V nocopy.View](v V) *nocopy.Message { return nocopy.XStruct(v).Message() }
