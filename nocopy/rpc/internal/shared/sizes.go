package shared

import (
	"sync"
	"sync/atomic"

	"github.com/nocopythrift/nocopythrift/internal/memory"
	"github.com/nocopythrift/nocopythrift/internal/shm"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/impl"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// Mode says how one side treats messages in shared memory. 0 means that there is none.
type Mode uint8

// The modes; see package rpc's SharedMemory.
const (
	CopyFromPeer Mode = 1 + iota
	TrustPeer
)

// mostLingering bounds the ended connections whose memory is kept by messages. Beyond it, new
// connections copy what they receive, also with TrustPeer.
const mostLingering = 64

// Trusts reports whether messages of a new connection are used where they lie.
func (m Mode) Trusts() bool { return m == TrustPeer && shm.Lingering() < mostLingering }

// DefaultSize is how many bytes of messages each side has in shared memory at most, unless it is
// told otherwise.
const DefaultSize = 32 << 20

// Messages below these sizes go over the socket, which is as fast for them.
const (
	Alone     = 32 << 10 // when no other call of the connection is under way
	Pipelined = 16 << 10 // when some are
)

// With TrustPeer, arguments and results that are expected to be large are built where they are
// sent from. With CopyFromPeer they are copied there when they are complete: the peer can read all
// of the memory, and must not see values that a message had before it was sent.

// Sizes says how many bytes messages of a type had when one was sent last.
type Sizes struct {
	byType sync.Map     // of *thriftimpl.Desc to *atomic.Uint32
	types  atomic.Int32 // about how many of them
}

// mostTypes bounds the types in a Sizes. Programs that make types as they go have more.
const mostTypes = 1000

// Note notes that a message of type d has n bytes.
func (s *Sizes) Note(d *thriftimpl.Desc, n int) {
	v, ok := s.byType.Load(d)
	if !ok {
		if n < Alone {
			return
		}
		if s.types.Add(1) > mostTypes {
			s.byType.Clear()
			s.types.Store(1)
		}
		v, _ = s.byType.LoadOrStore(d, new(atomic.Uint32))
	}
	v.(*atomic.Uint32).Store(uint32(n))
}

// Place returns memory of l's for a message of type d; false if it is not expected to be large, or
// there is no room. The message gives it back.
func (s *Sizes) Place(l *shm.Link, d *thriftimpl.Desc) (memory.Chunk, bool) {
	v, ok := s.byType.Load(d)
	if !ok {
		return memory.Chunk{}, false
	}
	n := int(v.(*atomic.Uint32).Load())
	if n < Alone {
		return memory.Chunk{}, false
	}
	slot, ok := l.Place(n + n/8)
	if !ok {
		return memory.Chunk{}, false
	}
	return memory.HoldOwned(slot.Bytes(), slot, false), true
}

// Own returns the slot in l's memory that the whole message was built in, and where it is; the
// zero Slot if there is none.
func Own(m *nocopy.Message, l *shm.Link) (slot shm.Slot, at, n int) {
	owner, at, n := impl.OwnPiece(m)
	if slot, ok := owner.(shm.Slot); ok && slot.In(l) {
		return slot, at, n
	}
	return shm.Slot{}, 0, 0
}
