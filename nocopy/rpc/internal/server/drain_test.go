package server

import (
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/transport"
)

// TestMayDrain: a server that leaves a connection looks for further requests while replies are
// still to be written, for a while: unless the system drops new requests, or a request has begun.
func TestMayDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, c := range map[string]struct {
			sealed     bool
			unanswered int
			since      time.Duration
			want       bool
		}{
			"replies are to be written":  {false, 1, 0, true},
			"a moment before the end":    {false, 2, mostDraining - 1, true},
			"all replies are written":    {false, 0, 0, false},
			"for too long":               {false, 1, mostDraining, false},
			"the system drops new bytes": {true, 1, 0, false},
		} {
			conn := &connection{sealed: c.sealed, unanswered: c.unanswered, left: time.Now().Add(-c.since)}
			if got := conn.mayDrain(); got != c.want {
				t.Errorf("%s: %t", name, got)
			}
		}
		begun := &connection{unanswered: 1, left: time.Now()}
		nc, peer := net.Pipe()
		defer nc.Close()
		go peer.Write([]byte{0, 0})
		begun.in.Receiver = transport.Receiver{Conn: nc, Src: nc}
		begun.in.Reset(false)
		if err := begun.in.Await(); err != nil || begun.mayDrain() {
			t.Errorf("a request has begun: %v, %t", err, begun.mayDrain())
		}
		begun.in.Free()
	})
}

// TestEndOfStreamTwice: if the end of the stream is read again, the time until the contexts end
// still counts from the last reply.
func TestEndOfStreamTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const grace = 10 * time.Second
		nc, peer := net.Pipe()
		defer nc.Close()
		defer peer.Close()
		start := time.Now()
		var ended []time.Duration
		conn := &connection{raw: nc, slotFreed: true}
		conn.srv = &Server{Config: Config{HalfCloseTimeout: grace}}
		conn.cancel = func() { ended = append(ended, time.Since(start)) }
		conn.readError(io.EOF)
		time.Sleep(grace / 2)
		conn.readError(io.EOF)
		conn.graceTimer.Reset(conn.halfCloseTimeout()) // as when a reply was written
		time.Sleep(2 * grace)
		if synctest.Wait(); len(ended) != 1 || ended[0] != grace/2+grace {
			t.Errorf("the contexts end after %v", ended)
		}
	})
}

// TestMayHandle: which connections may have another request handled, and which may be closed.
func TestMayHandle(t *testing.T) {
	for name, c := range map[string]struct {
		conn          *connection
		handle, close bool
	}{
		"one call less than the limit":          {&connection{limit: 2, underway: 1, unanswered: 1}, true, false},
		"as many calls as the limit":            {&connection{limit: 2, underway: 2, unanswered: 2}, false, false},
		"calls that were turned away":           {&connection{limit: 2, underway: 1, unanswered: 31}, true, false},
		"too many of them":                      {&connection{limit: 2, underway: 1, unanswered: 32}, false, false},
		"nothing is under way":                  {&connection{limit: 2}, true, false},
		"the stream has ended":                  {&connection{limit: 2, eof: true}, true, false},
		"no more requests, a reply to write":    {&connection{limit: 2, noMore: true, unanswered: 1}, false, false},
		"no more requests, all are answered":    {&connection{limit: 2, noMore: true}, false, true},
		"aborted":                               {&connection{limit: 2, aborted: true, unanswered: 1}, false, true},
		"aborted after the end of the stream":   {&connection{limit: 2, aborted: true, eof: true, unanswered: 1}, true, false},
		"the same, and all requests were read":  {&connection{limit: 2, aborted: true, eof: true, noMore: true, unanswered: 1}, false, true},
		"aborted, and no more requests to read": {&connection{limit: 2, aborted: true, noMore: true, unanswered: 1}, false, true},
	} {
		if handle, close := c.conn.mayHandle(), c.conn.mayClose(); handle != c.handle || close != c.close {
			t.Errorf("%s: mayHandle %t, mayClose %t", name, handle, close)
		}
	}
}

// TestFreeSlotTwice: a connection gives up one slot, and becomes one orphan.
func TestFreeSlotTwice(t *testing.T) {
	srv := &Server{slots: make(chan struct{}, 2), orphans: make(chan struct{}, 2)}
	srv.slots <- struct{}{}
	srv.slots <- struct{}{}
	conn := new(connection)
	conn.srv = srv
	for range 2 {
		conn.freeSlot()
		if len(srv.slots) != 1 || len(srv.orphans) != 1 {
			t.Errorf("%d slots are taken, %d orphans", len(srv.slots), len(srv.orphans))
		}
	}
}
