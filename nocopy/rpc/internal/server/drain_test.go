package server

import (
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
		begun.in = transport.Receiver{Conn: nc, Src: nc}
		begun.in.Reset(false)
		if err := begun.in.Await(); err != nil || begun.mayDrain() {
			t.Errorf("a request has begun: %v, %t", err, begun.mayDrain())
		}
		begun.in.Free()
	})
}
