package rpc_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/linkbuf"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
)

// counter counts from any goroutine.
type counter struct{ n atomic.Int64 }

func (c *counter) add(n int) { c.n.Add(int64(n)) }
func (c *counter) get() int  { return int(c.n.Load()) }

// raise makes the count n, unless it is more.
func (c *counter) raise(n int) {
	for old := c.n.Load(); int64(n) > old && !c.n.CompareAndSwap(old, int64(n)); old = c.n.Load() {
	}
}

// counts are Stats and what they were told.
type counts struct {
	rpc.Stats
	conns, opened, inFlight, most, calls, queued, received, sent counter
	byRef, converted, waiting, mostWaiting                       counter
	waited                                                       atomic.Int64
	mu                                                           sync.Mutex
	refused                                                      map[rpc.ExceptionType]int
}

func newCounts() *counts {
	c := &counts{refused: map[rpc.ExceptionType]int{}}
	c.Stats = rpc.Stats{
		Conns: func(n int) { c.conns.add(n); c.opened.add(max(n, 0)) },
		InFlight: func(n int) {
			c.inFlight.add(n)
			c.calls.add(max(n, 0))
			c.most.raise(c.inFlight.get())
		},
		Waiting: func(n int) {
			c.waiting.add(n)
			c.mostWaiting.raise(c.waiting.get())
		},
		Queued:    func(d time.Duration) { c.waited.Add(int64(d)); c.queued.add(1) },
		Received:  c.received.add,
		Sent:      func(s linkbuf.Stats) { c.sent.add(s.Bytes); c.byRef.add(s.RefBytes) },
		Converted: c.converted.add,
		Refused:   func(e rpc.ExceptionType) { c.mu.Lock(); c.refused[e]++; c.mu.Unlock() },
	}
	return c
}

// refusals returns how many messages were refused, by their answers.
func (c *counts) refusals() map[rpc.ExceptionType]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := map[rpc.ExceptionType]int{}
	for e, n := range c.refused {
		all[e] = n
	}
	return all
}

// settles waits until f is true.
func settles(t *testing.T, what string, f func() bool) {
	t.Helper()
	for giveUp := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		if f() {
			return
		}
		if time.Now().After(giveUp) {
			break
		}
	}
	t.Errorf("%s: not so", what)
}

// TestStats: one side counts as received what the other counts as sent. Every call is counted,
// with any outcome, and nothing is left in flight or open.
func TestStats(t *testing.T) {
	t.Parallel()
	for _, way := range spoken {
		t.Run(way.name, func(t *testing.T) {
			server, client := newCounts(), newCounts()
			opts := append([]rpc.Option{&client.Stats, rpc.PoolSize(2)}, way.opts...)
			h := &handler{notified: make(chan string, 100), waiting: make(chan struct{}), release: make(chan struct{})}
			srv := &rpc.Server{Recycle: true, Stats: &server.Stats}
			addr := serve(t, srv, h)
			cl := dial(t, addr, opts...)
			c := echo.NewEchoClient(cl)
			before := rpc.ReadBlockStats()
			for i := range 50 {
				res, err := c.Echo(bg, func(args echo.EchoEchoArgs) { args.SetPayload(make([]byte, i*1000)) })
				if err != nil {
					t.Fatal(err)
				}
				res.Release()
				c.Notify(bg, func(args echo.EchoNotifyArgs) { args.SetText("t") })
				for _, mode := range []string{"panic", "undeclared", "missing, returned"} {
					c.Put(bg, func(args echo.EchoPutArgs) { args.SetMode(mode) })
				}
			}
			for range 50 {
				<-h.notified
			}
			const calls = 50 * 5
			settles(t, "all calls have ended", func() bool { return server.inFlight.get() == 0 && client.inFlight.get() == 0 })
			settles(t, "all bytes are counted", func() bool {
				return server.received.get() == client.sent.get() && server.sent.get() == client.received.get()
			})
			if server.calls.get() != calls || client.calls.get() != calls || server.queued.get() != calls || client.queued.get() != calls {
				t.Errorf("%d and %d calls, %d and %d have waited; want %d", server.calls.get(), client.calls.get(), server.queued.get(), client.queued.get(), calls)
			}
			if server.received.get() < 1000*49*50/2 && !way.zlib {
				t.Errorf("%d bytes received", server.received.get())
			}
			if after := rpc.ReadBlockStats(); after.Taken <= before.Taken || after.Returned <= before.Returned || after.Returned > after.Taken {
				t.Errorf("blocks: before %v, after %v", before, after)
			}
			// Ten at a time
			var all sync.WaitGroup
			for range 10 {
				all.Go(func() { c.Fail(bg, func(args echo.EchoFailArgs) { args.SetHow("wait") }) })
			}
			for range 10 {
				<-h.waiting
			}
			if server.inFlight.get() != 10 || client.inFlight.get() != 10 {
				t.Errorf("%d and %d calls in flight", server.inFlight.get(), client.inFlight.get())
			}
			close(h.release)
			all.Wait()
			cl.Close()
			settles(t, "all connections are closed", func() bool {
				return server.conns.get() == 0 && client.conns.get() == 0 && server.inFlight.get() == 0 && client.inFlight.get() == 0
			})
			if server.opened.get() != client.opened.get() || server.opened.get() > 2 {
				t.Errorf("%d and %d connections", server.opened.get(), client.opened.get())
			}
		})
	}
}

// TestStatsQueued: a request waits from when it has arrived until it is handled.
func TestStatsQueued(t *testing.T) {
	t.Parallel()
	server := newCounts()
	addr := serve(t, &rpc.Server{Concurrency: 1, Stats: &server.Stats}, &handler{})
	nc := dialRaw(t, addr)
	args := echo.NewEchoEchoArgs()
	args.SetDelayMs(200)
	one := strict(call, "echo", 1, args.Message().Bytes())
	send(t, nc, append(frame(one), frame(one)...))
	settles(t, "both were handled", func() bool { return server.queued.get() == 2 })
	if waited := time.Duration(server.waited.Load()); waited < 200*time.Millisecond {
		t.Errorf("the second call has waited %v", waited)
	}
}

// TestStatsRefused: messages that are not handled are counted by their answers.
func TestStatsRefused(t *testing.T) {
	t.Parallel()
	server := newCounts()
	logged, logger := callLog(slog.LevelInfo)
	addr := serve(t, &rpc.Server{Stats: &server.Stats, MaxFrame: 1000, Logger: logger}, &handler{})
	for _, b := range [][]byte{
		frame(strict(call, "none", 1, []byte{0})), frame(strict(reply, "add", 1, []byte{0})), frame(strict(call, "add", 1, []byte{99})),
		frame(strict(call, "add", 1, make([]byte, 5000))),
	} {
		send(t, dialRaw(t, addr), b)
	}
	settles(t, "all were refused", func() bool {
		server.mu.Lock()
		defer server.mu.Unlock()
		return server.refused[rpc.UnknownMethod] == 1 && server.refused[rpc.InvalidMessageType] == 1 && server.refused[rpc.ProtocolError] == 2
	})
	if server.calls.get() != 0 {
		t.Errorf("%d calls", server.calls.get())
	}
	settles(t, "those that are no calls of a method are logged", func() bool {
		text := logged.String()
		return strings.Count(text, "call refused") == 3 && strings.Contains(text, `err="rpc: invalid message type: 2"`)
	})
}

// TestBadStats: functions that panic harm nothing, on a server and on a client; the log has one
// line.
func TestBadStats(t *testing.T) {
	t.Parallel()
	bad := func() *rpc.Stats {
		return &rpc.Stats{
			Conns:    func(int) { panic("bad conns") },
			InFlight: func(int) { panic(nil) },
			//lint:ignore SA5000 it is to panic
			Queued:   func(time.Duration) { var m map[int]int; m[0] = 1 },
			Received: func(int) { panic(exitError{}) },
			Sent:     func(linkbuf.Stats) { panic("bad sent") },
			Refused:  func(rpc.ExceptionType) { panic("bad refused") },
		}
	}
	server, client := new(quiet), new(quiet)
	srv := &rpc.Server{Stats: bad(), Logger: server.logger()}
	addr := serve(t, srv, &handler{})
	cl := dial(t, addr, bad(), rpc.Logger(client.logger()))
	c := echo.NewEchoClient(cl)
	for range 20 {
		unharmed(t, c)
		if err := c.Notify(bg, func(args echo.EchoNotifyArgs) { args.SetText("t") }); err != nil {
			t.Fatal(err)
		}
	}
	nc := dialRaw(t, addr)
	send(t, nc, frame(strict(call, "none", 1, []byte{0})))
	expect(t, nc, frame(strict(exception, "none", 1, failure("none", 1))))
	cl.Close()
	if err := srv.Shutdown(context.Background()); err != nil {
		t.Fatal(err)
	}
	for name, q := range map[string]*quiet{"server": server, "client": client} {
		if n := strings.Count(q.String(), "a function of Stats panicked"); n != 1 {
			t.Errorf("the %s has logged %d panics: %s", name, n, q)
		}
	}
}

// TestStatsNil: functions that are nil are not called, and nothing else is different; a nil *Stats
// as an option is a bad program.
func TestStatsNil(t *testing.T) {
	addr := serve(t, &rpc.Server{Stats: &rpc.Stats{}}, &handler{})
	unharmed(t, echo.NewEchoClient(dial(t, addr, &rpc.Stats{})))
	defer func() {
		if v := recover(); v != "nocopy: a nil *rpc.Stats as an Option" {
			t.Errorf("panic: %v", v)
		}
	}()
	rpc.Dial(bg, "tcp", addr, (*rpc.Stats)(nil))
}

// statsGoexit returns Stats. One of their functions, which, ends its goroutine when it is called
// for the nth time.
func statsGoexit(which string, nth int64) *rpc.Stats {
	var n atomic.Int64
	at := func() {
		if n.Add(1) == nth {
			runtime.Goexit()
		}
	}
	switch which {
	case "Conns":
		return &rpc.Stats{Conns: func(int) { at() }}
	case "InFlight":
		return &rpc.Stats{InFlight: func(int) { at() }}
	case "Queued":
		return &rpc.Stats{Queued: func(time.Duration) { at() }}
	case "Received":
		return &rpc.Stats{Received: func(int) { at() }}
	case "Sent":
		return &rpc.Stats{Sent: func(linkbuf.Stats) { at() }}
	}
	return &rpc.Stats{Refused: func(rpc.ExceptionType) { at() }}
}

// TestStatsGoexit: a function that ends its goroutine, which it must not, ends one connection at
// most: no call of any goroutine hangs, and the connection's place is free again.
func TestStatsGoexit(t *testing.T) {
	t.Parallel()
	for _, side := range []string{"server", "client"} {
		for _, which := range []string{"Conns", "InFlight", "Queued", "Received", "Sent", "Refused"} {
			for nth := range int64(5) {
				t.Run(fmt.Sprint(side, which, nth), func(t *testing.T) {
					t.Parallel()
					srv := &rpc.Server{MaxConns: 2, Recycle: true}
					opts := []rpc.Option{rpc.PoolSize(1), rpc.MaxInFlight(4)}
					if bad := statsGoexit(which, nth+1); side == "server" {
						srv.Stats = bad
					} else {
						opts = append(opts, bad)
					}
					addr := serve(t, srv, &handler{})
					cl := dial(t, addr, opts...)
					c := echo.NewEchoClient(cl)
					ctx, cancel := context.WithTimeout(bg, time.Minute)
					defer cancel()
					var callers sync.WaitGroup
					for g := range 4 {
						callers.Go(func() { // its goroutine may end
							for i := range 5 {
								switch {
								case g == 3:
									cl.Call(ctx, rpc.RawMethod("none", false), cl.NewArgs(rpc.RawMethod("none", false)))
								case g%2 == 0:
									c.Echo(ctx, func(args echo.EchoEchoArgs) { args.SetPayload(make([]byte, 10)); args.SetDelayMs(int32(i)) })
								default:
									c.Add(ctx, func(args echo.EchoAddArgs) {})
								}
							}
						})
					}
					callers.Wait()
					if ctx.Err() != nil {
						t.Error("calls hang")
					}
					if side == "client" { // it goes on to be used
						all := make([]error, 4)
						for i := range all {
							callers.Go(func() { all[i] = errors.New("ended"); _, all[i] = c.Add(ctx, func(echo.EchoAddArgs) {}) })
						}
						callers.Wait()
						lost := 0
						for _, err := range all {
							if err != nil {
								lost++
							}
						}
						if ctx.Err() != nil || nth < 3 && lost == len(all) {
							t.Error("calls afterwards:", all)
						}
					}
					cl.Close()
					answered := 0
					for range 4 {
						cl := dial(t, addr)
						if _, err := echo.NewEchoClient(cl).Add(ctx, func(echo.EchoAddArgs) {}); err == nil {
							answered++
						}
						cl.Close()
					}
					if answered < 3 {
						t.Errorf("%d of 4 other connections are served", answered)
					}
				})
			}
		}
	}
}

// TestStatsBytes: the numbers are the numbers of bytes on the wire.
func TestStatsBytes(t *testing.T) {
	t.Parallel()
	server := newCounts()
	addr := serve(t, &rpc.Server{Stats: &server.Stats}, &handler{})
	nc := dialRaw(t, addr)
	request, answer := frame(strict(call, "add", 1, addArgs(1, 2))), frame(strict(reply, "add", 1, sumResult(3)))
	send(t, nc, bytes.Repeat(request, 3))
	expect(t, nc, bytes.Repeat(answer, 3))
	settles(t, "bytes are counted", func() bool {
		return server.received.get() == 3*len(request) && server.sent.get() == 3*len(answer)
	})
}

// TestSentByReference: Stats say how many bytes were written without being copied.
func TestSentByReference(t *testing.T) {
	var bytes, byRef atomic.Int64
	stats := &rpc.Stats{Sent: func(s linkbuf.Stats) {
		bytes.Add(int64(s.Bytes))
		byRef.Add(int64(s.RefBytes))
	}}
	c := echo.NewEchoClient(dial(t, serve(t, &rpc.Server{}, &handler{}), stats))
	const size = 1 << 20
	if _, err := c.Echo(bg, func(args echo.EchoEchoArgs) { args.SetPayload(make([]byte, size)) }); err != nil {
		t.Fatal(err)
	}
	if copied := bytes.Load() - byRef.Load(); byRef.Load() < size || copied > 100 {
		t.Errorf("%d bytes by reference, %d copied", byRef.Load(), copied)
	}
}

// TestStatsMaxInFlight: a client never counts more calls in flight than MaxInFlight.
func TestStatsMaxInFlight(t *testing.T) {
	t.Parallel()
	addr := serve(t, &rpc.Server{}, &handler{})
	var inFlight, most atomic.Int64
	opts := []rpc.Option{rpc.MaxInFlight(1), &rpc.Stats{InFlight: func(delta int) {
		if delta < 0 {
			time.Sleep(100 * time.Microsecond) // another call may have the place by now
		}
		if n := inFlight.Add(int64(delta)); n > most.Load() {
			most.Store(n)
		}
	}}}
	for way, caller := range map[string]rpc.Caller{
		"a socket": dial(t, addr, opts...), "HTTP": dialHTTP(t, "http://"+addr, opts...),
	} {
		t.Run(way, func(t *testing.T) {
			most.Store(0)
			var calls sync.WaitGroup
			for range 3 {
				calls.Go(func() {
					for range 10 {
						if _, err := echo.NewEchoClient(caller).Ping(bg, nil); err != nil {
							t.Error(err)
						}
					}
				})
			}
			calls.Wait()
			if n := most.Load(); n != 1 {
				t.Errorf("%d calls were in flight", n)
			}
		})
	}
}
