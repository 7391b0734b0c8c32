package rpc

import (
	"cmp"
	"context"
	"log/slog"
	"net"
	"time"

	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/client"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/setting"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/shared"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/transport"
)

const (
	defaultPoolSize    = 4
	defaultMaxInFlight = 1024
	defaultDialTimeout = 10 * time.Second
	defaultIdle        = 50 * time.Second
	defaultAge         = 30 * time.Minute
)

// optionsOf returns the settings for Dial that the options make, with defaults for the others.
func optionsOf(list []Option) options {
	o := settingsOf(list)
	switch {
	case o.Style.THeader != nil && o.Transport == transport.Unframed:
		panic("nocopy: rpc.THeader together with rpc.Unframed: a THeader is in a frame")
	case o.Login != nil && o.Transport == transport.Unframed:
		panic("nocopy: rpc.SASL together with rpc.Unframed: after a login, messages are in frames")
	case o.HTTPClient != nil:
		panic("nocopy: rpc.Dial with rpc.HTTPClient, which is for rpc.DialHTTP")
	}
	if o.Style.THeader != nil {
		o.Transport = transport.THeader
	}
	o.setDefaults()
	return o
}

// settingsOf returns the settings that the options make, without the defaults of setDefaults.
func settingsOf(list []Option) options {
	o := options{Config: client.Config{Transport: transport.Framed, Logger: slog.Default(), StatusError: newHTTPError}}
	for _, opt := range list {
		if opt == nil {
			panic("nocopy: a nil rpc.Option")
		}
		opt.apply(&o)
	}
	return o
}

// setDefaults sets the options that have not been set.
func (o *options) setDefaults() {
	if o.deadlines {
		o.interceptors = append(o.interceptors, sendDeadline)
	}
	if o.Dial == nil {
		o.Dial = new(net.Dialer).DialContext
	}
	if o.One {
		o.PoolSize, o.IdleTimeout, o.MaxConnAge = 1, cmp.Or(o.IdleTimeout, -1), cmp.Or(o.MaxConnAge, -1)
	}
	o.PoolSize = max(setting.Or(o.PoolSize, defaultPoolSize), 1)
	o.MaxInFlight = max(setting.Or(o.MaxInFlight, defaultMaxInFlight), 1)
	o.DialTimeout = setting.Or(o.DialTimeout, defaultDialTimeout)
	o.StallTimeout = setting.Or(o.StallTimeout, setting.Timeout)
	o.IdleTimeout = setting.Or(o.IdleTimeout, defaultIdle)
	o.MaxConnAge = setting.Or(o.MaxConnAge, defaultAge)
	if o.Shared == shared.TrustPeer {
		o.Recycle, o.Sizes = true, new(shared.Sizes)
	}
}

// Dial connects to a server, as net.Dial does, and returns a client for it. ctx bounds only the
// time for this first connection. The client makes further ones when all others are in use.
func Dial(ctx context.Context, network, addr string, opts ...Option) (*Client, error) {
	if ctx == nil {
		panic("nocopy: rpc.Dial with a nil Context")
	}
	c := &Client{opt: optionsOf(opts)}
	pool, err := client.DialPool(ctx, network, addr, c.opt.Config)
	if err != nil {
		return nil, err
	}
	c.pool, c.calls = pool, callsBy(pool, &c.opt)
	return c, nil
}
