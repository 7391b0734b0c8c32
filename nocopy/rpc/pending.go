package rpc

import (
	"encoding/binary"
	"errors"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/internal/shm"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/message"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/shared"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/transport"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// pending is a call of a client on a connection. states.md has its states as a table: they tell
// what refers to it. The connection's last step is finish, which gives it back to the goroutine
// that makes the call. That recycles it, or, if it has given up the call, the goroutine that
// writes.
type pending struct {
	method  *Method
	args    nocopy.Struct    // retained until written
	head    []byte           // the bytes before args on the wire
	id      []byte           // the part of head that is the sequence id
	seqid   int32            // set from state writing on
	tail    []byte           // the bytes after args but for their STOP; nil: it is sent as it is
	cuts    []thriftimpl.Cut // the parts of args that are not sent, if there is a tail
	size    int              // of head, args and tail, in bytes; with a slot of head alone
	end     int64            // of the call in the bytes of the connection; set from state writing on
	state   callState
	slot    shm.Slot      // in which the bytes are, if there is one; head has their position
	placed  int           // how many bytes are in it
	inPlace bool          // args were built there, and hold it
	placing chain.Batch   // the bytes, while they are copied there
	began   time.Time     // when the call began, if stats wants to know
	done    chan struct{} // finish sends to it
	reply   receivedReply
	err     error
}

// callState tells which of the connection's lists hold a pending, and what is still to be done.
// The connection's mutex guards it.
type callState uint8

const (
	queued   callState = iota // in queue: no byte of it has been written, and it has no sequence id
	writing                   // in batched; in calls too, unless it is oneway
	answered                  // in batched only: its reply or error has been set
	dropped                   // in batched only: it was given up
	written                   // in calls only
	finished                  // in none of them
)

// receivedReply is a reply that has not been parsed yet.
type receivedReply struct {
	typ         message.Type
	nameMatches bool // its header has the name of the method that was called
	body        chain.Chunk
}

var pendings = sync.Pool{New: func() any { return &pending{done: make(chan struct{}, 1)} }}

// maxKeptHead is the most bytes of a head that recycle keeps for another call.
const maxKeptHead = 1 << 10

// newPending returns a call of m. args must be retained; the connection drops them when they are
// written. fields go out with them.
func newPending(m *Method, args nocopy.Struct, fields []sentField, t transport.Transport) *pending {
	p := pendings.Get().(*pending)
	p.method, p.args, p.state = m, args, queued
	size := message.HeaderSize(true, len(m.prefix)+len(m.Name))
	p.size = size + args.Message().Len()
	if len(fields) > 0 {
		p.cuts, p.tail = tailOf(args, fields)
		p.size += len(p.tail) - 1
		for _, cut := range p.cuts {
			p.size -= cut.To - cut.From
		}
	}
	p.head = t.AppendFront(p.head, p.size)
	at := len(p.head)
	p.head = slices.Grow(p.head, size)[:at+size]
	typ := message.Call
	if m.Oneway() {
		typ = message.Oneway
	}
	p.id = message.PutHeader(p.head[at:], true, typ, m.prefix, m.Name, 0)
	p.size += at
	return p
}

// place puts the bytes of a call into shared memory, unless they were built there, if it has that
// many and there is room: then their position is sent in their place.
func (c *clientConn) place(p *pending) {
	const length = 4 // of the frame
	if c.in.Trusts {
		c.opt.sizes.Note(p.method.Args, p.size)
	}
	if p.size < shared.Alone {
		if p.size < shared.Pipelined {
			return
		}
		c.mu.Lock()
		alone := len(c.calls)+len(c.queue) == 0
		c.mu.Unlock()
		if alone {
			return
		}
	}
	head := p.head[length:]
	if slot, at, n := shared.Own(p.args.Message(), c.link); slot.Placed() && at >= len(head) && p.tail == nil && slot.Claim() {
		p.slot, p.placed, p.inPlace = slot, len(head)+n, true
		p.setHead(head, at-len(head))
		return
	}
	slot, ok := c.link.Place(p.size - length)
	if !ok {
		return
	}
	defer func() {
		if !p.slot.Placed() {
			slot.Return()
		}
	}()
	p.placing.AddBytes(head)
	p.addArgs(&p.placing)
	p.placing.MoveTo(slot.Bytes())
	p.slot, p.placed = slot, p.size-length
	p.setHead(head, 0)
}

// setHead copies head to byte at of the call's slot, and puts the slot's position in its place.
func (p *pending) setHead(head []byte, at int) {
	mem := p.slot.Bytes()[at:]
	n := copy(mem, head)
	p.id = mem[n-4 : n]
	p.head = p.slot.AppendPosition(p.head[:0], at, p.placed)
	p.size = len(p.head)
}

// recycle puts p into the pool. Nothing may refer to it.
func (p *pending) recycle() {
	if p.slot.Placed() && !p.inPlace {
		p.slot.Return()
	}
	head := p.head[:0]
	if cap(head) > maxKeptHead {
		head = nil
	}
	*p = pending{done: p.done, head: head, placing: p.placing}
	pendings.Put(p)
}

// finish gives p back to the goroutine that makes the call. Nothing else may use it any more.
func (p *pending) finish() {
	p.state = finished
	p.done <- struct{}{}
}

const (
	// inlineBytes is the most bytes of calls without a reply, those to be written included, up to
	// which the goroutine that makes a call writes it: sockets take as many without blocking.
	inlineBytes = 16 << 10

	// inlineCalls is the most such calls: a unix socket may hold no more than 208 KiB, of which each
	// write takes up to 1 KiB however small it is.
	inlineCalls = 100

	// batchBytes is how many bytes a batch has before no further call is added to it. So all but the
	// last of its calls are small, and if the server takes the bytes slowly, few calls count as
	// begun of which no byte has been sent.
	batchBytes = 64 << 10
)

// enqueue adds p to the queue and writes the queue's first batch if no other goroutine is writing,
// and if that will not block or mayBlock is true; else it leaves writing to another goroutine. If
// mayRead is true it reports whether the caller is to read the reply: it is its turn. On error,
// which wraps ErrNotSent, p is still the caller's.
func (c *clientConn) enqueue(p *pending, mayBlock, mayRead bool) (reads bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.look()
	if c.cause() != nil {
		return false, c.notSent(p)
	}
	if mayRead = c.noteCall(p, mayRead); !mayRead && !p.method.Oneway() {
		c.wakeReader()
	}
	c.queue = append(c.queue, p)
	c.queuedBytes += p.size
	if c.writing {
		return false, nil
	}
	c.writing = true
	if len(c.calls) > 0 { // let other goroutines that are about to call join the batch
		c.mu.Unlock()
		runtime.Gosched()
		c.mu.Lock()
	}
	few := c.unrepliedCalls+len(c.queue) <= inlineCalls
	if mayBlock || few && c.unrepliedBytes+c.queuedBytes <= inlineBytes {
		c.writeBatch()
	}
	c.flushQueue()
	switch {
	case !mayRead || c.turn != ofNobody:
	case p.state == written:
		c.turn = ofCall
		return true, nil
	default:
		c.wakeReader()
	}
	return false, nil
}

// flushQueue starts a goroutine that writes what is still queued, so that the calling one, whose
// own call is written, need not wait for others' to be. c.mu is held.
func (c *clientConn) flushQueue() {
	if len(c.queue) == 0 {
		c.writing = false
		return
	}
	c.goroutines.Add(1)
	go func() {
		defer c.goroutines.Done()
		returned := false
		defer c.endGoroutine(&returned)
		c.mu.Lock()
		defer c.mu.Unlock()
		for len(c.queue) > 0 {
			c.writeBatch()
		}
		c.writing = false
		returned = true
	}()
}

// writeBatch writes a batch of the queue. c.mu is held, but released while writing. Meanwhile
// other goroutines may change the states of calls in batched, but do not remove them.
func (c *clientConn) writeBatch() {
	before := c.begun
	c.fillBatch()
	if len(c.batched) == 0 {
		return
	}
	c.mu.Unlock()
	returned := false
	defer func() {
		if !returned { // a function of Stats or a method of nc has panicked, or has ended the goroutine
			c.close(errBroken)
		}
		c.endBatch()
	}()
	if c.in.Stats != nil {
		for _, p := range c.batched {
			c.in.Stats.Queued(p.began)
		}
	}
	c.setWriteDeadline()
	stats, err := c.batch.Write(c.nc)
	if err != nil {
		c.writeFailed(err, before+int64(stats.Bytes))
	}
	if c.placed > 0 {
		stats.Bytes += c.placed
		c.placed = 0
	}
	c.in.Stats.Sent(stats)
	returned = true
}

// endBatch is called when a batch was written, or could not be. It locks c.mu.
func (c *clientConn) endBatch() {
	for _, p := range c.batched {
		thriftimpl.Struct(p.args).Drop()
	}
	c.mu.Lock()
	for i, p := range c.batched {
		c.batched[i] = nil
		switch {
		case p.state == dropped:
			p.recycle()
		case p.state == answered || p.method.Oneway():
			if errors.Is(p.err, ErrConnLost) && p.end > c.reach { // the write has failed since
				p.err = c.notSent(p)
			}
			p.finish()
		default:
			p.state = written
		}
	}
	c.batched = c.batched[:0]
}

// fillBatch moves calls from queue to batched, gives them sequence ids and adds their bytes to
// batch. Their arguments are not looked at again: batch refers to the bytes. c.mu is held.
func (c *clientConn) fillBatch() {
	n, size := 0, 0
	for ; n < len(c.queue) && size < batchBytes; n++ {
		p := c.queue[n]
		p.state = writing
		p.seqid = c.nextID()
		binary.BigEndian.PutUint32(p.id, uint32(p.seqid))
		if !p.method.Oneway() {
			c.calls[p.seqid] = p
		}
		c.batch.AddBytes(p.head)
		if p.slot.Placed() {
			p.slot.Sent()
			if p.inPlace {
				thriftimpl.Struct(p.args).Freeze() // it is the peer's to read
			}
			c.placed += p.placed
		} else {
			p.addArgs(&c.batch)
		}
		size += p.size
		p.end = c.begun + int64(size)
	}
	c.begun += int64(size)
	c.batched = append(c.batched, c.queue[:n]...)
	c.queue = slices.Delete(c.queue, 0, n)
	c.queuedBytes -= size
	c.unrepliedBytes += size
	c.unrepliedCalls += n
}

// addArgs adds the bytes after the header to a batch.
func (p *pending) addArgs(b *chain.Batch) {
	if p.tail == nil {
		thriftimpl.AddTo(p.args.Message(), b, false)
		return
	}
	thriftimpl.Struct(p.args).AddOpen(b, p.cuts)
	b.AddBytes(p.tail)
}

// setWriteDeadline makes sure that the deadline for writing is between three quarters of
// StallTimeout and all of it ahead. Setting it for every write would cost time.
func (c *clientConn) setWriteDeadline() {
	now := c.now
	if c.now = (time.Time{}); now.IsZero() {
		now = time.Now()
	}
	c.lastWrite = now
	timeout := c.opt.stallTimeout
	if timeout > 0 && c.writeDeadline.Sub(now) < timeout*3/4 {
		c.writeDeadline = now.Add(timeout)
		c.nc.SetWriteDeadline(c.writeDeadline)
	}
}

// settle ends a call whose reply or error has been set. If its bytes are being written, it goes on
// waiting until that is done: they may be in memory that belongs to the caller again when the call
// returns. c.mu is held.
func (c *clientConn) settle(p *pending) {
	if c.calls[p.seqid] == p {
		delete(c.calls, p.seqid)
	}
	if p.state == writing {
		p.state = answered
		return
	}
	p.finish()
}

// giveUp ends a call that is no longer waited for; the caller must not use p any more. It reports
// false if the call has ended in another way at the same time: then the caller must receive from
// p.done.
func (c *clientConn) giveUp(p *pending) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch p.state {
	case queued:
		i := slices.Index(c.queue, p)
		c.queue = slices.Delete(c.queue, i, i+1)
		c.queuedBytes -= p.size
		thriftimpl.Struct(p.args).Drop()
		p.recycle()
	case written:
		delete(c.calls, p.seqid)
		c.givenUp.Add(1)
		p.recycle()
	case writing:
		if c.calls[p.seqid] == p {
			delete(c.calls, p.seqid)
			c.givenUp.Add(1)
		}
		p.state = dropped
		thriftimpl.Struct(p.args).Freeze() // an interceptor may change them for the next try
	case answered:
		p.reply.body.Release()
		p.state = dropped
		thriftimpl.Struct(p.args).Freeze()
	default:
		return false
	}
	return true
}
