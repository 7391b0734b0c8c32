package rpc

import (
	"github.com/nocopythrift/nocopythrift/nocopy/internal/rpcinside"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/client"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/socket"
)

func init() {
	rpcinside.OfClient = func(c any) rpcinside.Client { return c.(*Client).pool.Inside() }
	rpcinside.OfServer = func(s any) (conns, slots int) { return s.(*Server).inside() }
	rpcinside.Methods = func(c any) int { return c.(*multiplexed).kept() }
	rpcinside.EmptyPools = client.EmptyPools
	rpcinside.AloneBefore = &client.AloneBefore
	rpcinside.KnowsUnread = socket.KnowsUnread
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
