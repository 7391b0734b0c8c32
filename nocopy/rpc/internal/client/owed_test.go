package client

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"

	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// TestOwed: a connection owes a reply to each call that was given up when it had been written,
// until the reply comes, and once only. New calls prefer connections that owe fewer.
func TestOwed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := testConfig(slog.DiscardHandler)
		nc, other := newFed(), newFed()
		c, fresh := newConnection(nc, &opts, nil), newConnection(other, &opts, nil)
		m, _ := testMethods()
		pool := &Pool{conns: []*place{{conn: c}, {conn: fresh}}, opt: opts}
		owes := func(when string, n int) {
			t.Helper()
			if got := c.owed(); got != n {
				t.Errorf("%s: %d replies are owed, not %d", when, got, n)
			}
			pool.mu.Lock()
			defer pool.mu.Unlock()
			if best := pool.chooseConn(); (best.conn == c) != (n == 0) {
				t.Errorf("%s: a new call uses the connection: %t", when, n > 0)
			}
		}
		const n = 3
		owes("at first", 0)
		for i := range n {
			ctx, give := context.WithCancel(context.Background())
			ended := make(chan error)
			args := claimed(m)
			go func() {
				_, err := c.call(ctx, nil, &Call{Method: m, Args: args})
				thriftimpl.Struct(args).End()
				ended <- err
			}()
			synctest.Wait()
			give()
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Fatalf("a call that was given up: %v", err)
			}
			owes("given up", i+1)
		}
		for i := range n {
			nc.arrive(replyBytes(m, int32(i+1)))
			owes("after a late reply", n-1-i)
		}
		nc.arrive(replyBytes(m, 1))
		owes("after a second reply", 0)
		c.close(ErrClosed)
		fresh.close(ErrClosed)
		c.wait()
		fresh.wait()
	})
}

// TestOwedWhileWritten: a call that is given up while its bytes are being written has its reply
// owed from then on, until the reply comes.
func TestOwedWhileWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := testConfig(slog.DiscardHandler)
		nc := newSteered()
		c := newConnection(nc, &opts, nil)
		m, _ := testMethods()
		start := func(ctx context.Context) chan error {
			args, ended := claimed(m), make(chan error, 1)
			go func() {
				reply, err := c.call(ctx, nil, &Call{Method: m, Args: args})
				reply.Body.Release()
				thriftimpl.Struct(args).End()
				ended <- err
			}()
			synctest.Wait()
			return ended
		}
		owes := func(when string, n int) {
			t.Helper()
			if got := c.owed(); got != n {
				t.Errorf("%s: %d replies are owed, not %d", when, got, n)
			}
		}
		// The first call writes itself. A goroutine of the connection writes the second one.
		ctx, give := context.WithCancel(context.Background())
		first, second := start(context.Background()), start(ctx)
		nc.writeEnds(nil)
		give()
		if err := <-second; !errors.Is(err, context.Canceled) || !nc.inside {
			t.Fatalf("a call that was given up while it was written (%t): %v", nc.inside, err)
		}
		owes("given up", 1)
		nc.writeEnds(nil)
		owes("written", 1)
		nc.replies(m, 1)
		if err := <-first; err != nil {
			t.Errorf("the call before it: %v", err)
		}
		owes("after a reply to another call", 1)
		nc.replies(m, 2)
		owes("after the late reply", 0)
		c.close(ErrClosed)
		c.wait()
	})
}
