// TestModel's calls: how clients make them, and the facts that the model knows of each.

package rpc_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// modelCall is a call with what the model knows of it. Its token is at the beginning of its
// arguments and in its reply, and in no other call.
type modelCall struct {
	id       int
	of       byte // the caller: good or evil, after the client's server, or raw, a hostile client
	method   string
	size     int
	token    string
	prefixed bool // as one of several services
	conduct  int
	inServer int
	inClient int
	ctx      context.Context
	cancel   context.CancelFunc
	gate     chan struct{} // closed when the handler may go on
	opened   bool
	hopeless bool // too large for one side
	began    int  // in which epoch

	mu      sync.Mutex
	notes   []string
	runs    int // of the handler
	sends   int // by the client: calls of the innermost next
	done    bool
	ended   int // in which epoch
	outcome outcome
	err     error
	answer  int  // of a hostile server's replies, the number of the one that the result is; 0: none
	expired bool // its context had ended when it did
}

const (
	good = 'A'
	evil = 'B'
	raw  = 'R'

	tokenSize = 7
)

func (c *modelCall) count(n *int) {
	c.mu.Lock()
	*n++
	c.mu.Unlock()
}

func (c *modelCall) note(s string) {
	c.mu.Lock()
	c.notes = append(c.notes, s)
	c.mu.Unlock()
}

func (c *modelCall) noted(s string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Contains(c.notes, s)
}

func (c *modelCall) isDone() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.done
}

func (c *modelCall) open() {
	if !c.opened {
		c.opened = true
		close(c.gate)
	}
}

// payload returns the call's token, repeated.
func (c *modelCall) payload() []byte { return fillWith(c.token, c.size) }

func fillWith(token string, size int) []byte {
	return bytes.Repeat([]byte(token), size/tokenSize+1)[:max(size, tokenSize)]
}

func (c *modelCall) String() string {
	s := fmt.Sprintf("%s %s of %d bytes; the handler %s", c.token, c.method, c.size, conducts[c.conduct].name)
	if c.inServer > 0 {
		s += ", the server's interceptor " + serverInterventions[c.inServer].name
	}
	if c.inClient > 0 {
		s += ", the client's interceptor " + clientInterventions[c.inClient].name
	}
	return s
}

type callKey struct{}

var (
	errRefused   = errors.New("refused")
	errPanicking = errors.New("panicking") // the interceptors' panic
)

const perTry = time.Millisecond

// drop releases the result of a call, or the exception, if there is one.
func drop(c *rpc.Call, err error) {
	var notFound echo.NotFound
	var conflicting echo.Conflict
	switch {
	case errors.As(err, &notFound):
		notFound.Release()
	case errors.As(err, &conflicting):
		conflicting.Release()
	case err == nil && c.Result.Valid():
		c.Result.Release()
	}
}

// clientInterventions holds the behaviours of interceptors of clients.
var clientInterventions = []intervention{
	{"passes on", func(_ *world, ctx context.Context, c *rpc.Call, next rpc.Handler) error { return next(ctx, c) }, false, same},
	{"calls twice", func(_ *world, ctx context.Context, c *rpc.Call, next rpc.Handler) error {
		drop(c, next(ctx, c))
		return next(ctx, c)
	}, false, same},
	{"calls again after errors", func(_ *world, ctx context.Context, c *rpc.Call, next rpc.Handler) (err error) {
		for n := range 3 {
			if n > 0 {
				drop(c, err)
			}
			if err = next(ctx, c); err == nil {
				break
			}
		}
		return err
	}, false, same},
	{"reads args after", func(w *world, ctx context.Context, c *rpc.Call, next rpc.Handler) error {
		token := bytes.Clone(tokenOf(c))
		defer func() {
			if !bytes.Equal(tokenOf(c), token) {
				w.failf("the client's args were %q and are %q", token, tokenOf(c))
			}
		}()
		return next(ctx, c)
	}, false, same},
	{"refuses", func(*world, context.Context, *rpc.Call, rpc.Handler) error { return errRefused }, true, only(refused)},
	{"answers itself", func(w *world, _ context.Context, c *rpc.Call, _ rpc.Handler) error {
		c.Result = w.resultOf(c.Method.Name)
		return nil
	}, true, only(other)},
	{"panics before", func(*world, context.Context, *rpc.Call, rpc.Handler) error { panic(errPanicking) }, true, only(panicked)},
	{"panics after", func(_ *world, ctx context.Context, c *rpc.Call, next rpc.Handler) error {
		drop(c, next(ctx, c))
		panic(errPanicking)
	}, false, only(panicked)},
	{"exits after", func(_ *world, ctx context.Context, c *rpc.Call, next rpc.Handler) error {
		drop(c, next(ctx, c))
		runtime.Goexit()
		return nil
	}, false, only(exited)},
	{"has a result of its own", func(w *world, ctx context.Context, c *rpc.Call, next rpc.Handler) error {
		err := next(ctx, c)
		if err == nil {
			drop(c, nil)
			c.Result = w.resultOf(c.Method.Name)
		}
		return err
	}, false, func(o outcome) outcome { return o&^own | other }},
	{"hides errors", func(_ *world, ctx context.Context, c *rpc.Call, next rpc.Handler) error {
		if err := next(ctx, c); err != nil {
			drop(c, err)
		}
		return nil
	}, false, func(o outcome) outcome { return o&(own|other|missing|conflicted|emptied) | nothing | noResult }},
	{"releases args before", func(_ *world, ctx context.Context, c *rpc.Call, next rpc.Handler) error {
		c.Args.Release()
		return next(ctx, c)
	}, false, only(misused | complaint | expired | closed | broken)},
	{"releases args after", func(_ *world, ctx context.Context, c *rpc.Call, next rpc.Handler) error {
		defer c.Args.Release()
		return next(ctx, c)
	}, false, or(misused | complaint)},
	{"releases the result, a client's", func(_ *world, ctx context.Context, c *rpc.Call, next rpc.Handler) error {
		err := next(ctx, c)
		if err == nil {
			drop(c, nil)
		}
		return err
	}, false, or(misused | complaint)},
	{"gives the first try a millisecond", func(_ *world, ctx context.Context, c *rpc.Call, next rpc.Handler) error {
		try, cancel := context.WithTimeout(ctx, perTry)
		defer cancel()
		if err := next(try, c); err == nil || try.Err() == nil {
			return err
		}
		return next(ctx, c)
	}, false, same},
	{"tries twice at a time", func(_ *world, ctx context.Context, c *rpc.Call, next rpc.Handler) error {
		second := *c
		ended := make(chan error)
		go func() { ended <- next(ctx, &second) }()
		err := next(ctx, c)
		other := <-ended
		if err != nil && other == nil {
			drop(c, err)
			c.Result = second.Result
			return nil
		}
		drop(&second, other)
		return err
	}, false, same},
	{"does not wait for the second try", func(w *world, ctx context.Context, c *rpc.Call, next rpc.Handler) error {
		second := *c
		go func() {
			if err := next(ctx, &second); err != nil {
				drop(&second, err)
			}
		}()
		return next(ctx, c)
	}, false, same},
	{"drops the args", func(_ *world, ctx context.Context, c *rpc.Call, next rpc.Handler) error {
		defer func() { c.Args = thriftimpl.Absent() }()
		return next(ctx, c)
	}, false, same},
	{"has args of its own", func(_ *world, ctx context.Context, c *rpc.Call, next rpc.Handler) error {
		args := c.Args
		c.Args = nocopy.Struct(thriftimpl.Struct(args).Clone(c.Method.Args))
		defer func() {
			c.Args.Release()
			c.Args = args
		}()
		return next(ctx, c)
	}, false, or(misused | complaint)},
}

// interceptors returns the interceptors of the clients.
func (w *world) interceptors() rpc.Option {
	return rpc.Interceptors(
		func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
			call := ctx.Value(callKey{}).(*modelCall)
			return clientInterventions[call.inClient].run(w, ctx, c, next)
		},
		func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
			call := ctx.Value(callKey{}).(*modelCall)
			call.count(&call.sends)
			return next(ctx, c)
		})
}

// run makes the call and notes how it ends.
func (w *world) run(c *modelCall, caller rpc.Caller) {
	returned := false
	var o outcome
	var err error
	defer func() {
		r := recover()
		switch {
		case returned:
		case r == nil:
			o = exited
		case r == any(errPanicking):
			o = panicked
		case strings.HasPrefix(fmt.Sprint(r), "nocopy: "):
			o, err = misused, fmt.Errorf("panic: %v", r)
		default:
			w.failf("%v: panic: %v", c, r)
		}
		epoch := w.now()
		c.mu.Lock()
		c.done, c.outcome, c.err, c.ended, c.expired = true, o, err, epoch, c.ctx.Err() != nil
		c.mu.Unlock()
	}()
	o, err = w.make(c, echo.NewEchoClient(caller))
	returned = true
}

// make makes the call and checks its result.
func (w *world) make(c *modelCall, cl echo.EchoClient) (outcome, error) {
	ctx := context.WithValue(c.ctx, callKey{}, c)
	switch c.method {
	case "echo":
		r, err := cl.Echo(ctx, func(args echo.EchoEchoArgs) { args.SetPayload(c.payload()) })
		if err != nil || !r.Valid() {
			return w.classify(c, err)
		}
		defer r.Release()
		return w.text(c, string(r.GetSuccess()), string(c.payload()))
	case "put":
		r, err := cl.Put(ctx, func(args echo.EchoPutArgs) {
			item := args.NewItem()
			item.SetName(c.token)
			item.SetData(c.payload())
			args.SetMode("model")
		})
		if err != nil || !r.Valid() {
			return w.classify(c, err)
		}
		defer r.Release()
		if o, err := w.text(c, r.GetSuccess().GetName(), c.token); o != own || c.of == evil {
			return o, err
		}
		return w.text(c, string(r.GetSuccess().GetData()), string(c.payload()))
	case "add":
		r, err := cl.Add(ctx, func(args echo.EchoAddArgs) { args.SetA(int64(c.id)); args.SetB(int64(c.of)) })
		if err != nil || !r.Valid() {
			return w.classify(c, err)
		}
		defer r.Release()
		sum := r.GetSuccess()
		switch {
		case sum == otherSum:
			return other, nil
		case c.of == evil:
			c.answer = int(sum)
		case sum != int64(c.id)+int64(c.of):
			w.failf("%v: the sum is %d", c, sum)
		}
		return own, nil
	case "fail":
		r, err := cl.Fail(ctx, func(args echo.EchoFailArgs) { args.SetHow(string(c.payload())) })
		if err != nil || !r.Valid() {
			return w.classify(c, err)
		}
		r.Release()
		return own, nil
	}
	err := cl.Notify(ctx, func(args echo.EchoNotifyArgs) { args.SetText(string(c.payload())) })
	if err == nil {
		return own, nil
	}
	return w.classify(c, err)
}

// text returns the outcome that a text in a result stands for.
func (w *world) text(c *modelCall, got, want string) (outcome, error) {
	if got == otherText {
		return other, nil
	}
	if c.of == evil {
		var id int
		if _, err := fmt.Sscanf(got, "<E%04d>", &id); err == nil {
			c.answer, want = id, string(fillWith(got[:tokenSize], len(got)))
		}
	}
	if got != want {
		w.failf("%v: the result is %d bytes %.40q", c, len(got), got)
	}
	return own, nil
}

// classify returns the outcome that the error of a call stands for.
func (w *world) classify(c *modelCall, err error) (outcome, error) {
	var notFound echo.NotFound
	var conflicting echo.Conflict
	var ae *rpc.ApplicationException
	switch {
	case err == nil:
		return nothing, nil
	case errors.Is(err, errRefused):
		return refused, err
	case errors.As(err, &notFound):
		defer notFound.Release()
		return w.key(c, notFound.GetKey(), missing), nil
	case errors.As(err, &conflicting):
		defer conflicting.Release()
		return w.key(c, conflicting.GetWhat(), conflicted), nil
	case errors.As(err, &ae):
		return w.application(c, int(ae.Type), ae.Message), err
	case errors.Is(err, rpc.ErrClientClosed):
		return closed, err
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return expired, err
	case strings.Contains(err.Error(), "nocopy:"), strings.Contains(err.Error(), "released"), strings.Contains(err.Error(), "NewArgs"):
		return complaint, err
	}
	return broken, err
}

func (w *world) application(c *modelCall, typ int, text string) outcome {
	switch rpc.ExceptionType(typ) {
	case rpc.InternalError:
		return internal
	case rpc.MissingResult:
		return noResult
	case rpc.InvalidTransform:
		return w.key(c, text, chosen)
	}
	return otherException
}

// key checks the text of an exception.
func (w *world) key(c *modelCall, got string, o outcome) outcome {
	switch {
	case got == "" && o == missing:
		return emptied
	case c.of == evil && strings.HasPrefix(got, "<E"):
		fmt.Sscanf(got, "<E%04d>", &c.answer)
	case got != c.token:
		w.failf("%v: the exception is about %.40q", c, got)
	}
	return o
}
