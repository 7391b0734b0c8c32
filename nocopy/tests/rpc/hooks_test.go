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
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/linkbuf"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
)

// rude panics, or ends its goroutine, in some of the calls of its method act.
type rude struct {
	goexit bool
	off    atomic.Bool
	calls  atomic.Int64
	done   atomic.Int64
}

func (r *rude) act() {
	if r.off.Load() || r.calls.Add(1)%3 != 2 {
		return
	}
	r.done.Add(1)
	if r.goexit {
		runtime.Goexit()
	}
	panic("rude")
}

func (r *rude) intercept(before, after bool) rpc.Interceptor {
	return func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
		if before {
			r.act()
		}
		err := next(ctx, c)
		if after {
			r.act()
		}
		return err
	}
}

// rudeLog is a slog.Handler.
type rudeLog struct {
	*rude
	enabled bool
}

func (l rudeLog) Enabled(context.Context, slog.Level) bool {
	if l.enabled {
		l.act()
	}
	return true
}
func (l rudeLog) Handle(context.Context, slog.Record) error { l.act(); return nil }
func (l rudeLog) WithAttrs([]slog.Attr) slog.Handler        { return l }
func (l rudeLog) WithGroup(string) slog.Handler             { return l }

// rudeError is an error of a handler.
type rudeError struct{ *rude }

func (e rudeError) Error() string { e.act(); return "rude" }

// actingConn is a connection of a Dialer or a listener.
type actingConn struct {
	net.Conn
	read, write, close, deadline, addr func()
}

func does(f func()) {
	if f != nil {
		f()
	}
}
func (c actingConn) Read(b []byte) (int, error)  { does(c.read); return c.Conn.Read(b) }
func (c actingConn) Write(b []byte) (int, error) { does(c.write); return c.Conn.Write(b) }
func (c actingConn) Close() error                { c.Conn.Close(); does(c.close); return nil }
func (c actingConn) SetReadDeadline(t time.Time) error {
	does(c.deadline)
	return c.Conn.SetReadDeadline(t)
}
func (c actingConn) SetWriteDeadline(t time.Time) error {
	does(c.deadline)
	return c.Conn.SetWriteDeadline(t)
}
func (c actingConn) RemoteAddr() net.Addr { does(c.addr); return c.Conn.RemoteAddr() }

type actingListener struct {
	net.Listener
	conn actingConn
}

func (l actingListener) Accept() (net.Conn, error) {
	nc, err := l.Listener.Accept()
	c := l.conn
	c.Conn = nc
	return c, err
}

// rudely returns a Dialer for rude connections.
func rudely(c actingConn) rpc.Option {
	return rpc.Dialer(func(ctx context.Context, network, addr string) (net.Conn, error) {
		nc, err := new(net.Dialer).DialContext(ctx, network, addr)
		if c := c; err == nil {
			c.Conn = nc
			return c, nil
		}
		return nil, err
	})
}

// rudeSetup is a server and a client, with functions of the program.
type rudeSetup struct {
	srv     *rpc.Server
	conns   actingConn // of the listener
	opts    []rpc.Option
	handler func() error
	fill    func()
	tls     bool // connections use TLS, with these
	server  *tls.Config
	client  *tls.Config
}

// rudeFunctions are all functions of a program's that a server or a client calls.
var rudeFunctions = map[string]func(s *rudeSetup, act func(), r *rude){
	"server Stats.Conns": func(s *rudeSetup, act func(), _ *rude) { s.srv.Stats = &rpc.Stats{Conns: func(int) { act() }} },
	"server Stats.InFlight, before": func(s *rudeSetup, act func(), _ *rude) {
		s.srv.Stats = &rpc.Stats{InFlight: func(n int) {
			if n > 0 {
				act()
			}
		}}
	},
	"server Stats.InFlight, after": func(s *rudeSetup, act func(), _ *rude) {
		s.srv.Stats = &rpc.Stats{InFlight: func(n int) {
			if n < 0 {
				act()
			}
		}}
	},
	"server Stats.Queued": func(s *rudeSetup, act func(), _ *rude) {
		s.srv.Stats = &rpc.Stats{Queued: func(time.Duration) { act() }}
	},
	"server Stats.Received": func(s *rudeSetup, act func(), _ *rude) { s.srv.Stats = &rpc.Stats{Received: func(int) { act() }} },
	"server Stats.Sent": func(s *rudeSetup, act func(), _ *rude) {
		s.srv.Stats = &rpc.Stats{Sent: func(linkbuf.Stats) { act() }}
	},
	"server Stats.Converted": func(s *rudeSetup, act func(), _ *rude) {
		s.srv.Stats = &rpc.Stats{Converted: func(int) { act() }}
		s.opts = append(s.opts, rpc.THeader(rpc.Zlib), rpc.Compact)
	},
	"client Stats.Converted": func(s *rudeSetup, act func(), _ *rude) {
		s.opts = append(s.opts, &rpc.Stats{Converted: func(int) { act() }}, rpc.Compact)
	},
	"server Stats.Refused": func(s *rudeSetup, act func(), _ *rude) {
		s.srv.Stats = &rpc.Stats{Refused: func(rpc.ExceptionType) { act() }}
	},
	"server Logger":         func(s *rudeSetup, _ func(), r *rude) { s.srv.Logger = slog.New(rudeLog{r, false}) },
	"server Logger.Enabled": func(s *rudeSetup, _ func(), r *rude) { s.srv.Logger = slog.New(rudeLog{r, true}) },
	"server sampled Logger": func(s *rudeSetup, _ func(), r *rude) { s.srv.Logger = slog.New(rpc.SampleLogs(rudeLog{r, false}, 100)) },
	"server ConnContext": func(s *rudeSetup, act func(), _ *rude) {
		s.srv.ConnContext = func(ctx context.Context, _ net.Conn) context.Context { act(); return ctx }
	},
	"server interceptor": func(s *rudeSetup, _ func(), r *rude) {
		s.srv.Interceptors = []rpc.Interceptor{r.intercept(true, false)}
	},
	"server interceptor, out": func(s *rudeSetup, _ func(), r *rude) {
		s.srv.Interceptors = []rpc.Interceptor{r.intercept(false, true)}
	},
	"server inner interceptor": func(s *rudeSetup, _ func(), r *rude) {
		s.srv.Interceptors = []rpc.Interceptor{(&rude{}).intercept(false, false), r.intercept(true, true)}
	},
	"handler": func(s *rudeSetup, act func(), _ *rude) { s.handler = func() error { act(); return nil } },
	"handler below an interceptor": func(s *rudeSetup, act func(), _ *rude) {
		s.srv.Interceptors = []rpc.Interceptor{(&rude{}).intercept(false, false)}
		s.handler = func() error { act(); return nil }
	},
	"handler's error": func(s *rudeSetup, _ func(), r *rude) {
		s.handler = func() error {
			if r.off.Load() {
				return nil
			}
			return rudeError{r}
		}
	},
	"listener's Read":  func(s *rudeSetup, act func(), _ *rude) { s.conns.read = act },
	"listener's Write": func(s *rudeSetup, act func(), _ *rude) { s.conns.write = act },
	"listener's Close": func(s *rudeSetup, act func(), _ *rude) { s.conns.close = act },
	"client Stats.Conns": func(s *rudeSetup, act func(), _ *rude) {
		s.opts = append(s.opts, &rpc.Stats{Conns: func(int) { act() }})
	},
	"client Stats.InFlight": func(s *rudeSetup, act func(), _ *rude) {
		s.opts = append(s.opts, &rpc.Stats{InFlight: func(int) { act() }})
	},
	"client Stats.Queued": func(s *rudeSetup, act func(), _ *rude) {
		s.opts = append(s.opts, &rpc.Stats{Queued: func(time.Duration) { act() }})
	},
	"client Stats.Received": func(s *rudeSetup, act func(), _ *rude) {
		s.opts = append(s.opts, &rpc.Stats{Received: func(int) { act() }})
	},
	"client Stats.Sent": func(s *rudeSetup, act func(), _ *rude) {
		s.opts = append(s.opts, &rpc.Stats{Sent: func(linkbuf.Stats) { act() }})
	},
	"client Logger": func(s *rudeSetup, _ func(), r *rude) {
		s.opts = append(s.opts, rpc.Logger(slog.New(rudeLog{r, true})))
		var reads atomic.Int64
		s.opts = append(s.opts, rudely(actingConn{read: func() { // so that connections fail
			if !r.off.Load() && reads.Add(1)%5 == 0 {
				panic("rude")
			}
		}}))
	},
	"client interceptor": func(s *rudeSetup, _ func(), r *rude) {
		s.opts = append(s.opts, rpc.Interceptors(r.intercept(true, true)))
	},
	"client inner interceptor": func(s *rudeSetup, _ func(), r *rude) {
		s.opts = append(s.opts, rpc.Interceptors((&rude{}).intercept(false, false), r.intercept(true, true)))
	},
	"Dialer": func(s *rudeSetup, act func(), _ *rude) {
		s.opts = append(s.opts, rpc.Dialer(func(ctx context.Context, network, addr string) (net.Conn, error) {
			act()
			return new(net.Dialer).DialContext(ctx, network, addr)
		}))
		s.srv.MaxConnAge = time.Millisecond
	},
	"Dialer's Read":  func(s *rudeSetup, act func(), _ *rude) { s.opts = append(s.opts, rudely(actingConn{read: act})) },
	"Dialer's Write": func(s *rudeSetup, act func(), _ *rude) { s.opts = append(s.opts, rudely(actingConn{write: act})) },
	"Dialer's Close": func(s *rudeSetup, act func(), _ *rude) { s.opts = append(s.opts, rudely(actingConn{close: act})) },
	"listener's deadlines": func(s *rudeSetup, act func(), _ *rude) {
		s.conns.deadline = act
		s.srv.IdleTimeout, s.srv.MaxConnAge, s.srv.WriteTimeout = 50*time.Millisecond, 5*time.Millisecond, 10*time.Millisecond
	},
	"Dialer's deadlines": func(s *rudeSetup, act func(), _ *rude) {
		s.opts = append(s.opts, rudely(actingConn{deadline: act}), rpc.StallTimeout(10*time.Millisecond))
	},
	"server Config.GetCertificate": func(s *rudeSetup, act func(), _ *rude) {
		cert := s.server.Certificates[0]
		s.server.Certificates, s.tls = nil, true
		s.server.GetCertificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error) { act(); return &cert, nil }
		s.srv.MaxConnAge = time.Millisecond
	},
	"server Config.GetConfigForClient": func(s *rudeSetup, act func(), _ *rude) {
		s.tls = true
		s.server.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) { act(); return nil, nil }
		s.srv.MaxConnAge = time.Millisecond
	},
	"server Config.VerifyConnection": func(s *rudeSetup, act func(), _ *rude) {
		s.tls = true
		s.server.VerifyConnection = func(tls.ConnectionState) error { act(); return nil }
		s.srv.MaxConnAge = time.Millisecond
	},
	"client Config.VerifyConnection": func(s *rudeSetup, act func(), _ *rude) {
		s.tls = true
		s.client.VerifyConnection = func(tls.ConnectionState) error { act(); return nil }
		s.srv.MaxConnAge = time.Millisecond
	},
	"listener's RemoteAddr": func(s *rudeSetup, act func(), r *rude) {
		s.conns.addr = func() {
			if !r.goexit { // which would end the goroutine of the program that calls Serve
				act()
			}
			r.done.Add(1)
		}
		s.srv.MaxConnAge = time.Millisecond
	},
	"Read below TLS": func(s *rudeSetup, act func(), _ *rude) {
		var reads atomic.Int64
		s.conns.read, s.tls = func() {
			if reads.Add(1)%5 == 0 { // some handshakes succeed
				act()
			}
		}, true
	},
	"deadlines below TLS": func(s *rudeSetup, act func(), _ *rude) {
		s.conns.deadline, s.tls = act, true
		s.srv.IdleTimeout, s.srv.MaxConnAge = 50*time.Millisecond, 5*time.Millisecond
	},
	"arguments": func(s *rudeSetup, act func(), _ *rude) { s.fill = act },
}

// TestFunctionsOfThePrograms: if any function of the program panics or ends its goroutine, no call
// hangs, other connections are served, and nothing is left over.
func TestFunctionsOfThePrograms(t *testing.T) {
	t.Parallel()
	cert, pool := certificate(t)
	for name, set := range rudeFunctions {
		for _, goexit := range []bool{false, true} {
			t.Run(fmt.Sprint(name, goexit), func(t *testing.T) {
				t.Parallel()
				r := &rude{goexit: goexit}
				discard := slog.New(slog.NewTextHandler(io.Discard, nil))
				s := rudeSetup{
					srv:     &rpc.Server{MaxConns: 5, Logger: discard, Unordered: true, HideErrors: true},
					opts:    []rpc.Option{rpc.PoolSize(2), rpc.Logger(discard)},
					handler: func() error { return nil }, fill: func() {},
					server: &tls.Config{Certificates: []tls.Certificate{cert}},
					client: &tls.Config{RootCAs: pool},
				}
				if set(&s, r.act, r); s.tls {
					s.srv.TLS = s.server
					s.opts = append(s.opts, rpc.TLS(s.client))
				}
				s.srv.Processor = echo.NewEchoProcessor(echo.UnimplementedEchoHandler{}).WithHandler(func(_ context.Context, c *rpc.Call) error {
					if rand.IntN(4) == 0 {
						// About when its reader is relieved
						time.Sleep(time.Duration(900+rand.IntN(300)) * time.Microsecond)
					}
					if err := s.handler(); err != nil {
						return err
					}
					if c.Method.Name == "put" {
						return errors.New("an error, which is logged if it is of a oneway call")
					}
					res, _ := rpc.ResultOf[echo.EchoAddResult](c)
					res.SetSuccess(3)
					return nil
				}, "add", "put")
				rudeCalls(t, r, &s)
			})
		}
	}
}

// rudeCalls makes calls while r acts, and checks that nothing is left over when it has stopped.
func rudeCalls(t *testing.T, r *rude, s *rudeSetup) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	if c := s.conns; c.read != nil || c.write != nil || c.close != nil || c.deadline != nil || c.addr != nil {
		l = actingListener{l, c}
	}
	go s.srv.Serve(l)
	ctx, cancel := context.WithTimeout(bg, time.Minute)
	defer cancel()
	var cl *rpc.Client
	for range 5 { // dialling calls some of the functions, too
		finishes(t, "Dial", func() {
			cl, _ = rpc.Dial(ctx, "tcp", addr, s.opts...)
		})
		if cl != nil {
			break
		}
	}
	if cl == nil {
		t.Fatal("no client")
	}
	c := echo.NewEchoClient(cl)
	for range testmode.Of(4, 8) {
		var calls sync.WaitGroup
		for range 4 {
			calls.Go(func() { finishes(t, "Add", func() { c.Add(ctx, func(echo.EchoAddArgs) { s.fill() }) }) })
			calls.Go(func() { finishes(t, "Put", func() { c.Put(ctx, func(echo.EchoPutArgs) { s.fill() }) }) })
			calls.Go(func() {
				finishes(t, "an unknown method", func() {
					m := rpc.RawMethod("none", false)
					cl.Call(ctx, m, cl.NewArgs(m))
				})
			})
		}
		calls.Go(func() {
			finishes(t, "another client", func() {
				if cl, err := rpc.Dial(ctx, "tcp", addr, s.opts...); err == nil {
					defer cl.Close()
					echo.NewEchoClient(cl).Add(ctx, func(echo.EchoAddArgs) {})
				}
			})
		})
		calls.Go(func() {
			if nc, err := net.Dial("tcp", addr); err == nil {
				nc.Write([]byte("nonsense"))
				nc.Close()
			}
		})
		calls.Wait()
	}
	if r.done.Load() == 0 {
		t.Error("the function was never called")
	}
	if ctx.Err() != nil {
		t.Error("a call hangs")
	}
	r.off.Store(true)
	settles(t, "calls are answered again", func() bool {
		_, err := c.Add(ctx, func(echo.EchoAddArgs) {})
		return err == nil
	})
	if inFlight, using := clientInUse(cl); inFlight != 0 || using != 0 {
		t.Errorf("%d calls are in flight, %d use connections", inFlight, using)
	}
	cl.Close()
	settles(t, "no connection is left", func() bool { conns, slots := serverInUse(s.srv); return conns == 0 && slots <= 1 })
	if err := s.srv.Shutdown(ctx); err != nil {
		t.Error("Shutdown:", err)
	}
}

// finishes calls f in a goroutine, which f may end, also by a panic.
func finishes(t *testing.T, what string, f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() { recover() }()
		f()
	}()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Error(what, "hangs")
	}
}
