// What tests outside of the package need of its inside.

package rpc

import (
	"context"
	"net"
	"sync"
	"sync/atomic"

	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// DialWith makes a client connect by calling f, which may return a connection that is no socket.
func DialWith(f func(ctx context.Context, network, addr string) (net.Conn, error)) Option {
	return optionFunc(func(o *options) { o.dial = f })
}

// EmptyPools drops pooled values that hold channels, which can't be used in another synctest
// bubble. No call may be under way.
func EmptyPools() { pendings = sync.Pool{New: pendings.New} }

// InUse returns how many calls are in flight, wait for a place, and use connections.
func (c *Client) InUse() (inFlight, waiting, using int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range c.conns {
		using += p.calls
	}
	return c.inFlight, len(c.waiting), using
}

// InUse returns how many connections the server serves and how many slots are taken.
func (s *Server) InUse() (conns, slots int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.conns), len(s.slots)
}

// Queued returns how many calls wait for others to be written.
func (c *Client) Queued() (n int) {
	c.eachConn(func(conn *clientConn) { n += len(conn.queue) })
	return n
}

// Writing returns how many calls are being written.
func (c *Client) Writing() (n int) {
	c.eachConn(func(conn *clientConn) { n += len(conn.batched) })
	return n
}

// eachConn calls f with each connection, which is locked.
func (c *Client) eachConn(f func(*clientConn)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range c.conns {
		if p.conn != nil {
			p.conn.mu.Lock()
			f(p.conn)
			p.conn.mu.Unlock()
		}
	}
}

// Linked returns how many connections have shared memory.
func (c *Client) Linked() (n int) {
	c.eachConn(func(conn *clientConn) {
		if conn.link != nil {
			n++
		}
	})
	return n
}

// MethodsKept returns how many methods a MultiplexedCaller keeps.
func MethodsKept(c Caller) (n int) {
	c.(*multiplexed).methods.Range(func(any, any) bool { n++; return true })
	return n
}

// NoteSizes notes how large messages of n types are, and returns of how many that is remembered.
func NoteSizes(n int) (kept int) {
	var s sizes
	for range n {
		s.note(new(thriftimpl.Desc), 1<<20)
	}
	s.byType.Range(func(any, any) bool { kept++; return true })
	return kept
}

// SetAloneBefore sets after how many calls that were alone calls read their own replies.
func SetAloneBefore(n int) { aloneBefore = n }

// OwnReplies returns how many calls have read their own replies.
func (c *Client) OwnReplies() (n uint64) {
	c.eachConn(func(conn *clientConn) { n += conn.turns })
	return n
}

// RelieveEnded serves nc until the last goroutine of the connection is ended while it handles a
// call, and relieves its reader then, as a timer does that went off just before.
func (s *Server) RelieveEnded(nc net.Conn) {
	s.init()
	s.slots <- struct{}{}
	s.serving.Add(1)
	c := newServerConn(s, nc)
	s.conns[c] = struct{}{}
	c.state, c.handling = handling, RawMethod("m", false)
	c.handling.slow = new(atomic.Bool)
	c.drop()
	c.relieveReader()
}

// KnowsUnread reports whether a client knows which calls had not arrived when the server closed a
// TCP connection.
const KnowsUnread = knowsUnread
