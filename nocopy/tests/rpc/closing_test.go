package rpc_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// racingConn is a connection whose Read returns a request when a deadline is over, which a Read
// may do if bytes arrive before the goroutine that waits for them runs again.
type racingConn struct {
	*net.TCPConn
	request []byte
	reads   func() // called when reading begins
}

func (c *racingConn) Read(b []byte) (int, error) {
	c.reads()
	n, err := c.TCPConn.Read(b)
	if request := c.request; errors.Is(err, os.ErrDeadlineExceeded) && request != nil {
		c.request = nil
		return copy(b, request), nil
	}
	return n, err
}

type racingListener struct {
	net.Listener
	request []byte
	reads   chan struct{} // closed when the server reads
}

func (l *racingListener) Accept() (net.Conn, error) {
	nc, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &racingConn{nc.(*net.TCPConn), l.request, sync.OnceFunc(func() { close(l.reads) })}, nil
}

// TestRequestAtShutdown: a request that arrives just as Shutdown is called is answered if the
// server reads it.
func TestRequestAtShutdown(t *testing.T) {
	t.Parallel()
	for _, framed := range []bool{true, false} {
		for name, args := range map[string][]byte{"whole": addArgs(1, 2), "malformed": {9, 0, 1, 0}} {
			t.Run(fmt.Sprintf("%s, framed %t", name, framed), func(t *testing.T) {
				request := strict(call, "add", 1, args)
				if framed {
					request = frame(request)
				}
				l := &racingListener{listener(t), request, make(chan struct{})}
				srv := &rpc.Server{}
				serveOn(t, srv, &handler{}, l)
				nc := dialRaw(t, l.Addr().String())
				<-l.reads
				defer srv.Shutdown(bg)
				go srv.Shutdown(bg)
				got, err := io.ReadAll(nc)
				nc.Close()
				if err != nil || !bytes.Contains(got, []byte("add")) {
					t.Errorf("the reply is %q (%v)", got, err)
				}
			})
		}
	}
}
