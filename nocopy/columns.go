package nocopy

import "github.com/nocopythrift/nocopythrift/nocopy/internal/engine"

// ColumnType is the constraint of types that the values of a [Column] may have. Those of an enum
// have its generated type, or int32. Those of a binary are strings.
type ColumnType interface {
	bool | int8 | int16 | ~int32 | int64 | float64 | UUID | string
}

// Column appends one field of all elements of l to dst: for each element what the field's getter
// returns. An unset field therefore gives its IDL default, or zero. id is the field's id in the
// IDL.
//
// Strings alias the message, as those from getters do: they stay valid after Release, except with
// [Recycle]. Other values are copies. If dst has capacity for all values, Column does not allocate.
// It panics if T is not the field's type, or if there is no such field.
//
// Column reads the message as getters do; see the package's section "Goroutines". For numbers it
// takes about a third of their time if the list was received, or built in order. For fewer than ten
// elements, getters are faster.
func Column[T ColumnType, S StructView](dst []T, l StructList[S], id int16) []T {
	var s S
	return appendColumn(dst, engine.Struct(l), s.ThriftDesc(), id)
}

// TextColumn appends one field, a string or binary, of all elements of l: the texts to data, one
// after another, and where each of them ends in data to offsets. If offsets is empty, it gets the
// length of data first. Text i of offsets is then data[offsets[i]:offsets[i+1]], as in Apache
// Arrow. An unset field gives its IDL default, or an empty text.
//
// The bytes are copies. TextColumn panics if data becomes longer than 2 GiB, which a list of a
// received message alone does not reach unless the IDL has a long default. It also panics if the
// field is not a text, or if there is no such field.
func TextColumn[S StructView](offsets []int32, data []byte, l StructList[S], id int16) ([]int32, []byte) {
	if len(offsets) == 0 {
		offsets = append(offsets, int32(len(data)))
	}
	var s S
	t := engine.Texts{Offsets: offsets, Data: data}
	engine.AppendColumn(&t, engine.Struct(l), s.ThriftDesc(), id)
	return t.Offsets, t.Data
}

// ColumnValidity appends a bit for each element of l, which tells whether a field is set: the
// validity bitmap of Apache Arrow, whose first bit is the least significant one of the first byte.
// The field may have any type. n is the number of bits that dst has already. Bits after them, in
// the last byte, must be 0. ColumnValidity panics if dst does not have (n+7)/8 bytes, or if there
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
