package rpc

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/nocopythrift/nocopythrift/internal/memory"
	"github.com/nocopythrift/nocopythrift/internal/shm"
	"github.com/nocopythrift/nocopythrift/linkbuf"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/client"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/foreign"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/message"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/sasl"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/shared"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/socket"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/stats"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/transport"
)

// Option is a setting of a client, for Dial. Settings that a Server also has are named like its
// fields and mean the same.
type Option interface{ apply(*options) }

type options struct {
	client.Config
	lazy         bool
	lazyMethods  map[string]bool // by WireName
	interceptors []Interceptor
	deadlines    bool
}

type optionFunc func(*options)

func (f optionFunc) apply(o *options) { f(o) }

// Flag is an Option that needs no value.
type Flag uint8

const (
	// Unframed sends messages without frames, for servers with Thrift's buffered transport. Replies
	// must come without frames too.
	Unframed Flag = 1 + iota

	// Deadlines makes a client send the time until the deadline of a call's context, if it has one,
	// in the header TimeoutKey. A server with Deadlines ends the handler's context when that time
	// has passed; other servers skip it. Each try of a call sends the time that is left for it.
	// Oneway calls have no deadline: nobody waits for them.
	//
	// Deadlines is the innermost interceptor.
	Deadlines

	// Recycle takes memory from pools and returns it when a result is released. Strings and bytes
	// that were read from the result end then.
	Recycle

	// Lazy parses results as nocopy.Lazy does: only values that are read are indexed. It saves time
	// when results are forwarded. Without frames, results of more than a few KiB are indexed at
	// once. Only one goroutine at a time may read a result, until its Message's Index has returned
	// nil.
	Lazy

	// OneConnection makes a client use no other connection than the one that Dial has made, for
	// servers where a connection has a state that later calls rely on, such as the sessions of
	// HiveServer2. Once it has ended, calls fail with ErrNotSent and the reason, and Retry does not
	// repeat them: dial again, and build up the state anew. Without other values, IdleTimeout and
	// MaxConnAge are off. PoolSize has no effect.
	OneConnection
)

func (f Flag) apply(o *options) {
	switch f {
	case Unframed:
		o.Transport = transport.Unframed
	case Deadlines:
		o.deadlines = true
	case Recycle:
		o.Recycle = true
	case Lazy:
		o.lazy = true
	case OneConnection:
		o.One = true
	default:
		panic("nocopy: an unknown rpc.Flag")
	}
}

// LazyMethods parses the results of the methods with these names lazily; see Lazy. In multiplexed
// calls the names are "service:method".
func LazyMethods(names ...string) Option {
	return optionFunc(func(o *options) {
		if o.lazyMethods == nil {
			o.lazyMethods = map[string]bool{}
		}
		for _, name := range names {
			o.lazyMethods[name] = true
		}
	})
}

// isLazy reports whether results of m are parsed lazily.
func (o *options) isLazy(m *Method) bool {
	return o.lazy || o.lazyMethods != nil && o.lazyMethods[m.WireName()]
}

// PoolSize limits the connections that a client has at the same time. They are made when they are
// needed. 0 means 4.
type PoolSize int

func (n PoolSize) apply(o *options) { o.PoolSize = int(n) }

// MaxInFlight limits the calls of a client that are under way at the same time, on all
// connections. Further calls wait. 0 means 1,024.
type MaxInFlight int

func (n MaxInFlight) apply(o *options) { o.MaxInFlight = int(n) }

// Limits bounds the results of replies. Its MaxBytes is for the result's struct alone, without the
// header. If it is 0, only MaxFrame bounds the size.
type Limits nocopy.Limits

func (l Limits) apply(o *options) { o.Limits = nocopy.Limits(l) }

// MaxFrame limits the bytes of a reply, including its header. A larger reply fails its call with
// nocopy.ErrLimit; without frames, it fails the connection. 0 means Limits.MaxBytes plus room for
// a header, if that is set; otherwise 16,384,000 in a frame and 100 MiB without frames.
type MaxFrame int

func (n MaxFrame) apply(o *options) { o.MaxFrame = int(n) }

// DialTimeout limits the time for connecting, including TLS and a login by SASL. 0 means 10 s. A
// negative value means no limit.
type DialTimeout time.Duration

func (d DialTimeout) apply(o *options) { o.DialTimeout = time.Duration(d) }

// StallTimeout limits the time for writing calls, and for receiving a reply once its first byte
// has arrived. Then the connection fails. A write may fail after three quarters of the time. 0
// means 30 s. A negative value means no limit. The call's context bounds the time of the whole
// call.
type StallTimeout time.Duration

func (d StallTimeout) apply(o *options) { o.StallTimeout = time.Duration(d) }

// Dialer makes a client connect by calling dial instead of a net.Dialer's DialContext, for example
// to go through a proxy, or to have connections watched (package inspect). dial must not be nil.
// Several goroutines may call it at the same time. It must return when its context ends. TLS runs
// on top of the connection that it returns. If dial panics in Dial, the panic reaches the caller.
// If it panics when a connection is replaced, the calls that need the connection fail with
// ErrNotSent.
func Dialer(dial func(ctx context.Context, network, addr string) (net.Conn, error)) Option {
	if dial == nil {
		panic("nocopy: rpc.Dialer without a function")
	}
	return optionFunc(func(o *options) { o.DialFunc = dial })
}

// KeepAlive sets TCP's keepalive for a client's connections. The zero value keeps the settings of
// the net.Dialer, or of the Dialer that was given.
type KeepAlive net.KeepAliveConfig

func (k KeepAlive) apply(o *options) { o.KeepAlive = net.KeepAliveConfig(k) }

// TLS makes a client use TLS. If c has no ServerName, it is the dialled host. c must not be nil.
func TLS(c *tls.Config) Option {
	if c == nil {
		panic("nocopy: rpc.TLS without a Config")
	}
	return optionFunc(func(o *options) { o.TLS = c })
}

// Logger sets the logger for failed connections, and for replies that no call waits for: of these
// the first on a connection is logged. The default is slog.Default. l must not be nil.
func Logger(l *slog.Logger) Option {
	if l == nil {
		panic("nocopy: rpc.Logger without a Logger")
	}
	return optionFunc(func(o *options) { o.Logger = l })
}

// Interceptors sets interceptors around every call, the first one outermost. Further uses of the
// option add inner ones.
//
// An interceptor may call next any number of times in turn. Each call of next sends Args, which
// the interceptor may read and change in between, and sets Result. It ends the Result that an
// earlier next has set. For calls of next at the same time, each needs its own copy of the Call,
// made before the first of them begins; if two use the same Call, the second fails. Structs that
// an interceptor puts into Args or Result stay its own: a copy is sent or returned.
//
// The call returns the outermost interceptor's error or the Result that it leaves. A declared
// exception in Result is always returned as an error. When the call returns, tries that are still
// under way are given up, and their next fails. When all calls of next have returned, Args and all
// other results end. A panic of an interceptor is not recovered.
func Interceptors(f ...Interceptor) Option {
	for _, i := range f {
		if i == nil {
			panic("nocopy: rpc.Interceptors without an Interceptor")
		}
	}
	return optionFunc(func(o *options) { o.interceptors = append(o.interceptors, f...) })
}

// SharedMemory lets messages go through memory that client and server share, if both ask for it.
// It needs Linux 5.14, unix sockets, and Thrift Binary in plain frames, and does not work with
// TLS. Its value says how a side treats the messages that it receives; the other side may choose
// differently. With the zero value the socket carries all bytes. It also carries them when no
// memory can be shared or the memory is full, and messages smaller than 32 KiB (16 KiB while other
// calls are under way).
type SharedMemory uint8

const (
	// CopyFromPeer copies a received message out of the shared memory before looking at it. The
	// message therefore stays as it was checked: the peer can't change it any more.
	CopyFromPeer SharedMemory = 1 + iota

	// TrustPeer uses received messages where they are, for peers that are trusted like this
	// process itself. The peer could change them at any time. It can't make this process read or
	// write other memory, but it can make it see values that were never checked, and panic.
	// Messages to the peer are built where it can see them, including values that are replaced
	// before sending.
	//
	// TrustPeer implies Recycle, for all connections and also for the arguments of a client's
	// calls. Using values that were read from a message after its end may fault and end the
	// process. Messages that are not released keep their room. So do arguments of a call that was
	// not made because the function that fills them panicked.
	TrustPeer
)

func (m SharedMemory) apply(o *options) { o.Shared = shared.Mode(m) }

// MaxShared limits the bytes of messages that each side of a connection has in shared memory at
// the same time. Further messages go over the socket. Memory that was used once stays with the
// connection. 0 means 32 MiB. The least is 64 KiB, the most 1 GiB.
type MaxShared int

func (n MaxShared) apply(o *options) { o.MaxShared = int(n) }

// IdleTimeout limits how long a client keeps a connection without a call. The client may close it
// up to a quarter earlier. It should be shorter than the idle timeouts of the server and of
// anything between, which otherwise might close a connection just as a call is sent. 0 means 50 s.
// A negative value means no limit. If no connection is left, the next call dials.
type IdleTimeout time.Duration

func (d IdleTimeout) apply(o *options) { o.IdleTimeout = time.Duration(d) }

// MaxConnAge is about how long a client uses a connection; each gets up to a tenth more or less.
// Afterwards new calls go to other connections, and the old one is closed when its calls have
// ended. 0 means 30 minutes. A negative value means no limit.
type MaxConnAge time.Duration

func (d MaxConnAge) apply(o *options) { o.MaxConnAge = time.Duration(d) }

// Wires is a set of the ways in which a client may speak to a [Server], joined with |. The server
// tells by the first bytes of a connection whether it has frames, and by the first bytes of each
// message in which protocol it is.
type Wires uint16

// The ways to speak to a Server.
const (
	WireFramed          = Wires(transport.FramedBinary)    // Thrift Binary in frames
	WireUnframed        = Wires(transport.UnframedBinary)  // Thrift Binary without frames
	WireFramedCompact   = Wires(transport.FramedCompact)   // the compact protocol in frames
	WireUnframedCompact = Wires(transport.UnframedCompact) // the compact protocol without frames
	WireHTTP            = Wires(transport.HTTP)            // HTTP, with either protocol
	WireTHeader         = Wires(transport.InTHeader)       // frames of Apache's THeaderTransport
)

// Protocol is the encoding of a client's calls, and of the replies to them. It is an option of
// Dial:
//
//	rpc.Dial(ctx, "tcp", addr, rpc.Protocol(rpc.Compact))
//
// A server needs no option: it answers in the protocol of the call.
type Protocol uint8

const (
	Binary  Protocol = iota // Thrift Binary: messages are used in place
	Compact                 // Thrift's compact protocol: they are turned into Thrift Binary, and back
)

func (p Protocol) apply(o *options) {
	switch p {
	case Binary:
		o.Style.Form = message.Strict
	case Compact:
		o.Style.Form = message.Compact
	default:
		panic("nocopy: an unknown rpc.Protocol")
	}
}

// THeader makes a client speak with Apache's THeaderTransport: in frames that have headers besides
// the message, see SetHeader. Replies must come in such frames, too. Protocol chooses the encoding
// of the messages. THeader does not go together with Unframed.
//
//	rpc.Dial(ctx, "tcp", addr, rpc.THeader(rpc.Zlib), rpc.Protocol(rpc.Compact))
//
// A server needs no option: it answers with the protocol, transforms and flags of the call.
func THeader(opts ...THeaderOption) Option {
	var t message.THeader
	for _, opt := range opts {
		if opt != Zlib {
			panic("nocopy: an unknown rpc.THeaderOption")
		}
		t.Zlib = true
	}
	return optionFunc(func(o *options) { o.Style.THeader = &t })
}

// THeaderOption is a setting of THeader.
type THeaderOption uint8

// Zlib compresses calls. A server of this package compresses the replies to them, as Apache's do.
// Compressed messages are decompressed into memory for at most MaxFrame bytes. Messages that are
// compressed more than 32 times share a limit for the whole client, and may have to wait for each
// other; see docs/services.md.
const Zlib THeaderOption = 1

// Stats are functions that a Server calls to count events, and a Client that has them as an
// option. Any of them may be nil. Without Stats nothing is measured. The goroutines that carry
// calls call them, several at the same time. They must neither wait nor end their goroutine. A
// panic is recovered; the first one is logged. Stats must not be changed once they are in use.
type Stats struct {
	// Conns is called with 1 when a connection was made, and with −1 when nothing uses it any more.
	Conns func(delta int)
	// InFlight is called with 1 and −1. On a server, these mark when the outermost interceptor, or
	// the handler if there is none, is called and returns. On a client, they mark when a call, or a
	// try of it, gets its place among MaxInFlight, and when it ends.
	InFlight func(delta int)
	// Queued is called once per call, with the time that it has waited. On a server, that is the time
	// from the arrival of its last byte until it is handled. On a client, it is the time until the
	// call is written: waiting for a place among MaxInFlight, for a connection, and for other calls
	// to be written. A client's call that is never written is not counted.
	Queued func(time.Duration)
	// Waiting is called on a server with 1 and −1, when a call begins and ends to wait for a place
	// among MaxInFlight. Calls that find a place at once do not wait. A call that has got a place
	// counts until its goroutine runs again. Meanwhile another one may wait, so that the sum can
	// exceed MaxQueued for a moment.
	Waiting func(delta int)
	// Received is called with the number of bytes read from a connection. Sent is called with the
	// number of bytes written, and how many of them were sent without copying. Both include headers,
	// frames, and messages in shared memory. With TLS they count bytes before encryption. Over HTTP,
	// they count the bodies of requests and responses.
	Received func(bytes int)
	Sent     func(linkbuf.Stats)
	// Converted is called with the number of bytes in Thrift Binary of a struct that was received or
	// sent in another form, such as the compact protocol. They were copied, and Sent does not count
	// them as sent without copying.
	Converted func(bytes int)
	// Refused is called on a server when a message is not handled, with the type of the answer, such
	// as UnknownMethod if the IDL has no such method, or LoadShedding if too many calls are under
	// way, also when a oneway call is dropped. Interceptors do not see such messages. Refused is not
	// called for what interceptors and handlers answer: an error that an interceptor returns, or a
	// method that the handler has only from its UnimplementedXHandler.
	Refused func(ExceptionType)
}

func (s *Stats) apply(o *options) {
	if s == nil {
		panic("nocopy: a nil *rpc.Stats as an Option")
	}
	o.Stats = s.hook(func(what string, args ...any) { foreign.Log(o.Logger, slog.LevelWarn, what, args) })
}

// BlockStats counts the blocks of memory for messages in this process, both recycled blocks and
// those left to the garbage collector.
type BlockStats struct {
	Taken    uint64 // from the pools, or made because they were empty
	Returned uint64 // to the pools; others are in use or left to the garbage collector
}

// ReadBlockStats returns the counts since the first Server or Client in the process got Stats.
func ReadBlockStats() BlockStats {
	taken, returned := memory.Blocks()
	return BlockStats{Taken: taken, Returned: returned}
}

// hook returns a Hook that calls the functions of s; nil if s is nil. The first panic is logged
// with warn.
func (s *Stats) hook(warn func(what string, args ...any)) *stats.Hook {
	if s == nil {
		return nil
	}
	f := stats.Functions{Conns: s.Conns, InFlight: s.InFlight, Waiting: s.Waiting, Queued: s.Queued, Received: s.Received, Sent: s.Sent, Converted: s.Converted}
	if refused := s.Refused; refused != nil {
		f.Refused = func(t int32) { refused(ExceptionType(t)) }
	}
	return stats.New(f, func(args ...any) { warn("a function of Stats panicked", args...) })
}

// SASLClient is the client's side of an SASL mechanism such as PLAIN. The Client of package
// github.com/emersion/go-sasl is one. Its methods must return soon: nothing interrupts them, also
// not DialTimeout.
//
// A mechanism whose Start asks others, such as a KDC, also has a method StartContext, which is
// Start with a context as its argument. It is called instead, and must return when the context
// ends: that of the dial, with DialTimeout.
type SASLClient interface {
	// Start begins a login. response is the first response, which is sent at once: nil if the
	// mechanism waits for a challenge.
	Start() (mechanism string, response []byte, err error)
	// Next answers a challenge of the server. It is not called for a server that ends the login
	// without one. A mechanism that insists that the server proves who it is is a SASLSecurity.
	Next(challenge []byte) (response []byte, err error)
}

// SASLServer is the server's side of an SASL mechanism, for one login. The Server of package
// github.com/emersion/go-sasl is one.
type SASLServer interface {
	// Next judges a response of the client, which is nil if the client waits for a challenge.
	// done reports that the login has succeeded; challenge is then the last thing that the client
	// gets to see. The client does not get to see err.
	Next(response []byte) (challenge []byte, done bool, err error)
}

// SASLSecurity is what a SASLClient or SASLServer also is whose mechanism has security layers,
// such as GSSAPI's auth-int and auth-conf, or wants the last word on a login.
type SASLSecurity interface {
	// Secure is called after each login that has succeeded, as far as the other end says. It returns
	// the connection that carries the messages from then on, which is on top of nc and protects each
	// frame as Apache's TSaslTransport does; nil if messages are not to be protected. A frame that is
	// received has at most maxFrame bytes, without its length. If Secure returns an error, the login
	// has failed; a client notices so a server that ends the login before it has proved who it is.
	//
	// The connection is for one goroutine that reads and one that writes. If a deadline ends a Read,
	// the next one must go on where it has stopped. Its other methods must do what those of nc do.
	Secure(nc net.Conn, maxFrame int) (net.Conn, error)
}

// startsWithin is a mechanism whose login begins within a context, if it has such a method.
type startsWithin struct {
	SASLClient
	ctx context.Context
}

func (s startsWithin) Start() (mechanism string, response []byte, err error) {
	if m, ok := s.SASLClient.(interface {
		StartContext(ctx context.Context) (mechanism string, response []byte, err error)
	}); ok {
		return m.StartContext(s.ctx)
	}
	return s.SASLClient.Start()
}

// secured returns what carries messages after a login with a mechanism, nil for nc itself.
func secured(mechanism any, nc net.Conn, maxFrame int) (net.Conn, error) {
	if s, ok := mechanism.(SASLSecurity); ok {
		return s.Secure(shm.Guard(nc), maxFrame)
	}
	return nil, nil
}

// saslServer is a SASLServer for package sasl.
type saslServer struct{ SASLServer }

func (s saslServer) Secure(nc net.Conn, maxFrame int) (net.Conn, error) {
	return secured(s.SASLServer, nc, maxFrame)
}

// ErrLogin is the error of a login by SASL that one side has refused, or that could not begin.
var ErrLogin = sasl.ErrRefused

// SASL makes a client log in with a mechanism on every connection, as Apache's
// TSaslClientTransport does. Servers of Hive and Impala demand that. With TLS, the login comes
// after the handshake.
//
// Logins with m are made one after the other, even if several clients were given the same Option.
// Messages are in frames, which m protects if it is a SASLSecurity. There is no shared memory. m
// must not be nil, and not be used with Unframed. DialTimeout includes the login. If it fails,
// Dial returns ErrLogin, and calls whose connection is replaced return ErrNotSent, which then
// wraps ErrLogin.
func SASL(m SASLClient) Option {
	if m == nil {
		panic("nocopy: rpc.SASL without a mechanism")
	}
	turn := make(chan struct{}, 1)
	return optionFunc(func(o *options) {
		o.Login = func(ctx context.Context, nc net.Conn, maxFrame int) (on net.Conn, err error) {
			select {
			case turn <- struct{}{}:
				defer func() { <-turn }()
			case <-ctx.Done():
				return nil, ctx.Err()
			}
			err = sasl.During(ctx, func() { socket.Close(nc) }, func() error { return sasl.Login(sasl.Halves{In: shm.ReaderOf(nc), Writer: nc}, startsWithin{m, ctx}) })
			if err == nil {
				if on, err = secured(m, nc, maxFrame); err != nil {
					err = fmt.Errorf("%w: %w", ErrLogin, err)
				}
			}
			if err != nil && !errors.Is(err, ErrLogin) {
				err = fmt.Errorf("login by SASL: %w", err)
			}
			return on, err
		}
	})
}

// HTTPClient makes DialHTTP use a copy of c, with its Transport, redirects, cookies and Timeout.
// Use it for tokens: a Transport adds them to each request. Several callers may share c; closing
// them does not close its connections. c must not be nil.
//
// A request's body can be read once. After its first byte was read, GetBody and other readers
// return an error. A redirect is followed if it has the status 307 or 308 and no byte of the call
// was read. With an [http.Transport] that is so if requests have the header Expect: 100-continue
// and ExpectContinueTimeout is set. Each other redirect is an [HTTPError], and the error of the
// call also wraps ErrConnLost if the call was sent. A call that a server of HTTP/2 has refused
// returns ErrConnLost if the Transport is not an *http.Transport.
func HTTPClient(c *http.Client) Option {
	if c == nil {
		panic("nocopy: rpc.HTTPClient without a Client")
	}
	return optionFunc(func(o *options) { o.HTTPClient = c })
}
