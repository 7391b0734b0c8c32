package inspect

import (
	"context"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// A Tap dumps the messages of live connections: it wraps these, or a listener of them. Each message
// becomes one Write, after a line with its time, sender and receiver; messages of one connection
// come in the order in which they were sent and received.
//
// Traffic passes as it would without the Tap: what is seen is copied and dumped by goroutines of
// the Tap's. If these, or the Writer, cannot keep up, bytes are left out, and a row tells how many:
// 256 KiB of a connection may wait, 64 MiB of all. Of a message 256 KiB of text are shown. Nothing
// that is wrong with a message, or with the Writer, reaches the connection. After bytes that are
// malformed or left out the dump goes on where a frame or a message is seen to begin.
//
// A connection is to be wrapped where it carries Thrift: with TLS, what tls.Client, tls.Server or
// tls.NewListener returns. The dump has all that the messages have, secrets included.
type Tap struct {
	w       io.Writer
	opt     Options
	waiting atomic.Int64 // bytes that wait to be dumped, of all connections

	writing sync.Mutex // to w, which may take long

	mu    sync.Mutex
	err   error // the first of w
	conns map[*traffic]struct{}
}

const (
	mostWaiting    = 64 << 20
	mostOfConn     = 256 << 10
	mostOfMessage  = 256 << 10
	recordOverhead = 128 // what a piece of traffic takes besides its bytes
)

// NewTap returns a Tap that writes to w, one Write at a time. The error is about the options.
func NewTap(w io.Writer, opt Options) (*Tap, error) {
	if w == nil {
		panic("nocopy: inspect.NewTap without a Writer")
	}
	if _, err := newWalker(opt); err != nil {
		return nil, err
	}
	return &Tap{w: w, opt: opt, conns: map[*traffic]struct{}{}}, nil
}

// Conn returns nc with all that is read from it and written to it dumped. Deadlines and the like
// are those of nc.
func (t *Tap) Conn(nc net.Conn) net.Conn {
	if nc == nil {
		panic("nocopy: inspect.Tap.Conn without a net.Conn")
	}
	c := &conn{Conn: nc, seen: newTraffic(t, nc)}
	if _, ok := nc.(interface{ CloseWrite() error }); ok {
		return &halfConn{c}
	}
	return c
}

// Listener returns l with each connection that it accepts wrapped by Conn.
func (t *Tap) Listener(l net.Listener) net.Listener { return listener{l, t} }

type listener struct {
	net.Listener
	tap *Tap
}

func (l listener) Accept() (net.Conn, error) {
	nc, err := l.Listener.Accept()
	if err != nil {
		return nc, err
	}
	return l.tap.Conn(nc), nil
}

// DialContext connects as a net.Dialer does and wraps the connection by Conn, for rpc.Dialer.
func (t *Tap) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	nc, err := new(net.Dialer).DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	return t.Conn(nc), nil
}

// Wait returns when all messages that have come and gone so far are dumped. The error is ctx's or
// the first of the Writer's.
func (t *Tap) Wait(ctx context.Context) error {
	t.mu.Lock()
	conns := make([]*traffic, 0, len(t.conns))
	for c := range t.conns {
		conns = append(conns, c)
	}
	t.mu.Unlock()
	for _, c := range conns {
		if err := c.wait(ctx); err != nil {
			return err
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.err
}

// write writes a message's dump.
func (t *Tap) write(b []byte) {
	t.writing.Lock()
	defer t.writing.Unlock()
	defer func() {
		if p := recover(); p != nil {
			t.failed(fmt.Errorf("inspect: the Writer panicked: %v", p))
		}
	}()
	if _, err := t.w.Write(b); err != nil {
		t.failed(err)
	}
}

// failed notes an error of the Writer.
func (t *Tap) failed(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err == nil {
		t.err = err
	}
}

func (t *Tap) add(c *traffic) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.conns[c] = struct{}{}
}

func (t *Tap) remove(c *traffic) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.conns, c)
}

// conn is a connection with a Tap.
type conn struct {
	net.Conn
	seen *traffic
}

// Read reads from the connection.
func (c *conn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if n > 0 && n <= len(b) {
		c.seen.push(received, b[:n])
	}
	if err == io.EOF {
		c.seen.end(received)
	}
	return n, err
}

// Write writes to the connection. What is written is seen before the answer to it can be.
func (c *conn) Write(b []byte) (int, error) {
	c.seen.push(sent, b)
	n, err := c.Conn.Write(b)
	if n >= 0 && n < len(b) {
		c.seen.unsent(len(b)-n, err)
	}
	return n, err
}

// Close closes the connection.
func (c *conn) Close() error {
	err := c.Conn.Close()
	c.seen.end(sent, received)
	return err
}

// NetConn returns the connection without the Tap, as that of a tls.Conn does.
func (c *conn) NetConn() net.Conn { return c.Conn }

// SyscallConn gives access to the connection's socket, if it has one.
func (c *conn) SyscallConn() (syscall.RawConn, error) {
	if sc, ok := c.Conn.(syscall.Conn); ok {
		return sc.SyscallConn()
	}
	return nil, fmt.Errorf("inspect: %T has no socket", c.Conn)
}

// halfConn is a conn that can be closed for sending alone.
type halfConn struct{ *conn }

// CloseWrite closes the connection for sending.
func (c *halfConn) CloseWrite() error {
	err := c.Conn.(interface{ CloseWrite() error }).CloseWrite()
	c.seen.end(sent)
	return err
}

// direction is a direction of a connection, as its user sees it.
type direction int

const (
	sent direction = iota
	received
)

func (d direction) other() direction { return 1 - d }

// traffic is what was seen of a connection and is not dumped yet. Each direction has a goroutine
// that dumps it; they take turns, so that messages come in order.
type traffic struct {
	tap           *Tap
	local, remote string

	mu      sync.Mutex
	changed *sync.Cond
	pieces  []piece
	size    int // of the pieces

	missing [2]int64 // bytes after the pieces that were left out
	started [2]bool  // there is a goroutine
	resting [2]bool  // it waits for more, or has ended
	ended   [2]bool  // nothing more comes
	over    [2]bool  // the goroutine has ended
	running int      // goroutines
}

// piece is what one Read or Write had, or a number of bytes that were left out.
type piece struct {
	direction
	at   time.Time
	data []byte
	gap  *gapError
}

// cost is how much memory the piece takes.
func (p piece) cost() int { return len(p.data) + recordOverhead }

// gapError is the error of reading where bytes were left out, or seen that were not sent.
type gapError struct {
	n      int64
	unsent error // why they were not sent; nil if they were left out
}

func (e *gapError) Error() string { return fmt.Sprintf("%d bytes left out", e.n) }

func newTraffic(t *Tap, nc net.Conn) *traffic {
	c := &traffic{tap: t, local: address(nc.LocalAddr()), remote: address(nc.RemoteAddr())}
	c.changed = sync.NewCond(&c.mu)
	return c
}

func address(a net.Addr) string {
	if a == nil {
		return "?"
	}
	return a.String()
}

// push adds a copy of b, as far as there is room.
func (c *traffic) push(d direction, b []byte) {
	if len(b) == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended[d] {
		return
	}
	if !c.started[d] {
		if c.running == 0 {
			c.tap.add(c)
		}
		c.started[d] = true
		c.running++
		go newLive(c, d).run()
	}
	room := min(mostOfConn-c.size, int(mostWaiting-c.tap.waiting.Load())) - 2*recordOverhead
	n := min(len(b), room)
	if n < len(b) && n < recordOverhead {
		n = 0
	}
	if n > 0 {
		if c.missing[d] > 0 {
			c.add(piece{direction: d, gap: &gapError{n: c.missing[d]}})
			c.missing[d] = 0
		}
		c.add(piece{direction: d, at: time.Now(), data: append([]byte(nil), b[:n]...)})
	}
	c.missing[d] += int64(len(b) - n)
	c.changed.Broadcast()
}

func (c *traffic) add(p piece) {
	c.pieces = append(c.pieces, p)
	c.size += p.cost()
	c.tap.waiting.Add(int64(p.cost()))
}

// unsent adds that the last n bytes were not sent. A connection that fails once may be written to
// again, but not so often that these take much memory.
func (c *traffic) unsent(n int, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.started[sent] && !c.ended[sent] && c.size < mostOfConn {
		c.add(piece{direction: sent, gap: &gapError{int64(n), err}})
		c.changed.Broadcast()
	}
}

// end tells that nothing more comes.
func (c *traffic) end(directions ...direction) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, d := range directions {
		c.ended[d] = true
	}
	c.changed.Broadcast()
}

// next waits for the next piece of a direction. The error is io.EOF at the end, or a *gapError.
func (c *traffic) next(d direction) (piece, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		turn := !c.started[d.other()] || c.resting[d.other()]
		switch {
		case len(c.pieces) > 0 && c.pieces[0].direction == d:
			if !turn {
				break
			}
			p := c.pieces[0]
			c.pieces[0] = piece{}
			if c.pieces = c.pieces[1:]; len(c.pieces) == 0 {
				c.pieces = nil
			}
			c.size -= p.cost()
			c.tap.waiting.Add(int64(-p.cost()))
			c.resting[d] = false
			if p.gap != nil {
				return p, p.gap
			}
			return p, nil
		case len(c.pieces) > 0:
		case c.missing[d] > 0 && turn:
			gap := &gapError{n: c.missing[d]}
			c.missing[d] = 0
			c.resting[d] = false
			return piece{gap: gap}, gap
		case c.ended[d] && c.missing[d] == 0:
			c.resting[d] = false
			return piece{}, io.EOF
		}
		if !c.resting[d] { // those who wait for that look again, once
			c.resting[d] = true
			c.changed.Broadcast()
		}
		c.changed.Wait()
	}
}

// finished tells that the goroutine of a direction has ended.
func (c *traffic) finished(d direction) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended[d], c.over[d], c.resting[d] = true, true, true
	c.missing[d] = 0
	c.pieces = slices.DeleteFunc(c.pieces, func(p piece) bool { // there are some after a panic only
		if p.direction == d {
			c.size -= p.cost()
			c.tap.waiting.Add(int64(-p.cost()))
		}
		return p.direction == d
	})
	if c.running--; c.running == 0 {
		c.tap.remove(c)
	}
	c.changed.Broadcast()
}

// wait waits until all that was seen is dumped.
func (c *traffic) wait(ctx context.Context) error {
	defer context.AfterFunc(ctx, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.changed.Broadcast()
	})()
	c.mu.Lock()
	defer c.mu.Unlock()
	for ctx.Err() == nil && !c.isIdle() {
		c.changed.Wait()
	}
	return ctx.Err()
}

func (c *traffic) isIdle() bool {
	for _, d := range []direction{sent, received} {
		if c.started[d] && (!c.resting[d] || c.missing[d] > 0 || c.ended[d] && !c.over[d]) {
			return false
		}
	}
	return len(c.pieces) == 0
}
