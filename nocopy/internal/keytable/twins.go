package keytable

import "slices"

// Twins are pairs or elements with the same key. The table has a bucket for the last of them;
// the others are linked from there, from later to earlier ones. One that has changed and is
// added again may be out of that order; then removeLast sorts them when that matters.

// twin links a pair or element with others that have the same key. It has numbers+1; 0 is none.
type twin struct {
	earlier uint32 // the next earlier one; with unordered the links from here on are in any order
	later   uint32 // the next later one
}

const unordered = 1 << 31

// twin returns the links of pair or element i, which the caller may change.
func (tb *Table) twin(i uint32) *twin {
	if int(i) >= len(tb.twins) {
		tb.twins = append(tb.twins, make([]twin, int(i)+1-len(tb.twins))...)
	}
	return &tb.twins[i]
}

// HasLater reports whether a later pair or element has the key of i.
func (tb *Table) HasLater(i uint32) bool { return int(i) < len(tb.twins) && tb.twins[i].later != 0 }

// addLater links i with head, which is earlier and was the last with its key.
func (tb *Table) addLater(head, i uint32) {
	tb.dups++
	x := tb.twin(i) // the larger number first: it makes room for both
	h := tb.twin(head)
	h.later = i + 1
	x.earlier = head + 1 | h.earlier&unordered
	h.earlier &^= unordered
	x.later = 0
}

// addEarlier links i with head, which is later and the last with its key.
func (tb *Table) addEarlier(head, i uint32) {
	tb.dups++
	h := tb.twin(head)
	x := tb.twin(i)
	next := h.earlier &^ unordered
	h.earlier = h.earlier&unordered | i + 1
	if next > i+1 {
		h.earlier |= unordered
	}
	*x = twin{earlier: next, later: head + 1}
	if next != 0 {
		tb.twins[next-1].later = i + 1
	}
}

// removeEarlier removes i, which is not the last with its key.
func (tb *Table) removeEarlier(i uint32) {
	tb.dups--
	x := tb.twins[i]
	tb.twins[i] = twin{}
	later := &tb.twins[x.later-1]
	later.earlier = later.earlier&unordered | x.earlier
	if x.earlier != 0 {
		tb.twins[x.earlier-1].later = x.later
	}
}

// removeLast removes i, which is the last with its key. It returns the number+1 of the one that
// takes its place, 0 if there is none. If ordered, that is the last of the others.
func (tb *Table) removeLast(i uint32, ordered bool) uint32 {
	if int(i) >= len(tb.twins) {
		return 0
	}
	inOrder := tb.twins[i].earlier&unordered == 0
	next := tb.twins[i].earlier &^ unordered
	tb.twins[i] = twin{}
	if next == 0 {
		return 0
	}
	tb.dups--
	switch {
	case inOrder:
	case ordered:
		next = tb.sortTwins(next)
	default:
		tb.twins[next-1].earlier |= unordered
	}
	tb.twins[next-1].later = 0
	return next
}

// sortTwins puts the linked numbers from first on in order, and returns the last of them.
func (tb *Table) sortTwins(first uint32) uint32 {
	var all []uint32
	for x := first; x != 0; x = tb.twins[x-1].earlier {
		all = append(all, x)
	}
	slices.Sort(all)
	earlier := uint32(0)
	for _, x := range all {
		tb.twins[x-1].earlier = earlier
		if earlier != 0 {
			tb.twins[earlier-1].later = x
		}
		earlier = x
	}
	return earlier
}
