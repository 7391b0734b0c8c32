package entry

// The words of the entry of a list, set or map.
const (
	ListStart = Start
	ListEnd   = End
	ListCount = iota // number of elements, or of pairs including deleted ones
	ListElems        // index of the first slot
	ListRoom         // how many slots there is room for; see list.go of package engine
	ListType         // number of the type
	ListWords
)

// The words of the slot of a pair.
const (
	PairKey   = iota // the key's word, 0 if the pair was deleted
	PairValue        // the value's word
	PairNode         // the node that replaces both
	PairWords
)

// What a table of a wide struct begins with, see wide.go of package engine.
const (
	TableRoom   = iota // how many words it has
	TableUsed          // how many of them are in use
	TableGroups        // the first group: a set, and an offset
)

// The sizes of the groups of a table, and of the chunks that tables of two levels have.
const (
	GroupLog   = 5
	GroupMask  = 1<<GroupLog - 1
	GroupWords = 2

	ChunkLog  = 9
	ChunkSpan = 1 << ChunkLog
	ChunkMask = ChunkSpan - 1
)

// BareTable returns how many words the table of a struct of span words has while no field is set.
func BareTable(span uint32) uint32 {
	return TableGroups + (span+GroupMask)>>GroupLog*GroupWords
}

// Chunks returns how many words the outer table has for a struct of span words.
func Chunks(span uint32) uint32 { return (span + ChunkMask) >> ChunkLog }
