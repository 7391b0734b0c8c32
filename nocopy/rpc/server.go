package rpc

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/impl"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/foreign"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/message"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/server"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/shared"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// Server answers calls. It tells framed from unframed clients by their first bytes, and answers
// each call in the protocol in which it came. Processor must be set; the zero value of every other
// field is a good default. No field may be changed once Serve has been called. The fields are in
// groups: what is served, ways of connecting, limits, time, handlers, shared memory, health and
// observation. The package's overview has a table of them, beside the options of clients.
type Server struct {
	Processor *Processor
	// Called around every handler, the first one outermost. None may be nil.
	Interceptors []Interceptor
	TLS          *tls.Config  // for all connections; nil means no TLS
	Logger       *slog.Logger // nil means slog.Default

	// WAYS OF CONNECTING
	//
	// Wires are the ways in which clients may speak on the server's connections, such as
	// WireFramed|WireUnframed. 0 means all. The first call of other clients is answered with
	// UnsupportedClientType, in the way in which it was made, or over HTTP with the status 400, and
	// the connection is closed.
	Wires Wires

	// SASL, if not nil, makes every client log in before its first call, as Apache's
	// TSaslServerTransport does; with TLS after the handshake. It returns the server's side of the
	// mechanism that the client asks for, for one login, or nil if there is no such mechanism. ctx is
	// the one of ConnContext, which may leave something there for the mechanism to note in who the
	// client is. The login must end within ReadTimeout: then ctx ends, and the connection. A client
	// whose login fails learns only that; the log has the reason. A mechanism that is a SASLSecurity
	// can protect the messages that follow.
	SASL func(ctx context.Context, mechanism string) SASLServer

	// ConnContext, if not nil, makes the context for the calls of a connection from ctx, which ends
	// with the connection. The contexts of oneway calls have its values, too. The server calls it
	// once per connection, before it reads the first call, in a goroutine of its own; it may take its
	// time. nc is the connection, with TLS a *tls.Conn after its handshake. ConnContext may close nc,
	// then or later, and ask it for addresses and the like. It must not read or write it.
	ConnContext func(ctx context.Context, nc net.Conn) context.Context

	// LIMITS
	//
	// MaxConns limits the connections of all listeners at the same time. 0 means 10,000. Further
	// connections wait to be accepted, except one per listener, which is accepted and waits to be
	// served. In addition, handlers may still run for as many connections whose clients are gone.
	MaxConns int
	// MaxFrame limits the bytes of a request, including its header. 0 means Limits.MaxBytes plus room
	// for a header, if that is set; otherwise 16,384,000 in a frame or over HTTP, and 100 MiB without
	// frames. It also limits what becomes of compressed requests: each of them, and, of requests that
	// are compressed more than 32 times, all together; see docs/services.md.
	MaxFrame int
	// Limits bounds the arguments of requests. Its MaxBytes is for the arguments' struct alone,
	// without the header. If it is 0, only MaxFrame bounds the size.
	Limits nocopy.Limits
	// Concurrency limits the calls of one connection that are under way at the same time. A call
	// counts from when it is read until its reply is written, or until it is refused because of
	// MaxInFlight. Further calls wait to be read, also while 16 times as many replies wait to be
	// written. 0 means 64. If a handler takes longer than a millisecond, the next call is handled at
	// the same time. With 1, calls are handled strictly one after the other.
	Concurrency int
	// MaxInFlight limits the calls that are handled at the same time, in whatever way they come: on
	// all connections together, over HTTP, and by ServeMessage. A call counts until its handler, or
	// the outermost interceptor, returns. Further calls wait, up to MaxQueued of them, in the order
	// in which they came. Each waits for at most ReadTimeout, or 30 s if that is no limit, for the
	// time that its client has sent with it (see the client's option Deadlines), and until its
	// client is gone. All others are refused at once, with an ApplicationException of type
	// LoadShedding or, over HTTP, with the status 503. Unless the server is Unordered, that answer
	// comes after those to earlier calls of its connection. Clients of this package then know that
	// the call was not handled (ErrNotHandled), and Retry repeats it. A oneway call is dropped,
	// except over HTTP, since nothing answers it. The log has a line for them every ten seconds at
	// most, and Stats.Refused counts each. Health checks that Health answers do not count, and do
	// not wait. 0 means no limit.
	MaxInFlight int
	// MaxQueued limits the calls that wait for a place among MaxInFlight. A call that is not refused
	// waits for about as long as handlers take, times MaxQueued, divided by MaxInFlight. 0 means
	// MaxInFlight. With a negative value no call waits.
	MaxQueued int
	// Unordered writes replies as soon as they are ready, for clients that match them by sequence
	// id, as clients of this package do. Otherwise replies are in the order of the calls.
	Unordered bool

	// TIME
	//
	// ReadTimeout limits the time for receiving a request once its first byte has arrived, for a TLS
	// handshake, and for a login by SASL; and how long a call waits for a place among MaxInFlight. 0
	// means 30 s. A negative value means no limit, except for that place, where it means 30 s.
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
	// anew. Replies are also written after it. 0 means 2 s. A negative value means no limit. Over
	// HTTP, both happen at once.
	HalfCloseTimeout time.Duration

	// HANDLERS
	//
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

	// SHARED MEMORY
	//
	// SharedMemory lets messages go through memory that is shared with clients that ask for it, on
	// listeners of unix sockets without TLS and SASL. 0 means that no memory is shared.
	SharedMemory SharedMemory
	// MaxShared limits the bytes of messages that each side of a connection has in shared memory at
	// the same time. 0 means 32 MiB. The least is 64 KiB, the most 1 GiB.
	MaxShared int

	// HEALTH AND OBSERVATION
	//
	// Health answers health checks. If it is nil, they are ordinary calls.
	Health *Health
	// DrainTime is how long Shutdown waits before it does anything else. Meanwhile health checks are
	// answered with StatusStopping, for load balancers to notice, and calls are served. It has no
	// effect without Health.
	DrainTime time.Duration

	// Describe makes the server return the IDL of its services to every client that asks for it, by
	// calling DescribeMethod. It says the services whose Processor knows its IDL: code that nocopyc
	// generated with -reflect does, see Processor.WithIDL. The files are told as they are, comments
	// included. Interceptors do not see these calls.
	Describe bool

	// Stats are functions that count; nil counts nothing. Interceptors see each call in addition.
	Stats *Stats

	once sync.Once
	// The outermost interceptor around callHandler; nil if there are no interceptors
	outermost Handler
	recycle   bool    // Recycle, or SharedMemory implies it
	health    *Method // answers health checks; nil if there is no Health
	describer *Method // returns the IDL; nil without Describe
	draining  atomic.Bool
	core      *server.Server // connections, and other ways in which calls come
}

func (s *Server) logger() *slog.Logger {
	if s.Logger != nil {
		return s.Logger
	}
	return slog.Default()
}

// log writes to the server's logger.
func (s *Server) log(level slog.Level, what string, args ...any) {
	foreign.Log(s.logger(), level, what, args)
}

// concealed is the text that clients get instead of one that they must not see; the id follows.
const concealed = "the server has failed; its log tells why under id "

// conceal logs v, a panic's value or an error that clients must not see, under a new id. It
// returns an answer that holds only a fixed text and that id. m, peer and stack may be nil.
func (s *Server) conceal(what string, m *Method, peer net.Addr, v any, stack []byte) *ApplicationException {
	id := fmt.Sprintf("%016x", rand.Uint64())
	args := []any{"id", id, "peer", peer, "err", foreign.Text(v)}
	if m != nil {
		args = append(args, "method", m.String())
	}
	if stack != nil {
		args = append(args, "stack", string(stack))
	}
	s.log(slog.LevelError, what, args...)
	return &ApplicationException{InternalError, concealed + id}
}

// handlerPanicked logs the panic v of the handler of m, and returns the answer for the client. It
// must be called by the deferred function that has recovered it. peer may be nil.
func (s *Server) handlerPanicked(m *Method, peer net.Addr, v any) *ApplicationException {
	if !lacksMethod(v) {
		return s.conceal("handler panicked", m, peer, v, debug.Stack())
	}
	text := "the handler has no method " + m.Name + ": it embeds an interface that is nil; embed Unimplemented" +
		strings.ToUpper(m.Service[:1]) + m.Service[1:] + "Handler instead"
	s.conceal("handler lacks a method", m, peer, text, nil)
	return &ApplicationException{UnknownMethod, text}
}

// lacksMethod reports whether a handler lacks the called method: it embeds a nil interface, and
// the method that the compiler has made for that panicked. v is the value of the panic that is
// under way. The caller of such a method is the function that NewVProcessor gives to HandledBy.
func lacksMethod(v any) bool {
	if _, ok := v.(runtime.Error); !ok {
		return false
	}
	var pcs [24]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs[:])])
	next := func() runtime.Frame {
		f, _ := frames.Next()
		return f
	}
	f := next()
	for f.PC != 0 && f.Function != "runtime.sigpanic" {
		f = next()
	}
	const compiled = "<autogenerated>"
	if f = next(); f.File != compiled {
		return false
	}
	for f.File == compiled {
		f = next()
	}
	return strings.HasPrefix(next().Function, ownPackage)
}

// ownPackage is the prefix of the names of this package's functions.
const ownPackage = "github.com/nocopythrift/nocopythrift/nocopy/rpc."

// newResult returns an empty result of m with room for a reply's header, built in shared memory if
// it is expected to be large. The call comes from there.
func (s *Server) newResult(from *server.Origin, m *Method) *nocopy.Message {
	room := message.HeaderRoom(len(m.Name))
	if from.Trusts {
		if chunk, ok := s.core.Sizes.Place(from.Shared, m.Result); ok {
			return impl.NewIn(m.Result, chunk, room, &s.Limits)
		}
	}
	return thriftimpl.NewForCall(m.Result, room, s.Limits, s.recycle)
}

// method returns the method that a call names, nil if there is none.
func (s *Server) method(h message.Header) *Method {
	if m := s.health; m != nil && string(h.Name[:min(len(m.prefix), len(h.Name))]) == m.prefix && string(h.Name[len(m.prefix):]) == m.Name {
		if own := s.Processor.methods[string(h.Name)]; own == nil {
			return m
		}
	}
	if s.describer != nil && string(h.Name) == DescribeMethod {
		return s.describer
	}
	if string(h.Name) == shared.Method { // there is none, which a fallback can't change
		return nil
	}
	return s.Processor.method(h.Name, h.Type == message.Oneway)
}

// bareName returns the name of a method for a reply: without the service's name and the colon that
// multiplexing clients put before it. No name of a method in an IDL has a colon.
func (s *Server) bareName(name []byte) string {
	if m := s.Processor.methods[string(name)]; m != nil {
		return m.Name
	}
	return string(name[bytes.LastIndexByte(name, ':')+1:])
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

// newDescribeMethod returns the method that returns the IDL; nil without Describe.
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
			thriftimpl.Struct(c.Result).AppendUnknown(rawDesc, 0, impl.WireValue(success))
		}
		return err
	}
	return m
}
