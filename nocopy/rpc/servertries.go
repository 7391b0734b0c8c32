package rpc

import (
	"context"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/header"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/message"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/transport"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// serverTries is the state of a call on a server with interceptors. They may call next any number
// of times, at the same time, with other args and results, and after the call has ended; each call
// of the handler is a try. Call.tries refers to it, also from copies of the Call.
type serverTries struct {
	from   *origin
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

func newServerTries(o *origin, call Call, result *nocopy.Message) *serverTries {
	a := &serverTries{from: o, method: call.Method, call: call}
	a.call.tries = a
	a.results, a.filling = a.firstResult[:0], a.firstFilling[:0]
	if result != nil {
		a.results = append(a.results, result)
	}
	return a
}

// callHandler is the innermost next of a server: it calls the method's handler. A declared
// exception is its error whether the handler returned it or put it into the result.
func (s *Server) callHandler(ctx context.Context, call *Call) (err error) {
	a, err := s.triesOf(call)
	if err != nil {
		return err
	}
	if err := a.enterHandler(call); err != nil {
		return a.from.conceal("bad interceptor", a.method, err)
	}
	result := call.Result
	defer func() {
		if v := recover(); v != nil {
			err = s.handlerPanicked(a.method, a.from.peer, v)
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
		return a.from.conceal("bad interceptor", a.method, errEnded)
	}
	defer func() {
		if v := recover(); v != nil {
			err = s.conceal("interceptor panicked", a.method, a.from.peer, v, debug.Stack())
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
	case stillUsed && a.from.trusts:
		a.left = all
	case stillUsed:
		for _, m := range all {
			thriftimpl.Abandon(m)
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
		return a.from.conceal("bad handler", a.method, bad)
	case ok:
		call.Result = result
		a.latestUsed = true
	}
	return err
}

// newResult adds an empty result to results and returns it. a.mu is held.
func (a *serverTries) newResult() nocopy.Struct {
	m := a.from.newResult(a.method)
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

// request is a call that a server has read, until its reply is written. states.md has its states
// as a table.
type request struct {
	method  *Method // nil if it is answered without a handler
	headers requestHeaders
	call    Call // what the handler gets, unless there are interceptors
	args    *nocopy.Message
	// Nil if there is none, if it has become the reply, or if tries holds it
	result    *nocopy.Message
	tries     *serverTries  // nil if there are no interceptors
	stillUsed bool          // handlers are running that the interceptors did not wait for
	order     uint64        // its place among the requests of its connection that need a reply
	style     message.Style // the reply has the same
	seqid     int32
	bare      bool              // the reply has no header: it is Invoke's
	reply     *nocopy.Message   // nil if there is none
	sent      header.List       // sent with reply, in the transport's place for headers
	encoded   transport.Encoded // the reply as it is sent, if its form is another than Thrift Binary
	charge    transport.Charge  // for its arguments, if they were compressed
	began     time.Time         // when the handler was called, if the method is slow; else zero
}

var requests = sync.Pool{New: func() any { return new(request) }}

// oneway reports whether the request is a oneway call, which has no reply.
func (r *request) oneway() bool { return r.method != nil && r.method.Oneway() }

// release frees the request and its messages, except messages that handlers are still using.
func (r *request) release() {
	r.encoded.Free()
	if r.reply != nil {
		thriftimpl.End(r.reply)
	}
	r.charge.End()
	if r.tries != nil {
		r.tries.end(r.args, r.stillUsed)
	} else {
		if r.args != nil {
			thriftimpl.End(r.args)
		}
		if r.result != nil {
			thriftimpl.End(r.result)
		}
		r.call.endForwarded()
	}
	*r = request{}
	requests.Put(r)
}
