package rpc

import (
	"math/rand/v2"
	"net"
	"sync/atomic"
	"time"
)

// quiet is how long a connection that has reached its age must have been without a call.
const quiet = 50 * time.Millisecond

// ages tells a connection's receiver that its time has come.
type ages struct {
	old     atomic.Bool // MaxConnAge is over: idle connections are closed soon
	expired atomic.Bool // so is MaxConnAgeGrace, nearly: only what has arrived is read
}

// startAging starts the timer for the connection's age, if that is limited.
func (c *serverConn) startAging() {
	age := c.srv.MaxConnAge
	if age <= 0 {
		return
	}
	age += rand.N(age/5+1) - age/10
	c.mu.Lock()
	if c.state != stopped {
		c.ageTimer = time.AfterFunc(age, c.retire)
	}
	c.mu.Unlock()
}

// retire is called by ageTimer when the connection has reached its age. It lets a reader that
// waits for a request wait for a moment only, and starts the timer for the grace.
func (c *serverConn) retire() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state == stopped {
		return
	}
	c.in.ages.old.Store(true)
	if grace := orDefault(c.srv.MaxConnAgeGrace, defaultTimeout); grace > 0 {
		left := min(quiet, grace/2) // for requests that have arrived by then
		c.ageTimer = time.AfterFunc(grace-left, func() { c.expire(left) })
	}
	c.in.interrupt()
}

// expire is called by ageTimer shortly before the grace is over. No more requests are read but
// those that have arrived. When the grace is over, the contexts of calls under way end.
func (c *serverConn) expire(left time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state == stopped {
		return
	}
	c.in.ages.expired.Store(true)
	c.ageTimer = time.AfterFunc(left, c.cancel)
	c.interrupt()
}

// idle returns how long the receiver waits for a message to begin, 0 for ever.
func (r *receiver) idle() time.Duration {
	if r.ages.old.Load() && (r.idleTimeout == 0 || r.idleTimeout > quiet) {
		return quiet
	}
	return r.idleTimeout
}

// wasRetired reports whether reading has ended before its deadline since the connection has become
// old meanwhile, so that it is to go on.
func (r *receiver) wasRetired() bool {
	return r.ages.old.Load() && (r.deadline.IsZero() || time.Now().Before(r.deadline)) && !r.isClosing()
}

// restless reports whether a call has ended just now on a connection that is old. c.mu is held.
func (c *serverConn) restless() bool {
	return c.in.ages.old.Load() && time.Since(c.lastEnded) < quiet
}

// KeepAlive sets TCP's keepalive for a client's connections. The zero value keeps the settings of
// the net.Dialer, or of the Dialer that was given.
type KeepAlive net.KeepAliveConfig

func (k KeepAlive) apply(o *options) { o.keepAlive = net.KeepAliveConfig(k) }

var defaultKeepAlive = net.KeepAliveConfig{Enable: true, Idle: 15 * time.Second, Interval: 15 * time.Second, Count: 4}

// setKeepAlive sets TCP's keepalive if nc has such a thing, which it reports.
func setKeepAlive(nc net.Conn, k net.KeepAliveConfig) bool {
	t, ok := nc.(interface {
		SetKeepAliveConfig(net.KeepAliveConfig) error
	})
	if !ok {
		return false
	}
	if k == (net.KeepAliveConfig{}) {
		k = defaultKeepAlive
	}
	t.SetKeepAliveConfig(k)
	return true
}

// underlying returns the connection that nc is a wrapper of, or nc.
func underlying(nc net.Conn) net.Conn {
	for {
		beneath, ok := nc.(interface{ NetConn() net.Conn })
		if !ok {
			return nc
		}
		nc = beneath.NetConn()
	}
}
