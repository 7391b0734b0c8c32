package rpc

import (
	"github.com/nocopythrift/nocopythrift/nocopy/internal/rpcinside"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/client"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/socket"
)

func init() {
	rpcinside.OfClient = func(c any) rpcinside.Client { return rpcinside.Client(c.(*Client).pool.Inside()) }
	rpcinside.OfServer = func(s any) (conns, slots int) {
		srv := s.(*Server)
		srv.init()
		return srv.core.Inside()
	}
	rpcinside.Methods = func(c any) int { return c.(*multiplexed).kept() }
	rpcinside.AloneBefore = &client.AloneBefore
	rpcinside.KnowsUnread = socket.KnowsUnread
}

// kept returns how many methods are kept, for tests.
func (c *multiplexed) kept() (n int) {
	c.methods.Range(func(any, any) bool { n++; return true })
	return n
}
