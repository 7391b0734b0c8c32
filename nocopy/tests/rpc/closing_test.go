package rpc_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// racingConn is a connection whose Read returns a request when a deadline is over, which a Read
// may do if bytes arrive before the goroutine that waits for them runs again.
type racingConn struct {
	*net.TCPConn
	request []byte
}

func (c *racingConn) Read(b []byte) (int, error) {
	n, err := c.TCPConn.Read(b)
	if request := c.request; errors.Is(err, os.ErrDeadlineExceeded) && request != nil {
		c.request = nil
		return copy(b, request), nil
	}
	return n, err
}

type racingListener struct {
	net.Listener
	request  []byte
	accepted chan struct{}
}

func (l *racingListener) Accept() (net.Conn, error) {
	nc, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	close(l.accepted)
	return &racingConn{nc.(*net.TCPConn), l.request}, nil
}

// TestRequestAtShutdown: a request that arrives just as Shutdown is called, so that the server
// reads it, is answered.
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
				<-l.accepted
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
