// Package entry is the layout of an index entry, and of the constants that name a field by its
// word in the entry. Package nocopy fills entries; nocopyc and package rpc write such constants.
package entry

// The words of an entry. A list, set or map has more of its own after them. A union has Arm, and
// a struct or union of at most MaxDirect fields has one word for each field at the end.
const (
	Start = iota // the position of the first field header, element or pair
	End          // the position of the STOP, or after the last element or pair; or an edit's number
	Arm          // union: the word of the field that is set
	Table        // wide struct or union: the table with the words of its fields, or 0
)

// The number of words before those of the fields.
const (
	StructWords = Arm
	UnionWords  = Arm + 1
)

// MaxDirect is the most fields of a struct or union whose entry has a word for each. One with more
// is wide: its entry has WideWords words, and the words of the fields that are set are in a table.
// A field's word has the same number, and the struct as many words, as if it were not wide.
//
// They are 57 since a byte of a message is due 16 words of index. A struct around a value has 4
// bytes besides it, the field's header and a STOP, and takes 61 words besides it at most, 3 fewer
// than are due; a pair of a map takes 3 words besides its key and value. Only an element, key or
// value that is an empty struct of 15 fields or more takes more than is due to its STOP.
const (
	MaxDirect = 57
	WideWords = Table + 1
)

// Layout returns the number of words before those of the fields of a struct or union with this
// many, and whether it is wide.
func Layout(fields int, union bool) (first int, wide bool) {
	if union {
		return UnionWords, fields > MaxDirect
	}
	return StructWords, fields > MaxDirect
}

// FlatWords is the most words of a wide struct whose table has one level. An entry, with a table
// that has one word, takes 61 words then: not more than any other, see MaxDirect.
const FlatWords = 27 * 32

// A field's constant holds, from the lowest bits: the id, the wire type, Wide, how many words the
// struct has, and which of them is the field's.
const (
	WireShift  = 16
	Wide       = 1 << 31 // the struct is wide
	WordsShift = 32
	WordShift  = 48
)

// IndexID is the id of the field with a message's own index, see package wireindex. No field of an
// IDL may have it.
const IndexID = -32000
