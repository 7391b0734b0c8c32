package client

import (
	"bytes"
	"context"
	"log/slog"
	"math"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/message"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// TestAge: age returns how long ago a sequence id was given, −1 for one that no reply may have.
func TestAge(t *testing.T) {
	const most = math.MaxInt32
	for _, c := range []struct {
		last    int32
		wrapped bool
		id, age int32
	}{
		{0, false, 1, -1}, {0, false, 0, -1}, {0, false, -1, -1}, {0, false, math.MinInt32, -1},
		{5, false, 5, 0}, {5, false, 1, 4}, {5, false, 6, -1}, {5, false, 0, -1}, {5, false, most, -1},
		{most, false, most, 0}, {most, false, 1, most - 1}, {most, false, -most, -1},
		{2, true, 2, 0}, {2, true, 1, 1}, {2, true, most, 2}, {2, true, most - 5, 7}, {2, true, 3, -1},
		{2, true, most / 2, -1}, {2, true, 2 + most/2, -1}, {2, true, 3 + most/2, most / 2}, {2, true, 0, -1}, {2, true, -1, -1}, {most - 1, true, most, -1},
	} {
		conn := connection{lastID: c.last, idsReused: c.wrapped}
		if got := conn.age(c.id); got != c.age {
			t.Errorf("id %d, after %d (wrapped: %v) is %d old, not %d", c.id, c.last, c.wrapped, got, c.age)
		}
	}
}

// TestWrappedIDs: sequence ids begin anew after the largest, without those that are in use; a
// stray reply ends the oldest call then, too, and replies to calls that were given up are dropped.
func TestWrappedIDs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, oneway := testMethods()
		log := new(bytes.Buffer)
		opts := testConfig(slog.NewTextHandler(log, nil))
		nc := newSteered()
		c := newConnection(nc, &opts, nil)
		ended := map[int]chan string{}
		var order []int
		call := func(ctx context.Context, i int, m Method) {
			ended[i] = make(chan string, 1)
			args := newTestArgs(m)
			args.Claim(m.Args)
			go func() {
				reply, err := c.call(ctx, nil, &Call{Method: m, Args: nocopy.Struct(args)})
				reply.Body.Release()
				args.End()
				order = append(order, i)
				ended[i] <- outcomeOf(m, err)
			}()
			synctest.Wait()
			nc.writeEnds(nil)
		}
		expect := func(i int, want string) {
			t.Helper()
			synctest.Wait()
			select {
			case got := <-ended[i]:
				if got != want {
					t.Errorf("call %d: %s, not %s", i, got, want)
				}
			default:
				t.Errorf("call %d has not ended", i)
			}
		}
		bg := context.Background()
		short, cancel := context.WithCancel(bg)
		call(bg, 1, m) // id 1 stays in use
		c.lastID = math.MaxInt32 - 4
		call(bg, 2, m)      // MaxInt32-3
		call(bg, 3, oneway) // -2
		call(short, 4, m)   // -1
		call(bg, 5, m)      // MaxInt32
		call(bg, 6, m)      // 2: 1 is in use
		call(bg, 7, m)      // 3
		if c.lastID != 3 || !c.idsReused {
			t.Errorf("the last id is %d", c.lastID)
		}
		cancel()
		expect(3, "sent")
		expect(4, "given up")
		// Dropped
		for _, id := range []int32{math.MaxInt32 - 2, math.MaxInt32 - 1, math.MaxInt32 - 100} {
			nc.replies(m, id)
		}
		if n := bytes.Count(log.Bytes(), []byte("reply that no call waits for")); n != 1 || len(order) != 2 {
			t.Errorf("replies that nobody waits for, of which the first is in the log: %s %v", log, order)
		}
		nc.replies(m, 2)
		expect(6, "reply")
		nc.replies(m, 4) // not given yet
		expect(2, "stray")
		nc.replies(m, 0)
		expect(5, "stray")
		nc.replies(m, 3)
		expect(7, "reply")
		nc.replies(m, -1)
		expect(1, "stray")
		if n := bytes.Count(log.Bytes(), []byte("unknown sequence id")); n != 3 {
			t.Errorf("%d stray replies are in the log, not 3", n)
		}
		for range 50 { // there is no call that they might be to
			nc.replies(m, 0)
		}
		if n := bytes.Count(log.Bytes(), []byte("unknown sequence id")); n != 3 {
			t.Errorf("strangers fill the log: %d lines", n)
		}
		if slices.Sort(order); !slices.Equal(order, []int{1, 2, 3, 4, 5, 6, 7}) || len(c.calls) != 0 {
			t.Errorf("%v, %d calls are left", order, len(c.calls))
		}
		c.close(ErrClosed)
		c.wait()
	})
}

// TestTakenID: a call that took its sequence id before it was queued gets another one if that id
// is in use when it is written.
func TestTakenID(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, _ := testMethods()
		opts := testConfig(slog.DiscardHandler)
		opts.Style.Form = message.Compact
		nc := newSteered()
		c := newConnection(nc, &opts, nil)
		for range 3 { // the first is being written, the others are queued, with the same id
			c.lastID = math.MaxInt32 - 1
			args := newTestArgs(m)
			args.Claim(m.Args)
			go func() {
				c.call(context.Background(), nil, &Call{Method: m, Args: nocopy.Struct(args)})
				args.End()
			}()
			synctest.Wait()
		}
		nc.writeEnds(nil)
		for id, p := range c.calls {
			if h, _, err := message.Parse(p.encoded.Bytes()[4:]); err != nil || h.SeqID != id || p.seqid != id {
				t.Errorf("call %d is sent as %d, %v", id, h.SeqID, err)
			}
		}
		if len(c.calls) != 3 || c.queuedBytes != 0 {
			t.Errorf("%d calls are written, %d bytes queued", len(c.calls), c.queuedBytes)
		}
		nc.writeEnds(nil)
		c.close(ErrClosed)
		c.wait()
	})
}

// TestBatch: a large call ends a batch: calls after it stay queued, and no reply is for them.
func TestBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, _ := testMethods()
		opts := testConfig(slog.DiscardHandler)
		nc := newSteered()
		c := newConnection(nc, &opts, nil)
		for _, size := range []int{0, 100, 100, batchBytes, 100, 2 * batchBytes, 100, 100} {
			args := newTestArgs(m)
			// As if it were a binary
			thriftimpl.Struct(args).SetBytes(2<<48|3<<32|11<<16|1, make([]byte, size))
			args.Claim(m.Args)
			go func() {
				c.call(context.Background(), nil, &Call{Method: m, Args: nocopy.Struct(args)})
				args.End()
			}()
			synctest.Wait()
		}
		for _, want := range []int{1, 3, 2, 2} {
			if len(c.batched) != want {
				t.Errorf("%d calls are written together, not %d", len(c.batched), want)
			}
			written := len(c.batched)
			for n := len(c.calls); nc.inside && len(c.calls) == n && len(c.batched) > 0; {
				nc.writeEnds(nil)
			}
			if c.joined != (written > 1) {
				t.Errorf("%v after %d calls in one write", c.joined, written)
			}
		}
		if len(c.queue)+len(c.batched) > 0 {
			t.Errorf("%d calls are queued, %d being written", len(c.queue), len(c.batched))
		}
		c.close(ErrClosed)
		c.wait()
	})
}
