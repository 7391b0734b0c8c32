package rpc

import (
	"log/slog"
	"net"
	"sync/atomic"
	"testing"
	"time"
)

// TestForgottenOnce: a function of Stats ends the goroutine of a connection at the moment when its
// reader is to be relieved. The connection ends once, and gives up its place once.
func TestForgottenOnce(t *testing.T) {
	srv := &Server{Logger: slog.New(slog.DiscardHandler)}
	nc, peer := net.Pipe()
	defer peer.Close()
	done := make(chan struct{})
	go func() {
		defer close(done)
		relieveEnded(srv, nc)
	}()
	select {
	case <-done:
	case <-time.After(30 * time.Second):
		t.Error("the second end hangs")
	}
	if conns, slots := srv.inside(); conns != 0 || slots != 0 {
		t.Errorf("%d connections, %d places are taken", conns, slots)
	}
}

// relieveEnded serves nc until the last goroutine of the connection is ended while it handles a
// call, and relieves its reader then, as a timer does that went off just before.
func relieveEnded(s *Server, nc net.Conn) {
	s.init()
	s.slots <- struct{}{}
	s.serving.Add(1)
	c := newServerConn(s, nc)
	s.conns[c] = struct{}{}
	c.state, c.handling = handling, RawMethod("m", false)
	c.handling.slow = new(atomic.Bool)
	c.drop()
	c.relieveReader()
}
