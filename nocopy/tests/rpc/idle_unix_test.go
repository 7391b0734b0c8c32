//go:build unix && !race

package rpc_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"runtime"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
)

// idleConns is how many connections the tests of idle ones have.
var idleConns = testmode.Of(150, 400)

// checkIdle checks that each of idleConns connections that are in use now, but were not when heap
// and stack were, takes less than most bytes of the heap, and less than mostStack of stacks.
func checkIdle(t *testing.T, when string, heap, stack, most, mostStack int) {
	t.Helper()
	var perHeap, perStack int
	eventually(t, "memory "+when, func() bool {
		h, s := inUse()
		perHeap, perStack = (h-heap)/idleConns, (s-stack)/idleConns
		return perHeap < most && perStack < mostStack
	})
	t.Logf("%s: %d bytes of heap, %d of stack", when, perHeap, perStack)
}

// listenIdle returns a listener on network, which is TCP or unix sockets.
func listenIdle(t *testing.T, network string) net.Listener {
	address := "127.0.0.1:0"
	if network == "unix" {
		address = t.TempDir() + "/s"
	}
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// TestIdleConnections: a server's connection that waits for a request takes less than 5 KB of the
// heap, and its goroutine a stack of 4 KB, before its first call as well as after large ones. The
// connections' other ends, which are in this process, take some 500 bytes of these.
func TestIdleConnections(t *testing.T) {
	if !testmode.InOwnProcess(t) {
		return
	}
	const most, mostStack = 5_000, 6_000
	large := frame(strict(call, "add", 1, join([]byte{11, 0, 9}, be32(9_000), make([]byte, 9_000), addArgs(1, 2))))
	answer := frame(strict(reply, "add", 1, sumResult(3)))
	for _, network := range []string{"tcp", "unix"} {
		for _, recycle := range []bool{false, true} {
			t.Run(fmt.Sprint(network, recycle), func(t *testing.T) {
				l := listenIdle(t, network)
				serveOn(t, &rpc.Server{Recycle: recycle, SharedMemory: rpc.CopyFromPeer}, &handler{}, l)
				exchange := func(nc net.Conn) {
					got := make([]byte, len(answer))
					send(t, nc, large)
					if _, err := io.ReadFull(nc, got); err != nil || !bytes.Equal(got, answer) {
						t.Fatalf("%x, %v", got, err)
					}
				}
				connect := func() net.Conn {
					nc, err := net.Dial(network, l.Addr().String())
					if err != nil {
						t.Fatal(err)
					}
					t.Cleanup(func() { nc.Close() })
					return nc
				}
				exchange(connect()) // what the server itself needs
				heap, stack := inUse()
				var all []net.Conn
				for range idleConns {
					all = append(all, connect())
				}
				checkIdle(t, "before a call", heap, stack, most, mostStack)
				for range 3 {
					for _, nc := range all {
						exchange(nc)
					}
				}
				checkIdle(t, "after calls", heap, stack, most, mostStack)
			})
		}
	}
}

// TestIdleClients: a Client whose connection waits for replies takes less than 7 KB of the heap,
// and its goroutine a stack of at most 8 KB, before its first call as well as after large ones.
// The connections' other ends, which are in this process, take some 500 bytes of these. With
// Recycle a connection keeps a block if its reader waits again before the message is released.
func TestIdleClients(t *testing.T) {
	if testmode.Debug || !testmode.InOwnProcess(t) { // the tag gives memory back late
		return
	}
	const most, mostStack = 7_000, 10_000
	payload := make([]byte, 9_000)
	for _, network := range []string{"tcp", "unix"} {
		t.Run(network, func(t *testing.T) {
			l := listenIdle(t, network)
			defer l.Close()
			type pair struct {
				client echo.EchoClient
				server net.Conn
			}
			connect := func() pair {
				c := echo.NewEchoClient(dial(t, l.Addr().String(), rpc.PoolSize(1)))
				nc, err := l.Accept()
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { nc.Close() })
				return pair{c, nc}
			}
			exchange := func(p pair) {
				go func() {
					if id, err := readCall(p.server); err == nil {
						p.server.Write(echoReply(id, string(payload)))
					}
				}()
				res, err := p.client.Echo(bg, func(args echo.EchoEchoArgs) { args.SetPayload(payload) })
				if err != nil || !bytes.Equal(res.GetSuccess(), payload) {
					t.Fatal(err)
				}
				res.Release()
			}
			exchange(connect())
			heap, stack := inUse()
			var all []pair
			for range idleConns {
				all = append(all, connect())
			}
			checkIdle(t, "before a call", heap, stack, most, mostStack)
			for range 3 {
				for _, p := range all {
					exchange(p)
				}
			}
			checkIdle(t, "after calls", heap, stack, most, mostStack)
		})
	}
}

// inUse returns how many bytes are in use of the heap and of stacks.
func inUse() (heap, stack int) {
	var m runtime.MemStats
	for range 3 { // pools let go, and stacks shrink, a step at a time
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc), int(m.StackInuse)
}
