package rpc_test

import (
	"net"
	"os"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// overdue is a connection whose first Read ends because its deadline is over, when a request has
// arrived just before. It gives the deadlines of the Reads after that.
type overdue struct {
	*net.TCPConn
	first     sync.Once
	mu        sync.Mutex
	deadline  time.Time
	deadlines chan time.Time
}

func (c *overdue) SetReadDeadline(t time.Time) error {
	c.mu.Lock()
	c.deadline = t
	c.mu.Unlock()
	return c.TCPConn.SetReadDeadline(t)
}

func (c *overdue) Read(b []byte) (int, error) {
	over := false
	c.first.Do(func() {
		over = true
		raw, _ := c.SyscallConn()
		raw.Read(func(fd uintptr) bool {
			n, _, _ := syscall.Recvfrom(int(fd), make([]byte, 1), syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
			return n > 0
		})
	})
	if over {
		return 0, os.ErrDeadlineExceeded
	}
	c.mu.Lock()
	c.deadlines <- c.deadline
	c.mu.Unlock()
	return c.TCPConn.Read(b)
}

type overdueListener struct {
	net.Listener
	deadlines chan time.Time
}

func (l overdueListener) Accept() (net.Conn, error) {
	nc, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &overdue{TCPConn: nc.(*net.TCPConn), deadlines: l.deadlines}, nil
}

// TestRequestAtIdleDeadline: a request that has arrived when an idle connection's time is over is
// answered, and the connection stays: it was not idle for that time.
func TestRequestAtIdleDeadline(t *testing.T) {
	t.Parallel()
	l := overdueListener{listener(t), make(chan time.Time, 100)}
	serveOn(t, &rpc.Server{IdleTimeout: 24 * time.Hour}, &handler{}, l)
	nc := dialRaw(t, l.Addr().String())
	for i := range 3 {
		send(t, nc, frame(strict(call, "add", i, addArgs(1, 2))))
		expect(t, nc, frame(strict(reply, "add", i, sumResult(3))))
	}
	for range 3 { // before each request the server waits for its time anew
		if left := time.Until(<-l.deadlines); left < time.Hour {
			t.Errorf("the connection ends in %v", left)
		}
	}
}
