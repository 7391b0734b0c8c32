package rpc_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
)

// failsAlone fails the test unless err belongs to a call whose reply alone is too large.
func failsAlone(t *testing.T, err error) {
	t.Helper()
	if !errors.Is(err, nocopy.ErrLimit) || errors.Is(err, rpc.ErrConnLost) {
		t.Error("the call of a reply that is too large:", err)
	}
}

// TestTooLargeReply: a reply above MaxFrame fails its own call; all others on the connection get
// their replies, whether the messages go through the socket or through shared memory, also through
// a proxy.
func TestTooLargeReply(t *testing.T) {
	t.Parallel()
	const most = 64 << 10
	for name, opts := range map[string][]rpc.Option{
		"socket": nil, "recycled": {rpc.Recycle}, "copied": {rpc.CopyFromPeer}, "trusted": {rpc.TrustPeer},
	} {
		for _, proxy := range []bool{false, true} {
			t.Run(fmt.Sprint(name, proxy), func(t *testing.T) {
				t.Parallel()
				l, path := listenUnix(t)
				serveOn(t, &rpc.Server{Unordered: true, SharedMemory: rpc.CopyFromPeer}, &handler{}, l)
				counts := newCounts()
				cl := dial(t, path, append(opts, rpc.PoolSize(1), rpc.MaxFrame(most), &counts.Stats)...)
				c := echo.NewEchoClient(cl)
				if proxy {
					p := echo.NewEchoProcessor(echo.UnimplementedEchoHandler{}).WithHandler(rpc.Forward(cl))
					c = echo.NewEchoClient(dial(t, serve(t, &rpc.Server{Processor: p}, nil), rpc.PoolSize(1)))
				}
				var all sync.WaitGroup
				for i := range 20 {
					all.Go(func() {
						size := 100
						if i%4 == 0 {
							size = most + 1 + i*10_000
						}
						res, err := c.Echo(bg, func(args echo.EchoEchoArgs) {
							args.SetPayload(make([]byte, size))
							args.SetDelayMs(int32(i % 3))
						})
						var failed *rpc.ApplicationException
						switch {
						case size == 100:
							if err != nil || len(res.GetSuccess()) != size {
								t.Error("another call:", err)
							}
						case !proxy:
							failsAlone(t, err)
						case !errors.As(err, &failed) || failed.Type != rpc.InternalError || !strings.Contains(failed.Message, "rpc.MaxFrame"):
							t.Error("through a proxy:", err)
						}
					})
				}
				all.Wait()
				if n := counts.opened.get(); n != 1 {
					t.Errorf("%d connections were made", n)
				}
			})
		}
	}
}

// TestTooLargeReplyInPieces: however a reply that is too large arrives, its call fails when the
// header has come, and the next reply is the next one. If the rest does not come, or the stream
// ends, the connection fails as with any other reply. A call that is given up while the rest comes
// returns at once.
func TestTooLargeReplyInPieces(t *testing.T) {
	t.Parallel()
	const size = 100_000
	large := frame(strict(reply, "add", 1, make([]byte, size)))
	good := frame(strict(reply, "add", 2, sumResult(3)))
	end := 4 + 4 + 4 + 3 + 4 // of the header
	for name, c := range map[string]struct {
		stall  time.Duration
		answer func(nc net.Conn, failed <-chan struct{})
		second []error // nil: it gets its reply
		wait   time.Duration
	}{
		"at once": {0, func(nc net.Conn, _ <-chan struct{}) { nc.Write(slices.Concat(large, good)) }, nil, 0},
		"byte by byte": {0, func(nc net.Conn, failed <-chan struct{}) {
			for i := range end {
				nc.Write(large[i : i+1])
				time.Sleep(time.Millisecond)
			}
			<-failed
			for b := large[end:]; len(b) > 0; b = b[min(9999, len(b)):] {
				nc.Write(b[:min(9999, len(b))])
			}
			nc.Write(good)
		}, nil, 0},
		"header first, then the rest and more": {0, func(nc net.Conn, failed <-chan struct{}) {
			nc.Write(large[:end])
			<-failed
			nc.Write(slices.Concat(large[end:], good))
		}, nil, 0},
		"a second one": {0, func(nc net.Conn, failed <-chan struct{}) {
			nc.Write(slices.Concat(large, large))
			nc.Write(slices.Concat(large, good))
		}, nil, 0},
		"without the rest": {time.Second, func(nc net.Conn, failed <-chan struct{}) {
			nc.Write(large[:size])
			io.Copy(io.Discard, nc)
		}, []error{rpc.ErrConnLost, os.ErrDeadlineExceeded}, 0},
		"the end of the stream": {0, func(nc net.Conn, failed <-chan struct{}) {
			nc.Write(large[:end+1])
			<-failed
		}, []error{rpc.ErrConnLost, io.ErrUnexpectedEOF}, 0},
		"of an absurd length": {time.Second, func(nc net.Conn, failed <-chan struct{}) {
			nc.Write(append([]byte{0x7f, 0xff, 0xff, 0xff}, large[4:]...))
			io.Copy(io.Discard, nc)
		}, []error{rpc.ErrConnLost, os.ErrDeadlineExceeded}, 0},
		"given up meanwhile": {0, func(nc net.Conn, failed <-chan struct{}) {
			nc.Write(large[:size])
			io.Copy(io.Discard, nc)
		}, []error{context.DeadlineExceeded}, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			failed, sent := make(chan struct{}), make(chan struct{})
			firstSent := sync.OnceFunc(func() { close(sent) })
			cl := dial(t, fakeServer(t, func(nc net.Conn) {
				readCall(nc)
				firstSent()
				readCall(nc)
				c.answer(nc, failed)
			}), rpc.PoolSize(1), rpc.MaxFrame(1000), rpc.StallTimeout(c.stall))
			client := echo.NewEchoClient(cl)
			var second sync.WaitGroup
			second.Go(func() {
				<-sent
				ctx := bg
				if c.wait > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(bg, c.wait)
					defer cancel()
				}
				_, err := client.Add(ctx, func(args echo.EchoAddArgs) {})
				if c.second == nil && err != nil {
					t.Error("the second call:", err)
				}
				for _, want := range c.second {
					if !errors.Is(err, want) {
						t.Errorf("the second call: %v, want %v", err, want)
					}
				}
			})
			_, err := client.Add(bg, func(args echo.EchoAddArgs) {})
			failsAlone(t, err)
			close(failed)
			second.Wait()
			cl.Close()
		})
	}
}

// TestTooLargeReplyWhileAlone: a call that reads its own reply leaves the rest of one that is too
// large to the connection's goroutine; new calls use another connection until all of it has come.
func TestTooLargeReplyWhileAlone(t *testing.T) {
	t.Parallel()
	large := frame(strict(reply, "add", 1, make([]byte, 100_000)))
	var once sync.Once
	rest := make(chan struct{})
	addr := fakeServer(t, func(nc net.Conn) {
		first := false
		once.Do(func() { first = true })
		if first {
			readCall(nc)
			nc.Write(large[:50_000])
			<-rest
			nc.Write(large[50_000:])
		}
		for {
			id, err := readCall(nc)
			if err != nil {
				return
			}
			nc.Write(frame(strict(reply, "add", id, sumResult(3))))
		}
	})
	counts := newCounts()
	cl := dial(t, addr, rpc.PoolSize(2), rpc.MaxFrame(1000), &counts.Stats)
	c := echo.NewEchoClient(cl)
	_, err := c.Add(bg, func(echo.EchoAddArgs) {})
	failsAlone(t, err)
	for range 3 {
		if _, err := c.Add(bg, func(echo.EchoAddArgs) {}); err != nil {
			t.Error(err)
		}
	}
	close(rest)
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if _, err := c.Add(bg, func(echo.EchoAddArgs) {}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := counts.opened.get(); n != 2 {
		t.Errorf("%d connections were made", n)
	}
}

// TestTooLargeReplyMemory: passing over a reply takes memory for a part of it.
func TestTooLargeReplyMemory(t *testing.T) {
	if !testmode.InOwnProcess(t) {
		return
	}
	for _, opts := range [][]rpc.Option{nil, {rpc.Recycle}} {
		const size = 64 << 20
		addr := fakeServer(t, func(nc net.Conn) {
			readCall(nc)
			head := strict(reply, "add", 1, nil)
			nc.Write(append(be32(len(head)+size), head...))
			part := make([]byte, 64<<10)
			for range size / len(part) {
				nc.Write(part)
			}
			id, _ := readCall(nc)
			nc.Write(frame(strict(reply, "add", id, sumResult(3))))
		})
		c := echo.NewEchoClient(dial(t, addr, append(opts, rpc.PoolSize(1))...))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := c.Add(bg, func(echo.EchoAddArgs) {})
		failsAlone(t, err)
		if _, err := c.Add(bg, func(echo.EchoAddArgs) {}); err != nil {
			t.Error(err)
		}
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > 4<<20 {
			t.Errorf("%d bytes were allocated for %d", n, size)
		}
	}
}
