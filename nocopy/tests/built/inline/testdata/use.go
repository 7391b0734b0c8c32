// Package inline holds accessors as generated code has them, and uses of lists. Each line that
// ends in a comment "inlines F" is a call of F that the compiler must inline: inlineuse_test.go
// reads what it says.
package inline

import (
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

const (
	flag   thriftimpl.Field = 2<<48 | 8<<32 | 2<<16 | 1
	tiny   thriftimpl.Field = 3<<48 | 8<<32 | 3<<16 | 2
	small  thriftimpl.Field = 4<<48 | 8<<32 | 6<<16 | 3
	medium thriftimpl.Field = 5<<48 | 8<<32 | 8<<16 | 4
	large  thriftimpl.Field = 6<<48 | 8<<32 | 10<<16 | 5
	real   thriftimpl.Field = 7<<48 | 8<<32 | 4<<16 | 6
	sparse thriftimpl.Field = 80<<48 | 202<<32 | 0x80000000 | 10<<16 | 79
)

// Record is a generated struct.
type Record nocopy.Struct

// WideRecord is a generated struct of 200 fields.
type WideRecord nocopy.Struct

// Color is a generated enum.
type Color int32

func (s Record) GetFlag() bool     { return thriftimpl.Struct(s).Bool(flag) }           // inlines engine.Struct.Bool
func (s Record) GetTiny() int8     { return thriftimpl.Struct(s).Int8(tiny) }           // inlines engine.Struct.Int8
func (s Record) GetSmall() int16   { return thriftimpl.Struct(s).Int16(small) }         // inlines engine.Struct.Int16
func (s Record) GetMedium() int32  { return thriftimpl.Struct(s).Int32(medium) }        // inlines engine.Struct.Int32
func (s Record) GetColor() Color   { return Color(thriftimpl.Struct(s).Int32(medium)) } // inlines engine.Struct.Int32
func (s Record) GetLarge() int64   { return thriftimpl.Struct(s).Int64(large) }         // inlines engine.Struct.Int64
func (s Record) GetReal() float64  { return thriftimpl.Struct(s).Float64(real) }        // inlines engine.Struct.Float64
func (s Record) IsSetMedium() bool { return thriftimpl.Struct(s).Has(medium) }          // inlines engine.Struct.Has

func (s WideRecord) IsSetSparse() bool { return thriftimpl.Wide(s).Has(sparse) } // inlines engine.Wide.Has

// Read uses accessors and lists.
func Read(s Record, wide WideRecord, bools nocopy.BoolList, i8s nocopy.Int8List, i16s nocopy.Int16List, i32s nocopy.Int32List, i64s nocopy.Int64List,
	doubles nocopy.Float64List, uuids nocopy.UUIDList, colors nocopy.EnumList[Color], records nocopy.StructList[Record]) (n int64) {
	if s.IsSetMedium() && s.GetFlag() { // inlines Record.GetFlag
		n += int64(s.GetTiny())   // inlines Record.GetTiny
		n += int64(s.GetSmall())  // inlines Record.GetSmall
		n += int64(s.GetMedium()) // inlines Record.GetMedium
		n += s.GetLarge()         // inlines Record.GetLarge
		n += int64(s.GetReal())   // inlines Record.GetReal
	}
	if wide.IsSetSparse() { // inlines WideRecord.IsSetSparse
		n++
	}
	for i := range bools.Len() { // inlines nocopy.BoolList.Len
		if bools.At(i) { // inlines nocopy.BoolList.At
			n++
		}
		n += int64(i8s.At(i))      // inlines nocopy.Int8List.At
		n += int64(i16s.At(i))     // inlines nocopy.Int16List.At
		n += int64(i32s.At(i))     // inlines nocopy.Int32List.At
		n += i64s.At(i)            // inlines nocopy.Int64List.At
		n += int64(doubles.At(i))  // inlines nocopy.Float64List.At
		n += int64(uuids.At(i)[0]) // inlines nocopy.UUIDList.At
		n += int64(colors.At(i))   // inlines nocopy.EnumList[go.shape.int32].At
		e := records.At(i)         // a call: that a list may still be being built is too much to inline
		n += int64(e.GetMedium())  // inlines Record.GetMedium
		n += int64(i64s.Len())     // inlines nocopy.Int64List.Len
	}
	return n
}
