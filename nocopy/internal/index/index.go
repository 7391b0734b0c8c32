package index

import (
	"math"
	"strconv"

	"github.com/nocopythrift/nocopythrift/internal/entry"
	"github.com/nocopythrift/nocopythrift/internal/spare"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// Index is the entries of a message's structs and containers.
type Index struct {
	Words    []uint32
	Used     uint32 // how many words are in use
	Zeroed   uint32 // words before this one that are not in use yet are zero
	Levelled uint32 // what Used was when the structs were last found not to be nested too deeply

	// Room, in fields, of the table of a wide struct that was last made in place of a full one
	tableSlots uint32
	HasTables  bool // there are tables of wide structs
	large      bool // there was a large index not more than idle messages ago
	Reuses     bool // the message was compacted: free entries are used again
	Full       bool // so much of the index may be dead that the message should look
	More       bool // there may be something to empty, here or in the message, when it ends

	owner Owner
	*rare // nil until it is needed
}

// Owner is the message that an index belongs to.
type Owner interface {
	// MostWords returns how long the index may become if it needs n words, n at most MaxWords.
	MostWords(n int) int
	// EndChange ends the change that is under way, since the index is about to panic.
	EndChange()
	// PanicChangedAtOnce panics because two goroutines have changed the message at once.
	PanicChangedAtOnce()
}

// rare is the part that few indexes have.
type rare struct {
	spareTables spareTables
	freeEntries

	// A large index is not kept: other messages know it by item, which is nil if the index is not
	// large. small is the index before.
	idle  int // messages in a row without a large index
	item  *spare.Item[[]uint32]
	small []uint32
}

// Begin makes an Index that is zero ready for use. Owner is its message.
func (x *Index) Begin(owner Owner) { x.owner = owner }

// ownRare returns rare, which it makes if there is none.
func (x *Index) ownRare() *rare {
	if x.rare == nil {
		x.rare = &rare{freeEntries: freeEntries{checkAt: uncheckedWords}}
	}
	x.More = true
	return x.rare
}

// First is the first word of an index that is an entry: entry 0 stands for none.
const First = 1

// MaxWords bounds an index: entry numbers keep their top bit free, and on 32 bits half a GiB is
// much already.
const MaxWords = min(1<<31-1, math.MaxInt>>4)

// Floor is how many bytes an index may have in any case, by default.
const Floor = 16 << 20

// Limit returns how many words the index of a message of n bytes may have. most is
// Limits.MaxIndex, in bytes; 0 means the default.
func Limit(most, n int) uint32 {
	limit := uint64(most)
	if most <= 0 {
		limit = entry.PerByte*uint64(n) + Floor
	}
	return uint32(min(limit/4, MaxWords))
}

// Owner returns the message that the index belongs to.
func (x *Index) Owner() Owner { return x.owner }

// Alloc returns the first of n more words of the index, which are zero.
func (x *Index) Alloc(n int) uint32 {
	e := x.Used
	if uint64(e)+uint64(n) > uint64(x.Zeroed) {
		x.zero(int(e) + n)
	}
	x.Used = e + uint32(n)
	return e
}

// zero makes the words before end zero that are not in use, and some more ahead of their use.
func (x *Index) zero(end int) {
	if end < 0 {
		x.owner.EndChange()
		panic(schema.PanicUndefined)
	}
	if end > len(x.Words) {
		x.Grow(end, x.owner.MostWords(end))
	}
	x.NoteGrowth()
	end = min(end+zeroAhead, len(x.Words))
	from := max(x.Used, x.Zeroed)
	if uint(from) > uint(end) {
		x.owner.PanicChangedAtOnce()
	}
	clear(x.Words[from:end])
	x.Zeroed = uint32(end)
}

// uncheckedWords is the number of words that an index may have before a message looks how many of
// them are dead.
const uncheckedWords = 64 << 10

// NoteGrowth sets Full if the index has grown so much that the message should look what is dead.
func (x *Index) NoteGrowth() {
	n, most := x.Used, uint32(uncheckedWords)
	if x.rare != nil {
		n += x.reused
		most = x.checkAt
	}
	x.Full = x.Full || n > most
}

// zeroAhead is how many words are made zero ahead of their use.
const zeroAhead = 128

// Grow makes the index end words long at least, and twice as long as before if that is not more
// than most. An index of more than half of most is made as long as most: so all that is allocated
// for it comes to twice the most.
//
//go:noinline
func (x *Index) Grow(end, most int) {
	if end > MaxWords {
		x.owner.EndChange()
		panic("nocopy: message with an index of more than " + strconv.Itoa(MaxWords) + " words")
	}
	size := min(2*len(x.Words), most)
	if size > most/2 && most < MaxWords {
		size = most
	}
	n := max(end, size, 32)
	x.Resize(n, n)
}

// LargeIndex is how many words an index has at least that goes to other messages when its message
// ends.
const LargeIndex = 16 << 10

// indexes are the large ones that no message has.
var indexes spare.Pool[[]uint32]

// Resize makes the index n words long; or longer if such a one waits in indexes, or shorter, but
// not below least. The contents of words that are not in use are undefined.
func (x *Index) Resize(least, n int) {
	if n < LargeIndex {
		x.replace(make([]uint32, n))
		return
	}
	item := indexes.Get(least, 16*n)
	if item == nil {
		item = &spare.Item[[]uint32]{Value: make([]uint32, n), Size: n}
	}
	r := x.ownRare()
	x.large = true
	if r.item == nil { // a large one that was too small is of no more use
		r.small = x.Words
	}
	r.item = item
	x.replace(item.Value)
}

// replace replaces the words, which have become too few.
func (x *Index) replace(words []uint32) {
	copy(words, x.Words[:min(int(x.Used), len(x.Words))])
	x.Words, x.Zeroed = words, 0
}

// keepZeroed bounds the words that are zeroed for the next message.
const keepZeroed = 256

// End empties the index. The message must call EndMore next if More is set.
func (x *Index) End() {
	if x.Zeroed-1 < keepZeroed && x.Used <= x.Zeroed { // the next message finds them so
		clear(x.Words[First:x.Used])
	} else {
		x.Zeroed = 0
	}
	x.Used, x.Levelled = 0, 0
}

// KeepLarge is how many messages in a row without a large index may pass before memory that has
// grown with such an index is dropped.
const KeepLarge = 16

// EndMore empties what few indexes have. A large index goes to other messages. EndMore reports
// whether the message should drop memory that has grown with a large index.
func (x *Index) EndMore() (drop bool) {
	x.Full, x.HasTables, x.tableSlots = false, false, 0
	if r := x.rare; r != nil {
		r.spareTables = spareTables{}
		if x.Reuses || r.checkAt != uncheckedWords {
			x.Reuses, r.freeEntries = false, freeEntries{checkAt: uncheckedWords}
		}
		switch {
		case r.item != nil:
			indexes.Put(r.item)
			x.Words, r.item, r.small, r.idle, x.Zeroed = r.small, nil, nil, 0, 0
		case x.large:
			if r.idle++; r.idle > KeepLarge {
				x.large, drop = false, true
			}
		}
	}
	x.More = x.large
	return drop
}

// HasMore reports whether EndMore has something to do. Builds with the tag nocopydebug check that
// More is set then.
func (x *Index) HasMore() bool {
	return x.large || x.HasTables || x.Reuses || x.rare != nil && x.checkAt != uncheckedWords
}
