package rpc

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/nocopythrift/nocopythrift/internal/memory"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/impl"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/foreign"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/message"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/server"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// Panicked sets the reply to a request whose handler did not return, with v as the cause.
func (r *receivedCall) Panicked(v any) {
	e := r.srv.handlerPanicked(r.method, r.from.Peer, v)
	if r.tries != nil {
		_, _, r.stillUsed = r.tries.close(nocopy.Struct{})
	}
	if r.Reply = nil; !r.Oneway {
		r.answer(e, r.method.Name)
	}
}

// Handle calls the handler and sets the reply. It answers a panic and sets Failed then. It does
// not return if the handler ends the goroutine, not even if a deferred function panics on the
// way and the panic is recovered here.
func (r *receivedCall) Handle() {
	defer func() {
		if v := recover(); v != nil {
			r.Failed = true
			r.Panicked(v)
		}
	}()
	switch out := r.handled(); {
	case r.Oneway:
		if out.err != nil {
			r.srv.log(slog.LevelError, "oneway call failed", "method", r.method.String(), "peer", r.from.Peer, "err", foreign.Text(out.err))
		}
	case out.result == nil:
		r.answer(out.answer, r.method.Name)
	default:
		r.setReply(out.result)
	}
}

// outcome is what a handler, or the outermost interceptor, has made of a call.
type outcome struct {
	result *nocopy.Message       // answers the call, complete; nil if it is oneway or has failed
	err    error                 // why there is no result
	answer *ApplicationException // err as clients see it; nil if the method is oneway
}

// handled calls the handler of a request, with its interceptors, and returns the outcome. Panics
// of handlers, and of methods of the errors that they return, reach the caller.
func (r *receivedCall) handled() outcome {
	m := r.method
	ctx, call := r.from.Ctx, &r.call
	*call = Call{Method: m, Args: r.args.Root(), Result: thriftimpl.Absent(), Peer: r.from.Peer}
	var result *nocopy.Message
	if m.Oneway() {
		ctx = r.from.Oneway
	} else {
		result = r.srv.newResult(r.from, m)
		call.Result = result.Root()
	}
	if r.srv.Deadlines && !r.expires.IsZero() { // while it waited, the time went by
		limited, cancel := context.WithDeadline(ctx, r.expires)
		defer cancel()
		ctx = limited
	}
	ctx = r.headers.contextFor(ctx, m, r.args)
	if r.srv.outermost != nil && !m.direct {
		return r.callInterceptors(ctx, result)
	}
	r.result = result
	err := m.handler(ctx, call)
	if result != nil && result.Root() != call.Result {
		result = nil
	}
	return r.outcome(call, result, err)
}

// callInterceptors calls the interceptors, which call the handler, and returns the outcome. result
// is an empty one, nil if the method is oneway.
func (r *receivedCall) callInterceptors(ctx context.Context, result *nocopy.Message) outcome {
	a := newServerTries(r.srv, r.from, r.call, result)
	r.tries = a
	err := r.srv.outermost(ctx, &a.call)
	own, filling, running := a.close(a.call.Result)
	if r.stillUsed = running; filling && err == nil {
		err = r.conceal("bad interceptor", errUnfinished)
	}
	return r.outcome(&a.call, own, err)
}

// outcome returns the outcome of a request. Its handler, or outermost interceptor, has left call
// in this state and has returned err. own is the message of call.Result if the server has made it,
// else nil.
func (r *receivedCall) outcome(call *Call, own *nocopy.Message, err error) (out outcome) {
	m := r.method
	if err == nil && thriftimpl.Disowned(r.args) {
		err = r.conceal("bad handler", errors.New("the handler has released its args"))
	}
	switch {
	case m.Oneway():
		return outcome{err: err}
	case err != nil:
		out.result, out.err = r.declared(err)
	default:
		if out.result, err = r.takeResult(call, own); err != nil {
			out.err = r.conceal("bad result", err)
		}
	}
	if out.err != nil {
		out.answer = r.answerTo(out.err)
	}
	return out
}

// takeResult returns the result that call has, complete; see outcome. It is not req's any more.
func (r *receivedCall) takeResult(call *Call, own *nocopy.Message) (*nocopy.Message, error) {
	m := r.method
	if own == nil { // an interceptor has made the result, or somebody has released it
		var err error
		if own, err = r.copyResult(call.Result); err != nil {
			return nil, fmt.Errorf("it can't be sent: %w", err)
		}
		if !r.stillUsed && call.isForwarded() {
			call.Result.Release() // what it has is in own
		}
	} else {
		r.detachResult(own)
		r.headers.addTo(own, m.Result)
	}
	if thriftimpl.EndHandles(own); !r.stillUsed {
		thriftimpl.EndHandles(r.args)
	}
	r.completing = own
	err := r.complete(own, message.Reply, m.Name)
	if r.completing = nil; err != nil {
		thriftimpl.End(own)
		return nil, err
	}
	return own, nil
}

// declared returns a result with the declared exception that err is or wraps, complete. If there
// is none, it returns err; if the exception can't be sent, what the client gets instead.
func (r *receivedCall) declared(err error) (result *nocopy.Message, _ error) {
	m := r.method
	if len(m.Throws) == 0 {
		return nil, err
	}
	made := r.srv.newResult(r.from, m)
	defer func() {
		if result == nil { // also when a method of err panics
			thriftimpl.End(made)
		}
	}()
	ok, bad := m.SetException(made.Root(), err)
	if ok {
		r.headers.addTo(made, m.Result)
		bad = r.complete(made, message.Reply, m.Name)
	}
	switch {
	case bad != nil:
		return nil, r.conceal("bad handler", bad)
	case !ok:
		return nil, err
	}
	return made, nil
}

// answerTo returns the answer to a call of m that has failed with err.
func (r *receivedCall) answerTo(err error) *ApplicationException {
	var e *ApplicationException
	if errors.As(err, &e) && e != nil {
		return &ApplicationException{e.Type, message.OfHandler(e.Message)}
	}
	text := message.OfHandler(err.Error()) // if it panics, it does so in any case
	if r.srv.HideErrors {
		return r.conceal("call failed", err)
	}
	return &ApplicationException{InternalError, text}
}

// copyResult returns a copy of a result that the server has not made, with room for a reply's
// header.
func (r *receivedCall) copyResult(result nocopy.Struct) (*nocopy.Message, error) {
	m := r.method
	s, err := r.headers.addToCopy(result, m.Result)
	if err != nil {
		return nil, err
	}
	if s != result {
		defer thriftimpl.Struct(s).End()
	}
	return impl.CopyForCall(m.Result, thriftimpl.Struct(s), message.HeaderRoom(len(m.Name)), r.srv.Limits, r.srv.recycle)
}

// detachResult removes m from the messages that release frees: it becomes the reply.
func (r *receivedCall) detachResult(m *nocopy.Message) {
	if r.tries == nil {
		r.result = nil
		return
	}
	for i, own := range r.tries.results {
		if own == m {
			r.tries.results[i] = r.tries.results[len(r.tries.results)-1]
			r.tries.results = r.tries.results[:len(r.tries.results)-1]
			return
		}
	}
}

// Invoke calls the method's handler as a Server without interceptors does. args holds the wire
// bytes of the arguments; Invoke takes them over. Unless the method is oneway, Invoke then calls
// write with the wire bytes of the result, which are valid until write returns.
//
// If write fails, Invoke returns its error. If the handler returned a declared exception, or put
// one into the result, Invoke writes the result and returns the exception. Otherwise, if there is
// no result, it returns the handler's error or an *ApplicationException. Malformed arguments give
// the type ProtocolError. The handler's context has the headers in the arguments, unless ctx is
// one of WithRequestHeaders; see HeaderField. A panic of the handler, or a result that can't be
// sent, gives the type InternalError and an id; slog.Default logs the details under that id.
func (m *Method) Invoke(ctx context.Context, args []byte, l nocopy.Limits, write func(result []byte) error) error {
	if m.handler == nil {
		panic("nocopy: rpc.Method.Invoke of " + m.String() + ", which has no handler")
	}
	if write == nil && m.Result != nil {
		panic("nocopy: rpc.Method.Invoke of " + m.String() + ": write is nil")
	}
	req := receivedCalls.Get().(*receivedCall)
	defer req.GiveBack()
	req.method, req.bare, req.Oneway, req.headers.inArgs = m, true, m.Oneway(), true
	if headersOf(ctx) == nil { // else the headers of WithRequestHeaders count
		req.headers = headersIn(nil, memory.Chunk{Mem: args}, m.Args)
	}
	var err error
	if req.args, err = thriftimpl.ParseForCall(m.Args, memory.Chunk{Mem: args}, l, false, m.lazy); err != nil {
		return &ApplicationException{ProtocolError, err.Error()}
	}
	req.srv, req.from = &Server{Limits: l}, &server.Origin{Ctx: ctx, Oneway: ctx}
	result, err := req.invoke()
	if result == nil {
		return err
	}
	defer thriftimpl.End(result)
	if len(m.Throws) > 0 {
		err = m.exception(result.Root())
	}
	thriftimpl.EndHandles(result)
	if failed := write(result.Bytes()); failed != nil {
		return failed
	}
	return err
}

// invoke calls the handler of a request and returns its result, or why there is none.
func (r *receivedCall) invoke() (result *nocopy.Message, err error) {
	defer func() {
		if v := recover(); v != nil {
			result, err = nil, r.srv.handlerPanicked(r.method, nil, v)
		}
	}()
	out := r.handled()
	if out.err != nil {
		errors.Is(out.err, context.Canceled) // callers may ask that: if it panics, then here
	}
	return out.result, out.err
}
