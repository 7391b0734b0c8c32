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

// quick is a handler whose calls take a little less than it takes for another goroutine to read.
type quick struct{ handler }

const quickTime = 900 * time.Microsecond

func (h *quick) Add(ctx context.Context, args echo.EchoAddArgs, result echo.EchoAddResult) error {
	time.Sleep(quickTime)
	return h.handler.Add(ctx, args, result)
}

func (h *quick) Notify(context.Context, echo.EchoNotifyArgs) error {
	time.Sleep(quickTime)
	return nil
}

// TestHeldReplies: if the next calls have arrived, a reply waits for theirs, but only for a few
// milliseconds, however many calls there are, with a reply or without.
func TestHeldReplies(t *testing.T) {
	emptyPools()
	defer emptyPools()
	for name, next := range map[string][]byte{
		"two-way": frame(strict(call, "add", 1, addArgs(1, 2))),
		"oneway":  frame(strict(oneway, "notify", 1, []byte{0})),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newPipeListener()
				srv := &rpc.Server{Processor: echo.NewEchoProcessor(&quick{}), Logger: new(quiet).logger()}
				served := make(chan error)
				go func() { served <- srv.Serve(l) }()
				client, server := newPipe("held")
				l.connect(server)
				client.out.put(append(frame(strict(call, "add", 7, addArgs(1, 2))), bytes.Repeat(next, 500)...))
				began := time.Now()
				for len(client.in.written()) == 0 {
					time.Sleep(100 * time.Microsecond)
				}
				if after := time.Since(began); after > 5*time.Millisecond {
					t.Errorf("the first reply comes after %v", after)
				}
				client.Close()
				time.Sleep(time.Minute)
				srv.Close()
				<-served
			})
		})
	}
}
