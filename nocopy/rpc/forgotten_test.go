package rpc_test

import (
	"net"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// TestForgottenOnce: a function of Stats ends the goroutine of a connection at the moment when its
// reader is to be relieved. The connection ends once, and gives up its place once.
func TestForgottenOnce(t *testing.T) {
	srv := &rpc.Server{Logger: new(quiet).logger()}
	nc, peer := net.Pipe()
	defer peer.Close()
	finishes(t, "the second end", func() { srv.RelieveEnded(nc) })
	if conns, slots := srv.InUse(); conns != 0 || slots != 0 {
		t.Errorf("%d connections, %d places are taken", conns, slots)
	}
}
