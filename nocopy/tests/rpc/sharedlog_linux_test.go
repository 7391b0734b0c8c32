//go:build !nounsafe

package rpc_test

import (
	"context"
	"net"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
)

// TestSharedInVain: where a client asks for shared memory in vain, calls work, and its log has the
// reason at level Debug.
func TestSharedInVain(t *testing.T) {
	tcp := serve(t, &rpc.Server{SharedMemory: rpc.CopyFromPeer}, &handler{})
	unix := serveUnix(t, &rpc.Server{SharedMemory: rpc.CopyFromPeer}, &handler{})
	refusing := serveUnix(t, new(rpc.Server), &handler{})
	wrapped := func(ctx context.Context, network, addr string) (net.Conn, error) {
		nc, err := new(net.Dialer).DialContext(ctx, network, addr)
		return struct{ net.Conn }{nc}, err
	}
	const frames = "Thrift Binary in plain frames"
	for _, c := range []struct {
		addr, reason string
		opts         []rpc.Option
	}{
		{tcp, "not a unix socket", nil},
		{unix, frames, []rpc.Option{rpc.Unframed}},
		{unix, frames, []rpc.Option{rpc.Protocol(rpc.Compact)}},
		{unix, frames, []rpc.Option{rpc.THeader()}},
		{unix, "not a unix socket", []rpc.Option{rpc.Dialer(wrapped)}},
		{refusing, "", nil},
	} {
		log := new(quiet)
		cl := dial(t, c.addr, append(c.opts, rpc.CopyFromPeer, rpc.Logger(log.debugLogger()))...)
		if got := log.String(); connsLinked(cl) != 0 || strings.Count(got, "no shared memory") != 1 || !strings.Contains(got, c.reason) {
			t.Errorf("%s, %v: %d connections with shared memory, log %q, want the reason %q", c.addr, c.opts, connsLinked(cl), got, c.reason)
		}
		echoes(t, echo.NewEchoClient(cl), c.reason)
	}
}
