package rpc_test

import (
	"net"
	"syscall"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
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

// TestUserTimeout: the system gives up a host that takes nothing any more after WriteTimeout, or
// when keepalive's probes have ended: the system does not count them if it has a timeout.
func TestUserTimeout(t *testing.T) {
	const userTimeout = 18
	short := net.KeepAliveConfig{Enable: true, Idle: time.Second, Interval: 2 * time.Second, Count: 3}
	for _, c := range []struct {
		timeout   time.Duration
		keepAlive net.KeepAliveConfig
		want      int
	}{
		{0, net.KeepAliveConfig{}, 30_000}, {2 * time.Second, net.KeepAliveConfig{}, 2000}, {time.Nanosecond, net.KeepAliveConfig{}, 1}, {-1, net.KeepAliveConfig{}, 0},
		{time.Hour, net.KeepAliveConfig{}, 75_000}, {0, short, 7000}, {time.Hour, short, 7000}, {5 * time.Second, short, 5000}, {-1, short, 0},
		{0, net.KeepAliveConfig{Idle: -1}, 30_000}, {time.Hour, net.KeepAliveConfig{Idle: -1}, 3600_000},
	} {
		tcp, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		l := shownListener{tcp, make(chan net.Conn, 1)}
		serveOn(t, &rpc.Server{WriteTimeout: c.timeout, KeepAlive: c.keepAlive}, &handler{}, l)
		cl := dial(t, l.Addr().String())
		if c.timeout != time.Nanosecond {
			unharmed(t, echo.NewEchoClient(cl))
		}
		rc, err := (<-l.conns).(*net.TCPConn).SyscallConn()
		if err != nil {
			t.Fatal(err)
		}
		got := -1
		// It is set after the connection was accepted
		for giveUp := until(time.Minute); !giveUp(); time.Sleep(time.Millisecond) {
			rc.Control(func(fd uintptr) { got, err = syscall.GetsockoptInt(int(fd), syscall.IPPROTO_TCP, userTimeout) })
			if got == c.want {
				break
			}
		}
		if got != c.want || err != nil {
			t.Errorf("WriteTimeout %v, KeepAlive %v: %d ms, %v", c.timeout, c.keepAlive, got, err)
		}
	}
}
