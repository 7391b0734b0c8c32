package rpc_test

import (
	"errors"
	"fmt"
	"net"
	"os"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// lateConn is a connection on which a request arrives just when a deadline for reading is over for
// the nth time, before Read returns.
type lateConn struct {
	*net.TCPConn
	over atomic.Int32
	nth  int32
	send func()
}

func (c *lateConn) Read(b []byte) (int, error) {
	n, err := c.TCPConn.Read(b)
	if errors.Is(err, os.ErrDeadlineExceeded) && c.over.Add(1) == c.nth {
		c.send()
		raw, _ := c.SyscallConn()
		for arrived := false; !arrived; time.Sleep(time.Millisecond) {
			raw.Control(func(fd uintptr) {
				n, _, _ := syscall.Recvfrom(int(fd), make([]byte, 1), syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
				arrived = n > 0
			})
		}
	}
	return n, err
}

// lateListener accepts lateConns. It is of a type that can't be a map's key, as a Listener may be.
type lateListener struct {
	net.Listener
	nth  int32
	send func()
}

func (l lateListener) Accept() (net.Conn, error) {
	nc, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &lateConn{TCPConn: nc.(*net.TCPConn), nth: l.nth, send: l.send}, nil
}

// TestLateRequest: a request that has arrived when a connection is about to be closed, since it
// was idle or quiet, is answered.
func TestLateRequest(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		srv  *rpc.Server
		nth  int32
	}{
		{"idle", &rpc.Server{IdleTimeout: 20 * time.Millisecond}, 1},
		// The first is when it has its age, and is read by then
		{"old", &rpc.Server{MaxConnAge: 4 * time.Second}, 2},
	} {
		for _, framed := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, framed %t", c.name, framed), func(t *testing.T) {
				t.Parallel()
				l, err := net.Listen("tcp", "127.0.0.1:0")
				if err != nil {
					t.Fatal(err)
				}
				request, answer := strict(call, "add", 1, addArgs(1, 2)), strict(reply, "add", 1, sumResult(3))
				if framed {
					request, answer = frame(request), frame(answer)
				}
				client := make(chan net.Conn, 1)
				srv := &rpc.Server{IdleTimeout: c.srv.IdleTimeout, MaxConnAge: c.srv.MaxConnAge}
				serveOn(t, srv, &handler{}, lateListener{l, c.nth, func() { nc := <-client; nc.Write(request) }})
				nc := dialRaw(t, l.Addr().String())
				client <- nc
				expect(t, nc, answer)
				closes(t, nc)
			})
		}
	}
}
