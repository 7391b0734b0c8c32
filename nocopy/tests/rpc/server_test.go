package rpc_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	crand "crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"math/big"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
)

func TestUnixSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	serveOn(t, &rpc.Server{}, &handler{}, l)
	unharmed(t, echo.NewEchoClient(dial(t, path)))
}

// certificate makes a self-signed certificate for 127.0.0.1 and the pool that trusts it.
func certificate(t *testing.T) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), crand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{{127, 0, 0, 1}}}
	der, err := x509.CreateCertificate(crand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(leaf)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pool
}

func TestTLS(t *testing.T) {
	t.Parallel()
	cert, pool := certificate(t)
	q := new(quiet)
	config := &tls.Config{Certificates: []tls.Certificate{cert}}
	addr := serve(t, &rpc.Server{TLS: config, Logger: q.logger()}, &handler{})
	for _, opts := range [][]rpc.Option{nil, {rpc.Unframed}, {rpc.Compact}, {rpc.THeader()}} {
		c := echo.NewEchoClient(dial(t, addr, append(opts, rpc.TLS(&tls.Config{RootCAs: pool}))...))
		for _, n := range []int{10, 1000, 100_000, 1 << 20} {
			payload := []byte(strings.Repeat("x", n))
			res, err := c.Echo(bg, func(args echo.EchoEchoArgs) { args.SetPayload(payload) })
			if err != nil || string(res.GetSuccess()) != string(payload) {
				t.Errorf("%d bytes: %v", n, err)
			}
		}
	}
	if _, err := rpc.Dial(bg, "tcp", addr, rpc.TLS(&tls.Config{})); err == nil {
		t.Error("an unknown certificate is accepted")
	}
	impatient := serve(t, &rpc.Server{TLS: config, ReadTimeout: 200 * time.Millisecond, Logger: q.logger()}, &handler{})
	closes(t, dialRaw(t, impatient)) // without a handshake
	plain := dial(t, addr)
	if _, err := echo.NewEchoClient(plain).Ping(bg, nil); err == nil {
		t.Error("a call without TLS is answered")
	}
	logs(t, q, "first record does not look like a TLS handshake")
}

func TestInterceptors(t *testing.T) {
	var mu sync.Mutex
	var trace []string
	note := func(name string) rpc.Interceptor {
		return func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
			mu.Lock()
			trace = append(trace, name+" "+c.Method.String())
			mu.Unlock()
			err := next(ctx, c)
			if c.Method.Name == "add" && echo.EchoAddResult(c.Result).GetSuccess() != 3 {
				t.Errorf("%s sees the result %v", name, echo.EchoAddResult(c.Result))
			}
			return err
		}
	}
	deny := func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
		if c.Method.Name == "ping" && c.Peer != nil {
			return errors.New("not for " + strings.Split(c.Peer.String(), ":")[0])
		}
		return next(ctx, c)
	}
	addr := serve(t, &rpc.Server{Interceptors: []rpc.Interceptor{note("server 1"), note("server 2"), deny}}, &handler{})
	c := echo.NewEchoClient(dial(t, addr, rpc.Interceptors(note("client 1")), rpc.Interceptors(note("client 2"))))
	unharmed(t, c)
	var ae *rpc.ApplicationException
	if _, err := c.Ping(bg, nil); !errors.As(err, &ae) || ae.Message != "not for 127.0.0.1" {
		t.Error(err)
	}
	mu.Lock()
	defer mu.Unlock()
	want := "client 1 Echo.add, client 2 Echo.add, server 1 Echo.add, server 2 Echo.add, client 1 Echo.ping, client 2 Echo.ping, server 1 Echo.ping, server 2 Echo.ping"
	if got := strings.Join(trace, ", "); got != want {
		t.Errorf("the order: %s", got)
	}
}

func TestMultiplexed(t *testing.T) {
	h := &handler{}
	echoes, base := echo.NewEchoProcessor(h), echo.NewBaseProcessor(h)
	with := dial(t, serve(t, &rpc.Server{Processor: rpc.Multiplexed(map[string]*rpc.Processor{"E": echoes, "B": base, "": base})}, h))
	without := dial(t, serve(t, &rpc.Server{Processor: rpc.Multiplexed(map[string]*rpc.Processor{"E": echoes})}, h))
	unharmed(t, echo.NewEchoClient(rpc.MultiplexedCaller(with, "E")))
	unharmed(t, echo.NewEchoClient(rpc.MultiplexedCaller(without, "E")))
	for name, c := range map[string]rpc.Caller{
		"by name": rpc.MultiplexedCaller(with, "B"), "extended": rpc.MultiplexedCaller(with, "E"), "default": with,
	} {
		t.Run(name, func(t *testing.T) {
			if v, err := echo.NewBaseClient(c).Version(bg, nil); err != nil || v.GetSuccess() != "one" {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
	for name, c := range map[string]rpc.Caller{"no default": without, "no such service": rpc.MultiplexedCaller(with, "X")} {
		t.Run(name, func(t *testing.T) {
			var ae *rpc.ApplicationException
			if _, err := echo.NewBaseClient(c).Version(bg, nil); !errors.As(err, &ae) || ae.Type != rpc.UnknownMethod {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
}

// TestConcurrency: no more calls of a connection are handled at a time than allowed, and as many
// are.
func TestConcurrency(t *testing.T) {
	t.Parallel()
	for _, limit := range []int{1, 2, 8} {
		t.Run(fmt.Sprint(limit), func(t *testing.T) {
			for _, unordered := range []bool{false, true} {
				var running, most atomic.Int32
				release := make(chan struct{})
				h := &custom{fail: func(context.Context, echo.EchoFailArgs, echo.EchoFailResult) error {
					n := running.Add(1)
					for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
					}
					defer running.Add(-1)
					<-release
					return nil
				}}
				addr := serve(t, &rpc.Server{Processor: echo.NewEchoProcessor(h), Concurrency: limit, Unordered: unordered}, nil)
				c := echo.NewEchoClient(dial(t, addr, rpc.PoolSize(1)))
				var wg sync.WaitGroup
				for range 4 * limit {
					wg.Go(func() {
						if _, err := c.Fail(bg, nil); err != nil {
							t.Error(err)
						}
					})
				}
				settles(t, "as many calls run as may", func() bool { return int(running.Load()) == limit })
				time.Sleep(30 * time.Millisecond) // others would begin
				close(release)
				wg.Wait()
				if int(most.Load()) != limit {
					t.Errorf("limit %d, unordered %v: %d at a time", limit, unordered, most.Load())
				}
			}
		})
	}
}

// TestMaxConns: a connection too many waits until another has ended.
func TestMaxConns(t *testing.T) {
	t.Parallel()
	addr := serve(t, &rpc.Server{MaxConns: 2}, &handler{})
	request, answer := frame(strict(call, "add", 1, addArgs(1, 2))), frame(strict(reply, "add", 1, sumResult(3)))
	var conns []net.Conn
	for range 3 {
		nc := dialRaw(t, addr)
		send(t, nc, request)
		conns = append(conns, nc)
	}
	expect(t, conns[0], answer)
	expect(t, conns[1], answer)
	conns[2].SetReadDeadline(time.Now().Add(100 * time.Millisecond))
	if n, err := conns[2].Read(make([]byte, 1)); n > 0 || err == nil {
		t.Error("a third connection is served")
	}
	conns[0].Close()
	conns[2].SetReadDeadline(time.Now().Add(time.Minute))
	expect(t, conns[2], answer)
}

// TestListenersShareSlots: a listener without connections does not keep a slot from another.
func TestListenersShareSlots(t *testing.T) {
	t.Parallel()
	srv := &rpc.Server{MaxConns: 1}
	first, second := serve(t, srv, &handler{}), ""
	for range 10 {
		second = serve(t, srv, nil)
	}
	request, answer := frame(strict(call, "add", 1, addArgs(1, 2))), frame(strict(reply, "add", 1, sumResult(3)))
	for _, addr := range []string{second, first, second} {
		t.Run(addr, func(t *testing.T) {
			nc := dialRaw(t, addr)
			send(t, nc, request)
			expect(t, nc, answer)
			other := dialRaw(t, first) // only now, lest it get the slot
			send(t, other, request)
			other.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
			if n, err := other.Read(make([]byte, 1)); n > 0 || err == nil {
				t.Error("a second connection is served")
			}
			nc.Close()
			other.SetReadDeadline(time.Now().Add(time.Minute))
			expect(t, other, answer)
			other.Close()
		})
	}
}

// TestPanicInHandshake: functions of a tls.Config may panic.
func TestPanicInHandshake(t *testing.T) {
	cert, pool := certificate(t)
	panics, q := atomic.Bool{}, new(quiet)
	panics.Store(true)
	addr := serve(t, &rpc.Server{Logger: q.logger(), MaxConns: 1, TLS: &tls.Config{
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			if panics.Load() {
				panic("no certificate")
			}
			return &cert, nil
		}}}, &handler{})
	if _, err := tls.Dial("tcp", addr, &tls.Config{RootCAs: pool}); err == nil {
		t.Error("the handshake succeeds")
	}
	logs(t, q, "no certificate")
	panics.Store(false)
	unharmed(t, echo.NewEchoClient(dial(t, addr, rpc.PoolSize(1), rpc.TLS(&tls.Config{RootCAs: pool}))))
}

func TestShutdown(t *testing.T) {
	t.Parallel()
	h := &handler{waiting: make(chan struct{}, 1), release: make(chan struct{})}
	srv := &rpc.Server{}
	addr := serve(t, srv, h)
	c := echo.NewEchoClient(dial(t, addr, rpc.PoolSize(1)))
	result := make(chan error, 1)
	go func() {
		_, err := c.Fail(bg, func(args echo.EchoFailArgs) { args.SetHow("wait") })
		result <- err
	}()
	<-h.waiting
	idle := dialRaw(t, addr)
	send(t, idle, frame(strict(call, "add", 1, addArgs(1, 2))))
	expect(t, idle, frame(strict(reply, "add", 1, sumResult(3))))
	ended := make(chan error, 1)
	go func() { ended <- srv.Shutdown(bg) }()
	closes(t, idle)
	settles(t, "no connection is accepted", func() bool {
		nc, err := net.DialTimeout("tcp", addr, time.Second)
		if err == nil {
			nc.Close()
		}
		return err != nil
	})
	select {
	case err := <-ended:
		t.Errorf("Shutdown returned %v while a handler runs", err)
	case <-time.After(50 * time.Millisecond):
	}
	close(h.release)
	if err := <-result; err != nil {
		t.Errorf("the call that was under way: %v", err)
	}
	if err := <-ended; err != nil {
		t.Errorf("Shutdown: %v", err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := srv.Serve(l); err != rpc.ErrServerClosed {
		t.Errorf("Serve afterwards: %v", err)
	}
}

// TestShutdownGivesUp: when its context ends, Shutdown cancels the handlers.
func TestShutdownGivesUp(t *testing.T) {
	t.Parallel()
	h := &handler{waiting: make(chan struct{}, 2)}
	srv := &rpc.Server{}
	c := echo.NewEchoClient(dial(t, serve(t, srv, h)))
	result := make(chan error, 1)
	go func() {
		_, err := c.Fail(bg, func(args echo.EchoFailArgs) { args.SetHow("until cancelled") })
		result <- err
	}()
	<-h.waiting
	ctx, cancel := context.WithTimeout(bg, 50*time.Millisecond)
	defer cancel()
	if err := srv.Shutdown(ctx); err != context.DeadlineExceeded {
		t.Errorf("Shutdown: %v", err)
	}
	if err := <-result; err == nil {
		t.Error("the call has a result")
	}
	<-h.waiting
}

// TestShutdownDuringLoad: every call either gets its own result or an error about the
// connection.
func TestShutdownDuringLoad(t *testing.T) {
	t.Parallel()
	for range 5 {
		srv := &rpc.Server{}
		addr := serve(t, srv, &handler{})
		var wg sync.WaitGroup
		var good, bad atomic.Int32
		for i := range 4 {
			c, err := rpc.Dial(bg, "tcp", addr, rpc.PoolSize(2), rpc.Logger(new(quiet).logger()))
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			for j := range 8 {
				wg.Go(func() {
					for k := 0; ; k++ {
						a, b := int64(i*1000+j), int64(k)
						ctx, cancel := context.WithTimeout(bg, time.Minute)
						sum, err := echo.NewEchoClient(c).Add(ctx, func(args echo.EchoAddArgs) { args.SetA(a); args.SetB(b) })
						cancel()
						if err != nil {
							if bad.Add(1); !strings.Contains(err.Error(), "Echo.add") || errors.Is(err, context.DeadlineExceeded) {
								t.Error(err)
							}
							return
						}
						if good.Add(1); sum.GetSuccess() != a+b {
							t.Errorf("%d + %d = %d", a, b, sum.GetSuccess())
						}
					}
				})
			}
		}
		time.Sleep(50 * time.Millisecond)
		settles(t, "calls are answered", func() bool { return good.Load() > 0 })
		if err := srv.Shutdown(bg); err != nil {
			t.Error(err)
		}
		wg.Wait()
		if good.Load() == 0 || bad.Load() != 32 {
			t.Errorf("%d calls were good, %d bad", good.Load(), bad.Load())
		}
	}
}

// TestSlowHandlers: slow calls of one connection run at the same time, before and after the server
// knows that the method is slow.
func TestSlowHandlers(t *testing.T) {
	t.Parallel()
	const calls = 32
	begun, release := make(chan struct{}, calls), make(chan struct{})
	h := &custom{fail: func(context.Context, echo.EchoFailArgs, echo.EchoFailResult) error {
		begun <- struct{}{}
		<-release
		return nil
	}}
	c := echo.NewEchoClient(dial(t, serve(t, &rpc.Server{Processor: echo.NewEchoProcessor(h)}, nil), rpc.PoolSize(1)))
	for range 3 {
		var wg sync.WaitGroup
		for range calls {
			wg.Go(func() {
				if _, err := c.Fail(bg, nil); err != nil {
					t.Error(err)
				}
			})
		}
		late := time.After(time.Minute)
		for n := range calls {
			select {
			case <-begun:
				continue
			case <-late:
				t.Errorf("%d of %d calls run at a time", n, calls)
			}
			break
		}
		for range calls {
			release <- struct{}{}
		}
		wg.Wait()
	}
}
