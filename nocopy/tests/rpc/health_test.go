package rpc_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
)

// statusResult is the struct of a reply to a health check.
func statusResult(s rpc.Status) []byte {
	return bytes.Join([][]byte{{8, 0, 0}, be32(int(s)), {0}}, nil)
}

// TestHealth: a server answers health checks itself, framed or not, with the status that was set
// last, with any processor and interceptors. A method of that name takes precedence, a fallback
// does not.
func TestHealth(t *testing.T) {
	t.Parallel()
	refuse := func(context.Context, *rpc.Call, rpc.Handler) error {
		t.Error("an interceptor sees a health check")
		return nil
	}
	p := echo.NewEchoProcessor(&handler{})
	fallback := func(context.Context, *rpc.Call) error { t.Error("the fallback is called"); return nil }
	for _, c := range []struct {
		name      string
		processor *rpc.Processor
		method    string // of the Health
		call      string
		want      bool
	}{
		{"by default", p, "", "getStatus", true},
		{"another name", p, "healthy", "healthy", true},
		{"not the default", p, "healthy", "getStatus", false},
		{"a longer name", p, "", "getStatus2", false},
		{"no name", p, "", "", false},
		{"a shorter name", p, "fb303:getStatus", "fb", false},
		{"with a fallback", p.WithFallback(fallback), "", "getStatus", true},
		{"of a service", rpc.Multiplexed(map[string]*rpc.Processor{"": p}), "fb303:getStatus", "fb303:getStatus", true},
		{"of no service", rpc.Multiplexed(map[string]*rpc.Processor{"": p}), "fb303:getStatus", "getStatus", false},
	} {
		for _, framed := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, %t", c.name, framed), func(t *testing.T) {
				health := &rpc.Health{Method: c.method}
				addr := serve(t, &rpc.Server{Processor: c.processor, Health: health, Interceptors: []rpc.Interceptor{refuse}, Recycle: framed}, nil)
				nc := dialRaw(t, addr)
				wrap := func(b []byte) []byte {
					if framed {
						return frame(b)
					}
					return b
				}
				bare := c.call[bytes.LastIndexByte([]byte(c.call), ':')+1:]
				for i, s := range []rpc.Status{-1, rpc.StatusStarting, rpc.StatusAlive, rpc.StatusWarning, rpc.StatusDead, 77} {
					want := rpc.StatusAlive
					if s >= 0 {
						health.Set(s)
						want = s
					}
					if got := health.Status(); got != want {
						t.Errorf("status %d, want %d", got, want)
					}
					send(t, nc, wrap(strict(call, c.call, i, []byte{0})))
					answer := strict(reply, bare, i, statusResult(want))
					if !c.want {
						answer = strict(exception, bare, i, failure(c.call, int(rpc.UnknownMethod)))
					}
					expect(t, nc, wrap(answer))
				}
			})
		}
	}
}

// TestHealthOwnMethod: a method that the processor has is called.
func TestHealthOwnMethod(t *testing.T) {
	addr := serve(t, &rpc.Server{Health: &rpc.Health{Method: "add"}}, &handler{})
	nc := dialRaw(t, addr)
	send(t, nc, frame(strict(call, "add", 1, addArgs(1, 2))))
	expect(t, nc, frame(strict(reply, "add", 1, sumResult(3))))
}

// TestHealthArguments: arguments are passed over, and refused if malformed.
func TestHealthArguments(t *testing.T) {
	addr := serve(t, &rpc.Server{Health: &rpc.Health{}}, &handler{})
	nc := dialRaw(t, addr)
	send(t, nc, frame(strict(call, "getStatus", 1, addArgs(1, 2))))
	expect(t, nc, frame(strict(reply, "getStatus", 1, statusResult(rpc.StatusAlive))))
	send(t, nc, frame(strict(call, "getStatus", 2, []byte{99})))
	b := make([]byte, 4+4+4+9+4)
	nc.Read(b)
	if want := strict(exception, "getStatus", 2, nil); !bytes.Equal(b[4:], want) {
		t.Errorf("answer %q, want %q", b[4:], want)
	}
}

// TestDrain: from Shutdown on, checks are answered with StatusStopping, even if another status is
// set. Calls go on and connections are accepted for DrainTime, or until the context ends or Close
// is called.
func TestDrain(t *testing.T) {
	for _, c := range []struct {
		name  string
		drain time.Duration
		stop  func(srv *rpc.Server) error
		took  time.Duration
	}{
		{"at once", 0, func(srv *rpc.Server) error { return srv.Shutdown(bg) }, 0},
		{"negative", -1, func(srv *rpc.Server) error { return srv.Shutdown(bg) }, 0},
		{"whole", 10 * time.Second, func(srv *rpc.Server) error { return srv.Shutdown(bg) }, 10 * time.Second},
		{"twice", 10 * time.Second, func(srv *rpc.Server) error {
			go srv.Shutdown(bg)
			return srv.Shutdown(bg)
		}, 10 * time.Second},
		{"until the context ends", 10 * time.Second, func(srv *rpc.Server) error {
			ctx, cancel := context.WithTimeout(bg, 3*time.Second)
			defer cancel()
			if err := srv.Shutdown(ctx); err != nil && err != context.DeadlineExceeded {
				return err
			}
			return nil
		}, 3 * time.Second},
		{"until Close", 10 * time.Second, func(srv *rpc.Server) error {
			time.AfterFunc(2*time.Second, func() { srv.Close() })
			return srv.Shutdown(bg)
		}, 2 * time.Second},
		{"Close alone", 10 * time.Second, func(srv *rpc.Server) error { return srv.Close() }, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				health := new(rpc.Health)
				srv := &rpc.Server{Processor: echo.NewEchoProcessor(&handler{}), Health: health, DrainTime: c.drain}
				l := make(pipes)
				var all sync.WaitGroup
				all.Go(func() {
					if err := srv.Serve(l); err != rpc.ErrServerClosed {
						t.Error(err)
					}
				})
				check := func(want rpc.Status) {
					t.Helper()
					nc := l.dial()
					defer nc.Close()
					send(t, nc, frame(strict(call, "getStatus", 1, []byte{0})))
					expect(t, nc, frame(strict(reply, "getStatus", 1, statusResult(want))))
					send(t, nc, frame(strict(call, "add", 1, addArgs(1, 2))))
					expect(t, nc, frame(strict(reply, "add", 1, sumResult(3))))
				}
				check(rpc.StatusAlive)
				start := time.Now()
				all.Go(func() {
					if err := c.stop(srv); err != nil {
						t.Error(err)
					}
					if took := time.Since(start); took < c.took || took > c.took+time.Second {
						t.Errorf("it took %v, not %v", took, c.took)
					}
				})
				if c.took > 0 {
					time.Sleep(time.Second)
					check(rpc.StatusStopping)
					health.Set(rpc.StatusAlive)
					check(rpc.StatusStopping)
				}
				all.Wait()
				srv.Close()
			})
		})
	}
	srv := &rpc.Server{Health: new(rpc.Health), DrainTime: time.Hour}
	if err := srv.Shutdown(bg); err != nil { // of a server that does not serve
		t.Error(err)
	}
}

// TestCheckHealthLogged: the log of a health check has the name of the status.
func TestCheckHealthLogged(t *testing.T) {
	calls, logger := callLog(slog.LevelInfo)
	health := new(rpc.Health)
	health.Set(rpc.StatusWarning)
	c := dial(t, serve(t, &rpc.Server{Health: health}, &handler{}), rpc.Interceptors(rpc.LogCalls(logger)))
	if err := rpc.CheckHealth(bg, c); err != nil {
		t.Error(err)
	}
	if got := calls.String(); !strings.Contains(got, "result.success=WARNING") {
		t.Errorf("logged: %s", got)
	}
}

// TestCheckHealth: a client learns the health of a server, by all the ways to it.
func TestCheckHealth(t *testing.T) {
	t.Parallel()
	health := new(rpc.Health)
	p := echo.NewEchoProcessor(&handler{})
	for _, opts := range tryOpts {
		c := dial(t, serve(t, &rpc.Server{Health: health, Recycle: len(opts) > 0}, &handler{}), opts...)
		of := dial(t, serve(t, &rpc.Server{Health: &rpc.Health{Method: "fb303:getStatus"}, Processor: rpc.Multiplexed(map[string]*rpc.Processor{"": p})}, nil), opts...)
		for s, want := range map[rpc.Status]string{rpc.StatusAlive: "<nil>", rpc.StatusWarning: "<nil>", rpc.StatusDead: "rpc: the server is DEAD",
			rpc.StatusStarting: "rpc: the server is STARTING", rpc.StatusStopping: "rpc: the server is STOPPING", 77: "rpc: the server is Status(77)"} {
			health.Set(s)
			err := rpc.CheckHealth(bg, c)
			var unhealthy *rpc.UnhealthyError
			if fmt.Sprint(err) != want || errors.As(err, &unhealthy) != (err != nil) || err != nil && unhealthy.Status != s {
				t.Errorf("%v: %v, want %s", s, err, want)
			}
		}
		var answer *rpc.ApplicationException
		if err := rpc.CheckHealth(bg, of); !errors.As(err, &answer) || answer.Type != rpc.UnknownMethod {
			t.Error(err)
		}
		if err := rpc.CheckHealth(bg, rpc.MultiplexedCaller(of, "fb303")); err != nil {
			t.Error(err)
		}
		ended, end := context.WithCancel(bg)
		end()
		if err := rpc.CheckHealth(ended, c); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
	health.Set(rpc.StatusAlive)
	c := dial(t, serve(t, &rpc.Server{}, &handler{})) // without Health
	var answer *rpc.ApplicationException
	if err := rpc.CheckHealth(bg, c); !errors.As(err, &answer) || answer.Type != rpc.UnknownMethod {
		t.Error(err)
	}
	odd := dial(t, serve(t, &rpc.Server{Processor: rpc.NewProcessor("X", nil).WithFallback(func(_ context.Context, c *rpc.Call) error {
		r := echo.NewBaseVersionResult()
		r.SetSuccess("fine")
		c.Result = nocopy.Struct(r)
		return nil
	})}, nil))
	if err := rpc.CheckHealth(bg, odd); !errors.As(err, &answer) || answer.Type != rpc.MissingResult {
		t.Errorf("a text instead of a status: %v", err)
	}
	c.Close()
	if err := rpc.CheckHealth(bg, c); !errors.Is(err, rpc.ErrClientClosed) {
		t.Error(err)
	}
	defer func() {
		if v := fmt.Sprint(recover()); v != "nocopy: rpc.CheckHealth with a nil Caller" {
			t.Error(v)
		}
	}()
	rpc.CheckHealth(bg, nil)
}
