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
	// slots is the most messages of one side that have not been returned.
	slots = 256

	// unit is what memory is allocated and populated in, a multiple of all page sizes.
	unit = 64 << 10

	// dataAt is where messages begin; the words that say what was returned are before it.
	dataAt = unit

	// grain is what the beginnings of messages are multiples of.
	grain = 4 << 10

	// MinSize and MaxSize bound the bytes for messages of one side.
	MinSize = unit
	MaxSize = 1 << 30
)

// ErrUnsupported is the error where there is no memory to share: on other systems than Linux,
// with the tag nounsafe, and on kernels before 5.14.
var ErrUnsupported = errors.New("no shared memory here")

// errPosition is the error of a position that is not in the peer's memory.
var errPosition = errors.New("malformed position in shared memory")

// Link is the memory of both sides of a connection, as one side sees it.
type Link struct {
	out memory // of this side
	in  memory // of the peer

	// One for the connection, and one for each Slot and each Taken that was not returned
	refs atomic.Int32

	mu     sync.Mutex
	closed bool
	limit  int // Place uses so many bytes of out
	room   [slots]slot
	used   []uint8 // the slots in room that are taken, in the order of their addresses
	free   []uint8 // the others; the last one is taken next
}

// memory is one memfd that is mapped.
type memory struct {
	fd    int // -1 if it is closed
	mem   []byte
	ready units // what was allocated, or populated
}

// slot is room for a message. A slot keeps its place in the Link's room.
type slot struct {
	link       *Link
	mem        []byte
	i          uint8
	at, size   int // of mem, rounded up
	generation uint32
	held       bool // by a Slot
	sent       bool // it ends when its word has its generation, and it is not held
	claimed    bool // for being sent
}

// lingering is how many Links were closed whose memory is still mapped.
var lingering atomic.Int32

// Lingering returns how many Links were closed whose memory is still in use: by messages that were
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

// Size returns how many bytes for messages the memory of this side has.
func (l *Link) Size() int { return len(l.out.mem) - dataAt }

// FD returns the descriptor of the memory of this side, to be passed to the peer. It belongs to l.
func (l *Link) FD() int { return l.out.fd }

// Attach takes over fd, a memfd of the peer's, also if it returns an error. At most most bytes of
// messages are mapped of it, rounded down; the peer must be told to Limit itself to them. (The
// Size of a Link is not rounded.) It must be called once, before Take.
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

// Limit makes Place use no more than the first n bytes.
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

// release ends a use of l. The last one unmaps the memory.
func (l *Link) release() {
	if l.refs.Add(-1) == 0 {
		l.out.unmap()
		l.in.unmap()
		lingering.Add(-1)
	}
}

// Slot is room for one message, to be filled. The zero Slot is none.
type Slot struct{ *slot }

// Place returns room for n bytes, contents undefined, unless there is none now. It must be
// returned.
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
	at, k := 0, 0 // k is where the slot comes in l.used
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

// reclaim makes the slots free that were returned. l.mu is held.
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

// Sent tells that the slot's position is about to be sent: the peer returns it.
func (s Slot) Sent() {
	s.link.mu.Lock()
	s.sent = true
	s.link.mu.Unlock()
}

// Return ends the use of the slot, once: its room is given back, as soon as the peer has returned
// it if it was sent.
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
	// Mark is the first word of a position. It is negative as the length of a frame, which it stands
	// in the place of.
	Mark = 0xfd53484d

	// PositionSize is how many bytes a position has.
	PositionSize = 4 + 4 + 4 + 4 + 8
)

// AppendPosition appends to b where n bytes of the slot are, from its byte from on, as Take has
// it.
func (s Slot) AppendPosition(b []byte, from, n int) []byte {
	b = binary.BigEndian.AppendUint32(b, Mark)
	b = binary.BigEndian.AppendUint32(b, uint32(s.i))
	b = binary.BigEndian.AppendUint32(b, s.generation)
	b = binary.BigEndian.AppendUint32(b, uint32(n))
	return binary.BigEndian.AppendUint64(b, uint64(s.at+from))
}

// Taken is a message of the peer's where it lies. The peer can change it.
type Taken struct {
	Mem        []byte
	link       *Link
	generation uint32
	i          uint8
}

// Take returns the message at a position of PositionSize bytes, which the peer has sent. It must
// be returned, once. The memory can be read without a fault, whatever the position says, and must
// not be written.
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

// Return tells the peer that the message is no longer needed. Neither t nor its memory must be
// used any more.
func (t *Taken) Return() {
	link := t.link
	storeWord(link.out.mem, int(t.i), t.generation)
	*t = Taken{}
	takens.Put(t)
	link.release()
}

// units is a set of units of a memory, by their numbers: bit i tells that unit i is in it.
type units []uint64

// prepare calls f for those of the units [from, to) that are not ready, with their place in the
// memory: n bytes from byte at. When f returns no error they are ready.
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
