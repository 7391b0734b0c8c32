package rpc

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/nocopythrift/nocopythrift/internal/shm"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/foreign"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/message"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/shared"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/stats"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/transport"
)

// Option is a setting of a client, for Dial. Settings that a Server also has are named like its
// fields and mean the same.
type Option interface{ apply(*options) }

type options struct {
	transport    transport.Transport
	style        message.Style
	recycle      bool
	lazy         bool
	lazyMethods  map[string]bool // by WireName
	poolSize     int
	maxInFlight  int
	maxFrame     int
	limits       nocopy.Limits
	tls          *tls.Config
	logger       *slog.Logger
	interceptors []Interceptor
	dialTimeout  time.Duration
	stallTimeout time.Duration
	idleTimeout  time.Duration
	maxConnAge   time.Duration
	keepAlive    net.KeepAliveConfig
	deadlines    bool
	one          bool        // there is no connection but the first
	stats        *stats.Hook // nil: nothing is counted
	shared       SharedMemory
	maxShared    int
	sizes        *shared.Sizes // of arguments, if the peer is trusted; else nil
	httpClient   *http.Client  // nil: DialHTTP makes one

	dial  func(ctx context.Context, network, addr string) (net.Conn, error) // nil: a net.Dialer's
	login func(ctx context.Context, nc net.Conn) error                      // by SASL; nil: none
}

type optionFunc func(*options)

func (f optionFunc) apply(o *options) { f(o) }

// Unframed sends messages without frames, for servers with Thrift's buffered transport. Replies
// must come without frames too.
var Unframed Option = optionFunc(func(o *options) { o.transport = transport.Unframed })

// Recycle takes memory from pools and returns it when a result is released. Strings and bytes that
// were read from the result end then.
var Recycle Option = optionFunc(func(o *options) { o.recycle = true })

// Lazy parses results as nocopy.Lazy does: only values that are read are indexed. It saves time
// when results are forwarded. Without frames, results of more than a few KiB are indexed at once.
// Only one goroutine at a time may read a result, until its Message's Index has returned nil.
var Lazy Option = optionFunc(func(o *options) { o.lazy = true })

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

func (n PoolSize) apply(o *options) { o.poolSize = int(n) }

// OneConnection makes a client use no other connection than the one that Dial has made, for
// servers where a connection has a state that later calls rely on, such as the sessions of
// HiveServer2. Once it has ended, calls fail with ErrNotSent and the reason, and Retry does not
// repeat them: dial again, and build up the state anew. Without other values, IdleTimeout and
// MaxConnAge are off. PoolSize has no effect.
var OneConnection Option = optionFunc(func(o *options) { o.one = true })

// MaxInFlight limits the calls of a client that are under way at the same time, on all
// connections. Further calls wait. 0 means 1,024.
type MaxInFlight int

func (n MaxInFlight) apply(o *options) { o.maxInFlight = int(n) }

// Limits bounds the results of replies. Its MaxBytes is for the result's struct alone, without the
// header. If it is 0, only MaxFrame bounds the size.
type Limits nocopy.Limits

func (l Limits) apply(o *options) { o.limits = nocopy.Limits(l) }

// MaxFrame limits the bytes of a reply, including its header. A larger reply fails its call with
// nocopy.ErrLimit; without frames, it fails the connection. 0 means Limits.MaxBytes plus room for
// a header, if that is set; otherwise 16,384,000 in a frame and 100 MiB without frames.
type MaxFrame int

func (n MaxFrame) apply(o *options) { o.maxFrame = int(n) }

// DialTimeout limits the time for connecting, including TLS and a login by SASL. 0 means 10 s. A
// negative value means no limit.
type DialTimeout time.Duration

func (d DialTimeout) apply(o *options) { o.dialTimeout = time.Duration(d) }

// StallTimeout limits the time for writing calls, and for receiving a reply once its first byte
// has arrived. Then the connection fails. A write may fail after three quarters of the time. 0
// means 30 s. A negative value means no limit. The call's context bounds the time of the whole
// call.
type StallTimeout time.Duration

func (d StallTimeout) apply(o *options) { o.stallTimeout = time.Duration(d) }

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
	return optionFunc(func(o *options) { o.dial = dial })
}

// KeepAlive sets TCP's keepalive for a client's connections. The zero value keeps the settings of
// the net.Dialer, or of the Dialer that was given.
type KeepAlive net.KeepAliveConfig

func (k KeepAlive) apply(o *options) { o.keepAlive = net.KeepAliveConfig(k) }

// TLS makes a client use TLS. If c has no ServerName, it is the dialled host. c must not be nil.
func TLS(c *tls.Config) Option {
	if c == nil {
		panic("nocopy: rpc.TLS without a Config")
	}
	return optionFunc(func(o *options) { o.tls = c })
}

// Logger sets the logger for failed connections. The default is slog.Default. l must not be nil.
func Logger(l *slog.Logger) Option {
	if l == nil {
		panic("nocopy: rpc.Logger without a Logger")
	}
	return optionFunc(func(o *options) { o.logger = l })
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

// Deadlines makes a client send the time until the deadline of a call's context, if it has one, in
// the header TimeoutKey. A server with Deadlines ends the handler's context when that time has
// passed; other servers skip it. Each try of a call sends the time that is left for
// it. Oneway calls have no deadline: nobody waits for them.
//
// Deadlines is the innermost interceptor.
var Deadlines Option = optionFunc(func(o *options) { o.deadlines = true })

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

func (m SharedMemory) apply(o *options) { o.shared = m }

// MaxShared limits the bytes of messages that each side of a connection has in shared memory at
// the same time. Further messages go over the socket. Memory that was used once stays with the
// connection. 0 means 32 MiB. The least is 64 KiB, the most 1 GiB.
type MaxShared int

func (n MaxShared) apply(o *options) { o.maxShared = int(n) }

const defaultMaxShared = 32 << 20

// mostLingering is for how many connections that have ended messages may keep the memory before
// new ones copy what they receive, also with TrustPeer.
const mostLingering = 64

// trusts reports whether messages of a new connection are used where they lie.
func (m SharedMemory) trusts() bool { return m == TrustPeer && shm.Lingering() < mostLingering }

// IdleTimeout limits how long a client keeps a connection without a call. The client may close it
// up to a quarter earlier. It should be shorter than the idle timeouts of the server and of
// anything between, which otherwise might close a connection just as a call is sent. 0 means 50 s.
// A negative value means no limit. If no connection is left, the next call dials.
type IdleTimeout time.Duration

func (d IdleTimeout) apply(o *options) { o.idleTimeout = time.Duration(d) }

// MaxConnAge is about how long a client uses a connection; each gets up to a tenth more or less.
// Afterwards new calls go to other connections, and the old one is closed when its calls have
// ended. 0 means 30 minutes. A negative value means no limit.
type MaxConnAge time.Duration

func (d MaxConnAge) apply(o *options) { o.maxConnAge = time.Duration(d) }

const (
	defaultIdle = 50 * time.Second
	defaultAge  = 30 * time.Minute
)

// warn writes a warning to the logger.
func (o *options) warn(what string, args ...any) { foreign.Log(o.logger, slog.LevelWarn, what, args) }

// orDefault returns the value of a setting: def if it is 0, and 0, for no limit, if it is
// negative.
func orDefault[T int | time.Duration](v, def T) T {
	if v == 0 {
		return def
	}
	return max(v, 0)
}

// defaultTimeout is the value of time limits of 0, unless their comments say otherwise.
const defaultTimeout = 30 * time.Second
