package chain

import (
	"slices"
	"sort"
)

// placed is a node or span for sorting: its number in the low half, its first position in the high
// half. Sorting and searching placed values loads no nodes, which are scattered in memory.
type placed uint64

func (p placed) at() Pos    { return Pos(p >> 32) }
func (p placed) id() NodeID { return NodeID(p) }

// order lists a Buffer's nodes, or its spans, sorted by first position. It consists of chunks of
// at most chunkMost, so that an insertion moves only the entries of one chunk.
type order struct {
	chunks [][]placed // none is empty
	mem    []placed   // reused memory, of the first chunk or of all chunks that were sorted together
	spare  []placed   // memory that sorting uses
	n      int        // how many entries there are: the Buffer's nodes or spans 1 to n
}

const chunkMost = 256

// cursor is a place in an order.
type cursor struct{ chunk, i int }

// reset makes the order empty.
func (o *order) reset() {
	if len(o.chunks) == 1 {
		o.mem = o.chunks[0]
	}
	o.chunks, o.mem, o.n = o.chunks[:0], o.mem[:0], 0
}

// next returns the entry at c and advances c. At the end it returns false.
func (o *order) next(c *cursor) (placed, bool) {
	if c.chunk >= len(o.chunks) {
		return 0, false
	}
	chunk := o.chunks[c.chunk]
	x := chunk[c.i]
	if c.i++; c.i == len(chunk) {
		*c = cursor{c.chunk + 1, 0}
	}
	return x, true
}

// before returns the entry before c. At the beginning it returns false.
func (o *order) before(c cursor) (placed, bool) {
	switch {
	case c.i > 0:
		return o.chunks[c.chunk][c.i-1], true
	case c.chunk > 0:
		last := o.chunks[c.chunk-1]
		return last[len(last)-1], true
	}
	return 0, false
}

// last returns the position at which the last node begins, or 0.
func (o *order) last() Pos {
	x, _ := o.before(cursor{len(o.chunks), 0})
	return x.at()
}

// search returns a cursor at the first entry for which after is true. The entries before it are
// those for which it is false.
func (o *order) search(after func(x placed) bool) cursor {
	k := sort.Search(len(o.chunks), func(k int) bool { c := o.chunks[k]; return after(c[len(c)-1]) })
	if k == len(o.chunks) {
		return cursor{k, 0}
	}
	c := o.chunks[k]
	return cursor{k, sort.Search(len(c), func(i int) bool { return after(c[i]) })}
}

// from returns a cursor at the first node that begins at lo or later.
func (o *order) from(lo Pos) cursor {
	if o.last() < lo { // replacements mostly lie after all received bytes
		return cursor{len(o.chunks), 0}
	}
	return o.search(func(x placed) bool { return x.at() >= lo })
}

// update adds the nodes or spans with the numbers o.n+1 to made. place returns the one with a
// number. If many are new, all are sorted anew, which is faster than inserting each.
func (o *order) update(made int, place func(i int) placed, compare func(x, y placed) int) {
	if made-o.n <= o.n/8 {
		for ; o.n < made; o.n++ {
			o.insert(place(o.n+1), compare)
		}
		return
	}
	o.reset()
	for i := 1; i <= made; i++ {
		o.mem = append(o.mem, place(i))
	}
	if !slices.IsSorted(o.mem) {
		o.mem, o.spare = SortByHigh(o.mem, o.spare)
	}
	sortTies(o.mem, compare)
	o.n = made
	if made <= chunkMost {
		o.chunks = append(o.chunks, o.mem) // with all of the memory, for insertions
		return
	}
	for chunk := range slices.Chunk(o.mem, chunkMost) {
		o.chunks = append(o.chunks, chunk)
	}
}

// sortTies sorts entries at the same position.
func sortTies(all []placed, compare func(x, y placed) int) {
	for i := 0; i < len(all); {
		j := i + 1
		for j < len(all) && all[j].at() == all[i].at() {
			j++
		}
		if j > i+1 {
			slices.SortFunc(all[i:j], compare)
		}
		i = j
	}
}

// insert puts a node or span into the order, which is not empty.
func (o *order) insert(x placed, compare func(x, y placed) int) {
	at := o.search(func(y placed) bool { return compare(y, x) >= 0 })
	k, i := at.chunk, at.i
	if k == len(o.chunks) { // after all others
		k--
		i = len(o.chunks[k])
	}
	c := o.chunks[k]
	if len(c) < chunkMost {
		o.chunks[k] = insertAt(c, i, x)
		return
	}
	half := len(c) / 2
	if i == len(c) { // appended in order
		half = i
	}
	upper := append(make([]placed, 0, chunkMost), c[half:]...)
	o.chunks = slices.Insert(o.chunks, k+1, upper)
	o.chunks[k] = c[:half]
	if i >= half {
		k, i = k+1, i-half
	}
	o.chunks[k] = insertAt(o.chunks[k], i, x)
}

func insertAt(c []placed, i int, x placed) []placed {
	c = append(c, x)
	copy(c[i+1:], c[i:])
	c[i] = x
	return c
}
