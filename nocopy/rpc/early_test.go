package rpc_test

import (
	"bytes"
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/echo"
)

// queued waits until n calls of c wait for others to be written.
func queued(t *testing.T, c *rpc.Client, n int) {
	t.Helper()
	for range 1000 {
		if c.Queued() == n {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatalf("%d calls are queued, not %d", c.Queued(), n)
}

func echoReply(id int, text string) []byte {
	result := echo.NewEchoEchoResult()
	result.SetSuccess([]byte(text))
	return frame(strict(reply, "echo", id, result.Message().Bytes()))
}

// TestReplyToQueued: a reply with the id that a call will have, of which no byte has been
// written, is not that call's.
func TestReplyToQueued(t *testing.T) {
	for _, opts := range [][]rpc.Option{nil, {rpc.Recycle}} {
		early := make(chan struct{})
		addr := fakeServer(t, func(nc net.Conn) {
			<-early
			nc.Write(echoReply(2, "early"))
			nc.Write(echoReply(3, "early"))
			nc.Write(echoReply(2, "early"))
			for {
				id, err := readCall(nc)
				if err != nil {
					return
				}
				nc.Write(echoReply(id, "in time"))
			}
		})
		cl := dial(t, addr, append(opts, rpc.PoolSize(1))...)
		c := echo.NewEchoClient(cl)
		var wg sync.WaitGroup
		wg.Go(func() {
			// Of a stray reply the oldest call is told, which is this one.
			_, err := c.Echo(bg, func(args echo.EchoEchoArgs) { args.SetPayload(make([]byte, 16<<20)) })
			var ae *rpc.ApplicationException
			if !errors.As(err, &ae) || ae.Type != rpc.BadSequenceID {
				t.Errorf("the call being written: %v", err)
			}
		})
		for cl.Writing() == 0 {
			time.Sleep(time.Millisecond)
		}
		for range 2 {
			wg.Go(func() {
				res, err := c.Echo(bg, func(args echo.EchoEchoArgs) { args.SetPayload([]byte("hello")) })
				if err != nil || string(res.GetSuccess()) != "in time" {
					t.Errorf("a queued call: %q, %v", res.GetSuccess(), err)
				}
			})
		}
		queued(t, cl, 2)
		close(early)
		wg.Wait()
		for range 20 {
			if res, err := c.Echo(bg, nil); err != nil || string(res.GetSuccess()) != "in time" {
				t.Errorf("a call afterwards: %v", err)
			}
		}
	}
}

// TestEarlyReplyDisclosesNothing: what a client sends to one server goes to that one only,
// whatever another replies.
func TestEarlyReplyDisclosesNothing(t *testing.T) {
	for range 5 {
		early, goOn, read, end := make(chan struct{}), make(chan struct{}), make(chan []byte, 1), make(chan struct{})
		curious := fakeServer(t, func(nc net.Conn) {
			<-early
			nc.Write(echoReply(2, "early"))
			<-goOn
			nc.SetReadDeadline(time.Now().Add(time.Second))
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
		for one.Writing() == 0 {
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
		for other.Writing() == 0 {
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
