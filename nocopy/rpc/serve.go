package rpc

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"slices"

	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/message"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/sasl"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/server"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/shared"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/transport"
)

// init sets the unexported fields, once.
func (s *Server) init() {
	s.once.Do(func() {
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
		s.core = server.New(s.config())
	})
}

// config returns the settings of s for the server below.
func (s *Server) config() server.Config {
	c := server.Config{
		Calls: processing{s},
		Log:   s.log,
		Conceal: func(what string, peer net.Addr, v any, stack []byte) error {
			return s.conceal(what, nil, peer, v, stack)
		},
		TLS: s.TLS, Wires: transport.Wire(s.Wires), ConnContext: s.ConnContext,
		MaxConns: s.MaxConns, MaxFrame: s.MaxFrame, Limits: s.Limits, Concurrency: s.Concurrency, MaxInFlight: s.MaxInFlight, MaxQueued: s.MaxQueued, Unordered: s.Unordered,
		ReadTimeout: s.ReadTimeout, WriteTimeout: s.WriteTimeout, IdleTimeout: s.IdleTimeout, KeepAlive: s.KeepAlive,
		MaxConnAge: s.MaxConnAge, MaxConnAgeGrace: s.MaxConnAgeGrace, HalfCloseTimeout: s.HalfCloseTimeout,
		Recycle: s.recycle, Shared: shared.Mode(s.SharedMemory), MaxShared: s.MaxShared,
		Stats: s.Stats.hook(func(what string, args ...any) { s.log(slog.LevelError, what, args...) }),
	}
	if s.SASL != nil {
		c.SASL = func(ctx context.Context, mechanism string) sasl.Server {
			if login := s.SASL(ctx, mechanism); login != nil {
				return saslServer{login}
			}
			return nil
		}
	}
	return c
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
	return s.core.Serve(l)
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
	s.init()
	s.draining.Store(true)
	drain := s.DrainTime
	if s.Health == nil {
		drain = 0
	}
	return s.core.Shutdown(ctx, drain)
}

// Close closes all connections at once and ends the contexts of running handlers. It does not wait
// for them.
func (s *Server) Close() error {
	s.init()
	return s.core.Close()
}

// HTTPHandler returns a handler for an [http.ServeMux] or any other router that answers the calls
// of p over HTTP: a POST holds one call, and its response the reply. The functions set fields of
// the [Server] that does so:
//
//	mux.Handle("/shop", rpc.HTTPHandler(p, func(s *rpc.Server) { s.MaxFrame = 1 << 20 }))
//
// See [Server.ServeHTTP]. For a Server that is to be shut down, use the Server itself as the
// handler.
func HTTPHandler(p *Processor, settings ...func(*Server)) http.Handler {
	s := &Server{Processor: p}
	for _, set := range settings {
		if set == nil {
			panic("nocopy: rpc.HTTPHandler with a nil function")
		}
		set(s)
	}
	s.check()
	return s
}

// ServeHTTP answers the call in a request, for routers of the program. A Server answers calls
// over HTTP on its own connections, too, without any router.
//
// A call is a POST with a message of Thrift as its body, which may be compressed with gzip. Its
// Content-Type is application/x-thrift, for Thrift Binary or the compact protocol, or
// application/vnd.apache.thrift.binary or .compact. Another type, or none, is accepted if the body
// begins as a message does, and no browser sends it for a page of another origin. The response has
// the same type, or application/x-thrift, the status 200, and the reply as its body: also for a
// declared exception or an [ApplicationException]. It is compressed if it has 1 KiB or more, and
// the request has Accept-Encoding: gzip. To a oneway call, the response is empty and comes before
// the handler returns. Anything else is answered with a
// status of 400 or above and a text. [Header] returns the request's headers, except those that
// HTTP has a meaning of its own for, and the User-Agent of Go programs that have set none.
//
// All fields of the Server hold, except those that are about connections: IdleTimeout, KeepAlive,
// MaxConnAge and ConnContext. The router's http.Server has its own. Calls have the context of the
// request, with the values that middleware has put there. A call counts as a connection towards
// MaxConns until its handler returns, even if the client is gone. ReadTimeout is for the body,
// WriteTimeout for the response. A Server with SASL refuses all requests. Shutdown waits for the
// calls under way, and further ones are refused.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.init()
	s.check()
	s.core.ServeHTTP(w, r)
}

// ServeMessage answers one call whose bytes came by any means, such as a UDP packet, an entry of a
// queue, or a frame of a WebSocket. call is one message without a frame, in Thrift Binary or the
// compact protocol. The reply is such a message, in the same protocol, and belongs to the caller.
// It is nil for a oneway call. NewCaller is the other side.
//
// ServeMessage returns when the handler has, also for oneway calls. Any number of goroutines may
// call it. It takes call over, which must not be changed any more: the arguments are not copied,
// and handlers may keep strings of them. With Recycle, call may be used again when ServeMessage
// has returned, unless interceptors return before the handler.
//
// A call of an unknown method, one with malformed arguments, and one whose handler fails are
// answered with an [ApplicationException]; the error is nil. ServeMessage returns an error, and no
// reply, for everything that must not be answered:
//
//	ErrVersion             the bytes are no message
//	io.ErrUnexpectedEOF    they end within the header of a message
//	nocopy.ErrLimit        they are more than MaxFrame
//	*ApplicationException  a oneway call of an unknown method, or a message that is no call
//	ErrNotHandled          a oneway call, if too many calls are under way, see MaxInFlight
//	*nocopy.Error          a oneway call with malformed arguments
//	ErrServerClosed        after Shutdown or Close
//
// The handler's context is ctx, and ends with Close, too. Call.Peer is nil: what interceptors and
// handlers need to know of the sender goes into ctx. Interceptors, Deadlines, Limits, MaxFrame,
// HideErrors, Recycle, Lazy, Health, Describe, MaxInFlight and Stats hold. What is about
// connections does not, nor MaxConns: how many calls there are at the same time is up to the
// program, if there is no MaxInFlight. A Server with SASL
// answers no call. Shutdown waits for calls. A handler runs in the goroutine that has called
// ServeMessage, and may end it by runtime.Goexit.
func (s *Server) ServeMessage(ctx context.Context, call []byte) (reply []byte, err error) {
	if ctx == nil {
		panic("nocopy: rpc.Server.ServeMessage with a nil Context")
	}
	s.init()
	s.check()
	reply, err = s.core.ServeMessage(ctx, call)
	if refused, ok := err.(*message.Refusal); ok && refused.Type == message.LoadShedding {
		err = &notHandled{ApplicationException{LoadShedding, refused.Text}, nil}
	}
	return reply, err
}
