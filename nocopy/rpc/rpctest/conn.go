package rpctest

import (
	"context"
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// listener is a net.Listener of connections in memory.
type listener struct {
	conns  chan net.Conn
	once   sync.Once
	closed chan struct{}
}

// dial makes a connection and returns the client's end.
func (l *listener) dial(ctx context.Context) (net.Conn, error) {
	up, down := newPipe(), newPipe()
	select {
	case l.conns <- &conn{in: up, out: down}:
		return &conn{in: down, out: up}, nil
	case <-l.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *listener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *listener) Addr() net.Addr { return memory{} }

// memory is the address of both ends.
type memory struct{}

func (memory) Network() string { return "memory" }
func (memory) String() string  { return "memory" }

// pipeRoom is how many bytes a direction of a connection holds; then writing waits, as it does on
// a socket. (net.Pipe holds none: every write there waits for a reader.)
const pipeRoom = 64 << 10

// pipe is one direction of a connection.
type pipe struct {
	mu            sync.Mutex
	changed       sync.Cond
	buf           []byte
	ended, gone   bool // the writer, or the reader, has closed its end
	read, written deadline
}

func newPipe() *pipe {
	p := &pipe{}
	p.changed.L = &p.mu
	return p
}

// deadline is until when reads or writes wait.
type deadline struct {
	at    time.Time
	timer *time.Timer
}

func (d *deadline) passed() bool { return !d.at.IsZero() && !time.Now().Before(d.at) }

// set sets a deadline of p, and wakes those who wait.
func (p *pipe) set(d *deadline, t time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if d.timer != nil {
		d.timer.Stop()
		d.timer = nil
	}
	if d.at = t; !t.IsZero() {
		d.timer = time.AfterFunc(time.Until(t), func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.changed.Broadcast()
		})
	}
	p.changed.Broadcast()
}

func (p *pipe) Read(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		switch {
		case p.gone:
			return 0, net.ErrClosed
		case p.read.passed():
			return 0, os.ErrDeadlineExceeded
		case len(p.buf) > 0:
			n := copy(b, p.buf)
			p.buf = append(p.buf[:0], p.buf[n:]...)
			p.changed.Broadcast()
			return n, nil
		case p.ended:
			return 0, io.EOF
		case len(b) == 0:
			return 0, nil
		}
		p.changed.Wait()
	}
}

func (p *pipe) Write(b []byte) (n int, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		switch {
		case p.ended:
			return n, net.ErrClosed
		case p.gone:
			return n, io.ErrClosedPipe
		case p.written.passed():
			return n, os.ErrDeadlineExceeded
		case len(b) == 0:
			return n, nil
		}
		if k := min(len(b), pipeRoom-len(p.buf)); k > 0 {
			p.buf = append(p.buf, b[:k]...)
			n, b = n+k, b[k:]
			p.changed.Broadcast()
			continue
		}
		p.changed.Wait()
	}
}

// close closes the writer's end, or the reader's.
func (p *pipe) close(end *bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	*end = true
	p.changed.Broadcast()
}

// conn is one end of a connection.
type conn struct{ in, out *pipe }

func (c *conn) Read(b []byte) (int, error)  { return c.in.Read(b) }
func (c *conn) Write(b []byte) (int, error) { return c.out.Write(b) }

func (c *conn) Close() error {
	c.SetDeadline(time.Time{})
	c.in.close(&c.in.gone)
	c.out.close(&c.out.ended)
	return nil
}

func (c *conn) LocalAddr() net.Addr  { return memory{} }
func (c *conn) RemoteAddr() net.Addr { return memory{} }

func (c *conn) SetDeadline(t time.Time) error {
	c.SetReadDeadline(t)
	return c.SetWriteDeadline(t)
}

func (c *conn) SetReadDeadline(t time.Time) error {
	c.in.set(&c.in.read, t)
	return nil
}

func (c *conn) SetWriteDeadline(t time.Time) error {
	c.out.set(&c.out.written, t)
	return nil
}
