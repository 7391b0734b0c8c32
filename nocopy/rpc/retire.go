package rpc

import (
	"errors"
	"math/rand/v2"
	"time"
)

// This file closes a client's connections that have not been used for a while, or are old, before
// the server or something between does: then no call meets a connection that is being closed.

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

// errRetired is the cause of the end of a connection that the client closes since it is idle or
// old, or that failed and is not used any more.
var errRetired = errors.New("closed by the client, being idle or old")

// use is what a client knows of the use of one of its connections. Client.mu guards it.
type use struct {
	expires time.Time // zero: never
	calls   int       // the number of calls that use the connection
	total   uint64    // the number of calls that have used it
	seen    uint64    // what total was when sweep looked last
	still   int       // how many times in a row sweep has seen that it was not used
	retired bool      // no further call will use it
}

// begin sets when the connection is old.
func (u *use) begin(o *options) {
	if age := o.maxConnAge; age > 0 {
		u.expires = time.Now().Add(age + rand.N(age/5+1) - age/10)
	}
}

// end notes that a call does not use the connection any more. It reports whether that was the last
// one.
func (u *use) end() bool {
	u.calls--
	return u.retired && u.calls == 0
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

// sweep retires connections that are idle or old. It is called by the timer every so often, so
// that calls need not note when they are made.
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
