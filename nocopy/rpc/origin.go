package rpc

import (
	"context"
	"net"

	"github.com/nocopythrift/nocopythrift/internal/shm"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/stats"
)

// origin is where a server's calls come from: a connection, or one HTTP request. It has what
// handling a call takes, which is the same for both.
type origin struct {
	srv    *Server
	peer   net.Addr
	stats  *stats.Hook
	ctx    context.Context // of calls except oneway ones
	oneway context.Context // of oneway calls
	shared *shm.Link       // nil if there is no shared memory
	trusts bool            // messages in shared memory are used where they lie
}
