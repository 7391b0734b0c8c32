// Package entry defines the layout of an index entry, which may change, and what the constants say
// that identify a field, which may not: generated code has them, and it is not generated again for
// a new version of the library. Package nocopy fills entries; nocopyc and package rpc write such
// constants.
package entry

// PerByte is how many bytes the index may take for each byte of the message, by default.
const PerByte = 64

// The number of words before those of the fields, and of an entry of a wide struct.
const (
	StructWords = Arm
	UnionWords  = Arm + 1
	WideWords   = Table + 1
)

// A field's constant holds, from the lowest bits: the id, the wire type, six bits that are 0,
// Union, Wide, the number after that of the struct's last field, and the field's number. Numbers
// are given in the IDL's order, from FirstNumber on or, in a union, from FirstArm on; in a union
// they are what Which returns. Generated code has such constants, and reads the fields of a struct
// by the type Wide if its constants have the bit Wide: none of that may ever change.
//
// The word of a field is its number plus Displacement. Accessors compute that, which takes no
// instruction if the constant is known when they are compiled, and Ref.Word of package schema does
// in all other places. The layout may therefore change: TestOtherLayout runs generated code with
// another one. In the present one, a number happens to be that of the word.
const (
	WireShift   = 16
	Union       = 1 << 30 // the field is one of a union
	Wide        = 1 << 31 // the struct is wide
	EndShift    = 32
	NumberShift = 48

	FirstNumber = 2
	FirstArm    = 3

	Displacement = StructWords - FirstNumber
)

// First returns the number of the first field of a struct or union.
func First(union bool) int {
	if union {
		return FirstArm
	}
	return FirstNumber
}

// IndexID is the id of the field that holds a message's wire index, see package wireindex. No
// field of an IDL may have it.
const IndexID = -32000
