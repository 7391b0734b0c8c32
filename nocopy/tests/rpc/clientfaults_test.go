package rpc_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nocopythrift/nocopythrift/internal/memory"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
)

// unharmed checks that a call through c works.
func unharmed(t *testing.T, c echo.EchoClient) {
	t.Helper()
	ctx, cancel := context.WithTimeout(bg, time.Minute)
	defer cancel()
	sum, err := c.Add(ctx, func(args echo.EchoAddArgs) { args.SetA(1); args.SetB(2) })
	if err != nil || sum.GetSuccess() != 3 {
		t.Fatalf("another connection: %v", err)
	}
}

// logs checks that q's log has one of the texts soon.
func logs(t *testing.T, q *quiet, texts ...string) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if log := q.String(); slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(log, text) }) {
			return
		}
	}
	t.Errorf("the log has none of %q:\n%s", texts, q)
}

func TestClientClosesMidFrame(t *testing.T) {
	q := new(quiet)
	addr := serve(t, &rpc.Server{Logger: q.logger()}, &handler{})
	other := echo.NewEchoClient(dial(t, addr))
	for _, whole := range [][]byte{frame(strict(call, "add", 1, addArgs(1, 2))), strict(call, "add", 1, addArgs(1, 2))} {
		for n := 1; n < len(whole); n++ {
			nc := dialRaw(t, addr)
			send(t, nc, whole[:n])
			nc.Close()
		}
	}
	logs(t, q, "unexpected EOF")
	unharmed(t, other)
}

func TestSlowSender(t *testing.T) {
	t.Parallel()
	q := new(quiet)
	addr := serve(t, &rpc.Server{Logger: q.logger(), ReadTimeout: 50 * time.Millisecond}, &handler{})
	other := echo.NewEchoClient(dial(t, addr))
	unharmed(t, other)
	for name, begun := range map[string][]byte{
		"a promise of 16 MB": append(be32(16_000_000), strict(call, "echo", 1, nil)...),
		"one byte":           {0},
		"a header":           strict(call, "add", 1, nil),
		"half of a string":   strict(call, "echo", 1, []byte{11, 0, 1, 0, 0, 1, 0, 'x'}),
	} {
		t.Run(name, func(t *testing.T) {
			nc := dialRaw(t, addr)
			send(t, nc, begun)
			start := time.Now()
			closes(t, nc)
			if d := time.Since(start); d >= 30*time.Second { // ReadTimeout's default
				t.Errorf("%s: the connection was closed after %v", name, d)
			}
		})
	}
	logs(t, q, "did not arrive in time")
	unharmed(t, other) // it was idle for longer than that
}

func TestIdle(t *testing.T) {
	const idle = 2 * time.Second
	t.Run("server", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			q, l := new(quiet), make(pipes)
			serveOn(t, &rpc.Server{Logger: q.logger(), IdleTimeout: idle}, &handler{}, l)
			nc := l.dial()
			for range 5 { // it is the time without a request that counts
				time.Sleep(idle - 1)
				send(t, nc, frame(strict(call, "add", 1, addArgs(1, 2))))
				expect(t, nc, frame(strict(reply, "add", 1, sumResult(3))))
			}
			start := time.Now()
			closes(t, nc)
			if d := time.Since(start); d < idle || d > idle+time.Second {
				t.Errorf("closed after %v", d)
			}
			if q.String() != "" {
				t.Errorf("that is nothing to log: %s", q)
			}
		})
	})
	t.Run("client", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			l, dialled := make(pipes), new(atomic.Int32)
			serveOn(t, &rpc.Server{IdleTimeout: idle}, &handler{}, l)
			c := echo.NewEchoClient(dial(t, "", rpc.Dialer(func(context.Context, string, string) (net.Conn, error) {
				dialled.Add(1)
				return l.dial(), nil
			})))
			unharmed(t, c)
			time.Sleep(2 * idle)
			unharmed(t, c)
			if n := dialled.Load(); n != 2 {
				t.Errorf("%d connections", n)
			}
		})
	})
}

// TestUnreadReplies: a client that sends and never reads holds up no other client, and takes no
// unbounded memory.
func TestUnreadReplies(t *testing.T) {
	t.Parallel()
	q := new(quiet)
	addr := serve(t, &rpc.Server{Logger: q.logger(), WriteTimeout: 4 * time.Second}, &handler{})
	other := echo.NewEchoClient(dial(t, addr))
	args := echo.NewEchoEchoArgs()
	args.SetPayload(make([]byte, 1<<20))
	request := frame(strict(call, "echo", 1, args.Message().Bytes()))
	nc := dialRaw(t, addr)
	sent := 0
	for ; sent < 1000; sent++ {
		if _, err := nc.Write(request); err != nil {
			break
		}
		if sent%20 == 0 {
			unharmed(t, other)
		}
	}
	if sent == 1000 {
		t.Error("the server has taken 1 GB without sending a byte of its replies")
	}
	logs(t, q, "i/o timeout", "connection timed out") // Go's deadline or the system's: the same time
	unharmed(t, other)
}

func TestServerClosesMidReply(t *testing.T) {
	whole := frame(strict(reply, "add", 1, sumResult(3)))
	for n := range len(whole) {
		addr := fakeServer(t, func(nc net.Conn) {
			if _, err := readCall(nc); err == nil {
				nc.Write(whole[:n])
			}
		})
		c := echo.NewEchoClient(dial(t, addr, rpc.PoolSize(1)))
		want := io.ErrUnexpectedEOF
		if n == 0 {
			want = io.EOF
		}
		if _, err := c.Add(bg, nil); !errors.Is(err, want) || !strings.Contains(err.Error(), "Echo.add") {
			t.Errorf("%d bytes of a reply: %v", n, err)
		}
	}
}

// TestHalfOpen: calls of a server that never replies, or never reads, end.
func TestHalfOpen(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	addr := fakeServer(t, func(nc net.Conn) {
		nc.(*net.TCPConn).SetReadBuffer(64 << 10) // else the system might take megabytes
		<-release
	})
	defer close(release)
	c := echo.NewEchoClient(dial(t, addr, rpc.PoolSize(1), rpc.StallTimeout(time.Hour)))
	for _, size := range []int{10, 10_000, 4 << 20, 4 << 20, 10} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			ctx, cancel := context.WithTimeout(bg, 30*time.Millisecond)
			start := time.Now()
			_, err := c.Echo(ctx, func(args echo.EchoEchoArgs) { args.SetPayload(make([]byte, size)) })
			if d := time.Since(start); !errors.Is(err, context.DeadlineExceeded) || d > time.Minute {
				t.Errorf("%d bytes: %v after %v", size, err, d)
			}
			cancel()
		})
	}
	// A call without a deadline ends after StallTimeout.
	c = echo.NewEchoClient(dial(t, addr, rpc.PoolSize(1), rpc.StallTimeout(500*time.Millisecond)))
	if _, err := c.Echo(bg, func(args echo.EchoEchoArgs) { args.SetPayload(make([]byte, 48<<20)) }); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a server that takes nothing: %v", err)
	}
}

// TestStalledReply: a call ends if its reply begins and is never completed.
func TestStalledReply(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	addr := fakeServer(t, func(nc net.Conn) {
		readCall(nc)
		nc.Write(frame(strict(reply, "add", 1, sumResult(3)))[:10])
		<-release
	})
	defer close(release)
	c := echo.NewEchoClient(dial(t, addr, rpc.PoolSize(1), rpc.StallTimeout(100*time.Millisecond)))
	if _, err := c.Add(bg, nil); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error(err)
	}
}

// TestBadReplies: the call that a bad reply answers gets an error that names the fault.
func TestBadReplies(t *testing.T) {
	t.Parallel()
	isType := func(want rpc.ExceptionType) func(error) bool {
		return func(err error) bool {
			var ae *rpc.ApplicationException
			unfit := want == rpc.InvalidMessageType || want == rpc.WrongMethodName || want == rpc.BadSequenceID
			return errors.As(err, &ae) && ae.Type == want && errors.Is(err, rpc.ErrBadReply) == unfit
		}
	}
	is := func(want error) func(error) bool { return func(err error) bool { return errors.Is(err, want) } }
	for _, c := range []struct {
		name   string
		reply  []byte
		want   func(error) bool
		usable bool // the connection is used further
	}{
		{"an unknown sequence id", frame(strict(reply, "add", 77, sumResult(3))), isType(rpc.BadSequenceID), true},
		{"sequence id 0", frame(strict(reply, "add", 0, sumResult(3))), isType(rpc.BadSequenceID), true},
		{"a negative sequence id", frame(strict(reply, "add", -1, sumResult(3))), isType(rpc.BadSequenceID), true},
		{"another method", frame(strict(reply, "sub", 1, sumResult(3))), isType(rpc.WrongMethodName), true},
		{"a call", frame(strict(call, "add", 1, sumResult(3))), isType(rpc.InvalidMessageType), true},
		{"no result", frame(strict(reply, "add", 1, []byte{0})), isType(rpc.MissingResult), true},
		{"an exception", frame(strict(exception, "add", 1, failure("no", 10))), isType(rpc.UnsupportedClientType), true},
		{"an exception of no known type", frame(strict(exception, "add", 1, failure("no", 99))), isType(99), true},
		{"a bad struct", frame(strict(reply, "add", 1, []byte{10, 0, 0, 1})), is(io.ErrUnexpectedEOF), true},
		{"an exception that is none", frame(strict(exception, "add", 1, []byte{7})), func(err error) bool { return err != nil }, true},
		{"HTTP", []byte("HTTP/1.1 400 Bad Request\r\n\r\n"), is(rpc.ErrHTTP), false},
		{"garbage", []byte("garbage garbage"), is(memory.ErrFrameSize), false},
		{"a negative frame", []byte{0xff, 0xff, 0xff, 0}, is(memory.ErrFrameSize), false},
		{"garbage in a frame", frame([]byte("\x80\x02garbage garbage")), is(rpc.ErrVersion), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			addr := fakeServer(t, func(nc net.Conn) {
				for i := 0; ; i++ {
					id, err := readCall(nc)
					if err != nil {
						return
					}
					if id == 1 && i == 0 {
						nc.Write(c.reply)
						continue
					}
					nc.Write(frame(strict(reply, "add", id, sumResult(3))))
				}
			})
			cl := echo.NewEchoClient(dial(t, addr, rpc.PoolSize(1)))
			if _, err := cl.Add(bg, nil); !c.want(err) {
				t.Errorf("the error: %v", err)
			}
			sum, err := cl.Add(bg, nil)
			if c.usable && (err != nil || sum.GetSuccess() != 3) {
				t.Errorf("the next call: %v", err)
			}
		})
	}
}

// TestStrayAmongCalls: with several calls under way a stray reply ends one of them, not the
// others.
func TestStrayAmongCalls(t *testing.T) {
	const n = 8
	addr := fakeServer(t, func(nc net.Conn) {
		var ids []int
		for len(ids) < n {
			id, err := readCall(nc)
			if err != nil {
				return
			}
			ids = append(ids, id)
		}
		nc.Write(frame(strict(reply, "add", 1_000_000, sumResult(3))))
		rand.New(rand.NewPCG(1, 2)).Shuffle(n, func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
		for _, id := range ids {
			nc.Write(frame(strict(reply, "add", id, sumResult(int64(id)))))
		}
		io.Copy(io.Discard, nc)
	})
	c := echo.NewEchoClient(dial(t, addr, rpc.PoolSize(1)))
	errs := make(chan error)
	for range n {
		go func() {
			_, err := c.Add(bg, nil)
			errs <- err
		}()
	}
	bad := 0
	for range n {
		if err := <-errs; err != nil {
			var ae *rpc.ApplicationException
			if bad++; !errors.As(err, &ae) || ae.Type != rpc.BadSequenceID {
				t.Error(err)
			}
		}
	}
	if bad != 1 {
		t.Errorf("%d calls have failed", bad)
	}
}

// TestOutOfOrder: a server may answer in any order.
func TestOutOfOrder(t *testing.T) {
	t.Parallel()
	const n = 32
	addr := fakeServer(t, func(nc net.Conn) {
		r := rand.New(rand.NewPCG(1, 2))
		for {
			var ids []int
			for len(ids) < n {
				id, err := readCall(nc)
				if err != nil {
					return
				}
				ids = append(ids, id)
			}
			r.Shuffle(n, func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
			for _, id := range ids {
				nc.Write(frame(strict(reply, "add", id, sumResult(int64(id)))))
			}
		}
	})
	c := echo.NewEchoClient(dial(t, addr, rpc.PoolSize(1)))
	var mu sync.Mutex
	seen := map[int64]bool{}
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			for range 50 {
				sum, err := c.Add(bg, nil)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				if seen[sum.GetSuccess()] {
					t.Errorf("reply %d came twice", sum.GetSuccess())
				}
				seen[sum.GetSuccess()] = true
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if len(seen) != 50*n {
		t.Errorf("%d different replies", len(seen))
	}
}

// TestHandlerOutlivesClient: a client that goes away during a call does no harm to others.
func TestHandlerOutlivesClient(t *testing.T) {
	for _, how := range []string{"close", "reset"} {
		t.Run(how, func(t *testing.T) {
			h := &handler{waiting: make(chan struct{}, 1), release: make(chan struct{})}
			addr := serve(t, &rpc.Server{}, h)
			other := echo.NewEchoClient(dial(t, addr))
			nc := dialRaw(t, addr)
			send(t, nc, frame(strict(call, "fail", 1, []byte("\x0b\x00\x01\x00\x00\x00\x04wait\x00"))))
			<-h.waiting
			if how == "reset" {
				nc.(*net.TCPConn).SetLinger(0)
			}
			nc.Close()
			unharmed(t, other)
			close(h.release)
			unharmed(t, other)
		})
	}
}

// TestHandlerIsCancelled: a connection that was reset ends the context of its handlers.
func TestHandlerIsCancelled(t *testing.T) {
	h := &handler{waiting: make(chan struct{}, 1)}
	addr := serve(t, &rpc.Server{}, h)
	nc := dialRaw(t, addr)
	send(t, nc, frame(strict(call, "fail", 1, []byte("\x0b\x00\x01\x00\x00\x00\x0funtil cancelled\x00"))))
	<-h.waiting
	nc.(*net.TCPConn).SetLinger(0)
	nc.Close()
	<-h.waiting
}

func TestMaxFrame(t *testing.T) {
	q := new(quiet)
	addr := serve(t, &rpc.Server{MaxFrame: 1000, Logger: q.logger()}, &handler{})
	for _, opts := range [][]rpc.Option{nil, {rpc.Unframed}, {rpc.Compact}, {rpc.Compact, rpc.Unframed}, {rpc.THeader()}, {rpc.THeader(rpc.Zlib)}} {
		c := echo.NewEchoClient(dial(t, addr, opts...))
		unharmed(t, c)
		if _, err := c.Echo(bg, func(args echo.EchoEchoArgs) { args.SetPayload(make([]byte, 2000)) }); err == nil {
			t.Error("a request over the limit is answered")
		}
		c.Ping(bg, nil) // may still meet the connection that the server is closing
		unharmed(t, c)  // on a new one
	}
	logs(t, q, "frame length out of range")
	big := echo.NewEchoClient(dial(t, serve(t, &rpc.Server{}, &handler{}), rpc.MaxFrame(1000)))
	if _, err := big.Echo(bg, func(args echo.EchoEchoArgs) { args.SetPayload(make([]byte, 2000)) }); !errors.Is(err, memory.ErrFrameSize) {
		t.Errorf("a reply over the limit: %v", err)
	}
	unharmed(t, big)
}

// TestGarbage: random bytes do no harm.
func TestGarbage(t *testing.T) {
	t.Parallel()
	addr := serve(t, &rpc.Server{ReadTimeout: 100 * time.Millisecond}, &handler{})
	other := echo.NewEchoClient(dial(t, addr))
	good := frame(strict(call, "add", 1, addArgs(1, 2)))
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		b := bytes.Clone(good)
		for range 1 + r.IntN(4) {
			b[r.IntN(len(b))] = byte(r.Uint32())
		}
		nc, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		nc.Write(b)
		nc.Close()
	}
	unharmed(t, other)
}

// TestEarlyReply: a reply that comes while the call is still being written ends it when that is
// done, or given up.
func TestEarlyReply(t *testing.T) {
	t.Parallel()
	for _, takes := range []bool{true, false} {
		t.Run(fmt.Sprint(takes), func(t *testing.T) {
			stop := make(chan struct{})
			addr := fakeServer(t, func(nc net.Conn) {
				io.ReadFull(nc, make([]byte, 100))
				nc.Write(frame(strict(reply, "echo", 1, []byte("\x0b\x00\x00\x00\x00\x00\x02hi\x00"))))
				if takes {
					time.Sleep(50 * time.Millisecond)
					io.Copy(io.Discard, nc)
				}
				<-stop
			})
			cl := dial(t, addr, rpc.PoolSize(1))
			ctx, cancel := context.WithTimeout(bg, time.Minute)
			if !takes {
				ctx, cancel = context.WithTimeout(bg, 200*time.Millisecond)
			}
			payload := make([]byte, 32<<20)
			res, err := echo.NewEchoClient(cl).Echo(ctx, func(args echo.EchoEchoArgs) { args.SetPayload(payload) })
			cancel()
			if takes {
				clear(payload) // ours again: the race detector would see it being written
				if err != nil || string(res.GetSuccess()) != "hi" {
					t.Errorf("%q, %v", res, err)
				}
			} else if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("nobody takes the call: %v", err)
			}
			cl.Close()
			close(stop)
		})
	}
}
