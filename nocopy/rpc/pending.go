package rpc

import (
	"encoding/binary"
	"errors"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/nocopy"
)

// pending is a call on its way over a connection. Its state says who refers to it, see the table
// in doc.go. finish, the last step of the connection, gives it back to the call; the call, or in
// its absence the writer, recycles it.
type pending struct {
	method *Method
	args   nocopy.Struct // retained until written
	head   []byte        // what stands before args on the wire
	id     []byte        // where the sequence id stands in head
	seqid  int32         // from writing on
	size   int           // bytes in all
	state  state
	done   chan struct{} // receives from finish
	reply  reply
	err    error
}

// state is where a pending is. Only with the connection's lock may it be read or changed.
type state uint8

const (
	queued   state = iota // in queue: no byte of it has been written, and it has no sequence id yet
	writing               // in out; in calls too, unless it is oneway
	answered              // in out only: how the call ends is known
	dropped               // in out only: the call has returned
	written               // in calls only
	finished              // nowhere
)

// reply is a reply as it was received: not parsed yet.
type reply struct {
	typ  messageType
	name bool // it is to the method that was called
	body chain.Chunk
}

var pendings = sync.Pool{New: func() any { return &pending{done: make(chan struct{}, 1)} }}

// keepHead is the longest head that is kept for another call.
const keepHead = 1 << 10

// errNotSent is wrapped by the errors of calls of which no byte has been written.
var errNotSent = errors.New("the call was not sent")

// newPending returns a call of m. args must be retained, which the connection ends.
func newPending(m *Method, args nocopy.Struct, framed bool) *pending {
	p := pendings.Get().(*pending)
	p.method, p.args, p.state = m, args, queued
	size := headerSize(true, len(m.prefix)+len(m.Name))
	p.size = size + args.Message().Len()
	if framed {
		p.head = binary.BigEndian.AppendUint32(p.head, uint32(p.size))
	}
	at := len(p.head)
	p.head = slices.Grow(p.head, size)[:at+size]
	typ := typeCall
	if m.Oneway() {
		typ = typeOneway
	}
	p.id = putHeader(p.head[at:], true, typ, m.prefix, m.Name, 0)
	p.size += at
	return p
}

// recycle lets other calls have p. Nothing may refer to it.
func (p *pending) recycle() {
	head := p.head[:0]
	if cap(head) > keepHead {
		head = nil
	}
	*p = pending{done: p.done, head: head}
	pendings.Put(p)
}

// finish gives p back to its call. Nothing else may refer to it, nor look at it afterwards.
func (p *pending) finish() {
	p.state = finished
	p.done <- struct{}{}
}

const (
	// inlineBytes is how many bytes without a reply there may be for a call to write itself: as
	// many as a socket takes without blocking.
	inlineBytes = 16 << 10

	// inlineCalls is how many calls without a reply there may be for that: however small, each
	// takes up to 1 KiB of what a unix socket may hold, which may be 208 KiB.
	inlineCalls = 100

	// batchBytes is how many bytes of calls that go out together make a batch complete. Only its
	// last call is larger: of a batch that the other side takes slowly, few calls have begun
	// without a byte gone out.
	batchBytes = 64 << 10
)

// enqueue has p written, by the caller if that cannot block or may. If the error is errNotSent,
// p is still the caller's.
func (c *clientConn) enqueue(p *pending, mayBlock bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return c.notSent(p)
	}
	c.queue = append(c.queue, p)
	c.queuedBytes += p.size
	if c.writing {
		return nil
	}
	c.writing = true
	if len(c.calls) > 0 { // let others that are about to call join in
		c.mu.Unlock()
		runtime.Gosched()
		c.mu.Lock()
	}
	few := c.unackedN+len(c.queue) <= inlineCalls
	if mayBlock || few && c.unacked+c.queuedBytes <= inlineBytes {
		c.writeBatch()
	}
	c.flushRest()
	return nil
}

// flushRest leaves what is still queued to a goroutine: a call must not be kept by the messages
// of others.
func (c *clientConn) flushRest() {
	if len(c.queue) == 0 {
		c.writing = false
		return
	}
	c.active.Add(1)
	go func() {
		defer c.active.Done()
		c.mu.Lock()
		defer c.mu.Unlock()
		for len(c.queue) > 0 {
			c.writeBatch()
		}
		c.writing = false
	}()
}

// writeBatch writes some of what is queued. c.mu is held, but not while writing. Other
// goroutines change the states of calls in out meanwhile, but leave them there.
func (c *clientConn) writeBatch() {
	c.takeBatch()
	if len(c.out) == 0 {
		return
	}
	c.mu.Unlock()
	c.setWriteDeadline()
	_, err := c.batch.WriteTo(c.nc)
	for _, p := range c.out {
		p.args.Drop()
	}
	if err != nil {
		c.close(err)
	}
	c.mu.Lock()
	for i, p := range c.out {
		c.out[i] = nil
		switch {
		case p.state == dropped:
			p.recycle()
		case p.state == answered || p.method.Oneway():
			p.finish()
		default:
			p.state = written
		}
	}
	c.out = c.out[:0]
}

// takeBatch moves calls from queue to out, gives them their sequence ids and adds their bytes to
// batch. From then on those are all that is looked at of their arguments.
func (c *clientConn) takeBatch() {
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
		p.args.Message().AddTo(&c.batch, false)
		size += p.size
	}
	c.out = append(c.out, c.queue[:n]...)
	c.queue = slices.Delete(c.queue, 0, n)
	c.queuedBytes -= size
	c.unacked += size
	c.unackedN += n
}

func (c *clientConn) setWriteDeadline() {
	timeout := c.opt.ioTimeout
	if timeout <= 0 {
		return
	}
	if now := time.Now(); c.deadline.Sub(now) < timeout*3/4 {
		c.deadline = now.Add(timeout)
		c.nc.SetWriteDeadline(c.deadline)
	}
}

// settle ends the wait of a call that has been given a reply or an error. While its bytes are
// being written it must go on waiting: they may be in memory that is the caller's again when the
// call returns.
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

// giveUp takes p, which the caller must not use any more, from a call that does not wait any
// longer. It reports false if the call has ended otherwise at the same time: then it is to be
// waited for.
func (c *clientConn) giveUp(p *pending) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch p.state {
	case queued:
		i := slices.Index(c.queue, p)
		c.queue = slices.Delete(c.queue, i, i+1)
		c.queuedBytes -= p.size
		p.args.Drop()
		p.recycle()
	case written:
		delete(c.calls, p.seqid)
		c.owed.Add(1)
		p.recycle()
	case writing:
		if c.calls[p.seqid] == p {
			delete(c.calls, p.seqid)
			c.owed.Add(1)
		}
		p.state = dropped
		p.args.Freeze() // an interceptor may change them for the next try
	case answered:
		p.reply.body.Release()
		p.state = dropped
		p.args.Freeze()
	default:
		return false
	}
	return true
}
