// The internals of package rpc that tests can see.

package rpc_test

import (
	"github.com/nocopythrift/nocopythrift/nocopy/internal/rpcinside"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// clientInUse returns how many calls are in flight, and use connections.
func clientInUse(c *rpc.Client) (inFlight, using int) {
	n := rpcinside.OfClient(c)
	return n.InFlight, n.Using
}

// serverInUse returns how many connections the server serves and how many slots are taken.
func serverInUse(s *rpc.Server) (conns, slots int) { return rpcinside.OfServer(s) }

// callsQueued returns how many calls wait for others to be written.
func callsQueued(c *rpc.Client) int { return rpcinside.OfClient(c).Queued }

// callsWriting returns how many calls are being written.
func callsWriting(c *rpc.Client) int { return rpcinside.OfClient(c).Writing }

// connsLinked returns how many connections have shared memory.
func connsLinked(c *rpc.Client) int { return rpcinside.OfClient(c).Linked }
