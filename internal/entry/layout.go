//go:build !nocopylayout

package entry

// The words of an entry. A list, set or map has further words after End, see ListCount. A union
// has Arm. A struct or union of at most MaxDirect fields ends with one word per field; one with
// more has Table.
const (
	Start = iota // the position of the first field header, element or pair
	End          // position of the STOP, or after the last element or pair; or the number of an edit
	Arm          // union: the number of the field that is set
	Table        // wide struct or union: the table with the words of its fields, or 0
)

// MaxDirect is the largest number of fields of a struct or union whose entry has a word for each
// field. A struct with more fields is wide: its entry has WideWords words, and a table has the
// words of the fields that are set. Words are numbered, and the words of a struct are counted, as
// if it were not wide. Generated code says by DefineWide that a struct is wide, and is believed:
// another version may have another number here.
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
const MaxDirect = 57

// GroupLog is the logarithm of the number of words in a group of the table of a wide struct.
const GroupLog = 5
