package rpc_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
)

// TestCancel: calls whose contexts end at any moment return at once, and no later call gets their
// replies.
func TestCancel(t *testing.T) {
	t.Parallel()
	variants(t, func(t *testing.T, h *handler, c echo.EchoClient) {
		var wg sync.WaitGroup
		var cancelled atomic.Int32
		for i := range 8 {
			wg.Go(func() {
				r := rand.New(rand.NewPCG(uint64(i), 0))
				for range testmode.Of(20, 60) {
					size := []int{10, 1000, 100_000}[r.IntN(3)]
					payload := []byte(strings.Repeat(string(rune('a'+r.IntN(26))), size))
					patience := time.Duration(r.IntN(3000)) * time.Microsecond
					ctx, cancel := context.WithTimeout(bg, patience)
					start := time.Now()
					res, err := c.Echo(ctx, func(args echo.EchoEchoArgs) {
						copy(args.NewPayload(size), payload)
						args.SetDelayMs(int32(r.IntN(3)))
					})
					cancel()
					switch {
					case err == nil && string(res.GetSuccess()) != string(payload):
						t.Error("another call's reply")
					case err != nil && !errors.Is(err, context.DeadlineExceeded):
						t.Error(err)
					case err != nil:
						cancelled.Add(1)
					}
					if d := time.Since(start); d > patience+time.Minute { // machines are busy
						t.Errorf("returned after %v", d)
					}
				}
			})
		}
		wg.Wait()
		if cancelled.Load() == 0 {
			t.Error("no call was cancelled")
		}
		unharmed(t, c)
	})
}

// TestCloseWhileDialling: calls that wait for a connection are told that the client was closed,
// not that their context had ended, whether it is being made or there is a pause before that.
func TestCloseWhileDialling(t *testing.T) {
	for _, pause := range []bool{false, true} {
		t.Run(fmt.Sprint(pause), func(t *testing.T) {
			var dials atomic.Int32
			dialling := make(chan struct{}, 10)
			f := func(ctx context.Context, network, addr string) (net.Conn, error) {
				if dials.Add(1) == 1 { // it is closed by the other side, without a reply: so a pause follows
					client, server := net.Pipe()
					server.Close()
					return client, nil
				}
				dialling <- struct{}{}
				<-ctx.Done()
				return nil, ctx.Err()
			}
			c, err := rpc.Dial(bg, "tcp", "nowhere", rpc.Dialer(f), rpc.PoolSize(1), rpc.Logger(new(quiet).logger()))
			if err != nil {
				t.Fatal(err)
			}
			errs := make(chan error)
			for range 3 {
				go func() {
					_, err := echo.NewEchoClient(c).Add(bg, nil)
					errs <- err
				}()
			}
			if !pause {
				<-dialling
			}
			c.Close()
			for range 3 {
				switch err := <-errs; {
				case errors.Is(err, rpc.ErrClientClosed):
				case errors.Is(err, io.EOF), errors.Is(err, io.ErrClosedPipe): // of the first connection
				default:
					t.Error(err)
				}
			}
		})
	}
}

// TestUnixSocketTakesFew: a call returns when its context ends, also on a unix socket, which small
// calls fill long before their bytes do.
func TestUnixSocketTakesFew(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c := echo.NewEchoClient(dial(t, path, rpc.PoolSize(1), rpc.StallTimeout(time.Minute)))
	for i := range 100_000 {
		start := time.Now()
		ctx, cancel := context.WithTimeout(bg, 20*time.Millisecond)
		err := c.Notify(ctx, nil)
		if cancel(); time.Since(start) > 30*time.Second {
			t.Fatalf("call %d took %v: %v", i, time.Since(start), err)
		}
		if err != nil {
			return
		}
	}
	t.Error("the socket does not fill")
}

func TestCancelledBefore(t *testing.T) {
	c := echo.NewEchoClient(dial(t, serve(t, &rpc.Server{}, &handler{})))
	ctx, cancel := context.WithCancel(bg)
	cancel()
	if _, err := c.Ping(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	unharmed(t, c)
}

// TestGivenUpHoldsNobodyUp: if a call that was given up has had no reply yet, other calls use
// another connection.
func TestGivenUpHoldsNobodyUp(t *testing.T) {
	h := &handler{waiting: make(chan struct{}, 1), release: make(chan struct{})}
	cl := dial(t, serve(t, &rpc.Server{}, h), rpc.PoolSize(2))
	c := echo.NewEchoClient(cl)
	ctx, cancel := context.WithCancel(bg)
	result := make(chan error, 1)
	go func() {
		_, err := c.Fail(ctx, func(args echo.EchoFailArgs) { args.SetHow("wait") })
		result <- err
	}()
	<-h.waiting
	cancel()
	if err := <-result; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	for range 20 { // the handler is still waiting
		unharmed(t, c)
	}
	close(h.release)
	unharmed(t, c)
}

// TestNilOptions: nil panics at once as an option, as its argument, or as a value that a Server
// needs.
func TestNilOptions(t *testing.T) {
	for what, f := range map[string]func(){
		"rpc.TLS": func() { rpc.TLS(nil) }, "rpc.Logger": func() { rpc.Logger(nil) }, "rpc.Interceptors": func() { rpc.Interceptors(nil) },
		"rpc.Option": func() { rpc.Dial(bg, "tcp", "127.0.0.1:1", nil) }, "rpc.Multiplexed": func() { rpc.Multiplexed(map[string]*rpc.Processor{"A": nil}) },
		"without a Processor":    func() { new(rpc.Server).Serve(listener(t)) },
		"with a nil Interceptor": func() { serveNilInterceptor(t) },
		"with a nil Method":      func() { rpc.NewProcessor("A", nil, nil) },
		"a nil Method":           func() { new(rpc.Client).NewArgs(nil) },
		"a nil *rpc.Client":      func() { echo.NewEchoClient((*rpc.Client)(nil)).Ping(bg, nil) },
		"*rpc.Client":            func() { (*rpc.Client)(nil).Call(bg, putMethod(t, nil), nocopy.Struct{}) },
		"NewEchoClient":          func() { echo.NewEchoClient(nil) },
		"rpc.MultiplexedCaller":  func() { rpc.MultiplexedCaller(nil, "A") },
		"rpc.Throws":             func() { rpc.Throws[echo.NotFound](0, nil) },
		"rpc.ThrowsAny":          func() { rpc.ThrowsAny(0, echo.NotFoundDesc, nil) },
		"rpc.Method.Invoke":      func() { putMethod(t, nil).Invoke(bg, putArgs(), nocopy.Limits{}, nil) },
		"a nil Context":          func() { rpc.Dial(nilContext, "tcp", "127.0.0.1:1") },
		"a nil Listener":         func() { (&rpc.Server{Processor: echo.NewEchoProcessor(&handler{})}).Serve(nil) },
	} {
		t.Run(what, func(t *testing.T) {
			func() {
				defer func() {
					if text := fmt.Sprint(recover()); !strings.HasPrefix(text, "nocopy: ") || !strings.Contains(text, what) {
						t.Errorf("%s: panic %s", what, text)
					}
				}()
				f()
			}()
		})
	}
}

var nilContext context.Context

// serveNilInterceptor serves with a nil Interceptor, which panics.
func serveNilInterceptor(t *testing.T) {
	srv := &rpc.Server{Processor: echo.NewEchoProcessor(&handler{}), Interceptors: []rpc.Interceptor{nil}}
	srv.Serve(listener(t))
}

// TestReconnect: the server goes away and comes back at the same address.
func TestReconnect(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", ownAddress())
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	start := func(l net.Listener) *rpc.Server {
		srv := &rpc.Server{Processor: echo.NewEchoProcessor(&handler{}), Logger: new(quiet).logger()}
		go srv.Serve(l)
		return srv
	}
	srv := start(l)
	c := echo.NewEchoClient(dial(t, addr))
	unharmed(t, c)
	for range 3 {
		srv.Shutdown(bg)
		for range 5 { // each attempt is longer after the one before
			ctx, cancel := context.WithTimeout(bg, time.Second)
			if _, err := c.Ping(ctx, nil); err == nil {
				t.Error("a call without a server succeeds")
			}
			cancel()
		}
		srv = start(listenAgain(t, "tcp", addr))
		for refused := true; refused; { // by an attempt that began before
			_, err := c.Ping(bg, nil) // waits for the next attempt
			if refused = errors.Is(err, syscall.ECONNREFUSED); err != nil && !refused {
				t.Error(err)
			}
		}
		unharmed(t, c)
	}
	srv.Shutdown(bg)
}

// TestBackoff: a server that is away is not dialled all the time, however many calls there are.
// Here connections are accepted and closed: with TLS dialling fails, without it the first call
// does.
func TestBackoff(t *testing.T) {
	cert, pool := certificate(t)
	secured := rpc.TLS(&tls.Config{RootCAs: pool, ServerName: "127.0.0.1"})
	t.Run("TLS", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) { backoff(t, &tls.Config{Certificates: []tls.Certificate{cert}}, secured) })
	})
	t.Run("plain", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) { backoff(t, nil) })
	})
}

func backoff(t *testing.T, conf *tls.Config, opts ...rpc.Option) {
	l := make(pipes)
	srv := &rpc.Server{Processor: echo.NewEchoProcessor(&handler{}), TLS: conf, Logger: new(quiet).logger()}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(l) }()
	var away atomic.Bool
	var attempts atomic.Int32
	dialer := rpc.Dialer(func(context.Context, string, string) (net.Conn, error) {
		if !away.Load() {
			return l.dial(), nil
		}
		attempts.Add(1) // connecting works, but not TLS
		near, far := net.Pipe()
		far.Close()
		return near, nil
	})
	c := echo.NewEchoClient(dial(t, "", append(opts, dialer, rpc.PoolSize(2))...))
	unharmed(t, c)
	away.Store(true)
	srv.Shutdown(bg)
	<-served

	ctx, cancel := context.WithTimeout(bg, 500*time.Millisecond)
	defer cancel()
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for ctx.Err() == nil {
				if _, err := c.Ping(ctx, nil); err == nil {
					t.Error("a call without a server succeeds")
				}
			}
		})
	}
	wg.Wait()
	// Pauses of 10–20, 20–40, 40–80, 80–160, 160–320 ms … for each of two connections.
	if n := attempts.Load(); n < 4 || n > 16 {
		t.Errorf("%d attempts in half a second", n)
	}
}

// TestMaxInFlight: calls beyond the limit wait, and stop waiting when their context ends.
func TestMaxInFlight(t *testing.T) {
	t.Parallel()
	h := &handler{waiting: make(chan struct{}, 10), release: make(chan struct{})}
	c := echo.NewEchoClient(dial(t, serve(t, &rpc.Server{}, h), rpc.MaxInFlight(2)))
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if _, err := c.Fail(bg, func(args echo.EchoFailArgs) { args.SetHow("wait") }); err != nil {
				t.Error(err)
			}
		})
	}
	<-h.waiting
	<-h.waiting
	ctx, cancel := context.WithTimeout(bg, 50*time.Millisecond)
	defer cancel()
	if _, err := c.Ping(ctx, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a call too many: %v", err)
	}
	select {
	case <-h.waiting:
		t.Error("three calls are under way")
	default:
	}
	close(h.release)
	wg.Wait()
	unharmed(t, c)
}

func TestPoolSize(t *testing.T) {
	t.Parallel()
	for _, size := range []int{1, 3} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			var mu sync.Mutex
			peers := map[string]bool{}
			note := func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
				mu.Lock()
				peers[c.Peer.String()] = true
				mu.Unlock()
				return next(ctx, c)
			}
			used := func() int {
				mu.Lock()
				defer mu.Unlock()
				return len(peers)
			}
			h := &handler{waiting: make(chan struct{}), release: make(chan struct{})}
			c := echo.NewEchoClient(dial(t, serve(t, &rpc.Server{Interceptors: []rpc.Interceptor{note}}, h), rpc.PoolSize(size)))
			for range 10 {
				unharmed(t, c)
			}
			if n := used(); n != 1 {
				t.Errorf("calls one after the other took %d connections", n)
			}
			var wg sync.WaitGroup
			for range 20 {
				wg.Go(func() { c.Fail(bg, func(args echo.EchoFailArgs) { args.SetHow("wait") }) })
			}
			for range 20 {
				<-h.waiting
			}
			close(h.release)
			wg.Wait()
			if n := used(); n != size {
				t.Errorf("%d connections of %d were used", n, size)
			}
		})
	}
}

func TestClosed(t *testing.T) {
	h := &handler{waiting: make(chan struct{}, 1), release: make(chan struct{})}
	c := dial(t, serve(t, &rpc.Server{}, h))
	result := make(chan error, 1)
	go func() {
		_, err := echo.NewEchoClient(c).Fail(bg, func(args echo.EchoFailArgs) { args.SetHow("wait") })
		result <- err
	}()
	<-h.waiting
	c.Close()
	if err := <-result; !errors.Is(err, rpc.ErrClientClosed) {
		t.Errorf("a call under way: %v", err)
	}
	if _, err := echo.NewEchoClient(c).Ping(bg, nil); !errors.Is(err, rpc.ErrClientClosed) {
		t.Errorf("a call afterwards: %v", err)
	}
	close(h.release)
	if _, err := rpc.Dial(bg, "tcp", "127.0.0.1:1"); err == nil {
		t.Error("Dial of nobody succeeds")
	}
}
