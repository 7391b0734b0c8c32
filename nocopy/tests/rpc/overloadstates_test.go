package rpc_test

import (
	"context"
	"errors"
	"io"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
)

// heldService is one whose calls of fail and notify have names. Each waits until it is told how to
// go on, or its context ends.
type heldService struct {
	custom
	mu    sync.Mutex
	begun []string
	gates map[string]chan string
}

func newHeldService() *heldService {
	g := &heldService{gates: map[string]chan string{}}
	g.fail = func(ctx context.Context, args echo.EchoFailArgs, _ echo.EchoFailResult) error {
		return g.enter(ctx, strings.Clone(args.GetHow()))
	}
	g.notify = func(ctx context.Context, args echo.EchoNotifyArgs) error {
		return g.enter(ctx, strings.Clone(args.GetText()))
	}
	return g
}

// gate returns the channel by which the call of that name learns how to go on.
func (g *heldService) gate(name string) chan string {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.gates[name] == nil {
		g.gates[name] = make(chan string, 1)
	}
	return g.gates[name]
}

func (g *heldService) enter(ctx context.Context, name string) error {
	g.mu.Lock()
	g.begun = append(g.begun, name)
	g.mu.Unlock()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case how := <-g.gate(name):
		switch how {
		case "panic":
			panic("a panic")
		case "exit":
			runtime.Goexit()
		case "error":
			return errors.New("an error")
		}
		return nil
	}
}

// handled returns the names of calls whose handler was called since the last time.
func (g *heldService) handled() []string {
	synctest.Wait()
	g.mu.Lock()
	defer g.mu.Unlock()
	list := g.begun
	g.begun = nil
	return list
}

// overloaded is a server in a bubble that handles one call at a time and lets one wait.
type overloaded struct {
	t   *testing.T
	way loadWay
	srv *rpc.Server
	l   pipes
	g   *heldService
	c   *counts
}

// overCall is a call under way.
type overCall struct {
	name   string
	client rpc.Caller
	cancel context.CancelFunc
	began  time.Time
	done   chan struct{} // closed when it has ended; then these are set
	failed error
	ended  time.Time
}

// over reports whether the call has ended.
func (c *overCall) over() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// err returns the error of a call that has ended, nil if it has not.
func (c *overCall) err() error {
	if c.over() {
		return c.failed
	}
	return nil
}

// took returns how long a call has taken that has ended, 0 if it has not.
func (c *overCall) took() time.Duration {
	if c.over() {
		return c.ended.Sub(c.began)
	}
	return 0
}

// call begins a call of that name by a client of its own. With a timeout, it says so.
func (o *overloaded) call(name string, oneway bool, timeout string) *overCall {
	ctx, cancel := context.WithCancel(bg)
	if timeout != "" {
		ctx = rpc.SetHeader(ctx, rpc.TimeoutKey, timeout)
	}
	c := &overCall{name: name, client: o.way.caller(o.t, o.srv, o.l), cancel: cancel, began: time.Now(), done: make(chan struct{})}
	client := echo.NewEchoClient(c.client)
	go func() {
		defer func() { // a handler may end the goroutine that calls ServeMessage
			c.ended = time.Now()
			close(c.done)
			cancel()
		}()
		if oneway {
			c.failed = client.Notify(ctx, func(args echo.EchoNotifyArgs) { args.SetText(name) })
		} else {
			var res echo.EchoFailResult
			if res, c.failed = client.Fail(ctx, func(args echo.EchoFailArgs) { args.SetHow(name) }); c.failed == nil {
				res.Release()
			}
		}
	}()
	synctest.Wait()
	return c
}

// leave lets the client of c go away.
func (c *overCall) leave() {
	c.cancel()
	if closer, ok := c.client.(io.Closer); ok {
		closer.Close()
	}
	synctest.Wait()
}

// expectHandled checks which calls were handled since the last time.
func (o *overloaded) expectHandled(want ...string) {
	o.t.Helper()
	if got := o.g.handled(); !slices.Equal(got, want) {
		o.t.Errorf("handled: %q, want %q", got, want)
	}
}

// unharmed checks that the server handles one call and lets one wait, no less and no more.
func (o *overloaded) unharmed() {
	o.t.Helper()
	names := []string{"u1", "u2", "u3"}
	var calls []*overCall
	for _, name := range names {
		calls = append(calls, o.call(name, false, ""))
	}
	if o.expectHandled("u1"); !isShed(calls[2].err()) || calls[0].over() || calls[1].over() || o.c.waiting.get() != 1 {
		o.t.Errorf("afterwards: %v, %v, %v; %d wait", calls[0].err(), calls[1].err(), calls[2].err(), o.c.waiting.get())
	}
	o.g.gate("u1") <- ""
	o.expectHandled("u2")
	o.g.gate("u2") <- ""
	synctest.Wait()
	if calls[0].err() != nil || calls[1].err() != nil || !calls[1].over() || o.c.waiting.get() != 0 {
		o.t.Errorf("afterwards: %v, %v; %d wait", calls[0].err(), calls[1].err(), o.c.waiting.get())
	}
}

const (
	ofWait  = 40 * time.Second // Server.ReadTimeout
	ofGrace = 3 * time.Second  // HalfCloseTimeout
)

// overloadEvents are the events that may follow while one call, "holder", is being handled, and
// another one, "waiter", waits for its place. handled is whether the waiter is handled then.
var overloadEvents = []struct {
	name    string
	happen  func(o *overloaded, holder, waiter *overCall)
	handled bool
	oneway  bool // whether a oneway waiter is
	after   time.Duration
	closed  bool // so is the server
}{
	{"the handler returns", func(o *overloaded, _, _ *overCall) { o.g.gate("holder") <- "" }, true, true, 0, false},
	{"it fails", func(o *overloaded, _, _ *overCall) { o.g.gate("holder") <- "error" }, true, true, 0, false},
	{"it panics", func(o *overloaded, _, _ *overCall) { o.g.gate("holder") <- "panic" }, true, true, 0, false},
	{"it ends its goroutine", func(o *overloaded, _, _ *overCall) { o.g.gate("holder") <- "exit" }, true, true, 0, false},
	{"its client is gone", func(o *overloaded, holder, _ *overCall) { holder.leave() }, true, true, ofGrace, false},
	{"the waiter's client is gone", func(o *overloaded, _, waiter *overCall) { waiter.leave() }, false, true, ofGrace, false},
	{"ReadTimeout passes", func(*overloaded, *overCall, *overCall) {}, false, false, ofWait, false},
	{"Close", func(o *overloaded, _, _ *overCall) { o.srv.Close() }, false, false, 0, true},
}

// TestOverloadStates walks events while a call waits for its place, in all ways in which calls
// come. The call is handled or not, as the table says. Afterwards no place is lost, and none is
// there that was not.
func TestOverloadStates(t *testing.T) {
	for _, event := range overloadEvents {
		for _, oneway := range []bool{false, true} {
			t.Run(event.name+"/oneway="+strconv.FormatBool(oneway), func(t *testing.T) {
				inGates(t, func(o *overloaded) {
					holder := o.call("holder", false, "")
					waiter := o.call("waiter", oneway, "")
					if o.expectHandled("holder"); o.c.waiting.get() != 1 {
						t.Errorf("%d calls wait", o.c.waiting.get())
					}
					event.happen(o, holder, waiter)
					time.Sleep(event.after + time.Millisecond)
					synctest.Wait()
					// Over HTTP a oneway call is answered when it has its place
					if event.handled || oneway && event.oneway && !o.way.answersOneway() {
						if event.name == "the waiter's client is gone" {
							o.expectHandled()
							o.g.gate("holder") <- ""
						}
						o.expectHandled("waiter")
						o.g.gate("waiter") <- ""
						synctest.Wait()
						if waiter.err() != nil && !errors.Is(waiter.err(), context.Canceled) && !errors.Is(waiter.err(), rpc.ErrClientClosed) {
							t.Error(waiter.err())
						}
					} else {
						if event.name == "ReadTimeout passes" && (!oneway || o.way.answersOneway()) && (!isShed(waiter.err()) || waiter.took() != ofWait) {
							t.Errorf("%v after %v", waiter.err(), waiter.took())
						}
						if n := o.c.waiting.get(); n != 0 {
							t.Errorf("%d calls wait", n)
						}
						select {
						case o.g.gate("holder") <- "":
						default:
						}
						if o.expectHandled(); o.c.refusals()[rpc.LoadShedding] != 1 {
							t.Errorf("refused: %v", o.c.refusals())
						}
					}
					if synctest.Wait(); !holder.over() || !waiter.over() {
						t.Errorf("a call has not ended: %v, %v", holder.over(), waiter.over())
					}
					if !event.closed {
						o.unharmed()
					}
				})
			})
		}
	}
}

// answersOneway reports whether a oneway call's client learns that it is handled.
func (w loadWay) answersOneway() bool { return w.http || w.name == "ServeMessage" }

// inGates calls f in a bubble for each of loadWays, after set, which may change the Stats.
func inGates(t *testing.T, f func(o *overloaded), set ...func(o *overloaded)) {
	o := &overloaded{}
	inLoad(t, false, func() (*rpc.Server, echo.EchoHandler) {
		o.g, o.c = newHeldService(), newCounts()
		for _, s := range set {
			s(o)
		}
		return &rpc.Server{
			MaxInFlight: 1, MaxQueued: 1, ReadTimeout: ofWait, HalfCloseTimeout: ofGrace, Deadlines: true, Stats: &o.c.Stats, Logger: new(quiet).logger(),
		}, o.g
	}, func(t *testing.T, way loadWay, srv *rpc.Server, l pipes) {
		o.t, o.way, o.srv, o.l = t, way, srv, l
		f(o)
	})
}
