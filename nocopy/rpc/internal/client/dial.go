package client

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"time"

	"github.com/nocopythrift/nocopythrift/internal/shm"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/foreign"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/setting"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/shared"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/socket"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/transport"
)

// This file makes a pool's connections. It also closes connections that are old or have been
// idle for a while, before the server or something between does. No call then meets a connection
// that is being closed.

// dial makes a connection, TLS and a login included.
func (c *Pool) dial(ctx context.Context) (*connection, error) {
	ctx, cancel := setting.WithTimeout(ctx, c.opt.DialTimeout, nil)
	defer cancel()
	nc, err := c.opt.connect(ctx, c.network, c.addr)
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
	if c.opt.Login != nil {
		done := false
		defer func() { // also when a method of the mechanism panics
			if !done {
				socket.Close(nc)
			}
		}()
		on, err := c.opt.Login(ctx, nc, c.opt.receives().Frame)
		if err != nil {
			return nil, err
		}
		if done = true; on != nil {
			nc = on
		}
	}
	return newConnection(nc, &c.opt, link), nil
}

// sharable returns nc if the server at its other end is to be asked for shared memory. If the
// client's options ask for such memory in vain, it returns the reason.
func (c *Pool) sharable(nc net.Conn) (unix *net.UnixConn, why string) {
	unix, isUnix := nc.(*net.UnixConn)
	switch {
	case c.opt.Shared == 0:
		return nil, ""
	case c.tls != nil || c.opt.Login != nil:
		return nil, "it does not work with TLS and SASL"
	case !c.opt.Style.IsPlain() || c.opt.Transport != transport.Framed:
		return nil, "it needs Thrift Binary in plain frames"
	case !isUnix:
		return nil, "the connection is not a unix socket"
	}
	return unix, ""
}

// logUnshared logs why a connection has no shared memory.
func (c *Pool) logUnshared(why error) {
	foreign.Log(c.opt.Logger, slog.LevelDebug, "no shared memory", []any{"peer", c.addr, "err", why})
}

// dialShared asks the server at the other end of unix for shared memory. It returns the connection
// to use, which may be another one, and the Link, nil if messages go through the socket.
func (c *Pool) dialShared(ctx context.Context, unix *net.UnixConn) (net.Conn, *shm.Link, error) {
	link, usable, why := shared.Ask(ctx, unix, setting.Or(c.opt.MaxShared, shared.DefaultSize))
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
	nc, err := c.opt.connect(ctx, c.network, c.addr)
	return nc, nil, err
}

// sweeps is how many times sweep looks at a connection within IdleTimeout.
const sweeps = 4

// startSweeping starts the timer for sweep, if connections have any limit of time.
func (c *Pool) startSweeping() {
	every := time.Duration(0)
	if d := c.opt.IdleTimeout; d > 0 {
		every = max(d/sweeps, time.Millisecond)
	}
	if d := max(c.opt.MaxConnAge/20, time.Millisecond); c.opt.MaxConnAge > 0 && (every == 0 || d < every) {
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
func (c *Pool) sweep(every time.Duration) {
	now := time.Now()
	most := int(c.opt.IdleTimeout/every) - 1 // how often a connection may be seen unused
	var unused []*connection
	c.mu.Lock()
	for _, p := range c.conns {
		if p.conn == nil {
			continue
		}
		u := &p.conn.use
		if u.still++; u.calls > 0 || u.total != u.seen {
			u.still, u.seen = 0, u.total
		}
		idle := c.opt.IdleTimeout > 0 && u.still >= max(most, 1)
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
func (c *Pool) retire(p *place) {
	if conn := p.conn; conn != nil {
		p.conn = nil
		conn.use.retired = true
		if conn.use.calls > 0 {
			c.retired[conn] = struct{}{}
		}
	}
}
