//go:build unix && !race

package rpc_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"runtime"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// TestIdleConnections: a server's connection that waits for a request takes less than 5 KB of the
// heap, and its goroutine a stack of 4 KB, before its first call as well as after large ones. The
// connections' other ends, which are in this process, take some 500 bytes of these.
func TestIdleConnections(t *testing.T) {
	const conns, most = 400, 5_000
	large := frame(strict(call, "add", 1, join([]byte{11, 0, 9}, be32(9_000), make([]byte, 9_000), addArgs(1, 2))))
	answer := frame(strict(reply, "add", 1, sumResult(3)))
	for _, network := range []string{"tcp", "unix"} {
		for _, recycle := range []bool{false, true} {
			t.Run(fmt.Sprint(network, recycle), func(t *testing.T) {
				address := "127.0.0.1:0"
				if network == "unix" {
					address = t.TempDir() + "/s"
				}
				l, err := net.Listen(network, address)
				if err != nil {
					t.Fatal(err)
				}
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
				check := func(when string) {
					t.Helper()
					var perHeap, perStack int
					eventually(t, "memory "+when, func() bool {
						h, s := inUse()
						perHeap, perStack = (h-heap)/conns, (s-stack)/conns
						return perHeap < most && perStack < 5_000
					})
					t.Logf("%s: %d bytes of heap, %d of stack", when, perHeap, perStack)
				}
				for range conns {
					all = append(all, connect())
				}
				check("before a call")
				for range 3 {
					for _, nc := range all {
						exchange(nc)
					}
				}
				check("after calls")
			})
		}
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
