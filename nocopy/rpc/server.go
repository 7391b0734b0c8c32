package rpc

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"maps"
	"net"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nocopythrift/nocopythrift/internal/shm"
	"github.com/nocopythrift/nocopythrift/nocopy"
)

// Server answers calls. Framed and unframed clients are told apart by their first bytes. Processor
// must be set; the zero value of every other field is a good default. No field may be changed once
// Serve has been called.
type Server struct {
	Processor *Processor
	// Called around every handler, the first one outermost; none may be nil
	Interceptors []Interceptor
	TLS          *tls.Config  // connections use TLS with it; none if nil
	Logger       *slog.Logger // slog.Default if nil

	// ConnContext, unless nil, returns the context of the calls of a connection, made of ctx, which
	// ends with the connection; that of oneway calls has its values. It is called once for each
	// connection, before the first call is read, in a goroutine where it may take its time. nc is the
	// connection, a *tls.Conn after its handshake if there is TLS. It may be closed, then or at any
	// time later, and asked for addresses and such, but not be read or written.
	ConnContext func(ctx context.Context, nc net.Conn) context.Context

	// MaxConns is the most connections at a time, of all listeners. 10,000 if 0. Further ones wait to
	// be accepted, except one for each listener, which is accepted and waits to be served. Handlers
	// of as many connections again, whose clients are gone, may be running besides.
	MaxConns int
	// MaxFrame is the most bytes of a request, its header included. If 0 it is Limits.MaxBytes and
	// room for a header, if that is set; else 16,384,000 in a frame and 100 MiB without frames.
	MaxFrame int
	// Limits bounds the arguments of requests. Its MaxBytes is for the arguments' struct alone,
	// without the header; if 0, only MaxFrame bounds their size.
	Limits nocopy.Limits
	// Concurrency is the most calls of one connection that are under way at a time, from when they
	// are read until their reply is written; further ones wait to be read. 64 if 0. If a handler
	// takes longer than a millisecond, the next call is handled at the same time. With 1, calls are
	// handled strictly one after the other.
	Concurrency int
	// Unordered means that replies are written as soon as they are ready, for clients that match them
	// by sequence id, as those of this package do. Otherwise they are in the order of the calls.
	Unordered bool

	// ReadTimeout is how long a request may take to arrive once its first byte has, and how long a
	// TLS handshake may take. 30 s if 0, no limit if negative.
	ReadTimeout time.Duration
	// WriteTimeout is how long a write of replies may take; it may end after three quarters of that.
	// On Linux it is also how long the client's host may leave written bytes unacknowledged, and
	// keepalive's probes. 30 s if 0, no limit if negative.
	WriteTimeout time.Duration
	// IdleTimeout is how long a connection may stay open without a request and without a call under
	// way. No limit if 0. A host that has vanished is noticed by KeepAlive in any case.
	IdleTimeout time.Duration
	// KeepAlive is TCP's keepalive, which the server sets on every connection that has a method
	// SetKeepAliveConfig. If it is zero there is a probe after 15 s without traffic, then one every
	// 15 s, and an end after four without an answer, or WriteTimeout. A shorter time limits that of
	// unacknowledged bytes, too. See net.KeepAliveConfig; with an Idle of −1 and nothing else there
	// are no probes.
	KeepAlive net.KeepAliveConfig
	// MaxConnAge is about how long a connection may be used; each gets up to a tenth more or less, so
	// that many do not end at once. From then on it is closed once no call has been under way, and
	// nothing has arrived, for 50 ms. Clients connect anew, perhaps to another server. No limit if 0.
	MaxConnAge time.Duration
	// MaxConnAgeGrace is how long after MaxConnAge a connection may go on to be used. Then no more
	// requests are read from it, the contexts of calls under way end, and it is closed when their
	// replies are written. 30 s if 0, no limit if negative.
	MaxConnAgeGrace time.Duration
	// HalfCloseTimeout is how long the contexts of calls last, and their connection's place among
	// MaxConns, after the client has closed its side for sending: TCP does not tell a client that
	// still receives from one that is gone. Each reply that is written starts the time anew. Replies
	// are written also after it. 2 s if 0, no limit if negative.
	HalfCloseTimeout time.Duration

	// HideErrors hides the texts of handlers' errors from clients, except declared exceptions and
	// ApplicationExceptions: clients get a fixed text and an id, under which the log has the error.
	// Panics and internal errors are always hidden in this way.
	HideErrors bool

	// Recycle means that memory comes from pools and returns to them when the reply is written:
	// handlers must not keep strings and bytes that they have read from args.
	Recycle bool

	// Lazy means that arguments are parsed as nocopy.Lazy has it: only what is touched is indexed,
	// which pays where handlers forward them. Without frames, arguments of more than some KiB are
	// indexed at once. See Processor.WithLazy for single methods.
	//
	// A handler or interceptor must not let one goroutine read arguments while another reads or
	// sends them, as retries under way do, unless c.Args.Message().Index has returned nil before.
	Lazy bool

	// Deadlines makes the contexts of handlers end when the time has passed that a client has sent
	// with the call, see the option Deadlines; not those of oneway calls. Without it, and where a
	// client has sent none, they end with the connection only. It is an interceptor, the outermost.
	Deadlines bool

	// SharedMemory lets messages go through memory that is shared with clients that ask for it, on
	// listeners of unix sockets; not if 0. Connections with TLS have none.
	SharedMemory SharedMemory
	// MaxShared is the most bytes of messages that each side of a connection has in shared memory at
	// a time. 32 MiB if 0, at least 64 KiB, at most 1 GiB.
	MaxShared int

	// Health answers health checks; nil: they are calls as any other.
	Health *Health
	// DrainTime is how long Shutdown goes on serving after health checks are answered with
	// StatusStopping, so that load balancers notice, before it does anything else. It has no effect
	// without Health.
	DrainTime time.Duration

	// Stats are told what is to be counted; nil: nothing is. Interceptors see each call besides.
	Stats *Stats

	once sync.Once
	// The outermost interceptor around callHandler; nil if there are no interceptors
	outermost Handler
	ctx       context.Context // of all handlers
	recycle   bool            // Recycle, or SharedMemory implies it
	sizes     sizes           // of results, if peers are trusted
	stats     *statsHook
	health    *Method // answers health checks; nil if there is no Health
	draining  atomic.Bool
	cancel    context.CancelFunc
	closing   atomic.Bool
	slots     chan struct{} // holds one value for each connection, at most MaxConns
	orphans   chan struct{} // holds one value for each connection that has given up its slot

	mu        sync.Mutex
	listeners map[*net.Listener]struct{} // a Listener itself may be of a type that can't be a key
	conns     map[*serverConn]struct{}
	serving   sync.WaitGroup // connections
	done      chan struct{}  // closed when closing
}

// ErrServerClosed is the error of Serve after Shutdown or Close.
var ErrServerClosed = errors.New("rpc: server closed")

const (
	defaultMaxConns    = 10_000
	defaultConcurrency = 64
	defaultTimeout     = 30 * time.Second
)

// init sets the unexported fields, once.
func (s *Server) init() {
	s.once.Do(func() {
		s.ctx, s.cancel = context.WithCancel(context.Background())
		s.recycle = s.Recycle || s.SharedMemory == TrustPeer
		interceptors := s.Interceptors
		if s.Deadlines {
			interceptors = slices.Insert(slices.Clone(interceptors), 0, receiveDeadline)
		}
		if len(interceptors) > 0 {
			s.outermost = wrap(interceptors, s.callHandler, s.callInner)
		}
		s.health = s.newHealthMethod()
		s.stats = newStatsHook(s.Stats, func(args ...any) { s.log(slog.LevelError, hookPanicked, args...) })
		s.slots = make(chan struct{}, max(orDefault(s.MaxConns, defaultMaxConns), 1))
		s.orphans = make(chan struct{}, cap(s.slots))
		s.listeners = map[*net.Listener]struct{}{}
		s.conns = map[*serverConn]struct{}{}
		s.done = make(chan struct{})
	})
}

// orDefault returns the value of a setting: def if it is 0, and 0, for no limit, if it is
// negative.
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
// fails, or with ErrServerClosed. It may be called for several listeners at a time, of TCP, unix
// sockets or others. It panics if the Server has no Processor or a nil Interceptor.
func (s *Server) Serve(l net.Listener) error {
	s.init()
	if s.Processor == nil {
		panic("nocopy: rpc.Server without a Processor")
	}
	for _, f := range s.Interceptors {
		if f == nil {
			panic("nocopy: rpc.Server with a nil Interceptor")
		}
	}
	if l == nil {
		panic("nocopy: rpc.Server: a nil Listener")
	}
	defer shm.CloseListener(l)
	s.mu.Lock()
	if s.closing.Load() {
		s.mu.Unlock()
		return ErrServerClosed
	}
	s.listeners[&l] = struct{}{}
	drains := canDrain(l)
	if drains { // connections may be added while Shutdown waits
		s.serving.Add(1)
		defer s.serving.Done()
		defer shm.CloseListener(l)
	}
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.listeners, &l)
		s.mu.Unlock()
	}()
	// The slot is not kept while accepting: another listener may need it.
	for pause := time.Duration(0); s.acquireSlot(); {
		<-s.slots
		nc, err := l.Accept()
		if err != nil {
			if s.closing.Load() {
				break
			} else if !temporary(err) {
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
		switch {
		case s.acquireSlot():
			s.start(nc, drains)
		case drains:
			s.startLast(nc)
		default:
			closeConn(nc)
		}
	}
	if drains {
		acceptLeft(l, s.startLast)
	}
	return ErrServerClosed
}

// acquireSlot waits until there are fewer than MaxConns connections and counts one more. It
// reports false if the server is closing.
func (s *Server) acquireSlot() bool {
	select {
	case s.slots <- struct{}{}:
		return true
	case <-s.done:
		return false
	}
}

// temporary reports whether accepting may succeed later, as after an error for too many open
// files.
func temporary(err error) bool {
	var t interface{ Temporary() bool }
	return errors.As(err, &t) && t.Temporary()
}

// start starts a goroutine that serves nc, for which there is a slot. It closes nc if the server
// is closing, unless drains is true and nc is one of the last connections; or if methods of nc
// panic.
func (s *Server) start(nc net.Conn, drains bool) {
	started := false
	defer func() {
		if started {
			return
		}
		if v := recover(); v != nil {
			s.conceal("connection closed", nil, nil, v, debug.Stack())
		}
		<-s.slots
		closeConn(nc)
	}()
	s.detectLoss(nc)
	served := nc
	if s.TLS != nil {
		served = tls.Server(shm.Guard(nc), s.TLS)
	}
	c := newServerConn(s, served)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing.Load() && (!drains || s.ctx.Err() != nil) {
		c.cancel()
		return
	}
	s.conns[c] = struct{}{}
	s.serving.Add(1)
	if started = true; s.closing.Load() {
		c.interrupt()
	}
	go c.serve()
}

// forget removes a connection that no goroutine uses any more.
func (s *Server) forget(c *serverConn) {
	s.mu.Lock()
	delete(s.conns, c)
	s.mu.Unlock()
	if c.slot == slotFreed {
		<-s.orphans
	} else {
		<-s.slots
	}
	s.serving.Done()
}

// stop makes Serve return and connections read no more requests. With drains, connections that
// wait to be accepted are still served.
func (s *Server) stop(drains bool) {
	s.init()
	s.mu.Lock()
	if s.closing.CompareAndSwap(false, true) {
		close(s.done)
	}
	for c := range s.conns {
		c.interrupt()
	}
	listeners := slices.Collect(maps.Keys(s.listeners))
	s.mu.Unlock()
	for _, l := range listeners { // without holding the lock
		// Accept returns then, and Serve accepts what is left
		d, ok := (*l).(interface{ SetDeadline(time.Time) error })
		if !drains || !canDrain(*l) || !ok || d.SetDeadline(time.Unix(1, 0)) != nil {
			shm.CloseListener(*l)
		}
	}
}

// canDrain reports whether l is of a type of which acceptLeft knows.
func canDrain(l net.Listener) bool {
	switch l.(type) {
	case *net.TCPListener, *net.UnixListener:
		return true
	}
	return false
}

// startLast serves a connection that was accepted when the server was closing, if there is a slot.
func (s *Server) startLast(nc net.Conn) {
	select {
	case s.slots <- struct{}{}:
		s.start(nc, true)
	default:
		closeConn(nc)
	}
}

// Shutdown stops accepting connections, handles the requests that have arrived, lets the handlers
// finish that are running, and returns when their replies are written. Requests of connections
// that wait to be accepted are handled as well, on Linux, if the listener is a *net.TCPListener or
// a *net.UnixListener. With Health it waits for DrainTime before that. When
// ctx ends first, it does what Close does and returns ctx's error. On Linux, a Client learns which
// of its calls came too late, and makes them on another connection.
func (s *Server) Shutdown(ctx context.Context) error {
	s.drain(ctx)
	s.stop(ctx.Err() == nil)
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
		s.Close()
		return ctx.Err()
	}
}

// Close closes all connections at once and cancels the contexts of the handlers that are running.
// It does not wait for them.
func (s *Server) Close() error {
	s.stop(false)
	s.closeConns()
	return nil
}

// detectLoss makes the system notice when the host at the other end has vanished: by TCP's
// keepalive while nothing is being sent, whether or not the listener has set that, and by the time
// that sent bytes stay unacknowledged otherwise.
func (s *Server) detectLoss(nc net.Conn) {
	nc = underlying(nc)
	if setKeepAlive(nc, s.KeepAlive) {
		setUserTimeout(nc, orDefault(s.WriteTimeout, defaultTimeout))
	}
}

// closeConns aborts all connections and ends the contexts of all handlers.
func (s *Server) closeConns() {
	s.cancel()
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		c.mu.Lock()
		c.noMore = true
		c.abort()
		c.mu.Unlock()
	}
}
