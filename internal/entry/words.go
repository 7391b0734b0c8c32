package entry

// The words of the entry of a list, set or map.
const (
	ListStart = Start
	ListEnd   = End
	ListCount = iota // number of elements, or of pairs including deleted ones
	ListElems        // index of the first slot
	ListRoom         // number of slots that there is room for; see type Room of package index
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

// The first words of the table of a wide struct, see wide.go of package index.
const (
	TableRoom   = iota // number of words of the table
	TableUsed          // number of words in use
	TableGroups        // the first group: a bit set, and an offset
)

// The sizes of a table's groups.
const (
	GroupMask  = 1<<GroupLog - 1
	GroupWords = 2
)

// BareTable returns the number of words of the table of a struct of span words, without fields
// set.
func BareTable(span uint32) uint32 {
	return TableGroups + (span+GroupMask)>>GroupLog*GroupWords
}
