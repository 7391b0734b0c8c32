package rpc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/nocopy"
)

// clientConn is one connection of a client. A goroutine reads replies from it and hands them to
// the calls, by their sequence ids. Requests are written by the calls themselves: whoever comes
// while nobody is writing writes what has queued up. What might block is left to a goroutine, so
// that every call can return when its context ends.
type clientConn struct {
	nc       net.Conn
	opt      *options
	in       receiver // the reading goroutine's
	batch    chain.Batch
	deadline time.Time // of writing: batch and this are for whoever is writing
	dead     atomic.Bool
	useful   atomic.Bool    // a reply has come
	owed     atomic.Int32   // replies to calls that were given up that have not come
	active   sync.WaitGroup // goroutines

	mu          sync.Mutex
	calls       map[int32]*pending // being written or waiting for their reply, by sequence id
	last        int32              // the sequence id that was given last
	wrapped     bool               // ids have been used more than once
	strays      bool               // a stray reply was logged
	queue       []*pending
	queuedBytes int
	writing     bool
	out         []*pending // those in batch. Only who is writing changes it
	unacked     int        // bytes written that no reply has come for, about
	unackedN    int        // and calls
	err         error      // why the connection is closed
}

func newClientConn(nc net.Conn, opt *options) *clientConn {
	c := &clientConn{nc: nc, opt: opt, calls: map[int32]*pending{}}
	c.in = receiver{nc: nc, limits: limitsOf(opt.maxFrame, opt.limits, "the option rpc.MaxFrame"), partial: max(opt.ioTimeout, 0), transport: framed}
	if opt.unframed {
		c.in.transport = unframed
	}
	c.in.in.Reset(opt.recycle)
	c.active.Add(1)
	go c.read()
	return c
}

func (c *clientConn) broken() bool { return c.dead.Load() }

// wait waits for the goroutines of a connection that was closed.
func (c *clientConn) wait() { c.active.Wait() }

// errReturned is the error of tries of a call that has returned.
var errReturned = errors.New("the call has returned")

// call makes one call. It returns when ctx ends, and when over is closed. The result is the
// caller's, also with an error: it may hold that, or be absent.
func (c *clientConn) call(ctx context.Context, over <-chan struct{}, m *Method, args nocopy.Struct) (nocopy.Struct, error) {
	if !args.Retain() {
		return nocopy.Absent(), callError(m, errReturned)
	}
	done := ctx.Done()
	waits := done == nil && over == nil
	p := newPending(m, args, !c.opt.unframed)
	if err := c.enqueue(p, waits); err != nil {
		args.Drop()
		p.recycle()
		return nocopy.Absent(), err
	}
	if waits {
		<-p.done
	} else {
		select {
		case <-p.done:
		case <-done:
			if c.giveUp(p) {
				return nocopy.Absent(), callError(m, ctx.Err())
			}
			<-p.done
		case <-over:
			if c.giveUp(p) {
				return nocopy.Absent(), callError(m, errReturned)
			}
			<-p.done
		}
	}
	result, err := c.result(p)
	p.recycle()
	return result, err
}

// nextID returns a sequence id that no call on its way has: 1 after the largest one.
func (c *clientConn) nextID() int32 {
	for {
		if c.last == math.MaxInt32 {
			c.last, c.wrapped = 0, true
		}
		c.last++
		if c.calls[c.last] == nil {
			return c.last
		}
	}
}

// age returns how many ids have been given after this one; -1 if it was not given, or too long
// ago for a reply.
func (c *clientConn) age(id int32) int32 {
	switch {
	case id <= 0:
		return -1
	case id <= c.last:
		return c.last - id
	case c.wrapped && id-c.last > math.MaxInt32/2:
		return math.MaxInt32 - id + c.last
	}
	return -1
}

// read hands out replies until the connection fails.
func (c *clientConn) read() {
	defer c.active.Done()
	for {
		h, body, err := c.in.next()
		if err != nil {
			if err == io.EOF {
				err = errServerClosed
			}
			c.close(err)
			c.in.free()
			return
		}
		if !c.useful.Load() {
			c.useful.Store(true)
		}
		c.deliver(h, body)
	}
}

var errServerClosed = fmt.Errorf("the server has closed the connection: %w", io.EOF)

// deliver hands a reply to the call that waits for it. One that comes a second time, or for a
// call that has returned, or for a oneway one, is dropped.
func (c *clientConn) deliver(h header, body chain.Chunk) {
	c.mu.Lock()
	p := c.calls[h.seqid]
	if p == nil {
		late := c.age(h.seqid) >= 0
		if late && c.owed.Load() > 0 {
			c.owed.Add(-1)
		}
		log := !late && c.stray(h)
		c.mu.Unlock()
		if log {
			c.opt.warn("reply with an unknown sequence id", "peer", c.nc.RemoteAddr(), "seqid", h.seqid, "method", string(h.name))
		}
		body.Release()
		return
	}
	p.reply = reply{h.typ, string(h.name) == p.method.Name, body}
	c.unacked, c.unackedN = max(c.unacked-p.size, 0), max(c.unackedN-1, 0)
	c.settle(p)
	if len(c.calls) == 0 {
		c.unacked, c.unackedN = 0, 0
	}
	c.mu.Unlock()
}

// stray deals with a reply to a call that was never made: the oldest call is the one that it
// must be for. It reports whether that is to be logged: the other side may send any number of
// them.
func (c *clientConn) stray(h header) bool {
	var oldest *pending
	for _, p := range c.calls {
		if oldest == nil || c.age(p.seqid) > c.age(oldest.seqid) {
			oldest = p
		}
	}
	if oldest != nil {
		oldest.err = &ApplicationException{BadSequenceID, fmt.Sprintf("reply %d to call %d", h.seqid, oldest.seqid)}
		c.settle(oldest)
	}
	first := !c.strays
	c.strays = true
	return first || oldest != nil
}

// result makes the result of a call that is done.
func (c *clientConn) result(p *pending) (nocopy.Struct, error) {
	m := p.method
	switch {
	case p.err != nil:
		return nocopy.Absent(), p.err
	case m.Oneway():
		return nocopy.Absent(), nil
	case p.reply.typ == typeException:
		s, err := c.parse(p, exceptionDesc)
		if err != nil {
			return nocopy.Absent(), err
		}
		defer s.Release()
		return nocopy.Absent(), readException(s)
	case p.reply.typ != typeReply:
		p.reply.body.Release()
		return nocopy.Absent(), &ApplicationException{InvalidMessageType, fmt.Sprintf("%d in reply to %s", p.reply.typ, m)}
	case !p.reply.name:
		p.reply.body.Release()
		return nocopy.Absent(), &ApplicationException{WrongMethodName, fmt.Sprintf("in reply to %s", m)}
	}
	result, err := c.parse(p, m.Result)
	if err != nil {
		return nocopy.Absent(), err
	}
	return result, m.outcome(result)
}

func (c *clientConn) parse(p *pending, d *nocopy.Desc) (nocopy.Struct, error) {
	s, err := nocopy.ParseChunk(d, p.reply.body, c.opt.limits, c.opt.recycle)
	if err != nil {
		return nocopy.Absent(), callError(p.method, fmt.Errorf("bad reply: %w", err))
	}
	return s, nil
}

// close ends the connection: every call on its way fails with err.
func (c *clientConn) close(err error) {
	c.mu.Lock()
	if c.err != nil {
		c.mu.Unlock()
		return
	}
	c.err = err
	c.dead.Store(true)
	for i, p := range c.queue {
		c.queue[i] = nil
		p.err = c.notSent(p)
		p.args.Drop()
		p.finish()
	}
	c.queue, c.queuedBytes = c.queue[:0], 0
	for _, p := range c.out {
		if p.state == writing {
			p.err = callError(p.method, err)
			c.settle(p)
		}
	}
	for _, p := range c.calls {
		p.err = callError(p.method, err)
		c.settle(p)
	}
	c.mu.Unlock()
	c.nc.Close() // not before the lock is given back: with TLS it may take seconds
	if err != ErrClientClosed && err != errServerClosed {
		c.opt.warn("connection failed", "peer", c.nc.RemoteAddr(), "err", err)
	}
}

// notSent returns the error of a call that comes to a closed connection.
func (c *clientConn) notSent(p *pending) error {
	return callError(p.method, fmt.Errorf("%w: %w", errNotSent, c.err))
}
