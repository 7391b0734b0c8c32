package rpc_test

import (
	"net"
	"syscall"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/echo"
)

// shownListener shows the connections that it accepts.
type shownListener struct {
	net.Listener
	conns chan net.Conn
}

func (l shownListener) Accept() (net.Conn, error) {
	nc, err := l.Listener.Accept()
	if err == nil {
		l.conns <- nc
	}
	return nc, err
}

// TestUserTimeout: the system gives up a host that takes nothing any more after WriteTimeout.
func TestUserTimeout(t *testing.T) {
	const userTimeout = 18
	for timeout, want := range map[time.Duration]int{0: 30_000, 2 * time.Second: 2000, time.Nanosecond: 1, -1: 0} {
		tcp, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		l := shownListener{tcp, make(chan net.Conn, 1)}
		serveOn(t, &rpc.Server{WriteTimeout: timeout}, &handler{}, l)
		c := dial(t, l.Addr().String())
		if timeout != time.Nanosecond {
			unharmed(t, echo.NewEchoClient(c))
		}
		rc, err := (<-l.conns).(*net.TCPConn).SyscallConn()
		if err != nil {
			t.Fatal(err)
		}
		got := -1
		for range 100 { // it is set after the connection was accepted
			rc.Control(func(fd uintptr) { got, err = syscall.GetsockoptInt(int(fd), syscall.IPPROTO_TCP, userTimeout) })
			if got == want {
				break
			}
			time.Sleep(time.Millisecond)
		}
		if got != want || err != nil {
			t.Errorf("WriteTimeout %v: %d ms, %v", timeout, got, err)
		}
	}
}
