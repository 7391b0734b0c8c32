package rpc_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/apache/thrift/lib/go/thrift"

	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
)

// TestOverloadDeadline: a call whose time is over while it waits is refused, just then, and is not
// handled. If it is handled in time, the time that it has waited counts.
func TestOverloadDeadline(t *testing.T) {
	inGates(t, func(o *overloaded) {
		holder := o.call("holder", false, "")
		waiter := o.call("waiter", false, "5S")
		time.Sleep(5*time.Second + time.Millisecond)
		synctest.Wait()
		if d := waiter.took(); !isShed(waiter.err()) || d != 5*time.Second {
			o.t.Errorf("%v after %v", waiter.err(), d)
		}
		second := o.call("second", false, "5S")
		time.Sleep(3 * time.Second)
		o.g.gate("holder") <- ""
		o.expectHandled("holder", "second")
		time.Sleep(2*time.Second - time.Millisecond)
		if synctest.Wait(); second.over() {
			o.t.Errorf("ended after %v: %v", second.took(), second.err())
		}
		time.Sleep(2 * time.Millisecond)
		synctest.Wait()
		if d := second.took(); second.err() == nil || d != 5*time.Second {
			o.t.Errorf("%v after %v", second.err(), d)
		}
		if holder.err() != nil {
			o.t.Error(holder.err())
		}
		o.unharmed()
	})
}

// TestOverloadShutdown: calls that wait when the server is shut down are handled. If Shutdown's
// context ends before, they are not.
func TestOverloadShutdown(t *testing.T) {
	for _, way := range []struct{ gives, oneway bool }{{false, false}, {false, true}, {true, false}, {true, true}} {
		gives := way.gives
		t.Run(fmt.Sprintf("%+v", way), func(t *testing.T) {
			inGates(t, func(o *overloaded) {
				o.call("holder", false, "")
				waiter := o.call("waiter", way.oneway, "")
				ctx, cancel := context.WithTimeout(bg, 10*time.Second)
				defer cancel()
				shutdown := make(chan error, 1)
				go func() { shutdown <- o.srv.Shutdown(ctx) }()
				time.Sleep(2 * time.Second)
				if gives {
					time.Sleep(9 * time.Second)
					o.expectHandled("holder")
					if err := <-shutdown; !errors.Is(err, context.DeadlineExceeded) {
						o.t.Errorf("Shutdown: %v", err)
					}
					synctest.Wait()
					if silent := way.oneway && !o.way.answersOneway(); !waiter.over() || (waiter.err() == nil) != silent {
						o.t.Errorf("the call that waited: %v", waiter.err())
					}
					return
				}
				o.expectHandled("holder")
				o.g.gate("holder") <- ""
				o.expectHandled("waiter")
				if len(shutdown) > 0 {
					o.t.Errorf("Shutdown does not wait: %v", <-shutdown)
				}
				o.g.gate("waiter") <- ""
				err := <-shutdown
				if synctest.Wait(); err != nil || waiter.err() != nil || !waiter.over() {
					o.t.Errorf("Shutdown: %v; %v", err, waiter.err())
				}
			})
		})
	}
}

// TestOverloadSelf: a handler that calls its own server, which is full, does not wait for ever.
func TestOverloadSelf(t *testing.T) {
	inGates(t, func(o *overloaded) {
		self := echo.NewEchoClient(o.way.caller(o.t, o.srv, o.l))
		var inner error
		var waited time.Duration
		o.g.put = func(context.Context, echo.EchoPutArgs, echo.EchoPutResult) error {
			began := time.Now()
			_, inner = self.Ping(bg, nil)
			waited = time.Since(began)
			return inner
		}
		_, err := self.Put(bg, func(args echo.EchoPutArgs) { args.SetMode("") })
		if !isShed(inner) || waited != ofWait {
			o.t.Errorf("%v after %v", inner, waited)
		}
		var e *rpc.ApplicationException // over HTTP an InternalError with a text
		if !errors.As(err, &e) || errors.Is(err, rpc.ErrNotHandled) {
			o.t.Errorf("the outer call: %v", err)
		}
		o.unharmed()
	})
}

// TestOverloadOrder: the answer to a refused call keeps its order, unless the server is Unordered.
// Answers to refused calls that came together are right, too.
func TestOverloadOrder(t *testing.T) {
	for _, unordered := range []bool{false, true} {
		t.Run(fmt.Sprint("unordered=", unordered), func(t *testing.T) {
			w := newWaiter()
			srv := &rpc.Server{MaxInFlight: 1, MaxQueued: 1, Unordered: unordered}
			inBubble(t, srv, w, func(t *testing.T, connect func() net.Conn) {
				*w = *newWaiter()
				nc := connect()
				defer nc.Close()
				var in bytes.Buffer
				in.Write(frame(strict(call, "fail", 1, []byte{0})))
				in.Write(frame(strict(call, "fail", 2, []byte{0})))
				for id := 3; id < 10; id++ {
					in.Write(frame(strict(call, "add", id, addArgs(1, int64(id)))))
				}
				go nc.Write(in.Bytes())
				synctest.Wait()
				expectAll := func(ids ...int) {
					for _, id := range ids {
						b := frameFrom(t, nc)
						typ := byte(reply)
						if id > 2 {
							typ = exception
						}
						name := map[bool]string{true: "add", false: "fail"}[id > 2]
						if head := strict(typ, name, id, nil); !bytes.HasPrefix(b, head) || id > 2 && !bytes.Contains(b, []byte("this call was not handled")) {
							t.Errorf("%q where the one to call %d should be", b, id)
						}
					}
				}
				refused := []int{3, 4, 5, 6, 7, 8, 9}
				if unordered {
					expectAll(refused...)
				}
				nc.SetReadDeadline(time.Now().Add(time.Second))
				if n, err := nc.Read(make([]byte, 1)); n > 0 {
					t.Errorf("something has come: %v", err)
				}
				nc.SetReadDeadline(time.Time{})
				close(w.release)
				if expectAll(1, 2); !unordered {
					expectAll(refused...)
				}
			})
		})
	}
}

// TestOverloadUnanswered: refusals that wait for earlier replies do not count towards
// Concurrency. 16 times as many replies may wait. What a client sends after that is read later.
func TestOverloadUnanswered(t *testing.T) {
	const sent, waiting = 100, 2 * 16
	w, c := newWaiter(), newCounts()
	srv := &rpc.Server{Concurrency: 2, MaxInFlight: 1, MaxQueued: -1, Stats: &c.Stats}
	inBubble(t, srv, w, func(t *testing.T, connect func() net.Conn) {
		*w = *newWaiter()
		nc := connect()
		defer nc.Close()
		var in bytes.Buffer
		in.Write(frame(strict(call, "fail", 1, []byte{0})))
		for id := 2; id <= sent; id++ {
			in.Write(frame(strict(call, "add", id, addArgs(1, int64(id)))))
		}
		go nc.Write(in.Bytes())
		time.Sleep(time.Second) // another goroutine becomes the reader
		synctest.Wait()
		if n := c.refusals()[rpc.LoadShedding]; n != waiting-1 {
			t.Errorf("%d calls were refused while one was handled, want %d", n, waiting-1)
		}
		close(w.release)
		frameFrom(t, nc)
		for id := 2; id <= sent; id++ {
			b := frameFrom(t, nc)
			if head := strict(reply, "add", id, nil); !bytes.HasPrefix(b, strict(exception, "add", id, nil)) && !(id > waiting && bytes.HasPrefix(b, head)) {
				t.Errorf("%q where the answer to call %d should be", b, id)
			}
		}
	})
}

// TestOverloadOneway: oneway calls beyond the queue are dropped and counted. The log has a line
// for refused calls every ten seconds at most, and the numbers in it are complete.
func TestOverloadOneway(t *testing.T) {
	w, q, c := newWaiter(), new(quiet), newCounts()
	srv := &rpc.Server{MaxInFlight: 1, MaxQueued: 1, Stats: &c.Stats, Logger: q.logger(), ReadTimeout: time.Hour}
	inBubble(t, srv, w, func(t *testing.T, connect func() net.Conn) {
		*w = *newWaiter()
		nc := connect()
		defer nc.Close()
		for id := range 2 {
			send(t, nc, frame(strict(oneway, "notify", id, []byte{0})))
		}
		synctest.Wait()
		for id := range 300 { // in 30 s
			send(t, nc, frame(strict(oneway, "notify", id, []byte{0})))
			send(t, nc, frame(strict(call, "ping", id, []byte{0})))
			if b := frameFrom(t, nc); !bytes.HasPrefix(b, strict(exception, "ping", id, nil)) {
				t.Fatalf("%q", b)
			}
			time.Sleep(100 * time.Millisecond)
		}
		lines := strings.Count(q.String(), "calls refused: too many are under way")
		if lines != 3 || strings.Count(q.String(), "\n") != lines || !strings.Contains(q.String(), "calls=1 oneway=1 ") || !strings.Contains(q.String(), "calls=200 oneway=100 MaxInFlight=1") {
			t.Errorf("the log:\n%s", q)
		}
		refused := c.refusals()
		if n := len(w.begun); n != 1 || refused[rpc.LoadShedding] != 600 || len(refused) != 1 {
			t.Errorf("%d calls were handled, refused %v", n, refused)
		}
		close(w.release)
		expects(t, w.begun, 2, "notify", "begun")
	})
}

// TestOverloadHealth: a health check is answered on a connection whose other calls wait. A method
// of the Processor's own that has that name waits like others.
func TestOverloadHealth(t *testing.T) {
	w := newWaiter()
	srv := &rpc.Server{MaxInFlight: 1, MaxQueued: 1, Unordered: true, Health: new(rpc.Health)}
	inBubble(t, srv, w, func(t *testing.T, connect func() net.Conn) {
		*w = *newWaiter()
		nc := connect()
		defer nc.Close()
		for id := range 2 {
			send(t, nc, frame(strict(call, "fail", id, []byte{0})))
		}
		send(t, nc, frame(strict(call, "getStatus", 7, []byte{0})))
		expect(t, nc, frame(strict(reply, "getStatus", 7, []byte{8, 0, 0, 0, 0, 0, 2, 0})))
		close(w.release)
		frameFrom(t, nc)
		frameFrom(t, nc)
	})
	own := newWaiter()
	srv = &rpc.Server{MaxInFlight: 1, MaxQueued: -1, Health: &rpc.Health{Method: "ping"}}
	inBubble(t, srv, own, func(t *testing.T, connect func() net.Conn) {
		*own = *newWaiter()
		nc := connect()
		defer nc.Close()
		send(t, nc, frame(strict(call, "fail", 1, []byte{0}), nil))
		send(t, nc, frame(strict(call, "ping", 2, []byte{0})))
		synctest.Wait()
		close(own.release)
		frameFrom(t, nc)
		if b := frameFrom(t, nc); !bytes.HasPrefix(b, strict(exception, "ping", 2, nil)) {
			t.Errorf("%q", b)
		}
	})
}

// TestOverloadBadStats: functions of Stats that panic or end the goroutine lose no place.
func TestOverloadBadStats(t *testing.T) {
	for _, bad := range []string{"panic", "exit"} {
		for _, where := range []string{"Waiting", "no longer Waiting", "Refused", "Queued", "InFlight", "no longer InFlight"} {
			t.Run(bad+"/"+where, func(t *testing.T) {
				var armed, failed atomic.Bool
				inGates(t, func(o *overloaded) {
					names := []string{"a", "b", "c"}
					for _, name := range names {
						o.call(name, false, "")
					}
					for range names {
						for _, name := range names {
							select {
							case o.g.gate(name) <- "":
							default:
							}
						}
						time.Sleep(2 * ofWait)
						synctest.Wait()
					}
					armed.Store(false)
					if o.g.handled(); !failed.Load() {
						o.t.Error("the function was not called")
					}
					o.unharmed()
				}, func(o *overloaded) {
					armed.Store(true)
					failed.Store(false)
					o.c.breakStats(func(here string) {
						if here != where || !armed.Load() {
							return
						}
						if failed.Store(true); bad == "panic" {
							panic("of Stats")
						}
						runtime.Goexit()
					})
				})
			})
		}
	}
}

// breakStats makes functions of Stats call fail, with their names, after they have counted.
func (c *counts) breakStats(fail func(where string)) {
	of := func(name string, counted func(int)) func(int) {
		return func(n int) {
			if counted(n); n > 0 {
				fail(name)
			} else {
				fail("no longer " + name)
			}
		}
	}
	c.Stats.Waiting, c.Stats.InFlight = of("Waiting", c.waiting.add), of("InFlight", c.inFlight.add)
	c.Stats.Queued = func(time.Duration) { fail("Queued") }
	c.Stats.Refused = func(rpc.ExceptionType) { fail("Refused") }
}

// TestOverloadUnlimited: a MaxInFlight of 0, or less, is no limit.
func TestOverloadUnlimited(t *testing.T) {
	for _, n := range []int{0, -1} {
		w := newWaiter()
		inBubble(t, &rpc.Server{MaxInFlight: n, MaxQueued: -1, Concurrency: 1000}, w, func(t *testing.T, connect func() net.Conn) {
			*w = *newWaiter()
			nc := connect()
			defer nc.Close()
			for id := range 100 {
				send(t, nc, frame(strict(oneway, "notify", id, []byte{0})))
			}
			expects(t, w.begun, 100, "notify", "begun")
			close(w.release)
		})
	}
}

// TestOverloadApache: clients of Apache's library get an exception that they understand, and their
// connections stay usable.
func TestOverloadApache(t *testing.T) {
	t.Parallel()
	for name, way := range apacheWays {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := &handler{waiting: make(chan struct{}), release: make(chan struct{})}
			addr := serve(t, &rpc.Server{MaxInFlight: 1, MaxQueued: -1}, h)
			var held sync.WaitGroup
			defer held.Wait()
			defer close(h.release)
			held.Go(func() {
				echo.NewEchoClient(dial(t, addr)).Fail(bg, func(args echo.EchoFailArgs) { args.SetHow("wait") })
			})
			<-h.waiting
			transport, err := way.transport.GetTransport(thrift.NewTSocketConf(addr, nil))
			if err == nil {
				err = transport.Open()
			}
			if err != nil {
				t.Fatal(err)
			}
			defer transport.Close()
			p := way.protocol.GetProtocol(transport)
			c := thrift.NewTStandardClient(p, p)
			for range 3 {
				_, err := c.Call(bg, "add", fields{1: int64(1), 2: int64(2)}, fields{})
				var e thrift.TApplicationException
				if !errors.As(err, &e) || e.TypeId() != int32(rpc.LoadShedding) || e.Error() != "too many calls are under way; this call was not handled" {
					t.Fatal(err)
				}
			}
		})
	}
	t.Run("HTTP", func(t *testing.T) {
		h := &handler{waiting: make(chan struct{}), release: make(chan struct{})}
		addr := serve(t, &rpc.Server{MaxInFlight: 1, MaxQueued: -1}, h)
		var held sync.WaitGroup
		defer held.Wait()
		defer close(h.release)
		held.Go(func() {
			echo.NewEchoClient(dial(t, addr)).Fail(bg, func(args echo.EchoFailArgs) { args.SetHow("wait") })
		})
		<-h.waiting
		c := apacheHTTP(t, "http://"+addr)
		for range 3 {
			if _, err := c.Call(bg, "add", fields{1: int64(1)}, fields{}); err == nil || !strings.Contains(err.Error(), "503") {
				t.Error(err)
			}
		}
	})
}

// TestOverloadHostileAnswer: an answer says that the call was not handled only if its type, and
// the field that says so, are the right ones.
func TestOverloadHostileAnswer(t *testing.T) {
	const id = "\x82\xff"
	for _, c := range []struct {
		typ  int
		more string
		is   bool
	}{
		{11, "\x02" + id + "\x01", true},
		{11, "", false},
		{11, "\x02" + id + "\x00", false},
		{11, "\x03" + id + "\x01", false},
		{11, "\x0b" + id + "\x00\x00\x00\x01\x01", false},
		{11, "\x02\x00\x03\x01", false},
		{6, "\x02" + id + "\x01", false},
	} {
		answer := append([]byte(c.more), failure("busy", c.typ)...)
		cl := rpc.NewCaller(func(context.Context, *rpc.Method, []byte) ([]byte, error) {
			return strict(exception, "add", 1, answer), nil
		})
		_, err := echo.NewEchoClient(cl).Add(bg, nil)
		var e *rpc.ApplicationException
		if !errors.As(err, &e) || int(e.Type) != c.typ || e.Message != "busy" || errors.Is(err, rpc.ErrNotHandled) != c.is {
			t.Errorf("type %d, field %q: %v", c.typ, c.more, err)
		}
	}
}
