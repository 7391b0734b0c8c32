package chain

// Loose memory holds values that wait for their places in a run, since they came out of order.
// They have positions, but are in no run, until AppendLoose or Extend has copied them into one.
// They are never shared.

// loose is a Buffer's loose memory.
type loose struct {
	mem    []byte // the memory that is being filled, at position pos
	used   int    // how many bytes of mem are filled
	pos    Pos
	cut    int // how many bytes of mem were cut from the end of the block at the tail
	blocks []looseBlock
	free   []uint32 // segments that were loose and have no memory now
	segs   int      // how many segments were ever loose
	filled int      // bytes that were filled before those in mem
	dead   int      // how many of them, and of those in mem, are no longer needed
	far    int      // bytes that loose values refer to
}

// looseBlock is a block that has only loose values. Its segment is seg.
type looseBlock struct {
	block *Block // nil if the garbage collector owns it
	seg   uint32
}

const (
	// maxLooseSegs is the most segments that are ever loose in one message, so that positions
	// are left for all else.
	maxLooseSegs = maxSegments / 8
	// looseWaste is how many bytes that are no longer needed are not worth giving back.
	looseWaste = SlabSize
)

// Loose returns n bytes of loose memory, to be filled, and their position. It returns nil if there
// is no more.
func (b *Buffer) Loose(n int) (Pos, []byte) {
	l := b.loose
	if l == nil || n > len(l.mem)-l.used {
		return b.moreLoose(n)
	}
	i := l.used
	l.used = i + n
	return l.pos + Pos(i), l.mem[i : i+n : i+n]
}

// moreLoose returns n bytes of loose memory, in a new block if the one that is being filled has no
// room for them, with their position; nil if there is no more.
func (b *Buffer) moreLoose(n int) (Pos, []byte) {
	l := b.someLoose()
	if room := (len(b.tail) - b.used) / 2; l.mem == nil && room >= 4*n {
		// A short list's values and their copies are next to each other.
		b.looseOn, l.cut = true, room
		end := len(b.tail) - room
		l.mem, l.pos, l.used = b.tail[end:], b.tailPos+Pos(end), n
		b.tail = b.tail[:end]
		return l.pos, l.mem[:n:n]
	}
	if !b.addLoose(n) {
		return 0, nil
	}
	l.used = n
	return l.pos, l.mem[:n:n]
}

// someLoose returns the Buffer's loose memory, which it makes if there never was any.
func (b *Buffer) someLoose() *loose {
	if b.loose == nil {
		b.loose = new(loose)
	}
	return b.loose
}

// addLoose adds a block of at least n bytes, which is filled next. It reports whether it could: n
// may be too large, or too many segments in use.
func (b *Buffer) addLoose(n int) bool {
	const most = segSize - 1 // a segment for each block, which may be used for another one later
	l := b.loose
	k := len(l.free) - 1
	if n > most || k < 0 && l.segs == maxLooseSegs {
		return false
	}
	b.looseOn = true
	l.filled += l.used
	size := min(max(l.filled, SlabSize, n), most)
	var block *Block
	var mem []byte
	switch {
	case b.recycle:
		block = newBlock(size)
		mem = block.mem
	case !debugging:
		block = newSlab(size)
		mem = block.mem
	default:
		mem = fresh(size)
	}
	mem = mem[:min(len(mem), most)]
	meta := segment{block: block, writable: 1}
	var seg uint32
	if k >= 0 {
		seg, l.free = l.free[k], l.free[:k]
		b.segs[seg], b.meta[seg] = mem, meta
	} else {
		l.segs++
		seg = b.addSegments(mem, meta) >> segBits
	}
	l.blocks = append(l.blocks, looseBlock{block, seg})
	l.mem, l.pos, l.used = mem, seg<<segBits, 0
	return true
}

// ForgetLoose notes that n bytes of loose memory are no longer needed.
func (b *Buffer) ForgetLoose(n int) { b.someLoose().dead += n }

// ReferLoose notes that a loose value refers to n bytes; or, if n is negative, no longer does.
func (b *Buffer) ReferLoose(n int) { b.someLoose().far += n }

// looseLive returns how many bytes loose values have.
func (b *Buffer) looseLive() int {
	if l := b.loose; l != nil {
		return l.filled + l.used - l.dead + l.far
	}
	return 0
}

// looseSize returns how many bytes the blocks of loose memory have.
func (b *Buffer) looseSize() int {
	n := 0
	if b.loose != nil {
		for _, x := range b.loose.blocks {
			n += len(b.segs[x.seg])
		}
	}
	return n
}

// LooseWaste reports whether there is so much loose memory that is no longer needed that copying
// the rest is worth it.
func (b *Buffer) LooseWaste() bool {
	return b.loose != nil && b.loose.dead > looseWaste && b.loose.dead > b.looseLive()
}

// RenewLoose starts new loose memory. It returns what is to be given to DropLoose once all that is
// needed was copied out of the old one.
func (b *Buffer) RenewLoose() int {
	l := b.someLoose()
	l.mem, l.used, l.filled, l.dead = noLoose, 0, 0, 0
	return len(l.blocks)
}

// noLoose is loose.mem when there is no room: the next value needs a new block.
var noLoose = []byte{}

// DropLoose gives back the first n blocks of loose memory. What aliases them stays valid.
func (b *Buffer) DropLoose(n int) {
	l := b.loose
	for _, x := range l.blocks[:n] {
		b.segs[x.seg], b.meta[x.seg] = nil, segment{}
		l.free = append(l.free, x.seg)
		b.giveBack(x.block, b.lent == 0)
	}
	l.blocks = append(l.blocks[:0], l.blocks[n:]...)
}

// giveBack gives back a block of loose memory. clean tells that nothing aliases it.
func (b *Buffer) giveBack(block *Block, clean bool) {
	switch {
	case block == nil:
	case clean:
		block.release()
	case b.recycle:
		block.abandon()
	}
}

// ClearLoose makes all loose memory free: there are no loose values any more. What aliases them
// stays valid.
func (b *Buffer) ClearLoose() {
	l := b.loose
	if l == nil {
		return
	}
	l.far, l.dead = 0, 0
	switch n := len(l.blocks); {
	case n > 0 && b.lent == 0: // the last is the largest
		b.DropLoose(n - 1)
		b.uncut()
		l.used, l.filled = 0, 0
	case n > 0:
		b.DropLoose(n)
		l.mem, l.used, l.filled = noLoose, 0, 0
	case b.lent == 0 && l.cut > 0:
		b.uncut()
		l.mem, l.used, l.filled = nil, 0, 0
	default:
		l.filled = -l.used
	}
}

// uncut gives the end that was cut off for loose memory back to the block at the tail.
func (b *Buffer) uncut() {
	b.tail = b.tail[:len(b.tail)+b.loose.cut]
	b.loose.cut = 0
}

// endLoose gives all loose memory back. clean tells that nothing that is still in use aliases it.
func (b *Buffer) endLoose(clean bool) {
	l := b.loose
	if l.cut > 0 && clean {
		b.uncut()
	}
	for i, x := range l.blocks {
		l.blocks[i] = looseBlock{}
		b.giveBack(x.block, clean)
	}
	*l = loose{blocks: l.blocks[:0], free: l.free[:0]}
	b.looseOn = false
}
