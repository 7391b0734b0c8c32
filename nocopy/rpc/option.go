package rpc

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net"
	"time"

	"github.com/nocopythrift/nocopythrift/nocopy"
)

// Option says how a client is to behave.
type Option interface{ apply(*options) }

type options struct {
	unframed     bool
	recycle      bool
	poolSize     int
	maxInFlight  int
	maxFrame     int
	limits       nocopy.Limits
	tls          *tls.Config
	logger       *slog.Logger
	interceptors []Interceptor
	dialTimeout  time.Duration
	ioTimeout    time.Duration
	dial         func(ctx context.Context, network, addr string) (net.Conn, error) // a net.Dialer's but in tests
}

type optionFunc func(*options)

func (f optionFunc) apply(o *options) { f(o) }

// Unframed sends messages without frames: for servers with Thrift's buffered transport. Replies
// then come without frames too.
var Unframed Option = optionFunc(func(o *options) { o.unframed = true })

// Recycle takes memory from pools and gives it back when a result is released: what was read from
// it dies then.
var Recycle Option = optionFunc(func(o *options) { o.recycle = true })

// PoolSize is the most connections that a client keeps; they are made when needed. Without it
// there are 4.
type PoolSize int

func (n PoolSize) apply(o *options) { o.poolSize = int(n) }

// MaxInFlight is the most calls of a client that are under way at a time; others wait. Without it
// there are 1,024.
type MaxInFlight int

func (n MaxInFlight) apply(o *options) { o.maxInFlight = int(n) }

// Limits bounds the replies that a client accepts. MaxBytes is of a reply's struct; without it
// MaxFrame alone counts.
type Limits nocopy.Limits

func (l Limits) apply(o *options) { o.limits = nocopy.Limits(l) }

// MaxFrame is the most bytes of a reply, its header included. Without it that is what
// Limits.MaxBytes and a header need, if that is set; else 16,384,000 in a frame and 100 MiB
// without.
type MaxFrame int

func (n MaxFrame) apply(o *options) { o.maxFrame = int(n) }

// DialTimeout is how long connecting may take, TLS included. Without it that is 10 s.
type DialTimeout time.Duration

func (d DialTimeout) apply(o *options) { o.dialTimeout = time.Duration(d) }

// StallTimeout is how long writing what is queued may take, and a reply to arrive once it has
// begun, before a connection is given up. Without it that is 30 s. How long a call may take is for
// its context to say.
type StallTimeout time.Duration

func (d StallTimeout) apply(o *options) { o.ioTimeout = time.Duration(d) }

// TLS makes a client speak TLS. Without a ServerName it is the host that was dialled. c may be
// empty, but not nil.
func TLS(c *tls.Config) Option {
	if c == nil {
		panic("nocopy: rpc.TLS without a Config")
	}
	return optionFunc(func(o *options) { o.tls = c })
}

// Logger is told of connections that fail. Without it that is slog.Default.
func Logger(l *slog.Logger) Option {
	if l == nil {
		panic("nocopy: rpc.Logger without a Logger")
	}
	return optionFunc(func(o *options) { o.logger = l })
}

// Intercept puts interceptors around every call, the first one outermost.
//
// An interceptor may call next any number of times, one after the other. Each time sends Args,
// which it may read and change in between, and sets Result, having released the one that next
// had set there before. Tries at the same time need a copy of the Call each, made before the
// first of them begins; of two with one Call the second fails. What an interceptor puts into
// Args or Result stays its own: a copy is sent or returned.
//
// The call returns the Result that the outermost interceptor leaves, or its error; a declared
// exception in Result is an error in any case. Tries that are still under way are given up then,
// next fails from then on, and when all calls of it have returned, Args and all other results
// end. An interceptor's panic is the caller's.
func Intercept(f ...Interceptor) Option {
	for _, i := range f {
		if i == nil {
			panic("nocopy: rpc.Intercept without an Interceptor")
		}
	}
	return optionFunc(func(o *options) { o.interceptors = append(o.interceptors, f...) })
}

// warn logs. It survives a logger that panics.
func (o *options) warn(what string, args ...any) {
	defer func() { recover() }()
	o.logger.Warn("rpc: "+what, args...)
}

const (
	defaultPoolSize    = 4
	defaultMaxInFlight = 1024
	defaultDialTimeout = 10 * time.Second
)

func optionsOf(list []Option) options {
	o := options{
		poolSize: defaultPoolSize, maxInFlight: defaultMaxInFlight,
		dialTimeout: defaultDialTimeout, ioTimeout: defaultTimeout, logger: slog.Default(),
		dial: new(net.Dialer).DialContext,
	}
	for _, opt := range list {
		if opt == nil {
			panic("nocopy: a nil rpc.Option")
		}
		opt.apply(&o)
	}
	o.poolSize, o.maxInFlight = max(o.poolSize, 1), max(o.maxInFlight, 1)
	return o
}
