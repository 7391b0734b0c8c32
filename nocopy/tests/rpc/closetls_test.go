package rpc_test

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
)

// rudeDeadlines is a listener of connections whose SetWriteDeadline panics or ends the goroutine.
type rudeDeadlines struct {
	net.Listener
	goexit bool
}

func (l rudeDeadlines) Accept() (net.Conn, error) {
	nc, err := l.Listener.Accept()
	return rudeDeadline{nc, l.goexit}, err
}

type rudeDeadline struct {
	net.Conn
	goexit bool
}

func (c rudeDeadline) SetWriteDeadline(time.Time) error {
	if c.goexit {
		runtime.Goexit()
	}
	panic("rude")
}

// TestCloseBelowTLS: a connection is closed even if closing TLS, which sets a deadline, panics or
// ends the goroutine.
func TestCloseBelowTLS(t *testing.T) {
	t.Parallel()
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // a finalizer would close the connection
	cert, pool := certificate(t)
	for _, goexit := range []bool{false, true} {
		t.Run(fmt.Sprint("exits ", goexit), func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			srv := &rpc.Server{TLS: &tls.Config{Certificates: []tls.Certificate{cert}}, IdleTimeout: 50 * time.Millisecond,
				Processor: echo.NewEchoProcessor(echo.UnimplementedEchoHandler{}), Logger: new(quiet).logger()}
			go srv.Serve(rudeDeadlines{l, goexit})
			defer srv.Close()
			nc, err := tls.Dial("tcp", l.Addr().String(), &tls.Config{RootCAs: pool, ServerName: "127.0.0.1"})
			if err != nil {
				t.Fatal(err)
			}
			defer nc.Close()
			nc.SetReadDeadline(time.Now().Add(time.Minute))
			if _, err := nc.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("the connection is still open: %v", err)
			}
		})
	}
}
