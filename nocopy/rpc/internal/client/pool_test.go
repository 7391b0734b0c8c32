package client

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"testing"
	"testing/synctest"
	"time"
)

// dialFed returns a Pool with one place, which dials the connections in turn. When it has dialled
// all of them, dialling fails. dialled has the times.
func dialFed(t *testing.T, dialled *[]time.Time, conns ...*fed) *Pool {
	opts := testConfig(slog.DiscardHandler)
	opts.PoolSize = 1
	opts.DialFunc = func(context.Context, string, string) (net.Conn, error) {
		*dialled = append(*dialled, time.Now())
		if n := len(*dialled); n <= len(conns) {
			return conns[n-1], nil
		}
		return nil, errors.New("nobody listens")
	}
	c, err := DialPool(t.Context(), "fed", "", opts)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// state returns the number of calls that were written on c, and reports whether it was closed.
func (c *fed) state() (sent int, closed bool) {
	synctest.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.sent), c.closed
}

// TestDialPauses: each time that dialling fails, the next pause is twice as long, from 20 ms to 2
// s. The client waits for at least half of it.
func TestDialPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, _ := testMethods()
		var dialled []time.Time
		nc := newFed()
		c := dialFed(t, &dialled, nc)
		nc.change(func() { nc.ended = true }) // without a reply
		before := time.Now()
		for pause := firstDialPause; pause <= 8*maxDialPause; pause *= 2 {
			if err := carry(c, m); !errors.Is(err, ErrNotSent) {
				t.Fatal("a call without a server: ", err)
			}
			last := dialled[len(dialled)-1]
			if most, took := min(pause, maxDialPause), last.Sub(before); took < most/2 || took > most {
				t.Errorf("dialled after %v, not %v to %v", took, most/2, most)
			}
			before = last
		}
		c.Close()
	})
}

// TestOldInUse: a call goes on although its connection gets too old meanwhile, and other calls get
// a new connection. The old one is closed when its last call ends.
func TestOldInUse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, _ := testMethods()
		var dialled []time.Time
		old, young := newFed(), newFed()
		c := dialFed(t, &dialled, old, young)
		start := func() chan error {
			ended := make(chan error, 1)
			go func() { ended <- carry(c, m) }()
			synctest.Wait()
			return ended
		}
		first := start()
		time.Sleep(40 * time.Minute) // beyond MaxConnAge
		second := start()
		before, oldClosed := old.state()
		if after, _ := young.state(); before != 1 || after != 1 || oldClosed {
			t.Errorf("%d calls on the old connection, %d on the new one; closed: %t", before, after, oldClosed)
		}
		young.arrive(replyBytes(m, 1))
		old.arrive(replyBytes(m, 1))
		for _, ended := range []chan error{first, second} {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
		_, oldClosed = old.state()
		if _, closed := young.state(); !oldClosed || closed {
			t.Errorf("closed: the old connection: %t, the new one: %t", oldClosed, closed)
		}
		c.Close()
	})
}

// TestIdleBetweenCalls: short calls keep a connection, even if none is under way whenever the
// client looks. Without calls it is closed.
func TestIdleBetweenCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, _ := testMethods()
		var dialled []time.Time
		nc := newFed()
		c := dialFed(t, &dialled, nc)
		const idle = 50 * time.Second // IdleTimeout
		for id := range 20 {
			time.Sleep(idle / 5)
			ended := make(chan error, 1)
			go func() { ended <- carry(c, m) }()
			synctest.Wait()
			nc.arrive(replyBytes(m, int32(id+1)))
			if err := <-ended; err != nil {
				t.Fatalf("call %d: %v", id, err)
			}
		}
		if _, closed := nc.state(); closed {
			t.Error("closed although it was used")
		}
		time.Sleep(idle)
		if _, closed := nc.state(); !closed {
			t.Error("open although it was not used")
		}
		c.Close()
	})
}
