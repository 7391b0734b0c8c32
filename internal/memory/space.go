package memory

import "sync/atomic"

// Pos is the address of a byte in one Space: the high bits are a segment number, the low 20 bits
// an offset below 1 MiB. Position 0 lies in a page of zeroes that belongs to no message. Memory
// that is added later has higher positions. Positions are below 1<<31.
type Pos = uint32

// FirstPos is the first position after the page of zeroes.
const FirstPos = Pos(segSize)

// Space is the memory of one message: blocks of its own, which are filled at the tail, and memory
// that it refers to. All of it has positions.
//
// A Space is for one goroutine while it changes. Methods do not check their arguments: a position
// of another Space makes them read or store elsewhere.
type Space struct {
	segs           // the segment table: position → bytes
	meta []segment // the same segments: who owns them
	flat []byte    // the memory at FirstPos if it is foreign or a chunk, see FlatText

	tail     []byte // the block that is being filled
	used     int    // how much of it
	tailPos  Pos    // position of tail[0]
	reserved uint32 // size of the message's blocks so far; determines the size of the next one
	tailMem  *Block // the block of tail; nil if the garbage collector owns it
	// tailShared is 1 once a part of the block at the tail is shared; like segment.writable.
	tailShared uint32
	slow       uint32 // what tailShared becomes for the next block at the tail, see StoreSlowly
	shared     uint32 // 1 once any memory of this Space's own is shared or frozen
	held       []*Block
	slabs      []*Block // blocks of a Space that does not recycle, see dropSlabs

	recycle  bool
	state    State
	changing bool // StartChange was called, and EndChange was not
	// lent is 1 once aliases of the Space's own memory may have escaped. A Space that owns no
	// memory may start at 1, which spares readers the store.
	lent     uint32
	mostSegs uint32 // above these the Space is Crowded

	few struct { // the first entries of the tables: most messages need no more
		segs [2][]byte
		meta [2]segment
	}
}

// segment describes the memory of one entry of the segment table.
type segment struct {
	block *Block // the recycled block that contains it; nil if the garbage collector owns the memory
	// writable is 1 if values may be stored in place. While the segment is in use, it can only
	// become 0. That may happen while other goroutines read, so it is accessed atomically.
	writable uint32
	foreign  bool // the caller's memory: it may change once no Space refers to it
}

// State says what a Space holds, and if it is free, which kind of message it is ready for.
type State uint8

// A freed Space keeps the tables and memory that the next message is likely to need. Only the
// method in the last column takes them over; others call Start first.
//
//	state         segments                     next message
//	Ready         zeroes                       Start (any)
//	ReadyToBuild  zeroes, tail block           Rebuild
//	ReadyToRefer  zeroes, nil,                 ReferAgain
//	              perhaps the tail block
const (
	InUse     State = iota // never used, or holds a message that did not begin with ReferTo
	Referring              // holds a message that began with ReferTo
	Ready                  // for any message
	// for a message that is built in the block at the tail, if no byte of that is in use
	ReadyToBuild
	ReadyToRefer // for a message that is received in foreign memory
)

// Recycles reports whether the Space's blocks come from pools and go back there.
func (s *Space) Recycles() bool { return s.recycle }

// StartChange notes the beginning of a change that takes some time. It returns false if another
// change is under way; the usual cause is several goroutines that change the message at once. The
// change must not call StartChange again, nor functions of the program. Call EndChange at its end,
// also before a panic that leaves the message usable.
func (s *Space) StartChange() bool {
	if s.changing {
		return false
	}
	s.changing = true
	return true
}

// EndChange notes that the change has ended.
func (s *Space) EndChange() { s.changing = false }

// Lend notes that aliases of the Space's memory escape: the memory must keep its contents after
// Free, for as long as anybody refers to it. Several reading goroutines may call it at once.
func (s *Space) Lend() {
	if atomic.LoadUint32(&s.lent) == 0 {
		atomic.StoreUint32(&s.lent, 1)
	}
}

// StoreSlowly makes InTail return false from now on. Callers then ask Writable before each store.
func (s *Space) StoreSlowly() {
	s.slow = 1
	atomic.StoreUint32(&s.tailShared, 1) // see ShareFrom
}
