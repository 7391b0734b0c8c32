// Package entry defines the layout of an index entry, and of the constants that identify a field
// by its word in the entry. Package nocopy fills entries; nocopyc and package rpc write such
// constants.
package entry

// The words of an entry. A list, set or map has further words after End, see ListCount. A union
// has Arm. A struct or union of at most MaxDirect fields ends with one word per field; one with
// more has Table.
const (
	Start = iota // the position of the first field header, element or pair
	End          // position of the STOP, or after the last element or pair; or the number of an edit
	Arm          // union: the word of the field that is set
	Table        // wide struct or union: the table with the words of its fields, or 0
)

// The number of words before those of the fields.
const (
	StructWords = Arm
	UnionWords  = Arm + 1
)

// PerByte is how many bytes the index may take for each byte of the message, by default.
const PerByte = 64

// MaxDirect is the largest number of fields of a struct or union whose entry has a word for each
// field. A struct with more fields is wide: its entry has WideWords words, and a table has the
// words of the fields that are set. Words are numbered, and the words of a struct are counted, as
// if it were not wide.
//
// It is 57 because the index may take 16 words per byte of the message. A struct around a value
// adds 4 bytes, the field's header and a STOP, which allow 64 words. It takes at most 61; the
// other 3 are for a pair of a map, which takes 3 words besides its key and value.
//
// Two kinds of structs take more words than their bytes allow:
//   - An element, key or value that is an empty struct of 15 fields or more. It is one byte, a
//     STOP, which allows 16 words.
//   - A struct that has more than 864 fields, but sets only a few. Its table has a word for every
//     16 fields, whether they are set or not.
const (
	MaxDirect = 57
	WideWords = Table + 1
)

// Layout returns the number of words before the fields' words in the entry of a struct or union
// with this many fields, and whether it is wide.
func Layout(fields int, union bool) (first int, wide bool) {
	if union {
		return UnionWords, fields > MaxDirect
	}
	return StructWords, fields > MaxDirect
}

// A field's constant holds, from the lowest bits: the id, the wire type, Wide, the number of words
// of the struct, and the number of the field's word.
const (
	WireShift  = 16
	Wide       = 1 << 31 // the struct is wide
	WordsShift = 32
	WordShift  = 48
)

// IndexID is the id of the field that holds a message's wire index, see package wireindex. No
// field of an IDL may have it.
const IndexID = -32000
