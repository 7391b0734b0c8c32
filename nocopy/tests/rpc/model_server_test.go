// TestModel's handlers: how they behave, and how their calls may end.

package rpc_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// outcome is a set of ways in which a call may end.
type outcome uint32

const (
	// The result that the handler made of the call's token; of oneway calls: no error
	own        outcome = 1 << iota
	other              // the result that an interceptor gave
	missing            // NotFound with the call's token
	conflicted         // Conflict with the call's token
	emptied            // NotFound without anything in it
	internal           // an ApplicationException of the server: InternalError
	noResult           // and MissingResult
	// And the one that the handler has chosen, with the call's token
	chosen
	otherException // and any other
	refused        // the error of an interceptor of the client
	panicked       // the panic of an interceptor of the client
	exited         // its Goexit
	misused        // a panic of the library, about how it was used
	complaint      // an error about that
	nothing        // neither a result nor an error
	expired        // the context's error
	closed         // ErrClientClosed
	broken         // any other error: of the connection
)

var outcomeNames = strings.Fields("own other missing conflicted emptied internal noResult chosen strange refused panicked exited misused complaint nothing expired closed broken")

func (o outcome) String() string {
	var names []string
	for i, name := range outcomeNames {
		if o&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, "|")
}

// served is a call in the handler.
type served struct {
	w            *world
	call         *modelCall
	args, result nocopy.Struct
	succeed      func()               // fills the result
	fillMissing  func() echo.NotFound // makes a NotFound in the result; nil: the method declares none
}

func (s *served) notFound() echo.NotFound {
	e := echo.NewNotFound()
	s.w.releaseLater(nocopy.Struct(e))
	e.SetKey(s.call.token)
	return e
}

// conduct is a behaviour of a handler with the outcomes that its calls may have.
type conduct struct {
	name  string
	run   func(ctx context.Context, s *served) error
	gives func(method string) outcome
}

func always(o outcome) func(string) outcome { return func(string) outcome { return o } }

// declared is for handlers that end with NotFound: an error like any other in methods that don't
// declare it.
func declared(o outcome) func(string) outcome {
	return func(method string) outcome {
		if method == "put" || method == "fail" {
			return o
		}
		return internal
	}
}

var errPlain = errors.New("plain")

type panicsInError struct{ n int }

func (e *panicsInError) Error() string { return fmt.Sprint("n is ", e.n) } // panics if e is nil

type panicsInAs struct{}

func (panicsInAs) Error() string { return "as" }
func (panicsInAs) As(any) bool   { panic("As") }

const (
	conductGate = 1 // these indices are used by name
	conductCtx  = 2
)

var conducts = []conduct{
	{"answers", func(_ context.Context, s *served) error { s.succeed(); return nil }, always(own)},
	{"waits to be told", func(_ context.Context, s *served) error { <-s.call.gate; s.succeed(); return nil }, always(own)},
	{"waits for its context", func(ctx context.Context, s *served) error {
		select {
		case <-s.call.gate:
		case <-ctx.Done():
			s.call.note("context ended")
			return ctx.Err()
		}
		s.succeed()
		return nil
	}, always(own)},
	{"is slow", func(_ context.Context, s *served) error { time.Sleep(2 * time.Millisecond); s.succeed(); return nil }, always(own)},
	{"panics", func(context.Context, *served) error { panic("out of cheese") }, always(internal)},
	{"panics after its result", func(_ context.Context, s *served) error { s.succeed(); panic("out of cheese") }, always(internal)},
	{"exits", func(context.Context, *served) error { runtime.Goexit(); return nil }, always(internal)},
	{"exits after its result", func(_ context.Context, s *served) error { s.succeed(); runtime.Goexit(); return nil }, always(internal)},
	{"releases args", func(_ context.Context, s *served) error { s.succeed(); s.args.Release(); return nil }, always(own | internal)},
	{"releases args first", func(_ context.Context, s *served) error { s.args.Message().Release(); s.succeed(); return nil }, always(own | internal)},
	{"releases the result", func(_ context.Context, s *served) error { s.succeed(); s.result.Release(); return nil }, always(own | internal | noResult)},
	{"releases the result and fails", func(_ context.Context, s *served) error {
		s.result.Message().Release()
		return errPlain
	}, always(internal)},
	{"releases both and panics", func(_ context.Context, s *served) error {
		s.result.Release()
		s.args.Release()
		panic("and more")
	}, always(internal)},
	{"returns an exception", func(_ context.Context, s *served) error { return s.notFound() }, declared(missing)},
	{"fills an exception", func(_ context.Context, s *served) error {
		if s.fillMissing == nil {
			return errPlain
		}
		s.fillMissing().SetKey(s.call.token)
		return nil
	}, declared(missing)},
	{"wraps an exception", func(_ context.Context, s *served) error { return fmt.Errorf("wrapped: %w", s.notFound()) }, declared(missing)},
	{"returns a released exception", func(_ context.Context, s *served) error {
		e := s.notFound()
		defer e.Release()
		return e
	}, declared(internal | missing)},
	{"wraps a released exception", func(_ context.Context, s *served) error {
		e := s.notFound()
		defer e.Release()
		return fmt.Errorf("wrapped: %w", e)
	}, declared(internal | missing)},
	{"returns the exception in the result", func(_ context.Context, s *served) error {
		if s.fillMissing == nil {
			return errPlain
		}
		e := s.fillMissing()
		e.SetKey(s.call.token)
		return e
	}, declared(missing)},
	{"returns a zero exception", func(context.Context, *served) error { var e echo.NotFound; return e }, declared(internal | emptied)},
	{"returns another exception after a result", func(_ context.Context, s *served) error {
		s.succeed()
		e := echo.NewConflict()
		s.w.releaseLater(nocopy.Struct(e))
		e.SetWhat(s.call.token)
		return e
	}, func(method string) outcome {
		if method == "put" {
			return conflicted
		}
		return internal
	}},
	{"returns a nil ApplicationException", func(context.Context, *served) error { var e *rpc.ApplicationException; return e }, always(internal)},
	{"returns an error that is nil", func(context.Context, *served) error { var e *panicsInError; return e }, always(internal)},
	{"returns an error that panics", func(context.Context, *served) error { return panicsInAs{} }, always(internal)},
	{"fails", func(context.Context, *served) error { return errPlain }, always(internal)},
	{"fails as it chooses", func(_ context.Context, s *served) error {
		return &rpc.ApplicationException{Type: rpc.InvalidTransform, Message: s.call.token}
	}, always(chosen)},
	{"fails after its result", func(_ context.Context, s *served) error { s.succeed(); return errPlain }, always(internal)},
	{"does nothing", func(context.Context, *served) error { return nil }, func(method string) outcome {
		if method == "fail" {
			return own
		}
		return noResult
	}},
}

// stale holds the behaviours that leave a handle of a released message to the library or to the
// caller. The library notices that, but the race detector reports a race with the next user of the
// memory.
var stale = map[string]bool{"returns a released exception": true, "wraps a released exception": true, "releases the result, a client's": true}

// modelHandler is the Echo service, whose handlers behave as the calls' tokens say.
type modelHandler struct{ w *world }

func (h *modelHandler) serve(ctx context.Context, token []byte, s *served) error {
	s.call = h.w.lookup(token)
	if s.call == nil {
		h.w.failf("a handler got the argument %.40q", token)
		return nil
	}
	s.call.count(&s.call.runs)
	return conducts[s.call.conduct].run(ctx, s)
}

func (h *modelHandler) Ping(context.Context, echo.BasePingArgs, echo.BasePingResult) error {
	return nil
}

func (h *modelHandler) Version(context.Context, echo.BaseVersionArgs, echo.BaseVersionResult) error {
	return nil
}

func (h *modelHandler) Echo(ctx context.Context, args echo.EchoEchoArgs, result echo.EchoEchoResult) error {
	return h.serve(ctx, args.GetPayload(), &served{w: h.w, args: nocopy.Struct(args), result: nocopy.Struct(result),
		succeed: func() { result.SetSuccess(args.GetPayload()) }})
}

func (h *modelHandler) Put(ctx context.Context, args echo.EchoPutArgs, result echo.EchoPutResult) error {
	return h.serve(ctx, []byte(args.GetItem().GetName()), &served{w: h.w, args: nocopy.Struct(args), result: nocopy.Struct(result),
		succeed:     func() { result.SetSuccess(args.GetItem()) },
		fillMissing: result.NewMissing})
}

func (h *modelHandler) Notify(ctx context.Context, args echo.EchoNotifyArgs) error {
	return h.serve(ctx, []byte(args.GetText()), &served{w: h.w, args: nocopy.Struct(args), succeed: func() {}})
}

func (h *modelHandler) Add(ctx context.Context, args echo.EchoAddArgs, result echo.EchoAddResult) error {
	token := fmt.Appendf(nil, "<%c%04d>", rune(args.GetB()), args.GetA())
	return h.serve(ctx, token, &served{w: h.w, args: nocopy.Struct(args), result: nocopy.Struct(result),
		succeed: func() { result.SetSuccess(args.GetA() + args.GetB()) }})
}

func (h *modelHandler) Fail(ctx context.Context, args echo.EchoFailArgs, result echo.EchoFailResult) error {
	return h.serve(ctx, []byte(args.GetHow()), &served{w: h.w, args: nocopy.Struct(args), result: nocopy.Struct(result),
		succeed: func() {}, fillMissing: result.NewMissing})
}

// tokenOf returns the token among the arguments of a call.
func tokenOf(c *rpc.Call) []byte {
	switch c.Method.Name {
	case "echo":
		return cut(echo.EchoEchoArgs(c.Args).GetPayload())
	case "put":
		return []byte(echo.EchoPutArgs(c.Args).GetItem().GetName())
	case "notify":
		return cut([]byte(echo.EchoNotifyArgs(c.Args).GetText()))
	case "add":
		args := echo.EchoAddArgs(c.Args)
		return fmt.Appendf(nil, "<%c%04d>", rune(args.GetB()), args.GetA())
	case "fail":
		return cut([]byte(echo.EchoFailArgs(c.Args).GetHow()))
	}
	return nil
}

func cut(b []byte) []byte { return b[:min(len(b), tokenSize)] }

// resultOf makes a result of a method, as an interceptor would. It stays the interceptor's.
func (w *world) resultOf(method string) nocopy.Struct {
	r := newResult(method, otherText)
	if r.Valid() {
		w.releaseLater(r)
	}
	return r
}

// releaseLater has s released at the end.
func (w *world) releaseLater(s nocopy.Struct) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.owned = append(w.owned, s)
}

func newResult(method, text string) nocopy.Struct {
	switch method {
	case "echo":
		r := echo.NewEchoEchoResult()
		r.SetSuccess([]byte(text))
		return nocopy.Struct(r)
	case "put":
		r := echo.NewEchoPutResult()
		r.NewSuccess().SetName(text)
		return nocopy.Struct(r)
	case "add":
		r := echo.NewEchoAddResult()
		r.SetSuccess(otherSum)
		return nocopy.Struct(r)
	case "fail":
		return nocopy.Struct(echo.NewEchoFailResult())
	}
	return thriftimpl.Absent()
}

const (
	otherText = "<O0000>"
	otherSum  = -7
)

// intervention is a behaviour of an interceptor, with the outcomes that a call may have after it
// for each set of outcomes without it.
type intervention struct {
	name   string
	run    func(w *world, ctx context.Context, c *rpc.Call, next rpc.Handler) error
	before bool // the handler is not called
	after  func(before outcome) outcome
}

func same(o outcome) outcome                { return o }
func or(also outcome) func(outcome) outcome { return func(o outcome) outcome { return o | also } }
func only(o outcome) func(outcome) outcome  { return func(outcome) outcome { return o } }

var serverInterventions = []intervention{
	{"passes on", func(_ *world, ctx context.Context, c *rpc.Call, next rpc.Handler) error { return next(ctx, c) }, false, same},
	{"calls twice", func(_ *world, ctx context.Context, c *rpc.Call, next rpc.Handler) error {
		next(ctx, c)
		return next(ctx, c)
	}, false, same},
	{"has a result of its own", func(w *world, ctx context.Context, c *rpc.Call, next rpc.Handler) error {
		err := next(ctx, c)
		if err == nil {
			c.Result = w.resultOf(c.Method.Name)
		}
		return err
	}, false, or(other)},
	{"answers itself", func(w *world, _ context.Context, c *rpc.Call, _ rpc.Handler) error {
		c.Result = w.resultOf(c.Method.Name)
		return nil
	}, true, only(other)},
	{"answers from a cache", func(w *world, _ context.Context, c *rpc.Call, _ rpc.Handler) error {
		c.Result = w.cached(c.Method.Name)
		return nil
	}, true, only(other | internal)},
	{"passes on what it received", func(w *world, _ context.Context, c *rpc.Call, _ rpc.Handler) error {
		if c.Method.Name != "echo" {
			c.Result = w.resultOf(c.Method.Name)
			return nil
		}
		r, err := echo.ParseEchoEchoResult(append(append([]byte{11, 0, 0, 0, 0, 0, 7}, otherText...), 0))
		w.releaseLater(nocopy.Struct(r))
		c.Result = nocopy.Struct(r)
		return err
	}, true, only(other)},
	{"hides errors", func(_ *world, ctx context.Context, c *rpc.Call, next rpc.Handler) error {
		next(ctx, c)
		return nil
	}, false, or(own | noResult | internal)},
	{"releases args before", func(_ *world, ctx context.Context, c *rpc.Call, next rpc.Handler) error {
		c.Args.Release()
		return next(ctx, c)
	}, false, or(internal)},
	{"releases args after", func(_ *world, ctx context.Context, c *rpc.Call, next rpc.Handler) error {
		defer c.Args.Release()
		return next(ctx, c)
	}, false, or(internal)},
	{"releases the result", func(_ *world, ctx context.Context, c *rpc.Call, next rpc.Handler) error {
		defer c.Result.Release()
		return next(ctx, c)
	}, false, or(internal | noResult)},
	{"panics after", func(_ *world, ctx context.Context, c *rpc.Call, next rpc.Handler) error {
		next(ctx, c)
		panic("interceptor")
	}, false, only(internal)},
	{"exits after", func(_ *world, ctx context.Context, c *rpc.Call, next rpc.Handler) error {
		next(ctx, c)
		runtime.Goexit()
		return nil
	}, false, only(internal)},
	{"drops the result", func(_ *world, ctx context.Context, c *rpc.Call, next rpc.Handler) error {
		err := next(ctx, c)
		c.Result = thriftimpl.Absent()
		return err
	}, false, or(own | noResult | internal)},
	{"drops the args", func(_ *world, ctx context.Context, c *rpc.Call, next rpc.Handler) error {
		defer func() { c.Args = thriftimpl.Absent() }()
		return next(ctx, c)
	}, false, or(internal)},
	{"fails after", func(_ *world, ctx context.Context, c *rpc.Call, next rpc.Handler) error {
		next(ctx, c)
		return errPlain
	}, false, only(internal)},
	{"has args of its own", func(w *world, ctx context.Context, c *rpc.Call, next rpc.Handler) error {
		args := c.Args
		c.Args = nocopy.Struct(thriftimpl.Struct(args).Clone(c.Method.Args))
		defer func() {
			c.Args.Release()
			c.Args = args
		}()
		return next(ctx, c)
	}, false, same},
	{"reads args after", func(w *world, ctx context.Context, c *rpc.Call, next rpc.Handler) error {
		token := bytes.Clone(tokenOf(c))
		defer func() {
			recover() // the handler may have released them
			if !conductReleases(w.lookup(token)) && !bytes.Equal(tokenOf(c), token) {
				w.failf("args were %q and are %q", token, tokenOf(c))
			}
		}()
		return next(ctx, c)
	}, false, or(own | noResult)},
}

// conductReleases reports whether the call's handler releases its args or result.
func conductReleases(c *modelCall) bool {
	return c == nil || strings.HasPrefix(conducts[c.conduct].name, "releases")
}

// intercept is the server's interceptor.
func (w *world) intercept(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
	w.mu.Lock()
	w.busy[c.Peer.String()]++
	busy := w.busy[c.Peer.String()]
	w.mu.Unlock()
	defer func(peer string) {
		w.mu.Lock()
		w.busy[peer]--
		w.mu.Unlock()
	}(c.Peer.String())
	if most := w.conf.concurrency; most > 0 && busy > most {
		w.failf("%d calls of one connection are under way, more than %d", busy, most)
	}
	call := w.lookup(tokenOf(c))
	if call == nil {
		if c.Method.Service == "Echo" {
			w.failf("an interceptor got the argument %.40q", tokenOf(c))
		}
		return next(ctx, c)
	}
	return serverInterventions[call.inServer].run(w, ctx, c, func(ctx context.Context, c *rpc.Call) error {
		err := next(ctx, c)
		var e echo.NotFound
		if errors.As(err, &e) { // the handler's, or a message of its own
			w.releaseLater(nocopy.Struct(e))
		}
		return err
	})
}
