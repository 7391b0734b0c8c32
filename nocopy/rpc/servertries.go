package rpc

import (
	"context"
	"runtime/debug"
	"slices"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/impl"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/server"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// serverTries is the state of a call on a server with interceptors. They may call next any number
// of times, at the same time, with other args and results, and after the call has ended; each call
// of the handler is a try. Call.tries refers to it, also from copies of the Call.
type serverTries struct {
	srv    *Server
	from   *server.Origin
	method *Method
	call   Call // given to the interceptors. They may keep it: no serverTries is used twice

	running
	results    []*nocopy.Message // the results that the server has made
	latestUsed bool              // a handler has been given the last of results
	filling    []nocopy.Struct   // the results that handlers are filling
	ended      bool              // the reply was written, or there is none
	// The results that Forward has received, and the messages in shared memory that handlers were
	// still using when the call ended: the last handler or interceptor that returns frees them
	forwarded []nocopy.Struct
	left      []*nocopy.Message

	firstResult  [1]*nocopy.Message // the first memory of results and filling
	firstFilling [1]nocopy.Struct
}

// newServerTries returns the state of call, which comes from there. result is an empty one, nil if
// the method is oneway.
func newServerTries(srv *Server, from *server.Origin, call Call, result *nocopy.Message) *serverTries {
	a := &serverTries{srv: srv, from: from, method: call.Method, call: call}
	a.call.tries = a
	a.results, a.filling = a.firstResult[:0], a.firstFilling[:0]
	if result != nil {
		a.results = append(a.results, result)
	}
	return a
}

func (a *serverTries) onClient() bool { return false }

func (a *serverTries) addForwarded(result nocopy.Struct) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.forwarded = append(a.forwarded, result)
	return true
}

func (a *serverTries) hasForwarded(result nocopy.Struct) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Contains(a.forwarded, result)
}

// callHandler is the innermost next of a server: it calls the method's handler. A declared
// exception is its error whether the handler returned it or put it into the result.
func (s *Server) callHandler(ctx context.Context, call *Call) (err error) {
	a, err := s.triesOf(call)
	if err != nil {
		return err
	}
	if err := a.enterHandler(call); err != nil {
		return a.srv.conceal("bad interceptor", a.method, a.from.Peer, err, nil)
	}
	result := call.Result
	defer func() {
		if v := recover(); v != nil {
			err = s.handlerPanicked(a.method, a.from.Peer, v)
		}
		a.leave(result)
	}()
	if err := call.Method.handler(ctx, call); err != nil {
		return a.returnedException(call, err)
	}
	return call.declared() // another server's answer stays the result
}

// triesOf returns the state of the call that an interceptor has given to next, and an error for
// the client if it is not one of the server's.
func (s *Server) triesOf(call *Call) (*serverTries, error) {
	if call != nil {
		if a, ok := call.tries.(*serverTries); ok {
			return a, nil
		}
	}
	return nil, s.conceal("bad interceptor", nil, nil, errForeign, nil)
}

// callInner calls f, an interceptor that is not the outermost. It recovers f's panic and counts f
// as running, since the interceptor around it may have called next in another goroutine and have
// returned without waiting for it.
func (s *Server) callInner(ctx context.Context, call *Call, f Handler) (err error) {
	a, err := s.triesOf(call)
	if err != nil {
		return err
	}
	if !a.enter() {
		return a.srv.conceal("bad interceptor", a.method, a.from.Peer, errEnded, nil)
	}
	defer func() {
		if v := recover(); v != nil {
			err = s.conceal("interceptor panicked", a.method, a.from.Peer, v, debug.Stack())
		}
		a.leave(thriftimpl.Absent())
	}()
	return f(ctx, call)
}

// enterHandler counts a handler that is about to be called with call, and sets an empty Result if
// an earlier handler was given the present one. It returns an error if the Call can't be handled.
func (a *serverTries) enterHandler(call *Call) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	m := call.Method
	switch {
	case a.closed:
		return errEnded
	case m == nil || m.handler == nil || m.Args != a.method.Args || m.Result != a.method.Result:
		return errMethod
	case !thriftimpl.Struct(call.Args).Is(m.Args):
		return errArgs
	case m.Oneway():
		a.n++
		return nil
	case slices.Contains(a.filling, call.Result):
		return errResultUse
	}
	if a.ownMessage(call.Result) != nil {
		if a.latestUsed {
			call.Result = a.newResult()
		}
		a.latestUsed = true
	} else if !thriftimpl.Struct(call.Result).Is(m.Result) {
		return errResult
	}
	a.filling = append(a.filling, call.Result)
	a.n++
	return nil
}

// leave notes that a handler or an interceptor has returned, panicked or ended its goroutine.
// result is the one that the handler was given, absent for an interceptor.
func (a *serverTries) leave(result nocopy.Struct) {
	a.mu.Lock()
	a.n--
	if i := slices.Index(a.filling, result); i >= 0 {
		a.filling = slices.Delete(a.filling, i, i+1)
	}
	ended := a.ended
	a.mu.Unlock()
	if ended {
		a.free()
	}
}

// end frees the messages of a call whose reply was written, or that has none. With stillUsed a
// handler was running when the outermost interceptor returned: then the messages are left to the
// garbage collector. On a connection that trusts its peer they may be in shared memory, which the
// collector can't free: there they stay in a.left until the handler returns.
func (a *serverTries) end(args *nocopy.Message, stillUsed bool) {
	a.mu.Lock()
	a.ended = true
	all := append(a.results, args)
	switch {
	case stillUsed && a.from.Trusts:
		a.left = all
	case stillUsed:
		for _, m := range all {
			impl.Abandon(m)
		}
	default:
		for _, m := range all {
			thriftimpl.End(m)
		}
	}
	a.mu.Unlock()
	a.free()
}

// free frees the messages in a.left and a.forwarded once the call has ended and no handler or
// interceptor of it is running any more; before that it does nothing.
func (a *serverTries) free() {
	a.mu.Lock()
	if a.n > 0 {
		a.mu.Unlock()
		return
	}
	left, forwarded := a.left, a.forwarded
	a.left, a.forwarded = nil, nil
	a.mu.Unlock()
	for _, m := range left {
		thriftimpl.End(m)
	}
	endAll(forwarded)
}

// returnedException returns the error of next for the error err of the handler. If err is a
// declared exception it puts it into a new Result.
func (a *serverTries) returnedException(call *Call, err error) error {
	if a.method.Oneway() || len(a.method.Throws) == 0 {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed { // nobody would free the result
		return err
	}
	result := a.newResult()
	ok, bad := a.method.SetException(result, err)
	switch {
	case bad != nil:
		return a.srv.conceal("bad handler", a.method, a.from.Peer, bad, nil)
	case ok:
		call.Result = result
		a.latestUsed = true
	}
	return err
}

// newResult adds an empty result to results and returns it. a.mu is held.
func (a *serverTries) newResult() nocopy.Struct {
	m := a.srv.newResult(a.from, a.method)
	a.results = append(a.results, m)
	return m.Root()
}

// ownMessage returns the message of result if the server has made it, else nil. a.mu is held.
func (a *serverTries) ownMessage(result nocopy.Struct) *nocopy.Message {
	for _, m := range a.results {
		if m.Root() == result {
			return m
		}
	}
	return nil
}

// close is called when the outermost interceptor has returned. It returns result's message if the
// server has made it, and reports whether a handler is still filling result, and whether any
// handler or inner interceptor is still running.
func (a *serverTries) close(result nocopy.Struct) (own *nocopy.Message, filling, running bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.closed = true
	return a.ownMessage(result), slices.Contains(a.filling, result), a.n > 0
}
