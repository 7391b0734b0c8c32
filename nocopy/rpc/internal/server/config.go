package server

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net"
	"time"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/sasl"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/shared"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/stats"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/transport"
)

// Config has the settings of a Server, as rpc.Server has them: 0 is the default.
type Config struct {
	Calls Calls
	Log   func(level slog.Level, what string, args ...any)
	// Conceal logs v, a panic's value or an error that clients must not see, under a new id. It
	// returns what they get instead. peer and stack may be nil.
	Conceal func(what string, peer net.Addr, v any, stack []byte) error

	TLS              *tls.Config
	Wires            transport.Wire
	SASL             func(ctx context.Context, mechanism string) sasl.Server // nil: no login
	ConnContext      func(ctx context.Context, nc net.Conn) context.Context
	MaxConns         int
	MaxFrame         int
	Limits           nocopy.Limits
	Concurrency      int
	MaxInFlight      int
	MaxQueued        int
	Unordered        bool
	ReadTimeout      time.Duration
	WriteTimeout     time.Duration
	IdleTimeout      time.Duration
	KeepAlive        net.KeepAliveConfig
	MaxConnAge       time.Duration
	MaxConnAgeGrace  time.Duration
	HalfCloseTimeout time.Duration
	Recycle          bool
	Shared           shared.Mode
	MaxShared        int
	Stats            *stats.Hook // nil: nothing is counted
}
