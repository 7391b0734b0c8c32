package rpc_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
)

// gated is a client's connection in a bubble, whose stream the test ends, and whose next Write
// waits when it is armed.
type gated struct {
	net.Conn
	armed   atomic.Bool
	writing chan struct{} // receives when that Write has begun
	release chan struct{} // it goes on when this is closed
	over    atomic.Bool   // reading returns the end of the stream
}

func (g *gated) Write(b []byte) (int, error) {
	if g.armed.Swap(false) {
		g.writing <- struct{}{}
		<-g.release
	}
	return g.Conn.Write(b)
}

func (g *gated) Read(b []byte) (int, error) {
	n, err := g.Conn.Read(b)
	if g.over.Load() {
		return 0, io.EOF
	}
	return n, err
}

// TestEndDuringWrite: when the stream ends while a call is being written, calls that wait to be
// written are not sent any more, although the client waits for the write.
func TestEndDuringWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cert, pool := certificate(t)
		l := make(pipes)
		serveOn(t, &rpc.Server{TLS: &tls.Config{Certificates: []tls.Certificate{cert}}}, &handler{}, l)
		g := &gated{writing: make(chan struct{}), release: make(chan struct{})}
		var first sync.Once
		dialler := func(context.Context, string, string) (net.Conn, error) {
			err := errors.New("no other connection")
			first.Do(func() { g.Conn, err = l.dial(), nil })
			return g, err
		}
		c := dial(t, "", rpc.Dialer(dialler), rpc.TLS(&tls.Config{RootCAs: pool, ServerName: "127.0.0.1"}), rpc.PoolSize(1))
		e := echo.NewEchoClient(c)
		g.armed.Store(true)
		results := make(chan error)
		go func() {
			_, err := e.Echo(bg, func(a echo.EchoEchoArgs) { a.SetPayload(make([]byte, 1<<20)) })
			results <- err
		}()
		<-g.writing
		queued := make(chan error)
		go func() {
			_, err := e.Add(bg, nil)
			queued <- err
		}()
		synctest.Wait()
		if n := callsQueued(c); n != 1 {
			t.Errorf("%d calls wait to be written", n)
		}
		g.over.Store(true)
		g.SetReadDeadline(time.Now()) // the read that waits returns
		time.Sleep(20 * time.Millisecond)
		close(g.release)
		err1, err2 := <-results, <-queued
		if !errors.Is(err2, rpc.ErrNotSent) {
			t.Errorf("the call that waited: %v", err2)
		}
		if !errors.Is(err1, rpc.ErrConnLost) {
			t.Errorf("the call that was being written: %v", err1)
		}
	})
}
