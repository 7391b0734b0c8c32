package nocopy

import "github.com/nocopythrift/nocopythrift/nocopy/internal/engine"

// ColumnType is the constraint of types that the values of a [Column] may have. Those of an enum
// have its generated type, or int32. Those of a binary are strings.
type ColumnType interface {
	bool | int8 | int16 | ~int32 | int64 | float64 | UUID | string
}

// Column appends one field of all elements of l to dst: for each element what the field's getter
// returns. That is the IDL default, or zero, if the field is not set. id is the field's id.
//
// Strings alias the message, as those from getters do: they stay valid after Release, except with
// [Recycle]. Other values are copies. Column allocates nothing if dst has capacity for all values,
// except for enums and UUIDs with the build tag nounsafe. It panics if T is not the field's type,
// or if there is no such field.
//
// For numbers, Column takes about a third of the time of a loop over getters. After elements were
// added to a received list it takes three quarters. If the struct has more than 57 fields, it
// takes as long as getters. For fewer than ten elements, getters are faster.
//
// In a list that is being built, Column begins all elements, as All does. Otherwise it only reads
// the message, as getters do.
func Column[T ColumnType, S StructView](dst []T, l StructList[S], id int16) []T {
	var s S
	return engine.ColumnOf(dst, engine.Struct(l), s.ThriftDesc(), id)
}

// TextColumn appends one field, a string or binary, of all elements of l in the layout of Apache
// Arrow: the texts to data, one after another, and where each of them ends to offsets. Text i is
// then data[offsets[i]:offsets[i+1]]. An unset field gives its IDL default, or an empty text. If
// offsets is empty, it first gets the length of data. Otherwise its last number must be that
// length.
//
// The bytes are copies. If both slices have enough capacity, TextColumn does not allocate. It
// panics if data would become longer than 2 GiB, which the texts of one received message do not
// reach unless the IDL has a long default. It also panics if the field is no string or binary, or
// if there is no such field.
func TextColumn[S StructView](offsets []int32, data []byte, l StructList[S], id int16) ([]int32, []byte) {
	if len(offsets) == 0 {
		offsets = append(offsets, int32(len(data)))
	}
	if int(offsets[len(offsets)-1]) != len(data) {
		panic("nocopy: TextColumn: the last offset is not the length of data")
	}
	var s S
	t := engine.Texts{Offsets: offsets, Data: data}
	engine.AppendColumn(&t, engine.Struct(l), s.ThriftDesc(), id)
	return t.Offsets, t.Data
}

// ColumnValidity appends a bit for each element of l: whether a field, of any type, is set. This
// is the validity bitmap of Apache Arrow. It begins with the least significant bit of a byte. n is
// the number of bits that dst has already, in (n+7)/8 bytes. The bits of its last byte after them
// must be 0, and are 0 in the result. ColumnValidity panics if dst has another length, or if there
// is no such field.
func ColumnValidity[S StructView](dst []byte, n int, l StructList[S], id int16) []byte {
	if n < 0 || len(dst) != (n+7)/8 {
		panic("nocopy: ColumnValidity: dst does not have as many bytes as n bits take")
	}
	var s S
	v := engine.Validity{Bits: dst, N: n}
	engine.AppendColumn(&v, engine.Struct(l), s.ThriftDesc(), id)
	return v.Bits
}
