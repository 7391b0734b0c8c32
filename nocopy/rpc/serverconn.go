package rpc

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/nocopythrift/nocopythrift/linkbuf"
	"github.com/nocopythrift/nocopythrift/nocopy"
)

// serverConn is one connection of a server.
//
// One goroutine at a time reads requests from it, the reader, and handles them itself. When a handler takes longer than
// patience, another goroutine goes on reading; when the method's handler did so last time, that happens at once. Whoever
// has a reply ready writes it, and those that have become ready meanwhile, unless somebody is writing already.
type serverConn struct {
	srv    *Server
	nc     net.Conn
	in     receiver // the reader's
	ctx    context.Context
	cancel context.CancelFunc
	limit  int         // calls under way
	timer  *time.Timer // set while the reader is in a handler
	write  linkbuf.Batch
	sent   []*request // those in write

	mu       sync.Mutex
	refs     int        // goroutines that use the connection
	turn     uint64     // counts handlers that began in the reader
	inline   bool       // the reader is in a handler
	handling *Method    // the handler's
	late     bool       // and it takes long, but limit calls are under way
	paused   bool       // there is no reader, since limit calls are under way
	underway int        // calls read whose reply is not written
	count    uint64     // calls read
	first    uint64     // the call whose reply is ready[0]
	ready    []*request // waiting to be written; nil: not ready yet
	writing  bool
	failed   bool // writing has failed
	ended    bool // nothing more will be read
	deadline time.Time
}

// patience is how long a handler may take before another goroutine reads the next request.
const patience = time.Millisecond

func newServerConn(s *Server, nc net.Conn) *serverConn {
	c := &serverConn{srv: s, nc: nc, limit: max(orDefault(s.Concurrency, defaultConcurrency), 1), refs: 1}
	c.in = receiver{
		nc: nc, limits: limitsOf(s.MaxFrame, s.Limits, "rpc.Server.MaxFrame"), closing: &s.closing,
		idle: max(s.IdleTimeout, 0), partial: orDefault(s.ReadTimeout, defaultTimeout),
	}
	c.in.in.Reset(s.Recycle)
	c.ctx, c.cancel = context.WithCancel(s.ctx)
	return c
}

// serve is the connection's first goroutine.
func (c *serverConn) serve() {
	if t, ok := c.nc.(*tls.Conn); ok {
		if err := c.handshake(t); err != nil {
			c.logEnd(err)
			c.nc.Close()
			c.release()
			return
		}
	}
	if c.limit > 1 {
		c.mu.Lock()
		c.timer = time.AfterFunc(time.Hour, c.relieve)
		c.timer.Stop()
		c.mu.Unlock()
	}
	c.read()
}

func (c *serverConn) handshake(t *tls.Conn) error {
	ctx := c.ctx
	if c.in.partial > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.in.partial)
		defer cancel()
	}
	return t.HandshakeContext(ctx)
}

// read makes the goroutine the reader until it loses that role or there is nothing more to read.
func (c *serverConn) read() {
	defer c.release()
	for !c.srv.closing.Load() {
		h, chunk, err := c.in.next()
		if err != nil {
			c.readFailed(h, err)
			return
		}
		if !c.process(h, chunk) {
			return
		}
	}
}

// release is called by every goroutine when it is done with the connection.
func (c *serverConn) release() {
	c.mu.Lock()
	c.flush() // the call that a reply was held back for may not have come to one
	c.refs--
	last := c.refs == 0
	c.mu.Unlock()
	if !last {
		return
	}
	if c.timer != nil {
		c.timer.Stop()
	}
	c.cancel()
	if c.ended && !c.failed {
		c.linger()
	}
	c.nc.Close()
	c.in.free()
	c.srv.forget(c)
}

// linger lets the client read the last reply: closing with bytes unread would make the kernel throw the reply away.
func (c *serverConn) linger() {
	const most, bytes = 200 * time.Millisecond, 1 << 20
	half, ok := c.nc.(interface{ CloseWrite() error })
	if !ok || half.CloseWrite() != nil {
		return
	}
	c.nc.SetReadDeadline(time.Now().Add(most))
	io.CopyN(io.Discard, c.nc, bytes)
}

// readFailed ends reading. Somebody who sent what we can't make sense of gets an answer if there is a call to answer.
func (c *serverConn) readFailed(h header, err error) {
	c.logEnd(err)
	var bad *nocopy.Error
	if errors.As(err, &bad) || errors.Is(err, nocopy.ErrLimit) {
		req := c.newRequest(h)
		c.admit(req, false)
		c.answer(req, &ApplicationException{ProtocolError, err.Error()}, string(h.name))
		c.finish(req, true)
	}
	var ne net.Error
	if errors.As(err, &ne) && !ne.Timeout() {
		c.cancel()
	}
}

func (c *serverConn) logEnd(err error) {
	switch {
	case err == io.EOF, errors.Is(err, net.ErrClosed), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), c.srv.closing.Load():
	case errors.Is(err, os.ErrDeadlineExceeded) && err != errTimeout: // idle
	default:
		c.srv.logger().Warn("rpc: connection closed", "peer", c.nc.RemoteAddr(), "err", err)
	}
}

// admit counts a call that is about to be handled, or answered without.
func (c *serverConn) admit(req *request, handled bool) (turn uint64) {
	c.mu.Lock()
	if !req.oneway() {
		req.order = c.count
		c.count++
	}
	c.underway++
	if handled && c.timer != nil {
		if req.call.Method.pace.slow.Load() {
			c.flush() // what was held back for this call's reply
		}
		c.begin(req.call.Method)
	}
	turn = c.turn
	if c.late && c.underway < c.limit {
		req.began = time.Now()
		c.takeOver()
		go c.read()
	}
	c.mu.Unlock()
	return turn
}

// begin notes that the reader goes into a handler, and sees to it that another goroutine reads meanwhile if that takes long.
func (c *serverConn) begin(m *Method) {
	c.turn++
	c.inline, c.handling = true, m
	if c.late = m.pace.slow.Load(); !c.late {
		c.timer.Reset(patience)
	}
}

// complete sends the reply of a call whose handler has returned, and reports whether the goroutine is still the reader.
func (c *serverConn) complete(req *request, turn uint64) bool {
	m := req.call.Method
	c.mu.Lock()
	defer c.mu.Unlock()
	reader := c.turn == turn
	switch {
	case reader && c.timer != nil:
		c.timer.Stop()
		c.inline, c.late = false, false
	case !req.began.IsZero() && time.Since(req.began) < patience/2:
		m.pace.slow.Store(false)
	}
	c.put(req)
	// When the next call is there already its reply may go out with this one. If it takes long, relieve sees to it.
	if hold := reader && c.timer != nil && c.in.ready() && len(c.ready) < c.limit/2 && c.underway < c.limit; !hold {
		c.flush()
	}
	return reader && c.mayRead()
}

// finish is complete for a call that had no handler. With last nothing more is read.
func (c *serverConn) finish(req *request, last bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = last
	c.put(req)
	c.flush()
	return !last && c.mayRead()
}

// mayRead tells the reader whether to go on. If not, reading is resumed when replies are written.
func (c *serverConn) mayRead() bool {
	c.paused = c.underway >= c.limit
	return !c.paused
}

// relieve is called in a goroutine of its own when the reader has been in a handler for long: it becomes the reader.
func (c *serverConn) relieve() {
	c.mu.Lock()
	if !c.inline {
		c.mu.Unlock()
		return
	}
	c.handling.pace.slow.Store(true)
	if c.underway >= c.limit {
		c.late = true
		c.flush()
		c.mu.Unlock()
		return
	}
	c.takeOver()
	c.flush()
	c.mu.Unlock()
	c.read()
}

// takeOver makes a goroutine the reader that has not been using the connection.
func (c *serverConn) takeOver() {
	c.turn++
	c.inline, c.late, c.paused = false, false, false
	c.refs++
}

// put takes a reply that is ready, to be written by flush.
func (c *serverConn) put(req *request) {
	if req.oneway() { // nothing waits for it, and it must hold up no reply
		req.release()
		c.settle(1)
		return
	}
	if i := int(req.order - c.first); c.srv.Unordered {
		c.ready = append(c.ready, req)
	} else {
		for i >= len(c.ready) {
			c.ready = append(c.ready, nil)
		}
		c.ready[i] = req
	}
}

// flush writes all replies that may go out, unless somebody is doing that. c.mu is held, but not while writing.
func (c *serverConn) flush() {
	if c.writing {
		return
	}
	c.writing = true
	for {
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
		failed := c.failed
		c.mu.Unlock()
		if !failed {
			failed = !c.writeReplies()
		}
		for _, r := range c.sent {
			r.release()
		}
		clear(c.sent)
		c.mu.Lock()
		c.failed = failed
		c.settle(n)
	}
	c.writing = false
}

// settle counts calls that are done with, and resumes reading if it waited for that.
func (c *serverConn) settle(n int) {
	c.underway -= n
	if (c.paused || c.inline && c.late) && c.underway < c.limit && !c.ended {
		c.takeOver()
		go c.read()
	}
}

// writeReplies writes the replies of c.sent and reports whether it could.
func (c *serverConn) writeReplies() bool {
	for _, r := range c.sent {
		if r.reply != nil {
			r.reply.AddTo(&c.write, c.in.transport == framed)
		}
	}
	if c.write.Len() == 0 {
		return true
	}
	c.setWriteDeadline()
	if _, err := c.write.WriteTo(c.nc); err != nil {
		if errors.Is(err, os.ErrDeadlineExceeded) {
			err = fmt.Errorf("replies are not taken: %w", err)
			c.srv.logger().Warn("rpc: connection closed", "peer", c.nc.RemoteAddr(), "err", err)
		} else {
			c.logEnd(err)
		}
		c.cancel()
		c.nc.Close()
		return false
	}
	return true
}

// setWriteDeadline sets a deadline that is at least three quarters of the timeout ahead: setting it every time would cost
// more than it is worth.
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
