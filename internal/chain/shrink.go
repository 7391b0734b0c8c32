package chain

// Shrink gives up the tables that messages have made larger than small ones need. The Buffer must be free.
func (b *Buffer) Shrink() {
	b.segs, b.meta = nil, nil
	b.spans, b.nodes, b.order, b.pieces = nil, nil, order{}, nil
	b.spanOrder = order{}
	b.rest = inUse // Reset is to make them again
}
