package rpc_test

import (
	"bytes"
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
)

// blocking is a handler whose calls of ping wait.
type blocking struct {
	handler
	goOn chan struct{}
}

func (h *blocking) Ping(context.Context, echo.BasePingArgs, echo.BasePingResult) error {
	<-h.goOn
	return nil
}

// TestReadAhead: while no further call may be handled, a server reads 1 MiB ahead and no more,
// however much the client sends. Afterwards all calls are answered.
func TestReadAhead(t *testing.T) {
	emptyPools()
	defer emptyPools()
	synctest.Test(t, func(t *testing.T) {
		const piece = 4 << 10
		h := &blocking{goOn: make(chan struct{})}
		l := newPipeListener()
		srv := &rpc.Server{Concurrency: 1, Processor: echo.NewEchoProcessor(h), Logger: new(quiet).logger()}
		served := make(chan error)
		go func() { served <- srv.Serve(l) }()
		client, server := newPipe("ahead")
		client.out.piece = piece
		l.connect(server)
		first := frame(strict(call, "ping", 0, []byte{0}))
		client.out.put(first)
		time.Sleep(time.Second) // of the bubble: another goroutine reads meanwhile
		one := frame(strict(call, "add", 1, addArgs(1, 2)))
		n := 5 << 20 / len(one)
		client.out.put(bytes.Repeat(one, n))
		time.Sleep(time.Second)
		client.out.mu.Lock()
		ahead := client.out.consumed - len(first)
		client.out.mu.Unlock()
		if ahead < 1<<20 || ahead >= 1<<20+piece {
			t.Errorf("the server has read %d bytes ahead, not 1 MiB", ahead)
		}
		close(h.goOn)
		time.Sleep(time.Second)
		answer := frame(strict(reply, "add", 1, sumResult(3)))
		want := append(frame(strict(reply, "ping", 0, []byte{0})), bytes.Repeat(answer, n)...)
		if got := client.in.written(); !bytes.Equal(got, want) {
			t.Errorf("%d bytes of replies, not %d", len(got), len(want))
		}
		client.Close()
		srv.Shutdown(context.Background())
		if err := <-served; err != rpc.ErrServerClosed {
			t.Error(err)
		}
	})
}

// TestRepliesTogether: the replies to calls that arrived together leave together, up to half of
// Concurrency at a time.
func TestRepliesTogether(t *testing.T) {
	for calls, writes := range map[int]int{1: 1, 2: 1, 32: 1, 33: 2, 64: 2, 65: 3, 130: 5} {
		synctest.Test(t, func(t *testing.T) {
			l := newPipeListener()
			srv := &rpc.Server{Processor: echo.NewEchoProcessor(new(handler)), Logger: new(quiet).logger()}
			served := make(chan error)
			go func() { served <- srv.Serve(l) }()
			client, server := newPipe("together")
			l.connect(server)
			client.out.put(bytes.Repeat(frame(strict(call, "ping", 1, []byte{0})), calls))
			synctest.Wait()
			if want := bytes.Repeat(frame(strict(reply, "ping", 1, []byte{0})), calls); !bytes.Equal(client.in.written(), want) || server.writes != writes {
				t.Errorf("%d calls: %d bytes of replies, not %d, in %d writes, not %d", calls, len(client.in.written()), len(want), server.writes, writes)
			}
			client.Close()
			srv.Shutdown(context.Background())
			if err := <-served; err != rpc.ErrServerClosed {
				t.Error(err)
			}
		})
	}
}
