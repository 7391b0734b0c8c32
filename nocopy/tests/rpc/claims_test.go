package rpc_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
)

// inBubble calls f in a bubble of package synctest, with a function that connects to srv, which is
// stopped afterwards. All connections must have been closed then.
func inBubble(t *testing.T, srv *rpc.Server, h echo.EchoHandler, f func(t *testing.T, connect func() net.Conn)) {
	synctest.Test(t, func(t *testing.T) {
		srv.Processor = echo.NewEchoProcessor(h)
		if srv.Logger == nil {
			srv.Logger = new(quiet).logger()
		}
		l := &oneConn{conns: make(chan net.Conn, 1)}
		served := make(chan struct{})
		go func() {
			srv.Serve(l)
			close(served)
		}()
		f(t, func() net.Conn {
			near, far := net.Pipe()
			l.conns <- far
			return near
		})
		srv.Close()
		<-served
		time.Sleep(time.Minute) // goroutines of net/http end after a while
	})
}

// TestClaimedLengths: for a length that was only claimed, and for a login that was only begun, a
// connection takes at most 4 KB of the heap.
func TestClaimedLengths(t *testing.T) {
	if !testmode.InOwnProcess(t) {
		return
	}
	const conns, most = 64, 4 << 10
	login := func(context.Context, string) rpc.SASLServer { return new(steppedServer) }
	echoed := strict(call, "echo", 1, []byte{11, 0, 1})
	for _, c := range []struct {
		wire  string
		srv   func() *rpc.Server
		claim func(n int) []byte
		large int
	}{
		// The protocol allows frames of 16 KiB at least, for which net/http takes memory at once
		{"HTTP/2", nil, func(n int) []byte {
			settings := []byte{0, 0, 0, 4, 0, 0, 0, 0, 0}
			return join([]byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), settings, be32(n)[1:], []byte{0, 0, 0, 0, 0, 1, 7})
		}, 16 << 10},
		{"HTTP/2, a larger frame", nil, func(n int) []byte {
			settings := []byte{0, 0, 0, 4, 0, 0, 0, 0, 0}
			return join([]byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), settings, be32(n)[1:], []byte{0, 0, 0, 0, 0, 1, 7})
		}, 1 << 20},

		{"a frame", nil, func(n int) []byte { return join(be32(n), echoed) }, 16_000_000},
		{"a frame that no slab has", nil, func(n int) []byte { return join(be32(n), echoed) }, 60_000},
		{"a frame of a small slab", nil, func(n int) []byte { return join(be32(n), echoed) }, 20_000},
		{"Recycle", func() *rpc.Server { return &rpc.Server{Recycle: true} }, func(n int) []byte { return join(be32(n), echoed) }, 60_000},
		{"no frame", nil, func(n int) []byte { return join(echoed, be32(n)) }, 100_000_000},
		{"a name", nil, func(n int) []byte { return join([]byte{0x80, 1, 0, 1}, be32(n), []byte("echo")) }, 60_000},
		{"a name in the old header", nil, func(n int) []byte { return join(be32(n), []byte("e")) }, 1 << 16},
		{"Compact", nil, func(n int) []byte {
			return join(compactly(call, "echo", 1, []byte{0x18}), compactNumber(n))
		}, 100_000_000},
		{"Compact, a name", nil, func(n int) []byte { return join([]byte{0x82, 0x21, 1}, compactNumber(n), []byte("echo")) }, 60_000},
		{"THeader", nil, func(n int) []byte { return join(be32(n), []byte{0x0f, 0xff, 0, 0}) }, 16_000_000},
		{"HTTP", nil, func(n int) []byte {
			return fmt.Appendf(nil, "POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-thrift\r\nContent-Length: %07d\r\n\r\n%s", n, echoed)
		}, 60_000},
		{"HTTP, large", nil, func(n int) []byte {
			return fmt.Appendf(nil, "POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-thrift\r\nContent-Length: %08d\r\n\r\n%s", n, echoed)
		}, 16_000_000},
		{"SASL", func() *rpc.Server { return &rpc.Server{SASL: login} }, func(n int) []byte { return join([]byte{1}, be32(n), []byte("STEP")) }, 64 << 10},
		{"SASL, the response", func() *rpc.Server { return &rpc.Server{SASL: login} }, func(n int) []byte {
			return join([]byte{1}, be32(7), []byte("STEPPED\x02"), be32(n), []byte("resp"))
		}, 64 << 10},
	} {
		t.Run(c.wire, func(t *testing.T) {
			// held returns how much of the heap each connection takes that has sent b
			held := func(b []byte) (perConn int) {
				srv := new(rpc.Server)
				if c.srv != nil {
					srv = c.srv()
				}
				srv.ReadTimeout = -1
				inBubble(t, srv, &handler{}, func(t *testing.T, connect func() net.Conn) {
					var all [conns]net.Conn
					for i := range all {
						all[i] = connect()
						defer all[i].Close()
						go io.Copy(io.Discard, all[i])
					}
					synctest.Wait()
					before := heapInUse()
					for _, nc := range all {
						nc.Write(b)
					}
					synctest.Wait()
					perConn = (heapInUse() - before) / conns
				})
				return perConn
			}
			small, large := held(c.claim(100)), held(c.claim(c.large))
			most := most
			if strings.HasPrefix(c.wire, "HTTP/2") {
				most = 16 << 10
			}
			if large-small > most && !testmode.Instrumented {
				t.Errorf("a connection takes %d bytes of the heap with this claim, %d with a small one", large, small)
			}
		})
	}
}

// heapInUse returns how many bytes of the heap are in use.
func heapInUse() int {
	var m runtime.MemStats
	for range 3 { // pools are emptied by the second
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// compactNumber is a number in the compact protocol.
func compactNumber(n int) []byte {
	var b bytes.Buffer
	for ; n >= 0x80; n >>= 7 {
		b.WriteByte(byte(n) | 0x80)
	}
	b.WriteByte(byte(n))
	return b.Bytes()
}
