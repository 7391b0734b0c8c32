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
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/shared"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/socket"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/stats"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/transport"
)

// Server answers calls. It tells framed from unframed clients by their first bytes. Processor must
// be set; the zero value of every other field is a good default. No field may be changed once
// Serve has been called.
type Server struct {
	Processor *Processor
	// Called around every handler, the first one outermost. None may be nil.
	Interceptors []Interceptor
	TLS          *tls.Config  // for all connections; nil means no TLS
	Logger       *slog.Logger // nil means slog.Default

	// ConnContext, if not nil, makes the context for the calls of a connection from ctx, which ends
	// with the connection. The contexts of oneway calls have its values, too. The server calls it
	// once per connection, before it reads the first call, in a goroutine of its own; it may take its
	// time. nc is the connection, with TLS a *tls.Conn after its handshake. ConnContext may close nc,
	// then or later, and ask it for addresses and the like. It must not read or write it.
	ConnContext func(ctx context.Context, nc net.Conn) context.Context

	// MaxConns limits the connections of all listeners at the same time. 0 means 10,000. Further
	// connections wait to be accepted, except one per listener, which is accepted and waits to be
	// served. In addition, handlers may still run for as many connections whose clients are gone.
	MaxConns int
	// MaxFrame limits the bytes of a request, including its header. 0 means Limits.MaxBytes plus room
	// for a header, if that is set; otherwise 16,384,000 in a frame and 100 MiB without frames.
	MaxFrame int
	// Limits bounds the arguments of requests. Its MaxBytes is for the arguments' struct alone,
	// without the header. If it is 0, only MaxFrame bounds the size.
	Limits nocopy.Limits
	// Concurrency limits the calls of one connection that are under way at the same time. A call
	// counts from when it is read until its reply is written. Further calls wait to be read. 0 means
	// 64. If a handler takes longer than a millisecond, the next call is handled at the same time.
	// With 1, calls are handled strictly one after the other.
	Concurrency int
	// Unordered writes replies as soon as they are ready, for clients that match them by sequence id,
	// as those of this package do. Otherwise replies are in the order of the calls.
	Unordered bool

	// ReadTimeout limits the time for receiving a request once its first byte has arrived, and for a
	// TLS handshake. 0 means 30 s. A negative value means no limit.
	ReadTimeout time.Duration
	// WriteTimeout limits the time for writing replies. A write may fail after three quarters of it.
	// On Linux it also limits how long the client's host may leave written bytes and keepalive's
	// probes unacknowledged. 0 means 30 s. A negative value means no limit.
	WriteTimeout time.Duration
	// IdleTimeout limits how long a connection may stay open without a request and without a call
	// under way. 0 means no limit. KeepAlive finds vanished hosts in any case.
	IdleTimeout time.Duration
	// KeepAlive is TCP's keepalive for every connection that has a method SetKeepAliveConfig; see
	// net.KeepAliveConfig. With the zero value, the first probe comes after 15 s without traffic,
	// then one every 15 s. The connection ends after four probes without an answer, or after
	// WriteTimeout. If a KeepAlive ends a connection sooner than WriteTimeout, it also limits the
	// time for unacknowledged bytes. An Idle of −1 and nothing else disables probes.
	KeepAlive net.KeepAliveConfig
	// MaxConnAge is about how long a connection may be used; each gets up to a tenth more or less,
	// which keeps many from ending at once. Afterwards the connection is closed once no call has been
	// under way, and nothing has arrived, for 50 ms. Clients then connect again, perhaps to another
	// server. 0 means no limit.
	MaxConnAge time.Duration
	// MaxConnAgeGrace is how long a connection may still be used after MaxConnAge. Then the server
	// reads no more requests from it, the contexts of calls under way end, and it is closed when
	// their replies are written. 0 means 30 s. A negative value means no limit.
	MaxConnAgeGrace time.Duration
	// HalfCloseTimeout begins when a client closes its side for sending. When it has passed, the
	// contexts of its calls end and the connection gives up its place among MaxConns. (TCP does not
	// tell a client that still receives from one that is gone.) Each written reply starts the time
	// anew. Replies are also written after it. 0 means 2 s. A negative value means no limit.
	HalfCloseTimeout time.Duration

	// HideErrors hides the texts of handlers' errors from clients, except declared exceptions and
	// ApplicationExceptions. Clients get a fixed text and an id; the log has the error under that id.
	// Panics and internal errors are always hidden in this way.
	HideErrors bool

	// Recycle takes memory from pools and returns it when the reply is written. Handlers must not
	// keep strings and bytes that they read from args.
	Recycle bool

	// Lazy parses arguments as nocopy.Lazy does: only values that are read are indexed. It saves time
	// when handlers forward arguments. Without frames, arguments of more than a few KiB are indexed
	// at once. Processor.WithLazy does the same for single methods.
	//
	// Handlers and interceptors must not read arguments in one goroutine while another reads or sends
	// them, as retries under way do, unless c.Args.Message().Index has returned nil before.
	Lazy bool

	// Deadlines makes the server respect the time that a client sent with a call; see the option
	// Deadlines. When that time has passed, the handler's context ends. Without it, or if the client
	// sent no time, contexts end only with the connection. It does not apply to oneway calls. It is
	// the outermost interceptor.
	Deadlines bool

	// SharedMemory lets messages go through memory that is shared with clients that ask for it, on
	// listeners of unix sockets without TLS. 0 means that no memory is shared.
	SharedMemory SharedMemory
	// MaxShared limits the bytes of messages that each side of a connection has in shared memory at
	// the same time. 0 means 32 MiB. The least is 64 KiB, the most 1 GiB.
	MaxShared int

	// Health answers health checks. If it is nil, they are ordinary calls.
	Health *Health
	// DrainTime is how long Shutdown waits before it does anything else. Meanwhile health checks are
	// answered with StatusStopping, for load balancers to notice, and calls are served. It has no
	// effect without Health.
	DrainTime time.Duration

	// Stats are functions that count; nil counts nothing. Interceptors see each call in addition.
	Stats *Stats

	once sync.Once
	// The outermost interceptor around callHandler; nil if there are no interceptors
	outermost Handler
	ctx       context.Context // of all handlers
	recycle   bool            // Recycle, or SharedMemory implies it
	sizes     shared.Sizes    // of results, if peers are trusted
	stats     *stats.Hook
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
		s.stats = s.Stats.hook(func(what string, args ...any) { s.log(slog.LevelError, what, args...) })
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

// Serve accepts connections from l and serves each until it ends. It closes l when it returns.
// After Shutdown or Close it returns ErrServerClosed, otherwise the error of l. It may be called
// for several listeners at the same time, of TCP, unix sockets or others. It panics if the Server
// has no Processor or a nil Interceptor.
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
	drains := socket.CanDrain(l)
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
			socket.Close(nc)
		}
	}
	if drains {
		socket.AcceptLeft(l, transport.LastWait, s.startLast)
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
		socket.Close(nc)
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
		if !drains || !socket.CanDrain(*l) || !ok || d.SetDeadline(time.Unix(1, 0)) != nil {
			shm.CloseListener(*l)
		}
	}
}

// startLast serves a connection that was accepted when the server was closing, if there is a slot.
func (s *Server) startLast(nc net.Conn) {
	select {
	case s.slots <- struct{}{}:
		s.start(nc, true)
	default:
		socket.Close(nc)
	}
}

// Shutdown ends the server gracefully: it stops accepting connections, handles the requests that
// have arrived, waits for their handlers, and returns when the replies are written. On Linux, if
// the listener is a *net.TCPListener or a *net.UnixListener, it also handles requests on
// connections that wait to be accepted. With Health it first waits for DrainTime. If ctx ends
// earlier, Shutdown does what Close does and returns ctx's error. On Linux, a Client learns which
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

// Close closes all connections at once and ends the contexts of running handlers. It does not wait
// for them.
func (s *Server) Close() error {
	s.stop(false)
	s.closeConns()
	return nil
}

// detectLoss makes the system notice when the host at the other end has vanished: by TCP's
// keepalive while nothing is being sent, whether or not the listener has set that, and by the time
// that sent bytes stay unacknowledged otherwise.
func (s *Server) detectLoss(nc net.Conn) {
	nc = socket.Underlying(nc)
	if socket.SetKeepAlive(nc, s.KeepAlive) {
		socket.SetUserTimeout(nc, orDefault(s.WriteTimeout, defaultTimeout))
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
