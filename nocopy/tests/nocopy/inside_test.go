// The tests' access to package nocopy, as generated code has it, and to its engine.

package nocopy_test

import (
	"encoding/binary"
	"strconv"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/internal/entry"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// Functions and types of package thriftimpl.
var (
	newStruct     = thriftimpl.New
	parseStruct   = thriftimpl.Parse
	newStructDesc = thriftimpl.NewDesc
	newUnionDesc  = thriftimpl.NewUnionDesc
	newConst      = thriftimpl.NewConst
	structTypeOf  = thriftimpl.StructOf
	listTypeOf    = thriftimpl.ListOf
	mapTypeOf     = thriftimpl.MapOf

	typeBool   = thriftimpl.TypeBool
	typeI8     = thriftimpl.TypeI8
	typeI16    = thriftimpl.TypeI16
	typeI32    = thriftimpl.TypeI32
	typeI64    = thriftimpl.TypeI64
	typeDouble = thriftimpl.TypeDouble
	typeString = thriftimpl.TypeString
	typeUUID   = thriftimpl.TypeUUID
	typeBinary = thriftimpl.TypeBinary
)

// emptyHandle returns the handle of an absent struct or container.
func emptyHandle() thriftimpl.Struct { return thriftimpl.Struct(thriftimpl.Absent()) }

// armWord returns the word that Which of a union returns when f is set.
func armWord(f thriftimpl.Field) int32 { return int32(f >> entry.WordShift) }

// Sizes on the wire and in messages.
const (
	fieldHeader = 3
	textHeader  = 4
	referSize   = 4 << 10       // texts of at least this size are referred to
	maxCount    = chain.MaxSize // largest number of elements of a list
)

// Texts of panics.
const (
	panicStale     = "nocopy: handle used after Release"
	panicAbsent    = "nocopy" + setterOnAbsent + "NewX first"
	panicConst     = "nocopy: setter called on a constant of the IDL, which never changes: change a copy of it"
	panicTwice     = "nocopy: message released twice"
	panicNotRoot   = "nocopy: Release called on a handle that is not its message's root"
	setterOnAbsent = ": setter called on an absent struct or container: use "
	zeroHandleText = "<none>"
)

func itoa(i int) string { return strconv.Itoa(i) }

func appendBE32(dst []byte, v uint32) []byte { return binary.BigEndian.AppendUint32(dst, v) }

// messageOf returns the message of a handle of any kind.
func messageOf[V nocopy.View](v V) *nocopy.Message { return nocopy.Struct(v).Message() }

// parseInto is nocopy.ParseInto for the type that d describes.
func parseInto(m *nocopy.Message, d *thriftimpl.Desc, b []byte, opts ...nocopy.Option) (thriftimpl.Struct, error) {
	return engine.ParseInto(d, (*engine.Message)(m), b, opts)
}
