package server

import (
	"log/slog"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/message"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// TestForgottenOnce: a function of Stats ends the goroutine of a connection at the moment when its
// reader is to be relieved. The connection ends once, and gives up its place once.
func TestForgottenOnce(t *testing.T) {
	srv := New(Config{Calls: noCalls{}, Log: func(slog.Level, string, ...any) {}})
	nc, peer := net.Pipe()
	defer peer.Close()
	done := make(chan struct{})
	go func() {
		defer close(done)
		relieveEnded(srv, nc)
	}()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Error("the second end hangs")
	}
	if conns, slots := srv.Inside(); conns != 0 || slots != 0 {
		t.Errorf("%d connections, %d places are taken", conns, slots)
	}
}

// relieveEnded serves nc until the last goroutine of the connection is ended while it handles a
// call, and relieves its reader then, as a timer does that went off just before.
func relieveEnded(s *Server, nc net.Conn) {
	s.slots <- struct{}{}
	s.serving.Add(1)
	c := newConnection(s, nc)
	s.conns[c] = struct{}{}
	c.state, c.handling = handling, new(atomic.Bool)
	c.drop()
	c.relieveReader()
}

// noCalls has no methods.
type noCalls struct{ Calls }

func (noCalls) Descriptor(message.Header) *thriftimpl.Desc { return nil }
