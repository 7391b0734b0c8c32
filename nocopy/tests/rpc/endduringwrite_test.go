package rpc_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
)

// gated is a connection whose next Write waits when it is armed.
type gated struct {
	*net.TCPConn
	armed   atomic.Bool
	writing chan struct{} // receives when that Write has begun
	release chan struct{} // it goes on when this is closed
	ended   chan struct{} // closed when Read returns an end
	endedAt time.Time     // then
}

func (g *gated) Write(b []byte) (int, error) {
	if g.armed.Swap(false) {
		g.writing <- struct{}{}
		<-g.release
	}
	return g.TCPConn.Write(b)
}

func (g *gated) Read(b []byte) (int, error) {
	n, err := g.TCPConn.Read(b)
	if err == io.EOF {
		g.endedAt = time.Now()
		close(g.ended)
	}
	return n, err
}

// TestEndDuringWrite: when the stream ends while a call is being written, calls that wait to be
// written are not sent any more, although the client waits for the write.
func TestEndDuringWrite(t *testing.T) {
	t.Parallel()
	for range 20 { // on a busy machine the client may have waited for as long as it does
		if endDuringWrite(t) {
			return
		}
	}
	t.Error("the write was never released in time")
}

// endDuringWrite reports whether the write was released in time.
func endDuringWrite(t *testing.T) bool {
	cert, pool := certificate(t)
	addr := serve(t, &rpc.Server{TLS: &tls.Config{Certificates: []tls.Certificate{cert}}}, &handler{})
	g := &gated{writing: make(chan struct{}), release: make(chan struct{}), ended: make(chan struct{})}
	dialler := func(ctx context.Context, network, addr string) (net.Conn, error) {
		if g.TCPConn != nil {
			return nil, errors.New("no other connection")
		}
		nc, err := new(net.Dialer).DialContext(ctx, network, addr)
		if err == nil {
			g.TCPConn = nc.(*net.TCPConn)
		}
		return g, err
	}
	c := dial(t, addr, rpc.Dialer(dialler), rpc.TLS(&tls.Config{RootCAs: pool}), rpc.PoolSize(1))
	e := echo.NewEchoClient(c)
	ctx, cancel := context.WithTimeout(bg, time.Minute)
	defer cancel()
	g.armed.Store(true)
	results := make(chan error)
	go func() {
		_, err := e.Echo(ctx, func(a echo.EchoEchoArgs) { a.SetPayload(make([]byte, 1<<20)) })
		results <- err
	}()
	<-g.writing
	queued := make(chan error)
	go func() {
		_, err := e.Add(ctx, nil)
		queued <- err
	}()
	for callsQueued(c) == 0 {
		time.Sleep(time.Millisecond)
	}
	g.CloseRead()
	<-g.ended
	time.Sleep(20 * time.Millisecond)
	close(g.release)
	err1, err2 := <-results, <-queued
	if !errors.Is(err2, rpc.ErrNotSent) {
		t.Errorf("the call that waited: %v", err2)
	}
	if time.Since(g.endedAt) > 80*time.Millisecond && errors.Is(err1, rpc.ErrNotSent) {
		return false
	}
	if !errors.Is(err1, rpc.ErrConnLost) {
		t.Errorf("the call that was being written: %v", err1)
	}
	return true
}
