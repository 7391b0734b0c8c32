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
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nocopythrift/nocopythrift/internal/shm"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/message"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/setting"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/socket"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/transport"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

const (
	defaultMaxConns = 10_000
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
		s.describer = s.newDescribeMethod()
		s.stats = s.Stats.hook(func(what string, args ...any) { s.log(slog.LevelError, what, args...) })
		s.slots = make(chan struct{}, max(setting.Or(s.MaxConns, defaultMaxConns), 1))
		s.orphans = make(chan struct{}, cap(s.slots))
		s.listeners = map[*net.Listener]struct{}{}
		s.conns = map[servedConn]struct{}{}
		s.done = make(chan struct{})
		s.http = s.newHTTPServer()
		s.inflated = transport.NewBudget(transport.LimitsOf(s.MaxFrame, s.Limits, ""), s.ctx.Done())
	})
}

// Serve accepts connections from l and serves each until it ends. It closes l when it returns.
// After Shutdown or Close it returns ErrServerClosed, otherwise the error of l. It may be called
// for several listeners at the same time, of TCP, unix sockets or others. It panics if the Server
// has no Processor or a nil Interceptor.
func (s *Server) Serve(l net.Listener) error {
	s.init()
	s.check()
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

// check panics if the Server is not one that can serve.
func (s *Server) check() {
	if s.Processor == nil {
		panic("nocopy: rpc.Server without a Processor")
	}
	for _, f := range s.Interceptors {
		if f == nil {
			panic("nocopy: rpc.Server with a nil Interceptor")
		}
	}
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
		// Accept returns then, and Serve accepts the connections that are left
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
// earlier, Shutdown does what Close does and returns ctx's error.
//
// On Linux, a Client learns which of its calls came too late, and makes them on another
// connection. Oneway calls that came too late are dropped: for their client they ended, without an
// error, when they were written. See docs/services.md.
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

// newHealthMethod returns the method that answers health checks; nil if the server has no Health.
func (s *Server) newHealthMethod() *Method {
	if s.Health == nil {
		return nil
	}
	name := s.Health.Method
	if name == "" {
		name = defaultHealthMethod
	}
	at := strings.LastIndexByte(name, ':') + 1
	return &Method{
		Service: "Health", Name: name[at:], prefix: name[:at], Args: rawDesc, Result: healthDesc, Success: healthStatus,
		slow: new(atomic.Bool), direct: true,
		handler: func(_ context.Context, c *Call) error {
			status := s.Health.Status()
			if s.draining.Load() {
				status = StatusStopping
			}
			thriftimpl.Struct(c.Result).SetInt32(healthStatus, int32(status))
			return nil
		},
	}
}

// describe returns the descriptor of a message's struct, nil if it is not known.
func (s *Server) describe(h message.Header) *thriftimpl.Desc {
	if m := s.method(h); m != nil && h.IsRequest() {
		return m.Args
	}
	return nil
}

// drain makes health checks be answered with StatusStopping, and waits for DrainTime, until ctx
// ends or the server is closed; not if the server has no Health, or serves no listener.
func (s *Server) drain(ctx context.Context) {
	s.init()
	s.draining.Store(true)
	s.mu.Lock()
	serving := len(s.listeners) > 0
	s.mu.Unlock()
	if s.Health == nil || s.DrainTime <= 0 || !serving {
		return
	}
	timer := time.NewTimer(s.DrainTime)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	case <-s.done:
	}
}

// newDescribeMethod returns the method that tells the IDL; nil without Describe.
func (s *Server) newDescribeMethod() *Method {
	if !s.Describe {
		return nil
	}
	m := RawMethod(DescribeMethod, false)
	m.slow, m.direct = new(atomic.Bool), true
	description := sync.OnceValues(func() (nocopy.Value, error) {
		return nocopy.Peek(s.Processor.description(), 0)
	})
	m.handler = func(_ context.Context, c *Call) error {
		success, err := description()
		if err == nil {
			thriftimpl.Struct(c.Result).AppendUnknown(rawDesc, 0, thriftimpl.WireValue(success))
		}
		return err
	}
	return m
}

func newServerConn(s *Server, nc net.Conn) *serverConn {
	c := &serverConn{origin: origin{srv: s, peer: nc.RemoteAddr()}, nc: nc, raw: nc, limit: max(setting.Or(s.Concurrency, defaultConcurrency), 1), refs: 1}
	if t, ok := nc.(*tls.Conn); ok {
		c.raw = t.NetConn()
	}
	c.in = transport.Receiver{
		Conn: nc, Accept: transport.Wire(s.Wires), Limits: transport.LimitsOf(s.MaxFrame, s.Limits, "rpc.Server.MaxFrame"), Closing: &s.closing, Requests: true,
		IdleTimeout: max(s.IdleTimeout, 0), MessageTimeout: setting.Or(s.ReadTimeout, setting.Timeout),
	}
	c.settingUp.Store(true)
	c.in.Leave = c.leave
	c.stats = s.stats.Of(c.giveUp)
	c.in.Stats = c.stats
	c.in.Describe = s.describe
	c.in.Budget = s.inflated
	if socket, ok := nc.(*net.UnixConn); ok && s.SharedMemory != 0 && s.SASL == nil {
		c.passed = shm.NewReader(socket)
		c.in.Src = c.passed
	} else {
		c.in.Src = shm.ReaderOf(nc)
	}
	c.in.Reset(s.recycle)
	c.ctx, c.cancel = context.WithCancel(s.ctx)
	c.oneway = s.ctx
	c.wake = make(chan struct{}, 1)
	c.timer = time.AfterFunc(time.Hour, c.relieveReader)
	c.timer.Stop()
	return c
}

// serve serves the connection until it ends or another goroutine has become the reader.
func (c *serverConn) serve() {
	defer c.survive() // what answerPlain does
	ready := false
	defer func() {
		if !ready { // it has failed, or functions of the program's have ended the goroutine
			c.giveUp()
			c.release()
		}
	}()
	c.stats.Conns(1)
	if err := c.setUp(); err != nil {
		c.logEnd(err)
		c.answerPlain(err)
		if errors.Is(err, ErrLogin) {
			c.linger() // the client may not have read the refusal
		}
		return
	}
	ready = true
	c.startAging()
	c.settingUp.Store(false)
	if c.in.IsClosing() {
		c.in.Interrupt()
	}
	c.read()
}
