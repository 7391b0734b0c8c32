package rpc_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/rpcinside"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
)

// TestCompressedSeveral: a compressed frame with several messages is refused as a whole, in one
// answer, and calls after it are handled.
func TestCompressedSeveral(t *testing.T) {
	w := new(work)
	srv := &rpc.Server{Stats: w.stats(), Interceptors: []rpc.Interceptor{func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
		w.begun.Add(1)
		return next(ctx, c)
	}}}
	addr := serve(t, srv, &handler{})
	add, sum := strict(call, "add", 7, addArgs(40, 2)), strict(reply, "add", 7, sumResult(42))
	cadd, notify := compactly(call, "add", 7, compactAdd(40, 2)), strict(oneway, "notify", 7, []byte{0})
	const one = "a compressed frame holds one message"
	for _, c := range []struct {
		what string
		in   []byte
		text string // of the answer; "" if there is none
	}{
		{"two", zipped(7, add, add), one},
		{"one and a byte", zipped(7, add, []byte{0}), one},
		{"many", zipped(7, bytes.Repeat(add, 100_000)), one},
		{"two in Compact", zippedCompact(7, cadd, cadd), one},
		{"many in Compact", zippedCompact(7, bytes.Repeat(cadd, 100_000)), one},
		{"a oneway call first", zipped(7, notify, add), ""},
		{"a oneway call in Compact first", zippedCompact(7, compactly(oneway, "notify", 7, []byte{0}), cadd), ""},
		{"an unknown method first", zipped(7, strict(call, "nope", 7, []byte{0}), add), "nope"},
		{"a malformed call first", zipped(7, strict(call, "add", 7, []byte{99}), add), "add"},
		{"too few arguments first", zipped(7, strict(call, "put", 7, []byte{0}), add), "required field"},
	} {
		t.Run(c.what, func(t *testing.T) {
			nc := dialRaw(t, addr)
			send(t, nc, join(c.in, headed(0, 7, binaryHead, add)))
			if c.text != "" {
				b := frameFrom(t, nc)
				if at := bytes.Index(b, []byte{0x78, 1}); at > 0 { // compressed, as the call
					b = inflated(b[at:])
				}
				if !bytes.Contains(b, []byte(c.text)) {
					t.Errorf("the answer is %q", b)
				}
			}
			expect(t, nc, headed(0, 7, binaryHead, sum))
			if n := w.begun.Swap(0); n != 1 {
				t.Errorf("%d calls were handled", n)
			}
		})
	}
}

// pipedClient returns a client in a bubble whose connections connect makes.
func pipedClient(t *testing.T, connect func() net.Conn, opts ...rpc.Option) *rpc.Client {
	dial := rpc.Dialer(func(context.Context, string, string) (net.Conn, error) { return connect(), nil })
	c, err := rpc.Dial(bg, "pipe", "", append(opts, dial, rpc.IdleTimeout(-1), rpc.MaxConnAge(-1), rpc.Logger(new(quiet).logger()))...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestCompressedZeros: a large call and its reply may have been compressed as much as zlib can, in
// both protocols. A few come through at once. More wait, and come through, too.
func TestCompressedZeros(t *testing.T) {
	for _, protocol := range []rpc.Protocol{rpc.Binary, rpc.Compact} {
		inBubble(t, &rpc.Server{}, &handler{}, func(t *testing.T, connect func() net.Conn) {
			conn := pipedClient(t, connect, rpc.THeader(rpc.Zlib), protocol)
			defer conn.Close()
			c := echo.NewEchoClient(conn)
			zeros := make([]byte, 10_000_000)
			echoed := func() time.Duration {
				start := time.Now()
				res, err := c.Echo(bg, func(args echo.EchoEchoArgs) { args.SetPayload(zeros) })
				if err != nil {
					t.Fatal(err)
				}
				defer res.Release()
				if !bytes.Equal(res.GetSuccess(), zeros) {
					t.Fatal("other bytes")
				}
				return time.Since(start)
			}
			for range 2 {
				if d := echoed(); d > time.Second {
					t.Errorf("it took %v", d)
				}
			}
			if d := echoed(); d < time.Second || d > 10*time.Second {
				t.Errorf("the third call at the same time took %v", d)
			}
		})
	}
}

// codings are the ways in which calls are compressed: what a connection sends, and how it receives
// the answer.
var codings = map[string]struct {
	call   func(message []byte) []byte
	answer func(t *testing.T, nc net.Conn) []byte
}{
	"zlib": {func(message []byte) []byte { return zipped(1, message) }, frameFrom},
	"gzip": {func(message []byte) []byte {
		return rawRequest("POST", "/", gzippedBody(message), "Content-Encoding: gzip")
	}, func(t *testing.T, nc net.Conn) []byte {
		resp, text := response(t, bufio.NewReader(nc), "POST")
		if busy := strings.Contains(text, "not handled"); busy != (resp.StatusCode == http.StatusServiceUnavailable) {
			t.Errorf("%s: %s", resp.Status, text)
		}
		return []byte(text)
	}},
}

// failingCall returns a call of fail with n zeros in a field that the IDL does not know.
func failingCall(n int) []byte {
	return strict(call, "fail", 1, join([]byte{11, 0, 9}, be32(n), make([]byte, n), []byte{0}))
}

// TestCompressedWaits: while handlers keep the server's budget, calls that are compressed more
// than usual wait on any connection, in any coding, for ReadTimeout at most. Others are handled.
func TestCompressedWaits(t *testing.T) {
	for name, holder := range codings {
		for other, waiting := range codings {
			t.Run(name+", "+other, func(t *testing.T) { testCompressedWaits(t, holder.call, holder.answer, waiting.call, waiting.answer) })
		}
	}
}

type (
	coded    = func(message []byte) []byte
	received = func(t *testing.T, nc net.Conn) []byte
)

func testCompressedWaits(t *testing.T, holds coded, holdersAnswer received, waits coded, answer received) {
	const most = 1 << 20
	w := newWaiter()
	srv := &rpc.Server{MaxFrame: most, ReadTimeout: time.Minute, Stats: new(work).stats()}
	inBubble(t, srv, w, func(t *testing.T, connect func() net.Conn) {
		*w = *newWaiter() // channels of the bubble
		add, sum := strict(call, "add", 7, addArgs(40, 2)), strict(reply, "add", 7, sumResult(42))
		held := connect()
		defer held.Close()
		send(t, held, holds(failingCall(most-1000)))
		expects(t, w.begun, 1, "fail", "begun")
		second := connect()
		defer second.Close()
		send(t, second, waits(failingCall(most*3/4)))
		start := time.Now()
		nc := connect()
		defer nc.Close()
		send(t, nc, join(headed(0, 7, binaryHead, add), zipped(7, add)))
		expect(t, nc, headed(0, 7, binaryHead, sum))
		if got := inflated(frameFrom(t, nc)[14:]); !bytes.Equal(got, sum) {
			t.Errorf("%q", got)
		}
		if d := time.Since(start); d > time.Second {
			t.Errorf("other calls waited for %v", d)
		}
		b := answer(t, second)
		if d := time.Since(start); !bytes.Contains(b, []byte("compressed more than 32 times; this call was not handled")) || d != time.Minute {
			t.Errorf("after %v: %q", d, b)
		}
		third := connect()
		defer third.Close()
		send(t, third, waits(failingCall(most*3/4)))
		synctest.Wait()
		close(w.release)
		holdersAnswer(t, held)
		answer(t, third)
		if d := time.Since(start); d > time.Minute+10*time.Second {
			t.Errorf("it was handled after %v", d)
		}
	})
}

// TestCompressedHoldsNoReply: a reply does not wait for the next call of its connection while that
// one waits for the server's budget.
func TestCompressedHoldsNoReply(t *testing.T) {
	const most = 1 << 20
	w := newWaiter()
	inBubble(t, &rpc.Server{MaxFrame: most, ReadTimeout: time.Minute}, w, func(t *testing.T, connect func() net.Conn) {
		*w = *newWaiter()
		add, sum := strict(call, "add", 7, addArgs(40, 2)), strict(reply, "add", 7, sumResult(42))
		held := connect()
		defer held.Close()
		send(t, held, zipped(1, failingCall(most-1000)))
		expects(t, w.begun, 1, "fail", "begun")
		nc := connect()
		defer nc.Close()
		start := time.Now()
		send(t, nc, join(headed(0, 7, binaryHead, add), zipped(8, failingCall(most*3/4))))
		expect(t, nc, headed(0, 7, binaryHead, sum))
		if d := time.Since(start); d > time.Second {
			t.Errorf("the reply comes after %v", d)
		}
		close(w.release)
		frameFrom(t, held)
		frameFrom(t, nc)
	})
}

// TestCompressedNotHandled: a client learns that such a call was not handled.
func TestCompressedNotHandled(t *testing.T) {
	const most = 1 << 20
	w := newWaiter()
	inBubble(t, &rpc.Server{MaxFrame: most, ReadTimeout: time.Minute}, w, func(t *testing.T, connect func() net.Conn) {
		*w = *newWaiter()
		held := connect()
		defer held.Close()
		send(t, held, zipped(1, failingCall(most-1000)))
		expects(t, w.begun, 1, "fail", "begun")
		conn := pipedClient(t, connect, rpc.THeader(rpc.Zlib))
		defer conn.Close()
		_, err := echo.NewEchoClient(conn).Echo(bg, func(args echo.EchoEchoArgs) { args.SetPayload(make([]byte, most*3/4)) })
		if !isShed(err) {
			t.Error(err)
		}
		close(w.release)
		frameFrom(t, held)
	})
}

// TestCompressedClose: Close ends what waits.
func TestCompressedClose(t *testing.T) {
	for name, coding := range codings {
		t.Run(name, func(t *testing.T) {
			w := newWaiter()
			srv := &rpc.Server{MaxFrame: 1 << 20, ReadTimeout: -1}
			inBubble(t, srv, w, func(t *testing.T, connect func() net.Conn) {
				*w = *newWaiter()
				for range 4 {
					nc := connect()
					defer nc.Close()
					go io.Copy(io.Discard, nc)
					send(t, nc, coding.call(failingCall(1_000_000)))
				}
				synctest.Wait()
				if conns, _ := rpcinside.OfServer(srv); conns != 4 {
					t.Errorf("%d connections", conns)
				}
				srv.Close()
				close(w.release)
				synctest.Wait()
				if conns, _ := rpcinside.OfServer(srv); conns != 0 {
					t.Errorf("%d connections are left", conns)
				}
			})
		})
	}
}

// TestCompressedReplies: a server that compresses its replies as much as possible makes its client
// decompress a few of them at once, and then so many per second. Calls that wait for that end with
// their contexts, and others go on.
func TestCompressedReplies(t *testing.T) {
	const calls, most = 64, 1 << 20
	synctest.Test(t, func(t *testing.T) {
		zeros := join([]byte{11, 0, 0}, be32(most-1000), make([]byte, most-1000), []byte{0})
		connect := func() net.Conn {
			near, far := net.Pipe()
			go func() {
				ids := make(chan int, calls)
				go func() {
					for id := range ids {
						far.Write(zipped(id, strict(reply, "echo", id, zeros)))
					}
				}()
				defer close(ids)
				for {
					var size [4]byte
					if _, err := io.ReadFull(far, size[:]); err != nil {
						return
					}
					b := make([]byte, binary.BigEndian.Uint32(size[:]))
					io.ReadFull(far, b)
					ids <- int(binary.BigEndian.Uint32(b[4:]))
				}
			}()
			return near
		}
		w := new(work)
		conn := pipedClient(t, connect, rpc.THeader(), rpc.MaxFrame(most), rpc.StallTimeout(time.Minute), w.stats())
		c := echo.NewEchoClient(conn)
		start := time.Now()
		ctx, cancel := context.WithTimeout(bg, 10*time.Second)
		defer cancel()
		var wg sync.WaitGroup
		for range calls {
			wg.Go(func() {
				res, err := c.Echo(ctx, nil)
				if err == nil {
					w.replies.Add(1)
					res.Release()
				} else if !errors.Is(err, context.DeadlineExceeded) {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		if n := w.converted.Load(); n > 2*most || n < most/2 {
			t.Errorf("%d bytes at once", n)
		}
		wg.Wait()
		if d := time.Since(start); d > 10*time.Second+time.Millisecond {
			t.Errorf("calls ended after %v", d)
		}
		if n := w.converted.Load(); n > 5*most || n < 3*most {
			t.Errorf("%d bytes in ten seconds", n)
		}
		if n := w.replies.Load(); n < 3 || n > 5 {
			t.Errorf("%d replies", n)
		}
		conn.Close() // also what waits
		if d := time.Since(start); d > 11*time.Second {
			t.Errorf("Close took %v", d)
		}
		synctest.Wait()
	})
}

// TestCompressedOwnReply: a call that reads its own reply, which waits to be decompressed, returns
// when its context ends.
func TestCompressedOwnReply(t *testing.T) {
	zeros := join([]byte{11, 0, 0}, be32(1_000_000), make([]byte, 1_000_000), []byte{0})
	addr := fakeServer(t, func(nc net.Conn) {
		for {
			var size [4]byte
			if _, err := io.ReadFull(nc, size[:]); err != nil {
				return
			}
			b := make([]byte, binary.BigEndian.Uint32(size[:]))
			io.ReadFull(nc, b)
			id := int(binary.BigEndian.Uint32(b[4:]))
			if bytes.Contains(b, []byte("add")) {
				nc.Write(headed(0, id, binaryHead, strict(reply, "add", id, sumResult(3))))
			} else {
				nc.Write(zipped(id, strict(reply, "echo", id, zeros)))
			}
		}
	})
	w := new(work)
	c := echo.NewEchoClient(dial(t, addr, rpc.THeader(), rpc.PoolSize(1), rpc.MaxFrame(1_100_000), rpc.StallTimeout(-1), w.stats()))
	for range 20 { // from then on calls read their own replies
		if _, err := c.Add(bg, nil); err != nil {
			t.Fatal(err)
		}
	}
	early := false
	for range 8 {
		before := w.converted.Load()
		ctx, cancel := context.WithTimeout(bg, 50*time.Millisecond)
		_, err := c.Echo(ctx, nil)
		cancel()
		if err != nil && !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		early = early || err != nil && w.converted.Load() == before
	}
	if !early {
		t.Error("each call has waited until its reply was decompressed")
	}
}

// TestCompressedIndex: the index of a compressed call's arguments counts, too.
func TestCompressedIndex(t *testing.T) {
	for name, coding := range codings {
		t.Run(name, func(t *testing.T) {
			w := new(waiter)
			srv := &rpc.Server{MaxFrame: 1 << 20, ReadTimeout: time.Minute, Stats: new(work).stats()}
			inBubble(t, srv, w, func(t *testing.T, connect func() net.Conn) {
				*w = *newWaiter() // channels of the bubble
				w.put = func(ctx context.Context, _ echo.EchoPutArgs, _ echo.EchoPutResult) error { return w.wait(ctx, "put") }
				const pairs = 100_000 // a map of empty strings, whose index is as large as the map
				labels := join([]byte{12, 0, 1, 13, 0, 4, 11, 11}, be32(pairs), make([]byte, 8*pairs), []byte{0, 11, 0, 2}, be32(1), []byte("x\x00"))
				held := connect()
				defer held.Close()
				send(t, held, coding.call(strict(call, "put", 1, labels)))
				expects(t, w.begun, 1, "put", "begun")
				second := connect()
				defer second.Close()
				start := time.Now()
				send(t, second, coding.call(failingCall(600_000)))
				if b := coding.answer(t, second); !bytes.Contains(b, []byte("this call was not handled")) || time.Since(start) != time.Minute {
					t.Errorf("after %v: %.100q", time.Since(start), b)
				}
				close(w.release)
				coding.answer(t, held)
			})
		})
	}
}
