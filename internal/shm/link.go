package shm

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"
)

const (
	// slots is the largest number of messages of one side that were not yet returned.
	slots = 256

	// unit is the granularity of allocating and populating memory, a multiple of all page sizes.
	unit = 64 << 10

	// dataAt is the offset at which messages begin. The words that say which messages were
	// returned are before it.
	dataAt = unit

	// grain is the alignment of messages.
	grain = 4 << 10

	// MinSize and MaxSize bound the bytes for messages of one side.
	MinSize = unit
	MaxSize = 1 << 30
)

// ErrUnsupported is the error if memory cannot be shared: on systems other than Linux, with the
// tag nounsafe, and on kernels before 5.14.
var ErrUnsupported = errors.New("no shared memory here")

// errPosition is the error of a position that is not in the peer's memory.
var errPosition = errors.New("malformed position in shared memory")

// Link is the memory of both sides of a connection, as one side sees it.
type Link struct {
	out memory // of this side
	in  memory // of the peer

	// One for the connection, and one for each Slot and each Taken that was not yet returned
	refs atomic.Int32

	mu     sync.Mutex
	closed bool
	limit  int // how many bytes of out Place may use
	room   [slots]slot
	used   []uint8 // the taken slots of room, in the order of their addresses
	free   []uint8 // the others; the last one is taken next
}

// memory is a mapped memfd.
type memory struct {
	fd    int // -1 if it is closed
	mem   []byte
	ready units // the units that were allocated or populated
}

// slot is room for a message. It keeps its index in the Link's room.
type slot struct {
	link       *Link
	mem        []byte
	i          uint8
	at, size   int // of mem, rounded up
	generation uint32
	held       bool // by a Slot
	sent       bool // it ends when its word has its generation and it is not held
	claimed    bool // by the one that sends it
}

// lingering is the number of closed Links whose memory is still mapped.
var lingering atomic.Int32

// Lingering returns the number of closed Links whose memory is still in use, by messages that were
// not released.
func Lingering() int { return int(lingering.Load()) }

// New makes the memory of this side, for size bytes of messages, rounded up. It must be closed.
func New(size int) (*Link, error) {
	size = (min(max(size, MinSize), MaxSize) + unit - 1) &^ (unit - 1)
	l := &Link{limit: size}
	l.refs.Store(1)
	l.in.fd = -1
	for i := range slots {
		l.room[i].link, l.room[i].i = l, uint8(i)
		l.free = append(l.free, uint8(slots-1-i))
	}
	var err error
	if l.out, err = create(dataAt + size); err != nil {
		return nil, err
	}
	if err := l.out.prepare(0, 1, l.out.allocate); err != nil {
		l.out.unmap()
		return nil, err
	}
	return l, nil
}

// Size returns the number of bytes for messages in the memory of this side.
func (l *Link) Size() int { return len(l.out.mem) - dataAt }

// FD returns the descriptor of the memory of this side, to be passed to the peer. It belongs to l.
func (l *Link) FD() int { return l.out.fd }

// Attach takes over fd, a memfd of the peer, even if it returns an error. It maps at most most
// bytes for messages, rounded down, and returns how many; the peer must be told to Limit itself to
// them. (The Size of a Link is not rounded.) It must be called once, before Take.
func (l *Link) Attach(fd, most int) (size int, err error) {
	l.in, err = open(fd, dataAt+min(most, MaxSize)&^(unit-1))
	if err != nil {
		return 0, err
	}
	if len(l.in.mem) <= dataAt {
		err = fmt.Errorf("%w: %d bytes", errPosition, len(l.in.mem))
	} else {
		err = l.in.prepare(0, 1, l.in.populate)
	}
	if err != nil {
		l.in.unmap()
		return 0, err
	}
	return len(l.in.mem) - dataAt, nil
}

// Limit makes Place use only the first n bytes.
func (l *Link) Limit(n int) { l.limit = min(l.limit, max(n, 0)) }

// Close ends the use of l by its connection: from now on Place finds no room. The descriptor is
// closed.
func (l *Link) Close() {
	l.mu.Lock()
	closed := l.closed
	l.closed = true
	l.out.closeFD() // nothing more is allocated
	l.mu.Unlock()
	if closed {
		return
	}
	lingering.Add(1) // until the last reference is gone, which this one may be
	l.release()
}

// release ends a use of l. The last release unmaps the memory.
func (l *Link) release() {
	if l.refs.Add(-1) == 0 {
		l.out.unmap()
		l.in.unmap()
		lingering.Add(-1)
	}
}

// Slot is room for one message, to be filled. The zero Slot has no room.
type Slot struct{ *slot }

// Place returns room for n bytes, contents undefined, and true, or false if there is no room now.
// The Slot must be returned.
func (l *Link) Place(n int) (Slot, bool) {
	if n <= 0 || n > l.limit {
		return Slot{}, false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || len(l.in.mem) == 0 {
		return Slot{}, false
	}
	if l.reclaim(); len(l.free) == 0 {
		return Slot{}, false
	}
	size := (n + grain - 1) &^ (grain - 1)
	at, k := 0, 0 // k is the slot's index in l.used
	for ; k < len(l.used); k++ {
		e := &l.room[l.used[k]]
		if e.at-at >= size {
			break
		}
		at = e.at + e.size
	}
	if at+n > l.limit || l.out.prepare((dataAt+at)/unit, (dataAt+at+n+unit-1)/unit, l.out.allocate) != nil {
		return Slot{}, false
	}
	i := l.free[len(l.free)-1]
	l.free = l.free[:len(l.free)-1]
	l.used = slices.Insert(l.used, k, i)
	e := &l.room[i]
	e.at, e.size, e.held, e.sent, e.claimed = at, size, true, false, false
	e.mem = l.out.mem[dataAt+at : dataAt+at+n : dataAt+at+n]
	if e.generation++; e.generation == 0 {
		e.generation = 1
	}
	l.refs.Add(1)
	return Slot{e}, true
}

// reclaim frees the slots that were returned. The caller holds l.mu.
func (l *Link) reclaim() {
	kept := l.used[:0]
	for _, i := range l.used {
		if e := &l.room[i]; e.sent && !e.held && loadWord(l.in.mem, int(i)) == e.generation {
			l.free = append(l.free, i)
		} else {
			kept = append(kept, i)
		}
	}
	l.used = kept
}

// Bytes returns the room. It must not be changed once the Slot was sent, nor used once it was
// returned.
func (s Slot) Bytes() []byte { return s.mem }

// Placed reports whether s is not the zero Slot.
func (s Slot) Placed() bool { return s.slot != nil }

// In reports whether the slot is in the memory of l.
func (s Slot) In(l *Link) bool { return s.link == l }

// Claim reports whether the caller may send the slot's position: it is the first to ask.
func (s Slot) Claim() bool {
	s.link.mu.Lock()
	defer s.link.mu.Unlock()
	first := !s.claimed
	s.claimed = true
	return first
}

// Sent notes that the slot's position is about to be sent: from then on the peer returns it.
func (s Slot) Sent() {
	s.link.mu.Lock()
	s.sent = true
	s.link.mu.Unlock()
}

// Return ends the use of the slot. Call it once. The room of a slot that was sent is free as soon
// as the peer has returned it, too.
func (s Slot) Return() {
	l := s.link
	l.mu.Lock()
	if s.sent {
		s.held = false
	} else {
		l.used = slices.DeleteFunc(l.used, func(i uint8) bool { return i == s.i })
		l.free = append(l.free, s.i)
	}
	l.mu.Unlock()
	l.release()
}

const (
	// Mark is the first word of a position. It stands where a frame has its length, and is
	// negative as a length.
	Mark = 0xfd53484d

	// PositionSize is the size of a position in bytes.
	PositionSize = 4 + 4 + 4 + 4 + 8
)

// AppendPosition appends to b the position, for Take, of n bytes of the slot, from its byte from
// on.
func (s Slot) AppendPosition(b []byte, from, n int) []byte {
	b = binary.BigEndian.AppendUint32(b, Mark)
	b = binary.BigEndian.AppendUint32(b, uint32(s.i))
	b = binary.BigEndian.AppendUint32(b, s.generation)
	b = binary.BigEndian.AppendUint32(b, uint32(n))
	return binary.BigEndian.AppendUint64(b, uint64(s.at+from))
}

// Taken is a message in the peer's memory. The peer can change it.
type Taken struct {
	Mem        []byte
	link       *Link
	generation uint32
	i          uint8
}

// Take returns the message at a position of PositionSize bytes, which the peer has sent. The
// message must be returned, once. Its memory must not be written. Reading it never faults,
// even if the position is forged.
func (l *Link) Take(position []byte) (*Taken, error) {
	i := binary.BigEndian.Uint32(position[4:])
	n, at := binary.BigEndian.Uint32(position[12:]), binary.BigEndian.Uint64(position[16:])
	size := uint64(max(len(l.in.mem)-dataAt, 0))
	if i >= slots || n == 0 || n > math.MaxInt32 || at > size || uint64(n) > size-at {
		return nil, fmt.Errorf("%w: slot %d, %d bytes at %d of %d", errPosition, i, n, at, size)
	}
	from, to := dataAt+int(at), dataAt+int(at)+int(n)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, errors.New("shared memory is closed")
	}
	if err := l.in.prepare(from/unit, (to+unit-1)/unit, l.in.populate); err != nil {
		return nil, fmt.Errorf("%w: %w", errPosition, err)
	}
	l.refs.Add(1)
	t := takens.Get().(*Taken)
	*t = Taken{l.in.mem[from:to:to], l, binary.BigEndian.Uint32(position[8:]), uint8(i)}
	return t, nil
}

var takens = sync.Pool{New: func() any { return new(Taken) }}

// Return tells the peer that the message is no longer needed. Neither t nor its memory may be used
// afterwards.
func (t *Taken) Return() {
	link := t.link
	storeWord(link.out.mem, int(t.i), t.generation)
	*t = Taken{}
	takens.Put(t)
	link.release()
}

// units is a set of units of a memory: bit i stands for unit i.
type units []uint64

// prepare calls f for those units [from, to) that are not ready, with their offset and length in
// bytes. If f returns no error, they are ready.
func (m *memory) prepare(from, to int, f func(at, n int) error) error {
	for from < to {
		if m.ready.has(from) {
			from++
			continue
		}
		end := from + 1
		for end < to && !m.ready.has(end) {
			end++
		}
		at := from * unit
		if err := f(at, min(end*unit, len(m.mem))-at); err != nil {
			return err
		}
		for ; from < end; from++ {
			m.ready.add(from)
		}
	}
	return nil
}

func (u units) has(i int) bool {
	return i/64 < len(u) && u[i/64]&(1<<(i%64)) != 0
}

func (u *units) add(i int) {
	for i/64 >= len(*u) {
		*u = append(*u, 0)
	}
	(*u)[i/64] |= 1 << (i % 64)
}
