package rpc

import (
	"sync"
	"sync/atomic"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/internal/shm"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// With TrustPeer, arguments and results that are expected to be large are built where they are
// sent from. With CopyFromPeer they are copied there when they are complete: the peer can read
// all of the memory, and must not see what was in a message before it was sent.

// sizes tells how many bytes messages of a type had when one was sent last.
type sizes struct {
	byType sync.Map     // of *thriftimpl.Desc to *atomic.Uint32
	types  atomic.Int32 // about how many of them
}

// mostTypes is the most types in sizes. Programs that make types as they go have more.
const mostTypes = 1000

// note notes that a message of type d has n bytes.
func (s *sizes) note(d *thriftimpl.Desc, n int) {
	v, ok := s.byType.Load(d)
	if !ok {
		if n < sharedAlone {
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

// place returns memory of l's for a message of type d; false if it is not expected to be large, or
// there is no room. The message gives it back.
func (s *sizes) place(l *shm.Link, d *thriftimpl.Desc) (chain.Chunk, bool) {
	v, ok := s.byType.Load(d)
	if !ok {
		return chain.Chunk{}, false
	}
	n := int(v.(*atomic.Uint32).Load())
	if n < sharedAlone {
		return chain.Chunk{}, false
	}
	slot, ok := l.Place(n + n/8)
	if !ok {
		return chain.Chunk{}, false
	}
	return chain.HoldOwned(slot.Bytes(), slot), true
}

// ownSlot returns the slot in l's memory that the whole message was built in, and where it is; the
// zero Slot if there is none.
func ownSlot(m *nocopy.Message, l *shm.Link) (slot shm.Slot, at, n int) {
	owner, at, n := thriftimpl.OwnPiece(m)
	if slot, ok := owner.(shm.Slot); ok && slot.In(l) {
		return slot, at, n
	}
	return shm.Slot{}, 0, 0
}

// newArgs returns arguments of a call, built in the shared memory of one of the connections if
// they are expected to be large.
func (c *Client) newArgs(m *Method) thriftimpl.Struct {
	if c.opt.sizes == nil {
		return thriftimpl.New(m.Args)
	}
	var link *shm.Link
	fewest := 0
	c.mu.Lock()
	for _, p := range c.conns {
		if p.conn != nil && p.conn.in.trusts && (link == nil || p.calls < fewest) {
			link, fewest = p.conn.link, p.calls
		}
	}
	c.mu.Unlock()
	if link != nil {
		if chunk, ok := c.opt.sizes.place(link, m.Args); ok {
			room := headerSize(true, len(m.prefix)+len(m.Name))
			return thriftimpl.Struct(thriftimpl.NewIn(m.Args, chunk, room, nil).Root())
		}
	}
	return thriftimpl.New(m.Args)
}

// newResult returns an empty result of m with room for a reply's header, built in shared memory if
// it is expected to be large.
func (c *serverConn) newResult(m *Method) *nocopy.Message {
	room := headerRoom(len(m.Name))
	if c.in.trusts {
		if chunk, ok := c.srv.sizes.place(c.shared, m.Result); ok {
			return thriftimpl.NewIn(m.Result, chunk, room, &c.srv.Limits)
		}
	}
	return thriftimpl.NewHeld(m.Result, room, c.srv.Limits, c.srv.recycle)
}
