package rpc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nocopythrift/nocopythrift/linkbuf"
	"github.com/nocopythrift/nocopythrift/nocopy"
)

// clientConn is one connection of a client. A goroutine reads replies from it and hands them to the calls, by their
// sequence ids. Requests are written by the calls themselves: whoever comes while nobody is writing writes what has
// queued up. What might block is left to a goroutine, so that every call can return when its context ends.
type clientConn struct {
	nc     net.Conn
	opt    *options
	in     receiver // the reading goroutine's
	batch  linkbuf.Batch
	out    []*pending // those in batch
	dead   atomic.Bool
	useful atomic.Bool    // a reply has come
	active sync.WaitGroup // goroutines

	mu       sync.Mutex
	calls    map[int32]*pending // sent or about to be, by sequence id
	last     int32              // the sequence id that was given last
	wrapped  bool               // ids have been used more than once
	queue    []*pending
	writing  bool
	unacked  int   // bytes written that no reply has come for, about
	err      error // why the connection is closed
	deadline time.Time
}

// pending is a call on its way.
type pending struct {
	method *Method
	args   *nocopy.Message
	seqid  int32
	size   int
	done   chan struct{} // receives when reply or err is there
	reply  reply
	err    error
	state  state
	ended  bool // reply or err is there; if it is being written, that must end first
}

type state uint8

const (
	queued  state = iota
	writing       // args belong to whoever writes
	written       // and are released
)

// reply is a reply as it was received: not parsed yet.
type reply struct {
	typ  messageType
	name bool // it is to the method that was called
	body linkbuf.Chunk
}

var pendings = sync.Pool{New: func() any { return &pending{done: make(chan struct{}, 1)} }}

// errNotSent is wrapped by the errors of calls of which no byte has been written.
var errNotSent = errors.New("the call was not sent")

// inlineBytes is how many bytes without a reply there may be for a call to write itself: as many as a socket takes without blocking.
const inlineBytes = 16 << 10

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

// call makes one call. It takes args over, unless the error is errNotSent.
func (c *clientConn) call(ctx context.Context, m *Method, args nocopy.Struct) (nocopy.Struct, error) {
	p := pendings.Get().(*pending)
	p.method, p.args = m, args.Message()
	if err := c.enqueue(ctx, p); err != nil {
		p.recycle()
		return nocopy.Absent(), err
	}
	if done := ctx.Done(); done != nil {
		select {
		case <-p.done:
		case <-done:
			if c.abandon(p) {
				return nocopy.Absent(), callError(m, ctx.Err())
			}
			<-p.done // the reply came at the same time
		}
	} else {
		<-p.done
	}
	result, err := c.result(p)
	p.recycle()
	return result, err
}

func (p *pending) recycle() {
	*p = pending{done: p.done}
	pendings.Put(p)
}

// enqueue gives the call its sequence id and has it written.
func (c *clientConn) enqueue(ctx context.Context, p *pending) error {
	c.mu.Lock()
	if c.err != nil {
		defer c.mu.Unlock()
		return callError(p.method, fmt.Errorf("%w: %w", errNotSent, c.err))
	}
	c.nextID(p)
	c.queue = append(c.queue, p)
	c.unacked += p.size
	if !c.writing {
		c.writing = true
		if len(c.calls) > 1 { // let others that are about to call join in
			c.mu.Unlock()
			runtime.Gosched()
			c.mu.Lock()
		}
		if c.unacked <= inlineBytes || ctx.Done() == nil {
			c.writeQueued()
		}
		c.flushRest()
	}
	c.mu.Unlock()
	return nil
}

// nextID gives the call a sequence id that no other has, and writes the header.
func (c *clientConn) nextID(p *pending) {
	for {
		if c.last++; c.last < 0 {
			c.last, c.wrapped = 1, true
		}
		if _, taken := c.calls[c.last]; !taken {
			break
		}
	}
	p.seqid = c.last
	c.calls[p.seqid] = p
	m := p.method
	typ := typeCall
	if m.Oneway() {
		typ = typeOneway
	}
	head := p.args.Prepend(headerSize(true, len(m.prefix)+len(m.Name)))
	putHeader(head, true, typ, m.prefix, m.Name, p.seqid)
	p.size = p.args.Len()
}

// flushRest leaves what is still queued to a goroutine: a call must not be kept by the messages of others.
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
			c.writeQueued()
		}
		c.writing = false
	}()
}

// writeQueued writes what is queued. c.mu is held, but not while writing.
func (c *clientConn) writeQueued() {
	c.out = append(c.out, c.queue...)
	clear(c.queue)
	c.queue = c.queue[:0]
	for _, p := range c.out {
		p.state = writing
	}
	c.mu.Unlock()
	for _, p := range c.out {
		p.args.AddTo(&c.batch, !c.opt.unframed)
	}
	c.setWriteDeadline()
	_, err := c.batch.WriteTo(c.nc)
	for _, p := range c.out {
		p.args.Release()
		p.args = nil
	}
	c.mu.Lock()
	if err != nil {
		c.fail(err)
	}
	for i, p := range c.out {
		c.out[i] = nil
		p.state = written
		if p.method.Oneway() && c.calls[p.seqid] == p {
			delete(c.calls, p.seqid)
			p.ended = true
		}
		if p.ended {
			p.done <- struct{}{}
		}
	}
	c.out = c.out[:0]
}

// end tells a call that its reply or its error is there. While its arguments are being written that has to wait: they
// may refer to memory that is the caller's again when the call returns.
func (p *pending) end() {
	p.ended = true
	if p.state != writing {
		p.done <- struct{}{}
	}
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

// abandon ends a call whose context has ended. It reports false if the call was ended otherwise at the same time.
func (c *clientConn) abandon(p *pending) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.calls[p.seqid] != p {
		if !p.ended || p.state != writing {
			return false
		}
		p.ended = false // a reply has come while the call was being written: that may still take long
		p.reply.body.Release()
		return true
	}
	delete(c.calls, p.seqid)
	if p.state == queued {
		for i, q := range c.queue {
			if q == p {
				c.queue = append(c.queue[:i], c.queue[i+1:]...)
				break
			}
		}
		c.unacked -= p.size
		p.args.Release()
		p.args = nil
	}
	return true
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

// deliver hands a reply to the call that waits for it.
func (c *clientConn) deliver(h header, body linkbuf.Chunk) {
	c.mu.Lock()
	p := c.calls[h.seqid]
	switch {
	case p != nil:
	case h.seqid > 0 && (h.seqid <= c.last || c.wrapped):
		// Its call was abandoned.
		c.mu.Unlock()
		body.Release()
		return
	default:
		c.stray(h)
		c.mu.Unlock()
		body.Release()
		return
	}
	delete(c.calls, h.seqid)
	c.unacked = max(c.unacked-p.size, 0)
	if len(c.calls) == 0 {
		c.unacked = 0
	}
	p.reply = reply{h.typ, string(h.name) == p.method.Name, body}
	p.end()
	c.mu.Unlock()
}

// stray deals with a reply to a call that was never made: the oldest call is the one that it must be for.
func (c *clientConn) stray(h header) {
	var oldest *pending
	for _, p := range c.calls {
		if oldest == nil || p.seqid < oldest.seqid {
			oldest = p
		}
	}
	c.opt.logger.Warn("rpc: reply with an unknown sequence id", "peer", c.nc.RemoteAddr(), "seqid", h.seqid, "method", string(h.name))
	if oldest != nil && oldest.state != queued {
		delete(c.calls, oldest.seqid)
		oldest.err = &ApplicationException{BadSequenceID, fmt.Sprintf("reply %d to call %d", h.seqid, oldest.seqid)}
		oldest.end()
	}
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
	if err := m.exception(result); err != nil {
		result.Release()
		return nocopy.Absent(), err
	}
	if m.Success != 0 && !result.Has(m.Success) {
		result.Release()
		return nocopy.Absent(), &ApplicationException{MissingResult, m.String()}
	}
	return result, nil
}

func (c *clientConn) parse(p *pending, d *nocopy.Desc) (nocopy.Struct, error) {
	s, err := nocopy.ParseChunk(d, p.reply.body, c.opt.limits, c.opt.recycle)
	if err != nil {
		return s, callError(p.method, fmt.Errorf("bad reply: %w", err))
	}
	return s, nil
}

// close ends the connection: every call under way fails with err.
func (c *clientConn) close(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fail(err)
}

// fail is close with c.mu held.
func (c *clientConn) fail(err error) {
	if c.err != nil {
		return
	}
	c.err = err
	c.dead.Store(true)
	c.nc.Close()
	if err != ErrClientClosed && err != errServerClosed {
		c.opt.logger.Warn("rpc: connection failed", "peer", c.nc.RemoteAddr(), "err", err)
	}
	for _, p := range c.queue {
		p.args.Release()
		p.args = nil
	}
	clear(c.queue)
	c.queue = c.queue[:0]
	for id, p := range c.calls {
		delete(c.calls, id)
		p.err = callError(p.method, err)
		p.end()
	}
}
