package chain

// Loose memory holds values that were set out of order and wait for their places in a run. They
// have positions, but are in no run until AppendLoose or Extend copies them into one. They are
// never shared.

// loose is a Buffer's loose memory.
type loose struct {
	mem    []byte // the memory that is being filled, at position pos
	used   int    // how many bytes of mem are filled
	pos    Pos
	cut    int // if mem was cut from the end of the block at the tail: how many bytes
	blocks []looseBlock
	free   []uint32 // segments that were loose and now have no memory
	segs   int      // how many segments have ever been loose
	filled int      // filled bytes in the blocks before mem
	dead   int      // how many filled bytes, those in mem included, are no longer needed
	far    int      // bytes that loose values refer to
}

// looseBlock is a block with only loose values. Its segment is seg.
type looseBlock struct {
	block *Block // nil if the garbage collector owns it
	seg   uint32
}

const (
	// maxLooseSegs bounds the segments that are ever loose in one message, which leaves positions
	// for everything else.
	maxLooseSegs = maxSegments / 8
	// looseWaste is the number of unneeded bytes up to which giving them back is not worth it.
	looseWaste = SlabSize
)

// Loose returns n bytes of loose memory, to be filled, and their position. It returns nil if no
// more can be had.
func (b *Buffer) Loose(n int) (Pos, []byte) {
	l := b.loose
	if l == nil || n > len(l.mem)-l.used {
		return b.moreLoose(n)
	}
	i := l.used
	l.used = i + n
	return l.pos + Pos(i), l.mem[i : i+n : i+n]
}

// moreLoose is Loose for n bytes that do not fit into the current loose memory. It takes the end
// of a mostly empty tail, or adds a block.
func (b *Buffer) moreLoose(n int) (Pos, []byte) {
	l := b.someLoose()
	if room := (len(b.tail) - b.used) / 2; l.mem == nil && room >= 4*n {
		// The values of a short list are then next to their copies.
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

// someLoose returns the Buffer's loose memory. It makes it the first time.
func (b *Buffer) someLoose() *loose {
	if b.loose == nil {
		b.ownEdits()
		b.loose = new(loose)
	}
	return b.loose
}

// addLoose adds a block of at least n bytes, which is filled next. It returns false if n is too
// large, or if too many segments are in use.
func (b *Buffer) addLoose(n int) bool {
	const most = segSize - 1 // a block takes one segment, which another block may use later
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

// ReferLoose notes that a loose value refers to n bytes or, if n is negative, no longer refers to
// -n bytes.
func (b *Buffer) ReferLoose(n int) { b.someLoose().far += n }

// looseLive returns the number of bytes of loose values.
func (b *Buffer) looseLive() int {
	if l := b.loose; l != nil {
		return l.filled + l.used - l.dead + l.far
	}
	return 0
}

// looseSize returns the number of bytes in the blocks of loose memory.
func (b *Buffer) looseSize() int {
	n := 0
	if b.loose != nil {
		for _, x := range b.loose.blocks {
			n += len(b.segs[x.seg])
		}
	}
	return n
}

// LooseWaste reports whether so much loose memory is no longer needed that copying the rest is
// worth it.
func (b *Buffer) LooseWaste() bool {
	return b.loose != nil && b.loose.dead > looseWaste && b.loose.dead > b.looseLive()
}

// RenewLoose starts new loose memory. Copy the needed values from the old memory, then call
// DropLoose with the number that RenewLoose returned.
func (b *Buffer) RenewLoose() int {
	l := b.someLoose()
	l.mem, l.used, l.filled, l.dead = noLoose, 0, 0, 0
	return len(l.blocks)
}

// noLoose is loose.mem when there is no room, so that the next value gets a new block.
var noLoose = []byte{}

// DropLoose gives back the first n blocks of loose memory. Aliases of them stay valid.
func (b *Buffer) DropLoose(n int) {
	l := b.loose
	for _, x := range l.blocks[:n] {
		b.segs[x.seg], b.meta[x.seg] = nil, segment{}
		l.free = append(l.free, x.seg)
		b.giveBack(x.block, b.lent == 0)
	}
	l.blocks = append(l.blocks[:0], l.blocks[n:]...)
}

// giveBack gives back a block of loose memory. clean means that nothing aliases it.
func (b *Buffer) giveBack(block *Block, clean bool) {
	switch {
	case block == nil:
	case clean:
		block.release()
	case b.recycle:
		block.abandon()
	}
}

// ClearLoose frees all loose memory, when there are no loose values any more. Aliases of it stay
// valid.
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

// uncut gives the block at the tail the end back that was cut off for loose memory.
func (b *Buffer) uncut() {
	b.tail = b.tail[:len(b.tail)+b.loose.cut]
	b.loose.cut = 0
}

// endLoose gives all loose memory back. clean means that nothing still in use aliases it.
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
