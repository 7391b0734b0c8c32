package rpc

import (
	"sync"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/rpcinside"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/socket"
)

func init() {
	rpcinside.OfClient = func(c any) rpcinside.Client { return c.(*Client).inside() }
	rpcinside.OfServer = func(s any) (conns, slots int) { return s.(*Server).inside() }
	rpcinside.Methods = func(c any) int { return c.(*multiplexed).kept() }
	rpcinside.EmptyPools = emptyPools
	rpcinside.AloneBefore = &aloneBefore
	rpcinside.KnowsUnread = socket.KnowsUnread
}

// inside returns the client's state, for tests.
func (c *Client) inside() rpcinside.Client {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := rpcinside.Client{InFlight: len(c.places)}
	for _, p := range c.conns {
		n.Using += p.calls
		if conn := p.conn; conn != nil {
			conn.mu.Lock()
			n.Queued += len(conn.queue)
			n.Writing += len(conn.batched)
			if conn.link != nil {
				n.Linked++
			}
			conn.mu.Unlock()
		}
	}
	return n
}

// inside returns how many connections the server serves and how many slots are taken, for tests.
func (s *Server) inside() (conns, slots int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.conns), len(s.slots)
}

// kept returns how many methods are kept, for tests.
func (c *multiplexed) kept() (n int) {
	c.methods.Range(func(any, any) bool { n++; return true })
	return n
}

// emptyPools drops the pooled calls, for tests: a channel of one bubble of package synctest can't
// be used in another.
func emptyPools() { pendings = sync.Pool{New: pendings.New} }
