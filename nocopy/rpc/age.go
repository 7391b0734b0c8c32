package rpc

import (
	"math/rand/v2"
	"time"

	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/transport"
)

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
	c.in.Ages.Old.Store(true)
	if grace := orDefault(c.srv.MaxConnAgeGrace, defaultTimeout); grace > 0 {
		left := min(transport.Quiet, grace/2) // for requests that have arrived by then
		c.ageTimer = time.AfterFunc(grace-left, func() { c.expire(left) })
	}
	c.in.Interrupt()
}

// expire is called by ageTimer shortly before the grace is over. No more requests are read but
// those that have arrived. When the grace is over, the contexts of calls under way end.
func (c *serverConn) expire(left time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state == stopped {
		return
	}
	c.in.Ages.Expired.Store(true)
	c.ageTimer = time.AfterFunc(left, c.cancel)
	c.interrupt()
}

// restless reports whether a call has ended just now on a connection that is old. c.mu is held.
func (c *serverConn) restless() bool {
	return c.in.Ages.Old.Load() && time.Since(c.lastEnded) < transport.Quiet
}
