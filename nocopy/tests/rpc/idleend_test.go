package rpc_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/rpcinside"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
)

// counting is a handler that counts the calls of add.
type counting struct {
	handler
	handled atomic.Int64
}

func (h *counting) Add(ctx context.Context, args echo.EchoAddArgs, result echo.EchoAddResult) error {
	h.handled.Add(1)
	return h.handler.Add(ctx, args, result)
}

// leaving is a server on which connections end, for one test.
type leaving struct {
	t             *testing.T
	network, addr string
	h             *counting
	opts          []rpc.Option
	conf          *tls.Config
	ok, lost      atomic.Int64
	accepted      atomic.Bool // the server that was started last has a connection
}

// addresses is how many addresses ownAddress has returned.
var addresses atomic.Uint32

// ownAddress returns an address of this host that no other test listens at: while no server of the
// test listens, none of another test can take its port and answer its calls. Other systems than
// Linux have one address of the kind.
func ownAddress() string {
	if runtime.GOOS != "linux" {
		return "127.0.0.1:0"
	}
	n := addresses.Add(1)
	return fmt.Sprintf("127.1.%d.%d:0", n/250, n%250+1)
}

// listenAgain listens at addr, where a listener of the test's was closed. The address can still be
// in use for a moment: by another connection that took the port, or by a child process that
// another test starts, which has the old listener until it calls exec.
func listenAgain(t *testing.T, network, addr string) (l net.Listener) {
	t.Helper()
	settles(t, "the server listens", func() (listens bool) {
		var err error
		l, err = net.Listen(network, addr)
		return err == nil
	})
	if l == nil {
		t.FailNow()
	}
	return l
}

// leavingOver calls f for each kind of connection.
func leavingOver(t *testing.T, f func(t *testing.T, l *leaving)) {
	if !rpcinside.KnowsUnread {
		t.Skip("a client does not know here what had arrived when a connection was closed")
	}
	quietly := rpc.Logger(slog.New(slog.DiscardHandler))
	t.Run("tcp", func(t *testing.T) {
		t.Parallel()
		f(t, &leaving{t: t, network: "tcp", addr: ownAddress(), h: &counting{}, opts: []rpc.Option{quietly}})
	})
	t.Run("tcp, unframed", func(t *testing.T) {
		t.Parallel()
		f(t, &leaving{t: t, network: "tcp", addr: ownAddress(), h: &counting{}, opts: []rpc.Option{quietly, rpc.Unframed}})
	})
	t.Run("unix", func(t *testing.T) {
		t.Parallel()
		f(t, &leaving{t: t, network: "unix", addr: filepath.Join(t.TempDir(), "s"), h: &counting{}, opts: []rpc.Option{quietly}})
	})
	t.Run("tls", func(t *testing.T) {
		t.Parallel()
		cert, pool := certificate(t)
		f(t, &leaving{t: t, network: "tcp", addr: ownAddress(), h: &counting{}, conf: &tls.Config{Certificates: []tls.Certificate{cert}},
			opts: []rpc.Option{quietly, rpc.TLS(&tls.Config{RootCAs: pool, ServerName: "127.0.0.1"})}})
	})
}

// serve starts srv, at the same address as the server before.
func (l *leaving) serve(srv *rpc.Server) *rpc.Server {
	l.t.Helper()
	nl := listenAgain(l.t, l.network, l.addr)
	if strings.HasSuffix(l.addr, ":0") {
		l.addr = nl.Addr().String()
	}
	l.accepted.Store(false)
	srv.Processor, srv.TLS, srv.Logger = echo.NewEchoProcessor(l.h), l.conf, slog.New(slog.DiscardHandler)
	srv.ConnContext = func(ctx context.Context, _ net.Conn) context.Context {
		l.accepted.Store(true)
		return ctx
	}
	go srv.Serve(nl)
	return srv
}

// call makes a call that must succeed, or be known not to have been sent, which it may be if
// connections end faster than they are made, or while there is no server. With mayLose it may
// also be lost, on a connection that was being made just as the listener was closed: the system
// resets it.
func (l *leaving) call(c echo.EchoClient, mayLose bool) {
	res, err := c.Add(bg, func(a echo.EchoAddArgs) { a.SetA(1); a.SetB(2) })
	defer res.Release()
	switch {
	case err == nil && res.GetSuccess() == 3:
		l.ok.Add(1)
	case errors.Is(err, rpc.ErrNotSent):
		time.Sleep(time.Millisecond)
	case mayLose && errors.Is(err, syscall.ECONNRESET):
		l.lost.Add(1)
	default:
		l.t.Errorf("call: %v", err)
	}
}

// check fails the test unless each call that succeeded was handled once, no other one was, except
// those that are said to be lost, and these are few.
func (l *leaving) check() {
	ok, handled, lost := l.ok.Load(), l.h.handled.Load(), l.lost.Load()
	if handled < ok || handled > ok+lost || ok == 0 || lost > 16 {
		l.t.Errorf("%d calls were answered, %d handled, %d lost", ok, handled, lost)
	}
}

// callers makes calls from n clients, each of so many goroutines, until enough returns true and a
// call has succeeded.
func (l *leaving) callers(n, each int, mayLose bool, pause func() time.Duration, enough func() bool) {
	giveUp := until(time.Minute)
	stop := func() bool { return enough() && (l.ok.Load() > 0 || giveUp()) }
	var wg sync.WaitGroup
	for range n {
		cl, err := rpc.Dial(bg, l.network, l.addr, append(l.opts, rpc.PoolSize(max(each/2, 1)))...)
		for ; err != nil && !stop(); time.Sleep(time.Millisecond) { // there is no server just now
			cl, err = rpc.Dial(bg, l.network, l.addr, append(l.opts, rpc.PoolSize(max(each/2, 1)))...)
		}
		if err != nil {
			l.t.Error(err)
			return
		}
		defer cl.Close()
		for range each {
			wg.Go(func() {
				for c := echo.NewEchoClient(cl); !stop(); time.Sleep(pause()) {
					l.call(c, mayLose)
				}
			})
		}
	}
	wg.Wait()
}

func until(d time.Duration) (stop func() bool) {
	end := time.Now().Add(d)
	return func() bool { return time.Now().After(end) }
}

// TestIdleEnd: a call is not lost that comes just as the server closes its connection, since it
// is idle.
func TestIdleEnd(t *testing.T) {
	t.Parallel()
	leavingOver(t, func(t *testing.T, l *leaving) {
		const idle = 20 * time.Millisecond
		srv := l.serve(&rpc.Server{IdleTimeout: idle})
		defer srv.Close()
		edge := func() time.Duration { return idle - 100*time.Microsecond + rand.N(400*time.Microsecond) }
		l.callers(4, 1, false, edge, until(time.Duration(testmode.Of(800, 1500))*time.Millisecond))
		l.check()
	})
}

// TestOldConns: no call is lost when connections end since they are old, busy or not.
func TestOldConns(t *testing.T) {
	t.Parallel()
	leavingOver(t, func(t *testing.T, l *leaving) {
		srv := l.serve(&rpc.Server{MaxConnAge: 30 * time.Millisecond, MaxConnAgeGrace: 40 * time.Millisecond})
		defer srv.Close()
		l.callers(4, 3, false, func() time.Duration { return rand.N(3 * time.Millisecond) }, until(time.Duration(testmode.Of(700, 1500))*time.Millisecond))
		l.check()
	})
}

// TestRestarts: no call is lost on a served connection when a server is shut down and another one
// is started, and none is handled twice.
func TestRestarts(t *testing.T) {
	t.Parallel()
	leavingOver(t, func(t *testing.T, l *leaving) {
		srv := l.serve(&rpc.Server{})
		var stopped atomic.Bool
		done := make(chan struct{})
		go func() {
			defer close(done)
			l.callers(2, 4, l.network == "tcp", func() time.Duration { return 0 }, stopped.Load)
		}()
		for range 8 {
			before := l.ok.Load()
			time.Sleep(50 * time.Millisecond)
			settles(t, "calls are answered", func() bool { return l.accepted.Load() && l.ok.Load() > before })
			ctx, cancel := context.WithTimeout(bg, time.Minute)
			if err := srv.Shutdown(ctx); err != nil {
				t.Error("Shutdown: ", err)
			}
			cancel()
			srv = l.serve(&rpc.Server{})
		}
		time.Sleep(50 * time.Millisecond)
		stopped.Store(true)
		<-done
		srv.Close()
		l.check()
	})
}

// TestHalfSent: a call is not lost if the server can't have read all of it, however the server
// ends the connection. A call that it can have read is lost, and is not made again.
func TestHalfSent(t *testing.T) {
	t.Parallel()
	if !rpcinside.KnowsUnread {
		t.Skip("a client does not know here what had arrived when a connection was closed")
	}
	// They report whether the call may have been seen
	for name, end := range map[string]func(nc *net.TCPConn) bool{
		"read, then closed": func(nc *net.TCPConn) bool { readCall(nc); nc.Close(); return true },
		"read, then half-closed": func(nc *net.TCPConn) bool {
			readCall(nc)
			nc.CloseWrite()
			io.Copy(io.Discard, nc)
			nc.Close()
			return true
		},
		"read, then reset": func(nc *net.TCPConn) bool { readCall(nc); nc.SetLinger(0); nc.Close(); return true },
		"arrived, then reset": func(nc *net.TCPConn) bool { // its bytes arrive together
			nc.Read(make([]byte, 1))
			nc.Close()
			return true
		},
		"closed before it came": func(nc *net.TCPConn) bool { nc.Close(); return false },
	} {
		t.Run(name, func(t *testing.T) {
			var conns atomic.Int32
			seen := make(chan bool, 10)
			addr := fakeServer(t, func(nc net.Conn) {
				if conns.Add(1) == 1 {
					seen <- end(nc.(*net.TCPConn))
					return
				}
				readCall(nc)
				nc.Write(frame(strict(reply, "add", 1, sumResult(3))))
				io.Copy(io.Discard, nc)
			})
			cl := dial(t, addr, rpc.PoolSize(1))
			if name == "closed before it came" {
				<-seen
				seen <- false
			}
			_, err := echo.NewEchoClient(cl).Add(bg, nil)
			if may := <-seen; may && (!errors.Is(err, rpc.ErrConnLost) || conns.Load() != 1) || !may && err != nil {
				t.Errorf("%v, after %d connections", err, conns.Load())
			}
		})
	}
}

// TestClientClosesFirst: a client closes connections that are idle or old, and only then; calls
// under way end before.
func TestClientClosesFirst(t *testing.T) {
	const limit = 500 * time.Millisecond
	for name, opt := range map[string]rpc.Option{"idle": rpc.IdleTimeout(limit), "old": rpc.MaxConnAge(limit), "neither": rpc.IdleTimeout(-1)} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var conns atomic.Int32
				ended := make(chan time.Time, 100)
				serve := func(nc net.Conn) {
					for {
						id, err := readCall(nc)
						if err != nil {
							ended <- time.Now()
							return
						}
						if conns.Load() == 1 && name == "old" {
							time.Sleep(2 * limit) // longer than the connection may be used
						}
						nc.Write(frame(strict(reply, "add", id, sumResult(3))))
					}
				}
				cl := dial(t, "", rpc.PoolSize(1), opt, rpc.Dialer(func(context.Context, string, string) (net.Conn, error) {
					near, far := net.Pipe()
					conns.Add(1)
					go serve(far)
					return near, nil
				}))
				c := echo.NewEchoClient(cl)
				start := time.Now()
				if _, err := c.Add(bg, nil); err != nil {
					t.Fatal(err)
				}
				if name == "neither" {
					time.Sleep(2 * limit)
					if len(ended) > 0 {
						t.Error("a connection without a limit was closed")
					}
					return
				}
				switch d := (<-ended).Sub(start); {
				case name == "idle" && d < limit/2:
					t.Errorf("closed after %v", d)
				case name == "old" && d < 2*limit:
					t.Errorf("closed after %v, during the call", d)
				}
				if _, err := c.Add(bg, nil); err != nil || conns.Load() != 2 {
					t.Errorf("%v, %d connections", err, conns.Load())
				}
			})
		})
	}
}
