package rpc

import (
	"context"
	"errors"
	"runtime/debug"
	"slices"
	"sync"

	"github.com/nocopythrift/nocopythrift/nocopy"
)

// attempts is what next has to know of a call of a server with interceptors, which may call it any
// number of times, at once, with other args and results, and when the call has ended.
type attempts struct {
	conn   *serverConn
	method *Method
	call   Call // the interceptors'; they may keep it, so neither is used again

	mu      sync.Mutex
	results []*nocopy.Message // that the server has made
	used    bool              // a handler has got the last of them
	running []nocopy.Struct   // results that handlers are filling
	under   int               // calls of next that have not returned
	ended   bool              // the outermost interceptor has returned

	firstResult  [1]*nocopy.Message // where results and running begin
	firstRunning [1]nocopy.Struct
}

func newAttempts(c *serverConn, call Call, result *nocopy.Message) *attempts {
	a := &attempts{conn: c, method: call.Method, call: call}
	a.call.attempts = a
	a.results, a.running = a.firstResult[:0], a.firstRunning[:0]
	if result != nil {
		a.results = append(a.results, result)
	}
	return a
}

// Ways of calling next that can't be served.
var (
	errEnded      = errors.New("next was called after its interceptor had returned")
	errForeign    = errors.New("next was called with another Call than the interceptor's, or a copy of it")
	errMethod     = errors.New("the interceptor has put a Method there that can't be called with these args")
	errArgs       = errors.New("the interceptor has put Args there that were released or are not of the method's type")
	errResult     = errors.New("the interceptor has put a Result there that was released or is not of the method's type")
	errUnfinished = errors.New("the interceptor has returned no error while next was filling its Result")
	errResultUse  = errors.New("next was called while another call of it is filling the same Result")
)

// invoke is the innermost handler of a server with interceptors.
func (s *Server) invoke(ctx context.Context, call *Call) (err error) {
	a, err := s.attemptsOf(call)
	if err != nil {
		return err
	}
	if err := a.begin(call); err != nil {
		return a.conn.conceal("bad interceptor", a.method, err)
	}
	result := call.Result
	defer func() {
		if v := recover(); v != nil {
			err = s.conceal("handler panicked", a.method, a.conn.peer, v, debug.Stack())
		}
		a.end(result)
	}()
	if err := call.Method.handler(ctx, call); err != nil {
		return a.declared(call, err)
	}
	return call.Exception()
}

// attemptsOf returns what belongs to a Call that an interceptor has given to next.
func (s *Server) attemptsOf(call *Call) (*attempts, error) {
	if call == nil || call.attempts == nil {
		return nil, s.conceal("bad interceptor", nil, nil, errForeign, nil)
	}
	return call.attempts, nil
}

// inner calls an interceptor that is not the outermost, as invoke calls the handler: who stands
// before it may have called next in another goroutine and not wait for it.
func (s *Server) inner(ctx context.Context, call *Call, f Handler) (err error) {
	a, err := s.attemptsOf(call)
	if err != nil {
		return err
	}
	if !a.enter() {
		return a.conn.conceal("bad interceptor", a.method, errEnded)
	}
	defer func() {
		if v := recover(); v != nil {
			err = s.conceal("interceptor panicked", a.method, a.conn.peer, v, debug.Stack())
		}
		a.end(nocopy.Absent())
	}()
	return f(ctx, call)
}

// enter counts an interceptor that is about to be called, if the call has not ended.
func (a *attempts) enter() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ended {
		return false
	}
	a.under++
	return true
}

// begin checks a call of next and sees to it that the handler finds an empty result.
func (a *attempts) begin(call *Call) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	m := call.Method
	switch {
	case a.ended:
		return errEnded
	case m == nil || m.handler == nil || m.Args != a.method.Args || m.Result != a.method.Result:
		return errMethod
	case !call.Args.Is(m.Args):
		return errArgs
	case m.Oneway():
		a.under++
		return nil
	case slices.Contains(a.running, call.Result):
		return errResultUse
	}
	if a.owner(call.Result) != nil {
		if a.used {
			call.Result = a.newResult()
		}
		a.used = true
	} else if !call.Result.Is(m.Result) {
		return errResult
	}
	a.running = append(a.running, call.Result)
	a.under++
	return nil
}

// end notes that a handler has returned, panicked, or ended its goroutine; or an interceptor,
// without a result.
func (a *attempts) end(result nocopy.Struct) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.under--
	if i := slices.Index(a.running, result); i >= 0 {
		a.running = slices.Delete(a.running, i, i+1)
	}
}

// declared puts the declared exception that a handler has returned into the call's result, and
// returns the error of next.
func (a *attempts) declared(call *Call, err error) error {
	if a.method.Oneway() || len(a.method.Throws) == 0 {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ended { // results are given back, and nobody waits for another
		return err
	}
	result := a.newResult()
	ok, bad := a.method.setException(result, err)
	switch {
	case bad != nil:
		return a.conn.conceal("bad handler", a.method, bad)
	case ok:
		call.Result = result
		a.used = true
	}
	return err
}

// newResult makes another result. a.mu is held.
func (a *attempts) newResult() nocopy.Struct {
	m := a.conn.newResult(a.method)
	a.results = append(a.results, m)
	return m.Root()
}

// owner returns the message of a result that the server has made, nil of any other. a.mu is held.
func (a *attempts) owner(result nocopy.Struct) *nocopy.Message {
	for _, m := range a.results {
		if m.Root() == result {
			return m
		}
	}
	return nil
}

// close is called when the outermost interceptor has returned. It returns the message of the
// call's result, if that is the server's, and reports whether a handler is still filling the
// result, and whether any is running, or an interceptor.
func (a *attempts) close(result nocopy.Struct) (own *nocopy.Message, filling, running bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ended = true
	return a.owner(result), slices.Contains(a.running, result), a.under > 0
}
