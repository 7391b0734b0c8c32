package rpc_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
)

// queued waits until n calls of c wait for others to be written.
func queued(t *testing.T, c *rpc.Client, n int) {
	t.Helper()
	for giveUp := until(time.Minute); callsQueued(c) != n; time.Sleep(5 * time.Millisecond) {
		if giveUp() {
			t.Fatalf("%d calls are queued, not %d", callsQueued(c), n)
		}
	}
}

func echoReply(id int, text string) []byte {
	result := echo.NewEchoEchoResult()
	result.SetSuccess([]byte(text))
	return frame(strict(reply, "echo", id, result.Message().Bytes()))
}

// handling says by handled when n bytes have been read from a connection, and more are asked for:
// those have been handled then.
type handling struct {
	net.Conn
	n       int
	handled chan struct{}
}

func (c *handling) Read(b []byte) (int, error) {
	if c.n <= 0 && c.handled != nil {
		close(c.handled)
		c.handled = nil
	}
	n, err := c.Conn.Read(b)
	c.n -= n
	return n, err
}

// TestReplyToQueued: a reply with the id of a queued call, before a byte of the call has been
// written, is not given to the call.
func TestReplyToQueued(t *testing.T) {
	t.Parallel()
	cancellable, cancel := context.WithCancel(bg)
	defer cancel()
	for _, c := range []struct {
		ctx    context.Context // its calls are written by a goroutine if it may end
		opts   []rpc.Option
		first  int // bytes of the call that is being written
		oneway bool
		early  func(id int) []byte
	}{
		{bg, nil, 16 << 20, false, func(id int) []byte { return echoReply(id, "early") }},
		{bg, []rpc.Option{rpc.Recycle}, 9 << 20, false, func(id int) []byte { return echoReply(id, "early") }},
		{cancellable, nil, 12 << 20, false, func(id int) []byte { return echoReply(id, "early") }},
		{cancellable, nil, 9 << 20, true, func(id int) []byte { return echoReply(id, "early") }},
		{bg, nil, 9 << 20, true, func(id int) []byte { return frame(strict(exception, "notify", id, failure("no", 1))) }},
		{bg, nil, 9 << 20, false, func(id int) []byte { return frame(strict(exception, "echo", id, failure("no", 6))) }},
		{cancellable, []rpc.Option{rpc.Recycle}, 9 << 20, false, func(id int) []byte { return frame(strict(call, "another", id, []byte{0})) }},
	} {
		early, handled := make(chan struct{}), make(chan struct{})
		var replies []byte
		for _, id := range []int{2, 3, 2, 4} {
			replies = append(replies, c.early(id)...)
		}
		addr := fakeServer(t, func(nc net.Conn) {
			<-early
			nc.Write(replies)
			<-handled // before the call is read, and the queued ones can be written
			for {
				id, err := readCall(nc)
				if err != nil {
					return
				}
				nc.Write(echoReply(id, "in time"))
			}
		})
		watched := rpc.Dialer(func(ctx context.Context, network, addr string) (net.Conn, error) {
			nc, err := new(net.Dialer).DialContext(ctx, network, addr)
			return &handling{nc, len(replies), handled}, err
		})
		cl := dial(t, addr, append(c.opts, rpc.PoolSize(1), watched)...)
		e := echo.NewEchoClient(cl)
		var wg sync.WaitGroup
		wg.Go(func() {
			// A stray reply ends the oldest call, which is this one.
			_, err := e.Echo(c.ctx, func(args echo.EchoEchoArgs) { args.SetPayload(make([]byte, c.first)) })
			var ae *rpc.ApplicationException
			if !errors.As(err, &ae) || ae.Type != rpc.BadSequenceID {
				t.Errorf("the call being written: %v", err)
			}
		})
		for callsWriting(cl) == 0 {
			time.Sleep(time.Millisecond)
		}
		for range 2 {
			wg.Go(func() {
				if c.oneway {
					if err := e.Notify(c.ctx, nil); err != nil {
						t.Errorf("a queued oneway call: %v", err)
					}
					return
				}
				res, err := e.Echo(c.ctx, func(args echo.EchoEchoArgs) { args.SetPayload([]byte("hello")) })
				if err != nil || string(res.GetSuccess()) != "in time" {
					t.Errorf("a queued call: %q, %v", res.GetSuccess(), err)
				}
			})
		}
		queued(t, cl, 2)
		close(early)
		wg.Wait()
		for range 20 {
			if res, err := e.Echo(bg, nil); err != nil || string(res.GetSuccess()) != "in time" {
				t.Errorf("a call afterwards: %v", err)
			}
		}
		unused(t, cl)
	}
}

// TestEarlyReplyDisclosesNothing: arguments for one server go only to that server, for all replies
// of another server.
func TestEarlyReplyDisclosesNothing(t *testing.T) {
	t.Parallel()
	for range testmode.Of(1, 3) {
		early, goOn, read, end := make(chan struct{}), make(chan struct{}), make(chan []byte, 1), make(chan struct{})
		curious := fakeServer(t, func(nc net.Conn) {
			<-early
			nc.Write(echoReply(2, "early"))
			<-goOn
			nc.SetReadDeadline(time.Now().Add(500 * time.Millisecond))
			b, _ := io.ReadAll(nc)
			read <- b
		})
		trusted := fakeServer(t, func(nc net.Conn) { <-end })
		one, other := dial(t, curious, rpc.PoolSize(1)), dial(t, trusted, rpc.PoolSize(4))
		var wg sync.WaitGroup
		call := func(cl *rpc.Client, payload []byte) {
			wg.Go(func() {
				echo.NewEchoClient(cl).Echo(bg, func(args echo.EchoEchoArgs) { args.SetPayload(payload) })
			})
		}
		call(one, make([]byte, 16<<20))
		for callsWriting(one) == 0 {
			time.Sleep(time.Millisecond)
		}
		call(one, nil)
		queued(t, one, 1)
		close(early)
		time.Sleep(20 * time.Millisecond) // a call that returned now would leave room for one of these
		secret := bytes.Repeat([]byte("secret "), 6<<20/7)
		for range 4 {
			call(other, secret)
		}
		for callsWriting(other) == 0 {
			time.Sleep(time.Millisecond)
		}
		close(goOn)
		if b := <-read; bytes.Contains(b, []byte("secret")) {
			t.Error("another server's call was sent to the curious one")
		}
		close(end)
		one.Close()
		other.Close()
		wg.Wait()
	}
}
