package index

import (
	"math"
	"math/bits"

	"github.com/nocopythrift/nocopythrift/internal/entry"
	"github.com/nocopythrift/nocopythrift/internal/hashmap"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// freeEntries are the entries that compacting has freed and that were not used again. Entries are
// used again for values of the same type: the handle of a value that was removed therefore reads
// as absent, or as another value of its type.
type freeEntries struct {
	free hashmap.Map[*schema.Type, []block]
	// By size: the first of the free words that no handle refers to. They begin with the next ones'
	// number.
	rawWords hashmap.Map[uint32, uint32]
	// By entry: how many words a container's block has, if that does not follow from its count
	blockWords hashmap.Map[uint32, uint32]
	freeWords  uint32                // how many words free and rawWords have
	onReuse    func(e, words uint32) // nil, or is called with entries that are used again

	// When the message looks again how much is dead:
	reused  uint32 // how many free words were used again since the message was compacted last
	checkAt uint32 // it looks once the words in use and reused together are more
}

// block is a range of words of the index that begins with entry e.
type block struct{ e, words uint32 }

// NoteLooked records that the message has counted its dead entries. It need not look again until
// the index has doubled.
func (x *Index) NoteLooked() {
	r := x.ownRare()
	n := x.Used + r.reused
	x.Full, r.checkAt = false, math.MaxUint32
	if n <= math.MaxUint32/2 {
		r.checkAt = n + max(n, uncheckedWords)
	}
}

// Reuse makes the index use entries again that are freed from now on. OnReuse, if not nil, is
// called with them then.
func (x *Index) Reuse(onReuse func(e, words uint32)) {
	x.Reuses, x.ownRare().onReuse = true, onReuse
}

// NoteCompacted records that the message was compacted to size bytes, and that all dead entries
// were freed. The message need not look again until the index has grown by a part of the bytes
// that compacting copied.
func (x *Index) NoteCompacted(size int) {
	x.Full, x.reused = false, 0
	x.checkAt = x.Used + max(2*(x.Used-x.freeWords), uint32(size)/16, uncheckedWords/4)
}

// BlockRoom returns how many words the block of the container of entry e has; 0 if that follows
// from its count.
func (x *Index) BlockRoom(e uint32) uint32 {
	if x.rare == nil {
		return 0
	}
	return x.blockWords.Get(e)
}

// SetBlockRoom notes how many words the block of the container of entry e has, unless that is
// known.
func (x *Index) SetBlockRoom(e, words uint32) {
	if r := x.ownRare(); r.blockWords.Get(e) == 0 {
		r.blockWords.Put(e, words)
	}
}

// FreeBlock makes the block of entry e zero, which has this many words, and frees it for another
// value of type t. Only a message that was compacted calls it.
func (x *Index) FreeBlock(t *schema.Type, e, words uint32) {
	clear(x.Words[e : e+words])
	if t.Kind() >= schema.List {
		x.Words[e+entry.ListType] = t.ID()
	}
	x.free.Put(t, append(x.free.Get(t), block{e, words}))
	x.freeWords += words
}

// FreeRaw frees the words of the index from number at on, which no handle refers to.
func (x *Index) FreeRaw(at, words uint32) {
	if x.Reuses && words > 0 {
		x.Words[at] = x.rawWords.Get(words)
		x.rawWords.Put(words, at)
		x.freeWords += words
	}
}

// AllocFor returns the number of the first of n zero words for the entry of a value of type t.
func (x *Index) AllocFor(t *schema.Type, n int) uint32 {
	if !x.Reuses {
		return x.Alloc(n)
	}
	return x.ReuseFor(t, uint32(n))
}

// fewTried is how many free blocks are looked at for one that is large enough.
const fewTried = 8

// ReuseFor does the work of AllocFor in a message that was compacted: it takes the words of a free
// block if there is one.
func (x *Index) ReuseFor(t *schema.Type, n uint32) uint32 {
	blocks := x.free.Get(t)
	for k := len(blocks) - 1; k >= 0 && k >= len(blocks)-fewTried; k-- {
		b := blocks[k]
		if b.words < n {
			continue
		}
		blocks[k] = blocks[len(blocks)-1]
		x.free.Put(t, blocks[:len(blocks)-1])
		x.reuseBlock(t, b, n)
		return b.e
	}
	if t.Kind() == schema.Record {
		return x.Alloc(int(n))
	}
	n = RoundUp(n)
	e := x.Alloc(int(n))
	x.blockWords.Put(e, n)
	return e
}

// reuseBlock takes b, which was free, for a value of type t, and makes its first n words zero.
func (x *Index) reuseBlock(t *schema.Type, b block, n uint32) {
	if t.Kind() != schema.Record {
		x.blockWords.Put(b.e, b.words)
	}
	clear(x.Words[b.e : b.e+n])
	if x.onReuse != nil {
		x.onReuse(b.e, b.words)
	}
	x.reused += b.words
	x.freeWords -= b.words
	x.Levelled = 0 // structs may be nested more deeply though there are no more words
	x.NoteGrowth()
}

// AllocRaw returns the number of the first of n zero words that no handle will refer to.
func (x *Index) AllocRaw(n int) uint32 {
	if !x.Reuses {
		return x.Alloc(n)
	}
	e := x.rawWords.Get(uint32(n))
	if e == 0 {
		return x.Alloc(n)
	}
	x.rawWords.Put(uint32(n), x.Words[e])
	x.reused += uint32(n)
	x.freeWords -= uint32(n)
	clear(x.Words[e : e+uint32(n)])
	return e
}

// EachFree calls do with all words that are free, for tests.
func (x *Index) EachFree(do func(at, words uint32, what string)) {
	if x.rare == nil {
		return
	}
	for _, blocks := range x.free.All() {
		for _, b := range blocks {
			do(b.e, b.words, "a free block")
		}
	}
	for words, at := range x.rawWords.All() {
		for ; at != 0; at = x.Words[at] {
			do(at, words, "free words")
		}
	}
	for _, t := range x.spareTables {
		for ; t != 0; t = x.Words[t+entry.TableUsed] {
			do(t, x.Words[t+entry.TableRoom], "a free table")
		}
	}
}

// Footprint returns roughly the bytes that the lists of free entries take, for tests.
func (x *Index) Footprint() int {
	if x.rare == nil {
		return 0
	}
	n := 16 * x.blockWords.Len()
	for _, blocks := range x.free.All() {
		n += 8 * cap(blocks)
	}
	return n
}

// RoundUp returns n or a little more. There are four sizes for each power of two: freed words
// often fit the next need.
func RoundUp(n uint32) uint32 {
	if n <= 16 {
		return n
	}
	unit := uint32(1) << (bits.Len32(n) - 3)
	return (n + unit - 1) &^ (unit - 1)
}
