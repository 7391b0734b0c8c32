// TestModel's network: connections in memory that can be slow, cut and broken.

package rpc_test

import (
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// stream is one direction of a connection in memory: the written bytes, how far they were read,
// and how they are held back or lost on their way. Its fields are changed with change.
type stream struct {
	mu           sync.Mutex
	wake         *sync.Cond
	log          []byte // all that was written
	consumed     int    // so much of it was read
	limit        int    // reading ends here; later bytes are held back. -1: none are
	room         int    // writing blocks while so many bytes are not read
	piece        int    // most bytes that one read returns
	fin          bool   // nothing more will be written
	reset        bool   // the connection is gone
	lost         int    // of a reset one: from here on bytes have not arrived
	readerClosed bool   // the reader has closed its end
}

const unlimited = 1 << 30

func newStream() *stream {
	s := &stream{limit: -1, room: unlimited, piece: unlimited}
	s.wake = sync.NewCond(&s.mu)
	return s
}

// change changes the stream and wakes waiting goroutines.
func (s *stream) change(f func(s *stream)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(s)
	s.wake.Broadcast()
}

// put writes bytes without waiting.
func (s *stream) put(b []byte) {
	s.change(func(s *stream) {
		if !s.reset && !s.readerClosed && !s.fin {
			s.log = append(s.log, b...)
		}
	})
}

// take reads at most n bytes without waiting.
func (s *stream) take(n int) {
	s.change(func(s *stream) { s.consumed = min(s.consumed+n, s.visible()) })
}

// visible returns how far the bytes have arrived at the reader.
func (s *stream) visible() int {
	if s.reset {
		return max(s.lost, s.consumed)
	}
	if s.limit >= 0 {
		return max(min(s.limit, len(s.log)), s.consumed)
	}
	return len(s.log)
}

// written returns all that was written.
func (s *stream) written() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log[:len(s.log):len(s.log)]
}

// ended reports whether nothing more will be written.
func (s *stream) ended() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.fin
}

// slow reports whether bytes are held back or writing may block.
func (s *stream) slow() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.limit >= 0 || s.room < unlimited
}

// end is one end of a connection in memory, a net.Conn that behaves as TCP's.
type end struct {
	in, out *stream
	both    [2]*stream // in the order in which they are locked
	mu      sync.Mutex
	name    string
	closed  bool
	// It was closed with bytes unread: the other end may not have got the last ones
	abrupt          bool
	accepted        time.Time // by a listener; zero: it was not
	readBy, writeBy deadline
	writes          int // calls of Write
}

type deadline struct {
	at    time.Time
	timer *time.Timer
}

func newPipe(name string) (client, server *end) {
	up, down := newStream(), newStream()
	both := [2]*stream{up, down}
	return &end{in: down, out: up, both: both, name: name}, &end{in: up, out: down, both: both, name: name}
}

func opError(op string, err error) error { return &net.OpError{Op: op, Net: "pipe", Err: err} }

// passed reports why an operation must not go on: the end is closed, or its time is up.
func (e *end) passed(op string, d *deadline) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.closed:
		return opError(op, net.ErrClosed)
	case !d.at.IsZero() && !time.Now().Before(d.at):
		return opError(op, os.ErrDeadlineExceeded)
	}
	return nil
}

func (e *end) Read(b []byte) (int, error) {
	s := e.in
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		if err := e.passed("read", &e.readBy); err != nil {
			return 0, err
		}
		if n := min(s.visible()-s.consumed, s.piece, len(b)); n > 0 {
			copy(b, s.log[s.consumed:s.consumed+n])
			s.consumed += n
			s.wake.Broadcast()
			return n, nil
		}
		switch {
		case s.reset:
			return 0, opError("read", syscall.ECONNRESET)
		case s.fin && s.consumed == len(s.log):
			return 0, io.EOF
		case len(b) == 0:
			return 0, nil
		}
		s.wake.Wait()
	}
}

func (e *end) Write(b []byte) (n int, err error) {
	s := e.out
	s.mu.Lock()
	defer s.mu.Unlock()
	e.writes++
	for {
		if err := e.passed("write", &e.writeBy); err != nil {
			return n, err
		}
		switch {
		case s.reset:
			return n, opError("write", syscall.ECONNRESET)
		case s.readerClosed, s.fin:
			return n, opError("write", syscall.EPIPE)
		}
		if k := min(s.room-(len(s.log)-s.consumed), len(b)-n); k > 0 {
			s.log = append(s.log, b[n:n+k]...)
			n += k
			s.wake.Broadcast()
		}
		if n == len(b) {
			return n, nil
		}
		s.wake.Wait()
	}
}

// Close ends both directions. As with TCP, the other end learns of a reset if bytes were not read
// here.
func (e *end) Close() error {
	e.mu.Lock()
	closed := e.closed
	e.closed = true
	for _, d := range []*deadline{&e.readBy, &e.writeBy} {
		if d.timer != nil {
			d.timer.Stop()
		}
	}
	e.mu.Unlock()
	if closed {
		return opError("close", net.ErrClosed)
	}
	unread := false
	e.in.change(func(s *stream) { s.readerClosed, unread = true, s.consumed < len(s.log) })
	e.out.change(func(s *stream) {
		s.fin = true
		if unread && !s.reset {
			s.lost, s.reset = s.visible(), true
		}
	})
	e.mu.Lock()
	e.abrupt = unread
	e.mu.Unlock()
	return nil
}

// CloseWrite ends the direction to the other end.
func (e *end) CloseWrite() error {
	if e.isClosed() {
		return opError("close", net.ErrClosed)
	}
	e.out.change(func(s *stream) { s.fin = true })
	return nil
}

func (e *end) isClosed() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.closed
}

// wasAbrupt reports whether the end was closed with bytes unread.
func (e *end) wasAbrupt() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.abrupt
}

// served reports whether the end was accepted and is open.
func (e *end) served() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return !e.accepted.IsZero() && !e.closed
}

// acceptedFor returns how long ago the end was accepted; 0 if it was not.
func (e *end) acceptedFor() time.Duration {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.accepted.IsZero() {
		return 0
	}
	return time.Since(e.accepted)
}

// breakDown resets the connection: bytes that were held back are lost.
func (e *end) breakDown() {
	for _, s := range e.both { // at once: neither end may see the other's closing first
		s.mu.Lock()
		defer s.mu.Unlock()
	}
	for _, s := range e.both {
		if !s.reset {
			s.lost, s.reset = s.visible(), true
		}
		s.wake.Broadcast()
	}
}

func (e *end) LocalAddr() net.Addr  { return &net.UnixAddr{Name: e.name} }
func (e *end) RemoteAddr() net.Addr { return &net.UnixAddr{Name: e.name} }

func (e *end) SetDeadline(t time.Time) error {
	e.SetReadDeadline(t)
	return e.SetWriteDeadline(t)
}
func (e *end) SetReadDeadline(t time.Time) error  { return e.setDeadline(&e.readBy, e.in, t) }
func (e *end) SetWriteDeadline(t time.Time) error { return e.setDeadline(&e.writeBy, e.out, t) }

func (e *end) setDeadline(d *deadline, s *stream, t time.Time) error {
	wake := func() { s.change(func(*stream) {}) }
	e.mu.Lock()
	d.at = t
	if d.timer != nil {
		d.timer.Stop()
	}
	if left := time.Until(t); !t.IsZero() && left > 0 {
		d.timer = time.AfterFunc(left, wake)
	}
	e.mu.Unlock()
	wake()
	return nil
}

// pipeListener accepts the ends that it is given.
type pipeListener struct {
	mu     sync.Mutex
	wake   *sync.Cond
	queue  []*end
	closed bool
}

func newPipeListener() *pipeListener {
	l := &pipeListener{}
	l.wake = sync.NewCond(&l.mu)
	return l
}

// connect adds e to the connections to be accepted. It reports false if the listener is closed.
func (l *pipeListener) connect(e *end) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return false
	}
	l.queue = append(l.queue, e)
	l.wake.Broadcast()
	return true
}

func (l *pipeListener) Accept() (net.Conn, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.queue) == 0 {
		if l.closed {
			return nil, opError("accept", net.ErrClosed)
		}
		l.wake.Wait()
	}
	e := l.queue[0]
	l.queue = l.queue[1:]
	e.mu.Lock()
	e.accepted = time.Now()
	e.mu.Unlock()
	return e, nil
}

func (l *pipeListener) Close() error {
	l.mu.Lock()
	queue := l.queue
	l.queue, l.closed = nil, true
	l.wake.Broadcast()
	l.mu.Unlock()
	for _, e := range queue { // as the kernel does
		e.breakDown()
		e.Close()
	}
	return nil
}

func (l *pipeListener) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }
