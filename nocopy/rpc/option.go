package rpc

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net"
	"time"

	"github.com/nocopythrift/nocopythrift/nocopy"
)

// Option is a setting of a client, for Dial. Settings that a Server has too are named and mean the
// same as its fields.
type Option interface{ apply(*options) }

type options struct {
	unframed     bool
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
	stats        *statsHook // nil: nothing is counted
	shared       SharedMemory
	maxShared    int
	sizes        *sizes // of arguments, if the peer is trusted; else nil
	dial         func(ctx context.Context, network, addr string) (net.Conn, error)
}

type optionFunc func(*options)

func (f optionFunc) apply(o *options) { f(o) }

// Unframed means that messages are sent without frames, for servers with Thrift's buffered
// transport. Replies must come without frames too.
var Unframed Option = optionFunc(func(o *options) { o.unframed = true })

// Recycle means that memory comes from pools and returns to them when a result is released:
// strings and bytes that were read from it must not be kept longer.
var Recycle Option = optionFunc(func(o *options) { o.recycle = true })

// Lazy means that results are parsed as nocopy.Lazy has it: only what is touched is indexed, which
// pays where they are forwarded. Without frames, results of more than some KiB are indexed at
// once. One goroutine at a time may read a result, until its Message's Index has returned nil.
var Lazy Option = optionFunc(func(o *options) { o.lazy = true })

// LazyMethods makes a client parse the results of the methods with these names lazily, see Lazy.
// In multiplexed calls the names are "service:method".
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

// PoolSize is the most connections that a client has at a time; they are made when they are
// needed. 4 if 0.
type PoolSize int

func (n PoolSize) apply(o *options) { o.poolSize = int(n) }

// MaxInFlight is the most calls of a client that are under way at a time, on all connections;
// further ones wait. 1,024 if 0.
type MaxInFlight int

func (n MaxInFlight) apply(o *options) { o.maxInFlight = int(n) }

// Limits bounds the results of replies. Its MaxBytes is for the result's struct alone, without the
// header; if 0, only MaxFrame bounds its size.
type Limits nocopy.Limits

func (l Limits) apply(o *options) { o.limits = nocopy.Limits(l) }

// MaxFrame is the most bytes of a reply, its header included. The call of a larger one fails with
// nocopy.ErrLimit; without frames, its connection does. If 0 it is Limits.MaxBytes and room
// for a header, if that is set; else 16,384,000 in a frame and 100 MiB without frames.
type MaxFrame int

func (n MaxFrame) apply(o *options) { o.maxFrame = int(n) }

// DialTimeout is how long connecting may take, TLS included. 10 s if 0, no limit if negative.
type DialTimeout time.Duration

func (d DialTimeout) apply(o *options) { o.dialTimeout = time.Duration(d) }

// StallTimeout is how long a write of calls may take, and how long a reply may take to arrive once
// its first byte has; then the connection fails. A write may end after three quarters of that. 30
// s if 0, no limit if negative. It does not bound the time of a call, which the call's context
// does.
type StallTimeout time.Duration

func (d StallTimeout) apply(o *options) { o.stallTimeout = time.Duration(d) }

// Dialer makes a client connect by calling dial, which may be called by several goroutines at a
// time, in the place of a net.Dialer's DialContext: to go through a proxy, or to have connections
// watched (package inspect). It must return when its context ends. If it panics when a connection
// is to be replaced, the calls that need it fail with ErrNotSent; a panic in Dial is the caller's.
// TLS is on top of the connection that it returns. dial must not be nil.
func Dialer(dial func(ctx context.Context, network, addr string) (net.Conn, error)) Option {
	if dial == nil {
		panic("nocopy: rpc.Dialer without a function")
	}
	return optionFunc(func(o *options) { o.dial = dial })
}

// TLS makes a client use TLS. If c has no ServerName it is the host that is dialled. c must not be
// nil.
func TLS(c *tls.Config) Option {
	if c == nil {
		panic("nocopy: rpc.TLS without a Config")
	}
	return optionFunc(func(o *options) { o.tls = c })
}

// Logger sets the logger for connections that fail. slog.Default if not given. l must not be nil.
func Logger(l *slog.Logger) Option {
	if l == nil {
		panic("nocopy: rpc.Logger without a Logger")
	}
	return optionFunc(func(o *options) { o.logger = l })
}

// Interceptors sets interceptors around every call, the first one outermost. Given again, it adds
// inner ones.
//
// An interceptor may call next any number of times, one after the other. Each call of next sends
// Args, which the interceptor may read and change in between, and sets Result; it ends the Result
// that next has set before. For calls of next at the same time, each needs its own copy of the
// Call, made before the first of them begins; of two with the same Call the second fails. Structs
// that an interceptor puts into Args or Result stay its own: a copy is sent or returned.
//
// The call returns the Result that the outermost interceptor leaves, or its error; a declared
// exception in Result is an error in any case. When it returns, tries that are still under way are
// given up, and next fails; when all calls of next have returned, Args and all other results end.
// A panic of an interceptor is not recovered.
func Interceptors(f ...Interceptor) Option {
	for _, i := range f {
		if i == nil {
			panic("nocopy: rpc.Interceptors without an Interceptor")
		}
	}
	return optionFunc(func(o *options) { o.interceptors = append(o.interceptors, f...) })
}

// Intercept is what Interceptors was called before.
//
// Deprecated: use Interceptors.
func Intercept(f ...Interceptor) Option { return Interceptors(f...) }

// warn writes a warning to the logger.
func (o *options) warn(what string, args ...any) { writeLog(o.logger, warn, what, args) }

const (
	defaultPoolSize    = 4
	defaultMaxInFlight = 1024
	defaultDialTimeout = 10 * time.Second
)

// optionsOf returns the settings that the options make, with defaults for the others.
func optionsOf(list []Option) options {
	o := options{logger: slog.Default(), dial: new(net.Dialer).DialContext}
	for _, opt := range list {
		if opt == nil {
			panic("nocopy: a nil rpc.Option")
		}
		opt.apply(&o)
	}
	if o.deadlines {
		o.interceptors = append(o.interceptors, sendDeadline)
	}
	o.poolSize = max(orDefault(o.poolSize, defaultPoolSize), 1)
	o.maxInFlight = max(orDefault(o.maxInFlight, defaultMaxInFlight), 1)
	o.dialTimeout = orDefault(o.dialTimeout, defaultDialTimeout)
	o.stallTimeout = orDefault(o.stallTimeout, defaultTimeout)
	o.idleTimeout = orDefault(o.idleTimeout, defaultIdle)
	o.maxConnAge = orDefault(o.maxConnAge, defaultAge)
	if o.shared == TrustPeer {
		o.recycle, o.sizes = true, new(sizes)
	}
	return o
}
