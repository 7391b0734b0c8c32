//go:build !nounsafe

package rpc_test

import (
	"bytes"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
)

// TestOverloadShared: large calls in shared memory are refused, too, and wait, and give their
// memory back: ten times as much as there is.
func TestOverloadShared(t *testing.T) {
	const size, shared = 100_000, 1 << 20
	for _, mode := range sharedModes {
		for _, unordered := range []bool{false, true} {
			t.Run(fmt.Sprintf("%v, unordered=%v", mode, unordered), func(t *testing.T) {
				const rest = 4 + 4 + 4 + 4 + 7 + 7 + 1 // header and struct without the payload
				var placed atomic.Int64
				stats := newCounts()
				stats.Stats.Received = func(n int) {
					if n == size+rest {
						placed.Add(1)
					}
				}
				h := &handler{waiting: make(chan struct{}), release: make(chan struct{})}
				srv := &rpc.Server{SharedMemory: mode, MaxShared: shared, Unordered: unordered, MaxInFlight: 1, MaxQueued: 1, Stats: &stats.Stats}
				path := serveUnix(t, srv, h)
				holder := echo.NewEchoClient(dial(t, path))
				cl := dial(t, path, mode, rpc.MaxShared(shared), rpc.PoolSize(1))
				waiter, c := echo.NewEchoClient(dial(t, path, mode)), echo.NewEchoClient(cl)
				if n := connsLinked(cl); n != 1 {
					t.Fatalf("%d connections with shared memory", n)
				}
				payload := numbered(size, 1)
				call := func(c echo.EchoClient) error {
					res, err := c.Echo(bg, func(args echo.EchoEchoArgs) { args.SetPayload(payload) })
					if err == nil {
						if !bytes.Equal(res.GetSuccess(), payload) {
							t.Error("other bytes")
						}
						res.Release()
					}
					return err
				}
				var calls sync.WaitGroup
				calls.Go(func() {
					if _, err := holder.Fail(bg, func(args echo.EchoFailArgs) { args.SetHow("wait") }); err != nil {
						t.Error(err)
					}
				})
				<-h.waiting
				calls.Go(func() {
					if err := call(waiter); err != nil {
						t.Error(err)
					}
				})
				settles(t, "a call waits", func() bool { return stats.waiting.get() == 1 })
				placed.Store(0)
				const refused = 10 * shared / size
				for range refused {
					if err := call(c); !isShed(err) {
						t.Fatal(err)
					}
				}
				if n := placed.Load(); n != refused {
					t.Errorf("%d of %d calls came in shared memory", n, refused)
				}
				close(h.release)
				calls.Wait()
				if err := call(c); err != nil {
					t.Error(err)
				}
			})
		}
	}
}
