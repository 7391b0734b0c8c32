package rpc

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nocopythrift/nocopythrift/nocopy"
)

// Server answers calls. Framed and unframed clients are told apart by their first bytes. The zero
// value of every field but Processor is a good default; none may be changed once Serve has been
// called.
type Server struct {
	Processor    *Processor
	Interceptors []Interceptor // called around every handler, the first one outermost
	TLS          *tls.Config   // nil: no TLS
	Logger       *slog.Logger  // nil: slog.Default

	// MaxConns is the most connections at a time, of all listeners; others wait to be accepted, but
	// for at most one of each listener, which waits to be served. 10,000 if 0.
	// Handlers may be running for as many connections more whose clients are gone.
	MaxConns int
	// MaxFrame is the most bytes of a request, its header included. If 0 it is what
	// Limits.MaxBytes and a header need, if that is set; else 16,384,000 in a frame and 100 MiB
	// without.
	MaxFrame int
	// Limits bounds the arguments that are accepted. If MaxBytes is 0, MaxFrame alone counts.
	Limits nocopy.Limits
	// Concurrency is the most calls of one connection that are under way at a time, from when they
	// are read until their reply is written; no more are read then. 64 if 0. A handler that takes
	// longer than a millisecond lets the next call begin beside it. With 1, calls are handled
	// strictly one after the other.
	Concurrency int
	// Unordered lets replies go out as soon as they are ready. Clients must match them by sequence
	// id, as those of this package do. Otherwise replies are in the order of the calls.
	Unordered bool

	// ReadTimeout is how long a request may take to arrive once it has begun, and a TLS handshake. 30
	// s if 0, no limit if negative.
	ReadTimeout time.Duration
	// WriteTimeout is how long writing replies that are ready may take; it may come a quarter sooner.
	// On Linux it is also how long written bytes may wait for the client's host to take them. 30 s if
	// 0, no limit if negative.
	WriteTimeout time.Duration
	// IdleTimeout is how long a connection may stay open without a request, and without a call
	// under way. No limit if 0: a host that has vanished without a word is found by TCP's
	// keepalive, which the server sets for every connection that it accepts and that can
	// (SetKeepAliveConfig): a probe after 15 s, then every 15 s, and after four without an answer
	// the connection is dead.
	IdleTimeout time.Duration
	// HalfCloseTimeout is how long the contexts of calls last, and their connection's place among
	// MaxConns, once the client sends nothing more: TCP does not tell a client that only reads
	// from one that is gone. Each reply that is written starts it anew; replies are also written
	// later. 2 s if 0, no limit if negative.
	HalfCloseTimeout time.Duration

	// HideErrors keeps the texts of handlers' errors from clients, but for declared exceptions and
	// ApplicationExceptions: they get a fixed text and an id under which the log has the rest.
	// Panics and internal errors are always hidden so.
	HideErrors bool

	// Recycle takes memory from pools and gives it back when a handler's reply is written: strings
	// and bytes from args must not be kept then.
	Recycle bool

	once    sync.Once
	handle  Handler         // the interceptors and what they stand before; nil: there are none
	ctx     context.Context // of all handlers
	cancel  context.CancelFunc
	closing atomic.Bool
	slots   chan struct{} // one for each connection
	orphans chan struct{} // one for each connection that has given up its slot

	mu        sync.Mutex
	listeners map[net.Listener]struct{}
	conns     map[*serverConn]struct{}
	serving   sync.WaitGroup // connections
	done      chan struct{}  // closed when closing
}

// ErrServerClosed is what Serve returns after Shutdown or Close.
var ErrServerClosed = errors.New("rpc: server closed")

const (
	defaultMaxConns    = 10_000
	defaultConcurrency = 64
	defaultTimeout     = 30 * time.Second
)

func (s *Server) init() {
	s.once.Do(func() {
		s.ctx, s.cancel = context.WithCancel(context.Background())
		if len(s.Interceptors) > 0 {
			s.handle = wrapped(s.Interceptors, s.invoke, s.inner)
		}
		s.slots = make(chan struct{}, orDefault(s.MaxConns, defaultMaxConns))
		s.orphans = make(chan struct{}, cap(s.slots))
		s.listeners = map[net.Listener]struct{}{}
		s.conns = map[*serverConn]struct{}{}
		s.done = make(chan struct{})
	})
}

func orDefault[T int | time.Duration](v, def T) T {
	if v == 0 {
		return def
	}
	return max(v, 0)
}

func (s *Server) logger() *slog.Logger {
	if s.Logger != nil {
		return s.Logger
	}
	return slog.Default()
}

// Serve accepts connections from l and serves each until it ends. It closes l and returns when l
// fails, or with ErrServerClosed. It may be called for several listeners, of TCP, unix sockets or
// others.
func (s *Server) Serve(l net.Listener) error {
	s.init()
	if s.Processor == nil {
		panic("nocopy: rpc.Server without a Processor")
	}
	defer l.Close()
	s.mu.Lock()
	if s.closing.Load() {
		s.mu.Unlock()
		return ErrServerClosed
	}
	s.listeners[l] = struct{}{}
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.listeners, l)
		s.mu.Unlock()
	}()
	for pause := time.Duration(0); ; {
		// Other listeners need the slot while nobody comes here.
		if !s.takeSlot() {
			return ErrServerClosed
		}
		<-s.slots
		nc, err := l.Accept()
		if err != nil {
			switch {
			case s.closing.Load():
				return ErrServerClosed
			case !temporary(err):
				return err
			}
			pause = min(max(2*pause, 5*time.Millisecond), time.Second)
			s.log(slog.LevelError, "accept failed", "err", err, "pause", pause)
			select {
			case <-time.After(pause):
			case <-s.done:
			}
			continue
		}
		pause = 0
		if !s.takeSlot() {
			nc.Close()
			return ErrServerClosed
		}
		if !s.start(nc) {
			<-s.slots
			nc.Close()
			return ErrServerClosed
		}
	}
}

// takeSlot waits for a connection's slot, and reports false if the server is closing.
func (s *Server) takeSlot() bool {
	select {
	case s.slots <- struct{}{}:
		return true
	case <-s.done:
		return false
	}
}

// temporary says whether accepting may work again later: when there are too many open files, for
// instance.
func temporary(err error) bool {
	var t interface{ Temporary() bool }
	return errors.As(err, &t) && t.Temporary()
}

// start serves a connection in a goroutine of its own, unless the server is closing.
func (s *Server) start(nc net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing.Load() {
		return false
	}
	s.detectLoss(nc)
	if s.TLS != nil {
		nc = tls.Server(nc, s.TLS)
	}
	c := newServerConn(s, nc)
	s.conns[c] = struct{}{}
	s.serving.Add(1)
	go c.serve()
	return true
}

// forget is told when nothing uses a connection any more.
func (s *Server) forget(c *serverConn) {
	s.mu.Lock()
	delete(s.conns, c)
	s.mu.Unlock()
	if c.slot == freed {
		<-s.orphans
	} else {
		<-s.slots
	}
	s.serving.Done()
}

// stop stops accepting and reading.
func (s *Server) stop() {
	s.init()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing.CompareAndSwap(false, true) {
		close(s.done)
	}
	for l := range s.listeners {
		l.Close()
	}
	for c := range s.conns {
		c.stop()
	}
}

// Shutdown stops accepting connections and reading requests, lets the handlers finish that are
// running, and returns when their replies are written. When ctx ends first, it does what Close
// does and returns ctx's error.
func (s *Server) Shutdown(ctx context.Context) error {
	s.stop()
	finished := make(chan struct{})
	go func() {
		s.serving.Wait()
		close(finished)
	}()
	select {
	case <-finished:
		s.cancel()
		return nil
	case <-ctx.Done():
		s.closeConns()
		return ctx.Err()
	}
}

// Close closes all connections at once and cancels the contexts of the handlers that are running.
// It does not wait for them.
func (s *Server) Close() error {
	s.stop()
	s.closeConns()
	return nil
}

// detectLoss has the system find out when the host at the other end has vanished: by TCP's
// keepalive if nothing is sent, also if whoever made the listener has not set it, and by the time
// that sent bytes may take otherwise.
func (s *Server) detectLoss(nc net.Conn) {
	for {
		beneath, ok := nc.(interface{ NetConn() net.Conn })
		if !ok {
			break
		}
		nc = beneath.NetConn()
	}
	if t, ok := nc.(interface {
		SetKeepAliveConfig(net.KeepAliveConfig) error
	}); ok {
		t.SetKeepAliveConfig(net.KeepAliveConfig{Enable: true, Idle: 15 * time.Second, Interval: 15 * time.Second, Count: 4})
		setUserTimeout(nc, orDefault(s.WriteTimeout, defaultTimeout))
	}
}

func (s *Server) closeConns() {
	s.cancel()
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		c.mu.Lock()
		c.die()
		c.mu.Unlock()
	}
}
