//go:build nocopylayout

package entry

// Another layout, for TestOtherLayout alone: generated code that was made for the usual one runs
// with it. Entries have a word more, fewer structs are near, and groups are smaller.
const (
	Start = iota
	End
	_
	Arm
	Table
)

const (
	MaxDirect = 40
	GroupLog  = 4
)
