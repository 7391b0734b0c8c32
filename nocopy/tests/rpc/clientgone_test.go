package rpc_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
)

// waiter is a service whose calls of fail and notify wait for their contexts to end, or to be
// released.
type waiter struct {
	custom
	begun, ended chan string // receive the methods' names
	release      chan struct{}
}

func newWaiter() *waiter {
	w := &waiter{begun: make(chan string, 1000), ended: make(chan string, 1000), release: make(chan struct{})}
	w.fail = func(ctx context.Context, args echo.EchoFailArgs, _ echo.EchoFailResult) error {
		return w.wait(ctx, "fail")
	}
	w.notify = func(ctx context.Context, args echo.EchoNotifyArgs) error { return w.wait(ctx, "notify") }
	return w
}

func (w *waiter) wait(ctx context.Context, name string) error {
	w.begun <- name
	select {
	case <-ctx.Done():
		w.ended <- name
		return ctx.Err()
	case <-w.release:
		return nil
	}
}

// expects waits for n names from c.
func expects(t *testing.T, c <-chan string, n int, name, what string) {
	t.Helper()
	for i := range n {
		select {
		case got := <-c:
			if got != name {
				t.Fatalf("%s: %s", what, got)
			}
		case <-time.After(time.Minute):
			t.Fatalf("%s: %d of %d", what, i, n)
		}
	}
}

// plainConn hides the type of a connection.
type plainConn struct{ net.Conn }

type plainListener struct{ net.Listener }

func (l plainListener) Accept() (net.Conn, error) {
	nc, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return plainConn{nc}, nil
}

// roomyListener accepts connections whose kernel has room for what the server leaves unread, and
// for the end of the stream after it: without, that stays with the client's kernel.
type roomyListener struct{ net.Listener }

func (l roomyListener) Accept() (net.Conn, error) {
	nc, err := l.Listener.Accept()
	if err == nil {
		err = nc.(*net.TCPConn).SetReadBuffer(256 << 10)
	}
	return nc, err
}

// serveRoomy is serve with a roomyListener.
func serveRoomy(t *testing.T, srv *rpc.Server) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	serveOn(t, srv, nil, roomyListener{l})
	return l.Addr().String()
}

// networks are ways for a client to reach a server.
var networks = map[string]func(t *testing.T, srv *rpc.Server) func() net.Conn{
	"tcp": func(t *testing.T, srv *rpc.Server) func() net.Conn {
		addr := serveRoomy(t, srv)
		return func() net.Conn { return dialRaw(t, addr) }
	},
	"hidden tcp": func(t *testing.T, srv *rpc.Server) func() net.Conn {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		serveOn(t, srv, nil, plainListener{l})
		return func() net.Conn { return dialRaw(t, l.Addr().String()) }
	},
	"tls": func(t *testing.T, srv *rpc.Server) func() net.Conn {
		var cert tls.Certificate
		var pool *x509.CertPool
		cert, pool = certificate(t)
		srv.TLS = &tls.Config{Certificates: []tls.Certificate{cert}}
		addr := serveRoomy(t, srv)
		return func() net.Conn {
			nc := tls.Client(dialRaw(t, addr), &tls.Config{RootCAs: pool, ServerName: "127.0.0.1"})
			if err := nc.Handshake(); err != nil {
				t.Fatal(err)
			}
			return nc
		}
	},
	"unix": func(t *testing.T, srv *rpc.Server) func() net.Conn {
		path := filepath.Join(t.TempDir(), "s")
		l, err := net.Listen("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		serveOn(t, srv, nil, l)
		return func() net.Conn {
			nc, err := net.Dial("unix", path)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { nc.Close() })
			nc.SetDeadline(time.Now().Add(time.Minute))
			return nc
		}
	},
}

// goes makes a client go away in one of several ways.
func goes(nc net.Conn, how string) {
	if how == "reset" {
		raw := nc
		if t, ok := nc.(*tls.Conn); ok {
			raw = t.NetConn()
		}
		if t, ok := raw.(*net.TCPConn); ok {
			t.SetLinger(0)
		}
		raw.Close()
		return
	}
	nc.Close()
}

// TestGone: when a client is gone, the contexts of its two-way calls end and its place among
// MaxConns is free; its oneway calls go on. That is so however many calls are under way and
// however much of the client's was not read.
func TestGone(t *testing.T) {
	t.Parallel()
	twoWay := func(i int) []byte { return frame(strict(call, "fail", i, []byte{0})) }
	for network, listen := range networks {
		for _, how := range []string{"reset", "close"} {
			for _, v := range []struct {
				concurrency, calls int
				pending            int // bytes that are sent besides
			}{
				{1, 1, 0}, {1, 1, 10}, {1, 1, 5000}, {4, 2, 0}, {4, 4, 0}, {4, 4, 30_000}, {64, 64, 0}, {1, 1, 200_000}, {1, 1, 1<<20 + 30_000},
			} {
				if v.pending > 1<<20 && network != "tcp" && network != "tls" {
					continue // more than is read ahead: nobody is asked
				}
				t.Run(fmt.Sprint(network, " ", how, " ", v), func(t *testing.T) {
					t.Parallel()
					w := newWaiter()
					srv := &rpc.Server{Processor: echo.NewEchoProcessor(w), MaxConns: 1, Concurrency: v.concurrency, HalfCloseTimeout: 30 * time.Millisecond}
					connect := listen(t, srv)
					nc := connect()
					// With a TLS ticket left unread, closing would be a reset.
					send(t, nc, frame(strict(call, "add", 7, addArgs(1, 2))))
					expect(t, nc, frame(strict(reply, "add", 7, sumResult(3))))
					var in []byte
					for i := range v.calls {
						in = append(in, twoWay(i)...)
					}
					send(t, nc, in)
					expects(t, w.begun, v.calls, "fail", "begun")
					send(t, nc, frame(strict(call, "echo", 99, bigArgs(v.pending)))[:v.pending])
					time.Sleep(5 * time.Millisecond)
					goes(nc, how)
					expects(t, w.ended, v.calls, "fail", "ended")
					nc = connect() // there is room for one
					send(t, nc, frame(strict(call, "add", 7, addArgs(1, 2))))
					expect(t, nc, frame(strict(reply, "add", 7, sumResult(3))))
				})
			}
		}
	}
}

// TestOnewayOutlivesClient: the context of a oneway call ends with the server only, and the
// connection's place is free before.
func TestOnewayOutlivesClient(t *testing.T) {
	t.Parallel()
	for network, listen := range networks {
		for _, how := range []string{"reset", "close"} {
			for _, concurrency := range []int{1, 2, 64} {
				t.Run(fmt.Sprint(network, " ", how, " ", concurrency), func(t *testing.T) {
					w := newWaiter()
					srv := &rpc.Server{Processor: echo.NewEchoProcessor(w), MaxConns: 1, Concurrency: concurrency, HalfCloseTimeout: time.Millisecond}
					connect := listen(t, srv)
					nc := connect()
					send(t, nc, frame(strict(oneway, "notify", 1, []byte{0})))
					expects(t, w.begun, 1, "notify", "begun")
					goes(nc, how)
					nc = connect()
					send(t, nc, frame(strict(call, "add", 7, addArgs(1, 2))))
					expect(t, nc, frame(strict(reply, "add", 7, sumResult(3))))
					nc.Close()
					select {
					case <-w.ended:
						t.Error("the call's context has ended")
					case <-time.After(20 * time.Millisecond):
					}
					srv.Close()
					expects(t, w.ended, 1, "notify", "ended")
				})
			}
		}
	}
}

// TestManyOnewaysThenClose: all calls that a client has sent before it closed the connection are
// handled, however long that takes.
func TestManyOnewaysThenClose(t *testing.T) {
	t.Parallel()
	const n = 100
	var handled atomic.Int32
	done := make(chan struct{})
	h := &custom{notify: func(ctx context.Context, _ echo.EchoNotifyArgs) error {
		time.Sleep(2 * time.Millisecond)
		if ctx.Err() != nil {
			t.Error(ctx.Err())
		}
		if handled.Add(1) == n {
			close(done)
		}
		return nil
	}}
	nc := dialRaw(t, serve(t, &rpc.Server{Processor: echo.NewEchoProcessor(h), Concurrency: 1, HalfCloseTimeout: time.Millisecond}, nil))
	send(t, nc, bytes.Repeat(frame(strict(oneway, "notify", 1, []byte{0})), n))
	nc.Close()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Errorf("%d of %d", handled.Load(), n)
	}
}

// TestOnewaysAfterCallsThenClose: oneway calls that have arrived are handled also if the replies
// to calls before them can't be written any more.
func TestOnewaysAfterCallsThenClose(t *testing.T) {
	t.Parallel()
	const calls, n = 5, 20
	var handled atomic.Int32
	begun, release, done := make(chan struct{}, calls), make(chan struct{}), make(chan struct{})
	h := &custom{
		fail: func(context.Context, echo.EchoFailArgs, echo.EchoFailResult) error {
			begun <- struct{}{}
			<-release
			time.Sleep(5 * time.Millisecond) // the client's system answers the last reply
			return nil
		},
		notify: func(context.Context, echo.EchoNotifyArgs) error {
			if handled.Add(1) == n {
				close(done)
			}
			return nil
		},
	}
	srv := &rpc.Server{Processor: echo.NewEchoProcessor(h), Concurrency: 1, HalfCloseTimeout: time.Millisecond}
	nc := dialRaw(t, serve(t, srv, nil))
	send(t, nc, bytes.Repeat(frame(strict(call, "fail", 1, []byte{0})), calls))
	send(t, nc, bytes.Repeat(frame(strict(oneway, "notify", 1, []byte{0})), n))
	<-begun
	nc.Close()
	settles(t, "it is noticed, while the handler is running", func() bool {
		_, slots := serverInUse(srv)
		return slots == 0
	})
	close(release)
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Errorf("%d of %d", handled.Load(), n)
	}
}

// TestHalfClosed: a client that has closed its sending side gets the replies to all its calls,
// also after HalfCloseTimeout.
func TestHalfClosed(t *testing.T) {
	t.Parallel()
	for network, listen := range networks {
		for _, concurrency := range []int{1, 64} {
			t.Run(fmt.Sprint(network, concurrency), func(t *testing.T) {
				const n = 40
				h := &custom{fail: func(ctx context.Context, _ echo.EchoFailArgs, _ echo.EchoFailResult) error {
					time.Sleep(3 * time.Millisecond)
					return nil
				}}
				srv := &rpc.Server{Processor: echo.NewEchoProcessor(h), Concurrency: concurrency, HalfCloseTimeout: time.Millisecond}
				nc := listen(t, srv)()
				var in, want []byte
				for i := range n {
					in = append(in, frame(strict(call, "fail", i, []byte{0}))...)
					want = append(want, frame(strict(reply, "fail", i, []byte{0}))...)
				}
				send(t, nc, in)
				if err := nc.(interface{ CloseWrite() error }).CloseWrite(); err != nil {
					t.Fatal(err)
				}
				expect(t, nc, want)
				if b, err := io.ReadAll(nc); len(b) > 0 || err != nil {
					t.Errorf("then %x, %v", b, err)
				}
			})
		}
	}
}

// TestHalfClosedFor: with a negative HalfCloseTimeout contexts of half-closed clients do not end,
// except for clients of a unix socket that is closed altogether.
func TestHalfClosedFor(t *testing.T) {
	t.Parallel()
	for network, ends := range map[string]bool{"tcp": false, "unix": true} {
		t.Run(network, func(t *testing.T) {
			w := newWaiter()
			nc := networks[network](t, &rpc.Server{Processor: echo.NewEchoProcessor(w), HalfCloseTimeout: -1})()
			send(t, nc, frame(strict(call, "fail", 1, []byte{0})))
			expects(t, w.begun, 1, "fail", "begun")
			nc.Close()
			if ends {
				expects(t, w.ended, 1, "fail", "ended")
				return
			}
			select {
			case <-w.ended:
				t.Error("the call's context has ended")
			case <-time.After(100 * time.Millisecond):
			}
			close(w.release)
		})
	}
}

// TestOrphans: connections whose clients are gone give up their slots while their handlers are
// still running, but not more than MaxConns of them at a time.
func TestOrphans(t *testing.T) {
	t.Parallel()
	begun, release := make(chan struct{}), make(chan struct{})
	h := &custom{fail: func(context.Context, echo.EchoFailArgs, echo.EchoFailResult) error {
		begun <- struct{}{}
		<-release
		return nil
	}}
	addr := serve(t, &rpc.Server{Processor: echo.NewEchoProcessor(h), MaxConns: 2}, nil)
	for i := range 4 {
		nc := dialRaw(t, addr)
		send(t, nc, frame(strict(call, "fail", 1, []byte{0})))
		select {
		case <-begun:
		case <-time.After(time.Minute):
			t.Fatalf("connection %d is not served", i)
		}
		goes(nc, "reset")
	}
	nc := dialRaw(t, addr)
	send(t, nc, frame(strict(call, "add", 7, addArgs(1, 2))))
	nc.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
	if n, err := nc.Read(make([]byte, 1)); n > 0 || err == nil {
		t.Error("a connection is served though handlers are running for four")
	}
	close(release)
	nc.SetReadDeadline(time.Now().Add(time.Minute))
	expect(t, nc, frame(strict(reply, "add", 7, sumResult(3))))
}

// TestWriteFails: if a reply can't be written, the contexts of the client's other calls end.
func TestWriteFails(t *testing.T) {
	t.Parallel()
	w := newWaiter()
	nc := dialRaw(t, serve(t, &rpc.Server{Processor: echo.NewEchoProcessor(w), WriteTimeout: 100 * time.Millisecond, Unordered: true}, nil))
	send(t, nc, frame(strict(call, "fail", 1, []byte{0})))
	expects(t, w.begun, 1, "fail", "begun")
	go func() {
		request := frame(strict(call, "echo", 2, bigArgs(1<<20)))
		for {
			if _, err := nc.Write(request); err != nil { // and never reads
				return
			}
		}
	}()
	expects(t, w.ended, 1, "fail", "ended")
}

// TestGoneDuringShutdown: a server that is shutting down still notices that a client is gone.
func TestGoneDuringShutdown(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"reset", "close"} {
		t.Run(how, func(t *testing.T) {
			w := newWaiter()
			srv := &rpc.Server{Processor: echo.NewEchoProcessor(w), HalfCloseTimeout: 10 * time.Millisecond}
			nc := dialRaw(t, serve(t, srv, nil))
			send(t, nc, frame(strict(call, "fail", 1, []byte{0})))
			expects(t, w.begun, 1, "fail", "begun")
			ended := make(chan error)
			go func() { ended <- srv.Shutdown(bg) }()
			time.Sleep(10 * time.Millisecond)
			goes(nc, how)
			expects(t, w.ended, 1, "fail", "ended")
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
	}
}

// TestNotIdle: IdleTimeout does not count while a call is under way.
func TestNotIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const idle = time.Second
		w, l := newWaiter(), make(pipes)
		serveOn(t, &rpc.Server{Processor: echo.NewEchoProcessor(w), IdleTimeout: idle}, nil, l)
		nc := l.dial()
		send(t, nc, frame(strict(call, "fail", 1, []byte{0})))
		expects(t, w.begun, 1, "fail", "begun")
		time.Sleep(2 * idle)
		send(t, nc, frame(strict(call, "add", 2, addArgs(1, 2))))
		time.Sleep(2 * idle)
		close(w.release)
		expect(t, nc, frame(strict(reply, "fail", 1, []byte{0})))
		expect(t, nc, frame(strict(reply, "add", 2, sumResult(3))))
		closes(t, nc)
	})
}

// keptAlive is a connection that counts the keepalive settings of a server.
type keptAlive struct {
	net.Conn
	set *sync.Map
}

func (c keptAlive) SetKeepAliveConfig(k net.KeepAliveConfig) error {
	c.set.Store(c.Conn.LocalAddr().String(), k)
	return c.Conn.(*net.TCPConn).SetKeepAliveConfig(k)
}

type keptAliveListener struct {
	net.Listener
	set *sync.Map
}

func (l keptAliveListener) Accept() (net.Conn, error) {
	nc, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return keptAlive{nc, l.set}, nil
}

// TestKeepAlive: every connection that is accepted has TCP's keepalive, also beneath TLS and if
// the listener has it switched off.
func TestKeepAlive(t *testing.T) {
	cert, pool := certificate(t)
	conf := &tls.Config{Certificates: []tls.Certificate{cert}}
	for _, who := range []string{"nobody", "server", "listener"} {
		t.Run(who, func(t *testing.T) { // speaks TLS
			l, err := (&net.ListenConfig{KeepAlive: -1}).Listen(bg, "tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			set := new(sync.Map)
			srv := &rpc.Server{}
			var wrapped net.Listener = keptAliveListener{l, set}
			switch who {
			case "server":
				srv.TLS = conf
			case "listener":
				wrapped = tls.NewListener(wrapped, conf)
			}
			serveOn(t, srv, &handler{}, wrapped)
			var opts []rpc.Option
			if who != "nobody" {
				opts = append(opts, rpc.TLS(&tls.Config{RootCAs: pool}))
			}
			unharmed(t, echo.NewEchoClient(dial(t, l.Addr().String(), opts...)))
			got, _ := set.Load(l.Addr().String())
			want := net.KeepAliveConfig{Enable: true, Idle: 15 * time.Second, Interval: 15 * time.Second, Count: 4}
			if got != want {
				t.Errorf("TLS by the %s: %+v", who, got)
			}
		})
	}
}
