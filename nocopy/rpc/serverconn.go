package rpc

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime/debug"
	"sync"
	"time"

	"github.com/nocopythrift/nocopythrift/internal/chain"
)

// serverConn is one connection of a server. Package rpc's documentation has its states as a table.
//
// One goroutine at a time is the reader: it receives requests and handles them itself. When a
// handler takes longer than patience, another goroutine becomes the reader; when the method's
// handler did so last time, that happens at once. There is a reader until the connection is
// closed; while no request may be handled it reads ahead, see serverread.go. Whoever has a reply
// ready writes it, and those that have become ready meanwhile, unless somebody is writing already.
type serverConn struct {
	srv    *Server
	nc     net.Conn
	raw    net.Conn // nc, or what is beneath its TLS
	peer   net.Addr
	in     receiver // the reader's
	ctx    context.Context
	cancel context.CancelFunc
	limit  int         // calls under way
	timer  *time.Timer // set while the reader is in a handler
	wake   chan struct{}
	write  chain.Batch
	sent   []*request // those in write

	mu       sync.Mutex
	refs     int // goroutines that use the connection
	state    readState
	turn     uint64     // counts readers and their calls of handlers: who has the last is the reader
	handling *Method    // the method whose handler the reader is in
	waits    bool       // the reader reads ahead, but waits for wake instead of bytes
	last     bool       // nothing more is handled
	eof      bool       // the client sends nothing more
	underway int        // calls read that have not ended
	owed     int        // replies to them
	count    uint64     // replies promised
	first    uint64     // the one that is ready[0]
	ready    []*request // waiting to be written; nil: not ready yet
	writing  bool
	dead     bool        // the client can receive nothing more; raw is closed
	grace    *time.Timer // set when the client sends nothing more
	slot     slot
	deadline time.Time
}

// readState is what a connection's reader does.
type readState uint8

const (
	receiving readState = iota // it waits for a request, or receives one
	handling                   // it is in a handler, and the timer is set
	ahead                      // it reads ahead: no request may be handled
	stopped                    // there is no reader any more
)

// patience is how long a handler may take before another goroutine reads the next request.
const patience = time.Millisecond

func newServerConn(s *Server, nc net.Conn) *serverConn {
	c := &serverConn{srv: s, nc: nc, raw: nc, peer: nc.RemoteAddr(), limit: max(orDefault(s.Concurrency, defaultConcurrency), 1), refs: 1}
	if t, ok := nc.(*tls.Conn); ok {
		c.raw = t.NetConn()
	}
	c.in = receiver{
		nc: nc, limits: limitsOf(s.MaxFrame, s.Limits, "rpc.Server.MaxFrame"), closing: &s.closing, answers: true,
		idle: max(s.IdleTimeout, 0), partial: orDefault(s.ReadTimeout, defaultTimeout),
	}
	c.in.in.Reset(s.Recycle)
	c.ctx, c.cancel = context.WithCancel(s.ctx)
	c.wake = make(chan struct{}, 1)
	c.timer = time.AfterFunc(time.Hour, c.relieve)
	c.timer.Stop()
	return c
}

// serve is the connection's first goroutine.
func (c *serverConn) serve() {
	if t, ok := c.nc.(*tls.Conn); ok {
		if err := c.handshake(t); err != nil {
			c.logEnd(err)
			c.answerPlain(err)
			c.mu.Lock()
			c.die()
			c.mu.Unlock()
			c.release()
			return
		}
	}
	c.read()
}

func (c *serverConn) handshake(t *tls.Conn) (err error) {
	defer c.guard(&err) // it calls what the Config refers to
	ctx := c.ctx
	if c.in.partial > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.in.partial)
		defer cancel()
	}
	return t.HandshakeContext(ctx)
}

// release is called by every goroutine when it is done with the connection.
func (c *serverConn) release() {
	c.mu.Lock()
	c.flush() // the call that a reply was held back for may not have come to one
	c.refs--
	last := c.refs == 0
	c.mu.Unlock()
	if last {
		c.cancel()
		c.in.free()
		c.srv.forget(c)
	}
}

// admit counts a call that is about to be handled, or answered without. It returns the number by
// which complete knows whether the goroutine is still the reader.
func (c *serverConn) admit(req *request, handled bool) (turn uint64) {
	c.mu.Lock()
	if !req.oneway() {
		req.order = c.count
		c.count++
		c.owed++
	}
	c.underway++
	if handled {
		slow := req.method.pace.slow.Load()
		if slow {
			c.flush() // what was held back for this call's reply
		}
		c.turn++
		turn = c.turn
		if slow {
			req.began = time.Now()
			c.replace()
		} else {
			c.state, c.handling = handling, req.method
			c.timer.Reset(patience)
		}
	}
	c.mu.Unlock()
	return turn
}

// complete sends the reply of a call whose handler has returned, and reports whether the goroutine
// is the reader and may receive another request.
func (c *serverConn) complete(req *request, turn uint64) bool {
	c.mu.Lock()
	reader := c.turn == turn
	switch {
	case reader:
		c.timer.Stop()
		c.state = receiving
	case !req.began.IsZero() && time.Since(req.began) < patience/2:
		req.method.pace.slow.Store(false)
	}
	c.put(req)
	// When the next call is there already its reply may go out with this one. If it takes long,
	// relieve sees to it.
	if hold := reader && c.in.ready() && len(c.ready) < c.limit/2 && c.mayHandle(); !hold {
		c.flush()
	}
	may := c.mayHandle()
	c.mu.Unlock()
	return reader && (may || c.readAhead())
}

// finish is complete for a call that had no handler. With last nothing more is handled.
func (c *serverConn) finish(req *request, last bool) bool {
	c.mu.Lock()
	c.last = c.last || last
	c.put(req)
	c.flush()
	c.mu.Unlock()
	return c.goOn()
}

// exit makes another goroutine the reader instead of one that is about to end, if that is the
// reader.
func (c *serverConn) exit(turn uint64) {
	c.mu.Lock()
	if c.turn == turn {
		c.timer.Stop()
		c.replace()
	}
	c.mu.Unlock()
}

// relieve is called in a goroutine of its own when the reader has been in a handler for long: it
// becomes the reader.
func (c *serverConn) relieve() {
	c.mu.Lock()
	if c.state != handling {
		c.mu.Unlock()
		return
	}
	c.handling.pace.slow.Store(true)
	c.takeOver()
	c.flush()
	c.mu.Unlock()
	c.read()
}

// takeOver makes a goroutine the reader that has not been using the connection.
func (c *serverConn) takeOver() {
	c.turn++
	c.state = receiving
	c.refs++
}

// replace makes a new goroutine the reader.
func (c *serverConn) replace() {
	c.takeOver()
	go c.read()
}

// put takes a reply that is ready, to be written by flush.
func (c *serverConn) put(req *request) {
	switch i := int(req.order - c.first); {
	case req.oneway(): // nothing waits for it, and it must hold up no reply
		req.release()
		c.settle(1, 0)
	case c.dead:
		req.release()
		c.settle(1, 1)
	case c.srv.Unordered:
		c.ready = append(c.ready, req)
	default:
		for i >= len(c.ready) {
			c.ready = append(c.ready, nil)
		}
		c.ready[i] = req
	}
}

// flush writes all replies that may go out, unless somebody is doing that. c.mu is held, but not
// while writing.
func (c *serverConn) flush() {
	if c.writing {
		return
	}
	c.writing = true
	for !c.dead {
		n := 0
		for n < len(c.ready) && c.ready[n] != nil {
			n++
		}
		if n == 0 {
			break
		}
		c.sent = append(c.sent[:0], c.ready[:n]...)
		rest := copy(c.ready, c.ready[n:])
		clear(c.ready[rest:])
		c.ready = c.ready[:rest]
		c.first += uint64(n)
		c.mu.Unlock()
		err := c.send()
		clear(c.sent)
		c.mu.Lock()
		switch {
		case err != nil:
			c.die()
		case c.grace != nil && c.state != stopped:
			c.grace.Reset(c.graceTime())
		}
		c.settle(n, n)
	}
	if c.dead {
		c.drop()
	}
	c.writing = false
}

// drop gives up the replies that are ready.
func (c *serverConn) drop() {
	n := 0
	for _, r := range c.ready {
		if r != nil {
			r.release()
			n++
		}
	}
	c.ready = nil
	c.settle(n, n)
}

// settle counts calls that have ended, and replies that are not owed any more.
func (c *serverConn) settle(calls, replies int) {
	c.underway -= calls
	c.owed -= replies
	if c.state == ahead && (c.mayHandle() || c.over()) {
		c.wakeReader()
	}
}

// send writes the replies of c.sent and gives up what they are made of.
func (c *serverConn) send() (err error) {
	defer func() { // what handlers do to their results from other goroutines may be found here
		if v := recover(); v != nil {
			c.srv.conceal("reply failed", nil, c.peer, v, debug.Stack())
			err = errors.New("reply failed")
		}
	}()
	for _, r := range c.sent {
		if r.reply != nil {
			r.reply.AddTo(&c.write, c.in.transport == framed)
		}
	}
	if c.write.Len() > 0 {
		c.setWriteDeadline()
		if _, err = c.write.WriteTo(c.nc); err != nil {
			if errors.Is(err, os.ErrDeadlineExceeded) {
				c.srv.log(warn, "connection closed", "peer", c.peer, "err", fmt.Errorf("replies are not taken: %w", err))
			} else {
				c.logEnd(err)
			}
		}
	}
	for _, r := range c.sent {
		r.release()
	}
	return err
}

// setWriteDeadline sets a deadline that is at least three quarters of the timeout ahead: setting
// it every time would cost more than it is worth.
func (c *serverConn) setWriteDeadline() {
	timeout := orDefault(c.srv.WriteTimeout, defaultTimeout)
	if timeout == 0 {
		return
	}
	if now := time.Now(); c.deadline.Sub(now) < timeout*3/4 {
		c.deadline = now.Add(timeout)
		c.nc.SetWriteDeadline(c.deadline)
	}
}
