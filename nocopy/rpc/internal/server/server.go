package server

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nocopythrift/nocopythrift/internal/compressed"
	"github.com/nocopythrift/nocopythrift/internal/shm"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/setting"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/shared"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/socket"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/transport"
)

// Server accepts connections, and serves each until it ends.
type Server struct {
	Config
	Sizes shared.Sizes // of results, if peers are trusted

	ctx     context.Context // of all handlers
	cancel  context.CancelFunc
	closing atomic.Bool
	slots   chan struct{} // holds one value for each connection, at most MaxConns
	orphans chan struct{} // holds one value for each connection that has given up its slot
	// Of calls, whichever way they come; nil if their number is not limited
	admission *admission

	mu        sync.Mutex
	listeners map[*net.Listener]struct{} // a Listener itself may be of a type that can't be a key
	conns     map[*connection]struct{}
	serving   sync.WaitGroup // connections, and calls that come without one
	done      chan struct{}  // closed when closing

	http     *http.Server       // for connections that begin with HTTP
	inflated *compressed.Budget // for compressed calls
}

const defaultMaxConns = 10_000

// ErrClosed is the error of Serve after Shutdown or Close.
var ErrClosed = errors.New("rpc: server closed")

// New returns a Server with these settings.
func New(c Config) *Server {
	s := &Server{Config: c}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.slots = make(chan struct{}, max(setting.Or(s.MaxConns, defaultMaxConns), 1))
	s.orphans = make(chan struct{}, cap(s.slots))
	s.admission = newAdmission(&c)
	s.listeners = map[*net.Listener]struct{}{}
	s.conns = map[*connection]struct{}{}
	s.done = make(chan struct{})
	s.http = s.newHTTPServer()
	s.inflated = compressed.NewBudget(transport.LimitsOf(s.MaxFrame, s.Limits, "").Frame, s.ctx.Done())
	return s
}

// Inside returns how many connections there are and how many slots are taken, for tests.
func (s *Server) Inside() (conns, slots int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.conns), len(s.slots)
}

// Serve accepts connections from l and serves each until it ends. It closes l when it returns.
// After Shutdown or Close it returns ErrClosed, otherwise the error of l. It may be called
// for several listeners at the same time, of TCP, unix sockets or others.
func (s *Server) Serve(l net.Listener) error {
	defer shm.CloseListener(l)
	s.mu.Lock()
	if s.closing.Load() {
		s.mu.Unlock()
		return ErrClosed
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
			s.Log(slog.LevelError, "accept failed", "err", err, "pause", pause)
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
		socket.AcceptLeft(l, lastWait, s.startLast)
	}
	return ErrClosed
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
			s.Conceal("connection closed", nil, v, debug.Stack())
		}
		<-s.slots
		socket.Close(nc)
	}()
	s.detectLoss(nc)
	served := nc
	if s.TLS != nil {
		served = tls.Server(shm.Guard(nc), s.TLS)
	}
	c := newConnection(s, served)
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

// stop makes Serve return and connections read no more requests. With drains, connections that
// wait to be accepted are still served.
func (s *Server) stop(drains bool) {
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
		// Accept returns then, and Serve accepts the connections that are left
		d, ok := (*l).(interface{ SetDeadline(time.Time) error })
		if !drains || !canDrain(*l) || !ok || d.SetDeadline(time.Unix(1, 0)) != nil {
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

// Shutdown ends the server gracefully, after the time drain if it serves listeners; see rpc's.
func (s *Server) Shutdown(ctx context.Context, drain time.Duration) error {
	s.drain(ctx, drain)
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
		socket.SetUserTimeout(nc, setting.Or(s.WriteTimeout, setting.Timeout))
	}
}

// closeConns aborts all connections and ends the contexts of all handlers.
func (s *Server) closeConns() {
	s.cancel()
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		c.closeNow()
	}
}

// drain waits for the time d, until ctx ends or the server is closed; not if it serves no
// listener.
func (s *Server) drain(ctx context.Context, d time.Duration) {
	s.mu.Lock()
	serving := len(s.listeners) > 0
	s.mu.Unlock()
	if d <= 0 || !serving {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	case <-s.done:
	}
}

// forget removes a connection that no goroutine uses any more.
func (s *Server) forget(c *connection) {
	s.mu.Lock()
	delete(s.conns, c)
	s.mu.Unlock()
	if c.slotFreed {
		<-s.orphans
	} else {
		<-s.slots
	}
	s.serving.Done()
}

// enter makes Shutdown wait for a call that comes without a connection, until s.serving.Done is
// called. It reports false if the server is closing.
func (s *Server) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing.Load() {
		return false
	}
	s.serving.Add(1)
	return true
}

// canDrain reports whether l is of a type that socket.AcceptLeft supports.
func canDrain(l net.Listener) bool {
	switch l.(type) {
	case *net.TCPListener, *net.UnixListener:
		return true
	}
	return false
}
