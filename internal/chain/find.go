package chain

import "cmp"

// sortNodes brings the order of nodes up to date.
func (b *Buffer) sortNodes() {
	if made := len(b.nodes) - 1; b.order.n < made {
		b.ownEdits()
		b.order.update(made, func(i int) placed { return b.placeOf(NodeID(i)) }, b.comparePlaced)
	}
}

func (b *Buffer) placeOf(id NodeID) placed { return placed(b.nodes[id].at)<<32 | placed(id) }

// comparePlaced compares nodes by first position, then by kind. Of nodes of kind grow, the one
// whose value starts last is innermost and comes first. Of the others, the one that covers most
// hides the rest and comes first. The last criterion is age.
func (b *Buffer) comparePlaced(x, y placed) int {
	if x.at() != y.at() {
		return cmp.Compare(x, y)
	}
	n, o := &b.nodes[x.id()], &b.nodes[y.id()]
	return cmp.Or(cmp.Compare(n.kind, o.kind), cmp.Compare(o.anchor, n.anchor), cmp.Compare(o.end, n.end), cmp.Compare(x, y))
}

// linearSpans is the number of spans up to which spanAt searches linearly.
const linearSpans = 16

// spanAt returns the span that contains p. A span contains its end.
func (b *Buffer) spanAt(p Pos) uint32 {
	if !b.sealed {
		b.sortSpans()
	}
	contains := func(s uint32) bool { return b.spans[s].from <= p && p <= b.spans[s].to }
	if o := &b.spanOrder; o.n > 0 {
		if x, ok := o.before(o.search(func(x placed) bool { return x.at() > p })); ok && contains(x.id()) {
			return x.id()
		}
	} else {
		for s := 1; s < len(b.spans); s++ {
			if contains(uint32(s)) {
				return uint32(s)
			}
		}
	}
	panic("nocopy: internal error: position outside of every run")
}

// sortSpans brings the order of spans up to date. It stays empty while they are few.
func (b *Buffer) sortSpans() {
	if made := len(b.spans) - 1; made > linearSpans || b.spanOrder.n > 0 {
		b.ownEdits()
		b.spanOrder.update(made, func(i int) placed { return placed(b.spans[i].from)<<32 | placed(i) }, cmp.Compare[placed])
	}
}
