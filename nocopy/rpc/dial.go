package rpc

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"sync/atomic"
	"time"

	"github.com/nocopythrift/nocopythrift/internal/shm"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/foreign"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/shared"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/socket"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/transport"
)

// This file makes a client's connections. It also closes connections that are old or have been
// idle for a while, before the server or something between does. No call then meets a connection
// that is being closed.

const (
	defaultPoolSize    = 4
	defaultMaxInFlight = 1024
	defaultDialTimeout = 10 * time.Second
)

// optionsOf returns the settings for Dial that the options make, with defaults for the others.
func optionsOf(list []Option) options {
	o := settingsOf(list)
	switch {
	case o.style.THeader != nil && o.transport == transport.Unframed:
		panic("nocopy: rpc.THeader together with rpc.Unframed: a THeader is in a frame")
	case o.login != nil && o.transport == transport.Unframed:
		panic("nocopy: rpc.SASL together with rpc.Unframed: after a login, messages are in frames")
	case o.httpClient != nil:
		panic("nocopy: rpc.Dial with rpc.HTTPClient, which is for rpc.DialHTTP")
	}
	if o.style.THeader != nil {
		o.transport = transport.THeader
	}
	o.setDefaults()
	return o
}

// settingsOf returns the settings that the options make, without the defaults of setDefaults.
func settingsOf(list []Option) options {
	o := options{transport: transport.Framed, logger: slog.Default()}
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
	if o.dial == nil {
		o.dial = new(net.Dialer).DialContext
	}
	if o.one {
		o.poolSize, o.idleTimeout, o.maxConnAge = 1, cmp.Or(o.idleTimeout, -1), cmp.Or(o.maxConnAge, -1)
	}
	o.poolSize = max(orDefault(o.poolSize, defaultPoolSize), 1)
	o.maxInFlight = max(orDefault(o.maxInFlight, defaultMaxInFlight), 1)
	o.dialTimeout = orDefault(o.dialTimeout, defaultDialTimeout)
	o.stallTimeout = orDefault(o.stallTimeout, defaultTimeout)
	o.idleTimeout = orDefault(o.idleTimeout, defaultIdle)
	o.maxConnAge = orDefault(o.maxConnAge, defaultAge)
	if o.shared == TrustPeer {
		o.recycle, o.sizes = true, new(shared.Sizes)
	}
}

// Dial connects to a server, as net.Dial does, and returns a client for it. ctx bounds only the
// time for this first connection. The client makes further ones when all others are in use.
func Dial(ctx context.Context, network, addr string, opts ...Option) (*Client, error) {
	if ctx == nil {
		panic("nocopy: rpc.Dial with a nil Context")
	}
	c := &Client{network: network, addr: addr, opt: optionsOf(opts), retired: map[*clientConn]struct{}{}}
	c.opt.answered = new(atomic.Bool)
	c.calls = callsBy(c, c.opt.interceptors)
	c.places = make(chan struct{}, c.opt.maxInFlight)
	c.ctx, c.cancel = context.WithCancel(context.Background())
	c.opt.inflated = transport.NewBudget(c.opt.receives(), c.ctx.Done())
	if c.opt.tls != nil {
		c.tls = c.opt.tls.Clone()
		if host, _, err := net.SplitHostPort(addr); err == nil && c.tls.ServerName == "" {
			c.tls.ServerName = host
		}
	}
	conn, err := c.dial(ctx)
	if err != nil {
		c.cancel()
		return nil, err
	}
	c.conns = append(c.conns, &poolConn{conn: conn})
	c.startSweeping()
	return c, nil
}

// dial makes a connection, TLS and a login included.
func (c *Client) dial(ctx context.Context) (*clientConn, error) {
	ctx, cancel := withTimeout(ctx, c.opt.dialTimeout, nil)
	defer cancel()
	nc, err := c.connect(ctx)
	if err != nil {
		return nil, err
	}
	var link *shm.Link
	if unix, why := c.sharable(nc); why != "" {
		c.logUnshared(errors.New(why))
	} else if unix != nil {
		if nc, link, err = c.dialShared(ctx, unix); err != nil {
			return nil, err
		}
	}
	if c.tls != nil {
		t := tls.Client(socket.Count(shm.Guard(nc), c.tls), c.tls)
		ready := false
		defer func() { // also when a function of the Config's panics
			if !ready {
				t.NetConn().Close()
			}
		}()
		if err := t.HandshakeContext(ctx); err != nil {
			return nil, err
		}
		nc, ready = t, true
	}
	if c.opt.login != nil {
		done := false
		defer func() { // also when a method of the mechanism panics
			if !done {
				socket.Close(nc)
			}
		}()
		if err := c.opt.login(ctx, nc); err != nil {
			return nil, err
		}
		done = true
	}
	return newClientConn(nc, &c.opt, link), nil
}

// sharable returns nc if the server at its other end is to be asked for shared memory. If the
// client's options ask for such memory in vain, it returns the reason.
func (c *Client) sharable(nc net.Conn) (unix *net.UnixConn, why string) {
	unix, isUnix := nc.(*net.UnixConn)
	switch {
	case c.opt.shared == 0:
		return nil, ""
	case c.tls != nil || c.opt.login != nil:
		return nil, "it does not work with TLS and SASL"
	case !c.opt.style.IsPlain() || c.opt.transport != transport.Framed:
		return nil, "it needs Thrift Binary in plain frames"
	case !isUnix:
		return nil, "the connection is not a unix socket"
	}
	return unix, ""
}

// logUnshared logs why a connection has no shared memory.
func (c *Client) logUnshared(why error) {
	foreign.Log(c.opt.logger, slog.LevelDebug, "no shared memory", []any{"peer", c.addr, "err", why})
}

// dialShared asks the server at the other end of unix for shared memory. It returns the connection
// to use, which may be another one, and the Link, nil if messages go through the socket.
func (c *Client) dialShared(ctx context.Context, unix *net.UnixConn) (net.Conn, *shm.Link, error) {
	link, usable, why := shared.Ask(ctx, unix, orDefault(c.opt.maxShared, defaultMaxShared))
	if why != nil {
		c.logUnshared(why)
	}
	if usable {
		return unix, link, nil
	}
	// The server has closed it, or its state there is unknown: the client dials again
	socket.Close(unix)
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	nc, err := c.connect(ctx)
	return nc, nil, err
}

// connect makes a connection without TLS.
func (c *Client) connect(ctx context.Context) (net.Conn, error) {
	nc, err := c.opt.dial(ctx, c.network, c.addr)
	if err != nil {
		return nil, err
	}
	if nc == nil {
		return nil, errors.New("the function of rpc.Dialer returned no connection")
	}
	if k := c.opt.keepAlive; k != (net.KeepAliveConfig{}) {
		socket.SetKeepAlive(socket.Underlying(nc), k)
	}
	return nc, nil
}

// sweeps is how many times sweep looks at a connection within IdleTimeout.
const sweeps = 4

// startSweeping starts the timer for sweep, if connections have any limit of time.
func (c *Client) startSweeping() {
	every := time.Duration(0)
	if d := c.opt.idleTimeout; d > 0 {
		every = max(d/sweeps, time.Millisecond)
	}
	if d := max(c.opt.maxConnAge/20, time.Millisecond); c.opt.maxConnAge > 0 && (every == 0 || d < every) {
		every = d
	}
	if every > 0 {
		c.mu.Lock()
		c.sweeper = time.AfterFunc(every, func() { c.sweep(every) })
		c.mu.Unlock()
	}
}

// sweep retires connections that are idle or old. The timer calls it every so often. Calls
// therefore need not note when they are made.
func (c *Client) sweep(every time.Duration) {
	now := time.Now()
	most := int(c.opt.idleTimeout/every) - 1 // how often a connection may be seen unused
	var unused []*clientConn
	c.mu.Lock()
	for _, p := range c.conns {
		if p.conn == nil {
			continue
		}
		u := &p.conn.use
		if u.still++; u.calls > 0 || u.total != u.seen {
			u.still, u.seen = 0, u.total
		}
		idle := c.opt.idleTimeout > 0 && u.still >= max(most, 1)
		if old := !u.expires.IsZero() && now.After(u.expires); idle || old {
			if u.calls == 0 {
				unused = append(unused, p.conn)
			}
			c.retire(p)
		}
	}
	if !c.closed {
		c.sweeper.Reset(every)
	}
	c.mu.Unlock()
	for _, conn := range unused {
		conn.close(errRetired)
	}
}

// retire takes the connection of p out of its place, if there is one. The last call that uses it
// closes it. c.mu is held.
func (c *Client) retire(p *poolConn) {
	if conn := p.conn; conn != nil {
		p.conn = nil
		conn.use.retired = true
		if conn.use.calls > 0 {
			c.retired[conn] = struct{}{}
		}
	}
}
