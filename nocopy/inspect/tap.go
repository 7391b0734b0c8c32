package inspect

import (
	"context"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
)

// A Tap dumps the messages of live connections. It wraps connections, or a listener. Each message
// becomes one Write, after a line with its time, sender and receiver. Messages of one connection
// come in the order in which they were sent and received.
//
// The Tap does not affect the traffic: its own goroutines dump copies. If they, or the Writer,
// can't keep up, bytes are left out, and a row says how many. Up to 256 KiB may wait per
// connection, 64 MiB in all. Up to 256 KiB of text are shown per message. Errors in messages and
// in the Writer never reach the connection. After malformed or omitted bytes, the dump continues
// at the next recognized frame or message.
//
// Wrap a connection where it carries Thrift. With TLS, that is the result of tls.Client,
// tls.Server or tls.NewListener. The dump contains everything in the messages, including secrets.
type Tap struct {
	w       io.Writer
	opt     Options
	waiting atomic.Int64 // bytes of all connections that wait to be dumped

	writing sync.Mutex // held while writing to w, which may take long

	mu    sync.Mutex
	err   error // the first error of w
	conns map[*traffic]struct{}
}

const (
	mostWaiting    = 64 << 20
	mostOfConn     = 256 << 10
	mostOfMessage  = 256 << 10
	recordOverhead = 128 // memory that a piece of traffic takes besides its bytes
)

// NewTap returns a Tap that writes to w, one Write at a time. It returns an error if the options
// are invalid.
func NewTap(w io.Writer, opt Options) (*Tap, error) {
	if w == nil {
		panic("nocopy: inspect.NewTap without a Writer")
	}
	if _, err := newWalker(opt); err != nil {
		return nil, err
	}
	return &Tap{w: w, opt: opt, conns: map[*traffic]struct{}{}}, nil
}

// Conn returns a connection that passes everything to and from nc, and dumps it. Deadlines and the
// like are those of nc.
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

// Listener returns a listener that wraps each connection of l by Conn.
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

// Wait returns when all messages so far are dumped. The error is ctx's, or the first error of the
// Writer.
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

// Write writes to the connection. The Tap sees the bytes before an answer to them can arrive.
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
