package server

import (
	"net"
	"testing"
)

// TestNegativeSettings: a negative time is no limit, and a number is at least 1.
func TestNegativeSettings(t *testing.T) {
	s := New(Config{Calls: noCalls{}, MaxConns: -1, Concurrency: -1, ReadTimeout: -1, IdleTimeout: -1, HalfCloseTimeout: -1})
	client, server := net.Pipe()
	defer client.Close()
	c := newConnection(s, server)
	defer c.cancel()
	if cap(s.slots) != 1 || c.limit != 1 || c.in.MessageTimeout != 0 || c.in.IdleTimeout != 0 || c.halfCloseTimeout() != 0 {
		t.Errorf("a server of negative settings has %d connections, %d calls, times %v, %v and %v",
			cap(s.slots), c.limit, c.in.MessageTimeout, c.in.IdleTimeout, c.halfCloseTimeout())
	}
}
