package client

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nocopythrift/nocopythrift/internal/compressed"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/foreign"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/message"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/shared"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/socket"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/stats"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/transport"
)

// Config has the settings of a client. Package rpc sets the defaults, except where said otherwise:
// 0 is no limit then.
type Config struct {
	Transport    transport.Transport
	Style        message.Style
	Recycle      bool
	PoolSize     int
	MaxInFlight  int
	MaxFrame     int           // 0: as transport.LimitsOf says
	Limits       nocopy.Limits // of results
	TLS          *tls.Config   // nil: none
	Logger       *slog.Logger
	DialTimeout  time.Duration
	StallTimeout time.Duration
	IdleTimeout  time.Duration
	MaxConnAge   time.Duration
	KeepAlive    net.KeepAliveConfig // zero: as the dialled connection has it
	One          bool                // there is no connection but the first
	Stats        *stats.Hook         // nil: nothing is counted
	Shared       shared.Mode
	MaxShared    int
	Sizes        *shared.Sizes // of arguments, if the peer is trusted; else nil
	HTTPClient   *http.Client  // nil: HTTP makes one

	DialFunc func(ctx context.Context, network, addr string) (net.Conn, error)
	// Login logs in by SASL. It returns the connection to use from then on, or nil for nc. Without
	// Login there is none
	Login func(ctx context.Context, nc net.Conn, maxFrame int) (net.Conn, error)
	// StatusError returns the error of a response of HTTP with another status than 200.
	StatusError func(status int, text string) error

	inflated *compressed.Budget // for compressed replies
	answered *atomic.Bool       // a server has answered anything
	pendings *sync.Pool         // of calls that have ended
}

// begin makes what a client's connections and calls share.
func (o *Config) begin() {
	o.answered = new(atomic.Bool)
	pool := new(sync.Pool)
	pool.New = func() any { return &pending{pool: pool, done: make(chan struct{}, 1)} }
	o.pendings = pool
}

// warn writes a warning to the logger.
func (o *Config) warn(what string, args ...any) {
	foreign.Log(o.Logger, slog.LevelWarn, what, args)
}

// receives returns the limits for replies.
func (o *Config) receives() transport.Limits {
	return transport.LimitsOf(o.MaxFrame, o.Limits, "the option rpc.MaxFrame")
}

// connect makes a connection without TLS.
func (o *Config) connect(ctx context.Context, network, addr string) (net.Conn, error) {
	nc, err := o.DialFunc(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	if nc == nil {
		return nil, errors.New("the function of rpc.Dialer returned no connection")
	}
	if k := o.KeepAlive; k != (net.KeepAliveConfig{}) {
		socket.SetKeepAlive(socket.Underlying(nc), k)
	}
	return nc, nil
}

// recoverDial is deferred where a connection is made. It turns a panic into an error and logs it.
func (o *Config) recoverDial(err *error) {
	if v := recover(); v != nil {
		*err = fmt.Errorf("dialling has panicked: %s", foreign.Text(v))
		o.warn("dialling has panicked", "err", foreign.Text(v), "stack", string(debug.Stack()))
	}
}
