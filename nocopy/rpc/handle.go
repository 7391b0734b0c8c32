package rpc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/nocopythrift/nocopythrift/internal/memory"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/foreign"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/message"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/shared"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// newRequest returns a request with the header's form and sequence id.
func (o *origin) newRequest(h message.Header) *request {
	req := requests.Get().(*request)
	req.style, req.seqid = h.Style, h.SeqID
	return req
}

// process handles a message that was received, with its header h and the bytes after that. It
// reports whether the calling goroutine is still the reader and may receive another request.
func (c *serverConn) process(h message.Header, chunk memory.Chunk) bool {
	charge := c.in.TakeCharge()
	m, refusal := c.methodOf(h)
	args, err := c.parseArgs(m, chunk)
	switch {
	case refusal != nil:
		h.Name = bytes.Clone(h.Name) // the chunk holds it
		chunk.Release()
		charge.End()
		return c.refuse(h, refusal, false)
	case err != nil: // the call's end is known: the next one can be found
		h.Name = []byte(m.Name)
		chunk.Release()
		charge.End()
		return c.refuseBad(h, m, err)
	}
	req := c.newRequest(h)
	req.charge = charge
	req.charge.Add(thriftimpl.IndexSize(args))
	req.method, req.args, req.headers = m, args, headersIn(h, chunk.First(args.Len()), m.Args)
	chunk.Release()
	arrived := c.in.Arrived // another goroutine may be the reader from now on
	readerID := c.admit(req, true)
	c.handle(req, readerID, arrived)
	return c.complete(req, readerID)
}

// methodOf returns the method that a message calls. If there is none, it returns the answer.
func (o *origin) methodOf(h message.Header) (*Method, *ApplicationException) {
	m := o.srv.method(h)
	switch {
	case !h.IsRequest():
		return nil, &ApplicationException{InvalidMessageType, fmt.Sprintf("%d", h.Type)}
	case m == nil:
		return nil, &ApplicationException{UnknownMethod, foreign.Shortened(string(h.Name), foreign.MaxName)}
	}
	return m, nil
}

// refuse answers a message with e instead of handling it, and returns the result of keepReading.
// With noMore no more requests are handled.
func (c *serverConn) refuse(h message.Header, e *ApplicationException, noMore bool) bool {
	c.stats.Refused(int32(e.Type))
	req := c.newRequest(h)
	c.admit(req, false)
	c.answer(req, e, c.bareName(h.Name))
	c.mu.Lock()
	c.noMore = c.noMore || noMore
	c.addReply(req)
	c.flush()
	c.mu.Unlock()
	return c.keepReading()
}

// refuseBad refuses a call of m, nil for an unknown method. The call is malformed or too large, as
// err tells, and its end is known: the requests after it are handled. A oneway call is not
// answered: its client would take the answer for the answer to its next call.
func (c *serverConn) refuseBad(h message.Header, m *Method, err error) bool {
	c.srv.log(slog.LevelWarn, "call refused", "peer", c.peer, "method", foreign.Shortened(string(h.Name), foreign.MaxName), "err", err)
	e := protocolError(err)
	if h.Type == message.Oneway || m != nil && m.Oneway() {
		c.stats.Refused(int32(e.Type))
		c.mu.Lock()
		c.flush() // replies may have been held back to be written with the one to this call
		c.mu.Unlock()
		return c.keepReading()
	}
	return c.refuse(h, e, false)
}

// bareName returns the name of a method for a reply: without the service's name and the colon that
// multiplexing clients put before it. No name of a method in an IDL has a colon.
func (o *origin) bareName(name []byte) string {
	if m := o.srv.Processor.methods[string(name)]; m != nil {
		return m.Name
	}
	return string(name[bytes.LastIndexByte(name, ':')+1:])
}

// protocolError returns the answer to a message that was refused with err.
func protocolError(err error) *ApplicationException {
	var internal *ApplicationException
	if errors.As(err, &internal) {
		return internal
	}
	var refused *message.Refusal
	if errors.As(err, &refused) {
		return &ApplicationException{ExceptionType(refused.Type), refused.Text}
	}
	return &ApplicationException{ProtocolError, err.Error()}
}

// parseArgs parses the arguments of a call of m at the beginning of chunk. If m is nil, the method
// is unknown, and it passes over the arguments.
func (c *serverConn) parseArgs(m *Method, chunk memory.Chunk) (_ *nocopy.Message, err error) {
	defer c.guard(&err)
	var args *thriftimpl.Desc
	lazy := c.srv.Lazy
	if m != nil {
		args, lazy = m.Args, lazy || m.lazy
	}
	return c.in.ParseStruct(chunk, args, c.srv.Limits, c.srv.recycle, lazy)
}

// handle calls the handler of a request, with its interceptors, and sets the reply. There is
// always a reply afterwards, even if they panic, or if methods of values that they return do. If
// they end the goroutine, another one becomes the reader. readerID is admit's result. arrived is
// when the request's last bytes arrived, if stats wants to know.
func (c *serverConn) handle(req *request, readerID uint64, arrived time.Time) {
	returned, told, failed := false, false, false
	defer func() {
		if returned && told {
			return
		}
		if !returned && !failed { // a panic on the way out has been answered
			c.answerPanic(req, "the handler has ended its goroutine, as runtime.Goexit does")
		}
		c.handOver(readerID)
		c.complete(req, readerID)
	}()
	defer func() {
		c.stats.InFlight(-1)
		told = true // else it has ended the goroutine
	}()
	c.stats.Queued(arrived)
	c.stats.InFlight(1)
	c.callHandler(req, &failed)
	returned = true
}

// answerPanic sets the reply to a request whose handler did not return, with v as the cause.
func (o *origin) answerPanic(req *request, v any) {
	e := o.srv.handlerPanicked(req.method, o.peer, v)
	if req.tries != nil {
		_, _, req.stillUsed = req.tries.close(nocopy.Struct{})
	}
	if req.reply = nil; !req.oneway() {
		o.answer(req, e, req.method.Name)
	}
}

// callHandler calls the handler and sets the reply. It answers a panic and sets failed then. It
// does not return if the handler ends the goroutine, not even if a deferred function panics on the
// way and the panic is recovered here.
func (o *origin) callHandler(req *request, failed *bool) {
	defer func() {
		if v := recover(); v != nil {
			*failed = true
			o.answerPanic(req, v)
		}
	}()
	switch out := o.call(req); {
	case req.oneway():
		if out.err != nil {
			o.srv.log(slog.LevelError, "oneway call failed", "method", req.method.String(), "peer", o.peer, "err", foreign.Text(out.err))
		}
	case out.result == nil:
		o.answer(req, out.answer, req.method.Name)
	default:
		req.setReply(out.result)
	}
}

// outcome is what a handler, or the outermost interceptor, has made of a call.
type outcome struct {
	result *nocopy.Message       // answers the call, and is complete; nil if it is oneway or has failed
	err    error                 // why there is no result
	answer *ApplicationException // err as clients see it; nil if the method is oneway
}

// call calls the handler of a request, with its interceptors, and returns the outcome. Panics of
// handlers, and of methods of the errors that they return, reach the caller.
func (o *origin) call(req *request) outcome {
	m := req.method
	ctx, call := o.ctx, &req.call
	*call = Call{Method: m, Args: req.args.Root(), Result: thriftimpl.Absent(), Peer: o.peer}
	var result *nocopy.Message
	if m.Oneway() {
		ctx = o.oneway
	} else {
		result = o.newResult(m)
		call.Result = result.Root()
	}
	ctx = req.headers.context(ctx, m, req.args)
	if o.srv.outermost != nil && !m.direct {
		return o.callInterceptors(ctx, req, result)
	}
	req.result = result
	err := m.handler(ctx, call)
	if result != nil && result.Root() != call.Result {
		result = nil
	}
	return o.outcome(req, call, result, err)
}

// callInterceptors calls the interceptors, which call the handler, and returns the outcome. result
// is an empty one, nil if the method is oneway.
func (o *origin) callInterceptors(ctx context.Context, req *request, result *nocopy.Message) outcome {
	a := newServerTries(o, req.call, result)
	req.tries = a
	err := o.srv.outermost(ctx, &a.call)
	own, filling, running := a.close(a.call.Result)
	if req.stillUsed = running; filling && err == nil {
		err = o.conceal("bad interceptor", req.method, errUnfinished)
	}
	return o.outcome(req, &a.call, own, err)
}

// outcome returns the outcome of a request. Its handler, or outermost interceptor, has left call
// in this state and has returned err. own is the message of call.Result if the server has made it,
// else nil.
func (o *origin) outcome(req *request, call *Call, own *nocopy.Message, err error) (out outcome) {
	m := req.method
	if err == nil && thriftimpl.Disowned(req.args) {
		err = o.conceal("bad handler", m, errors.New("the handler has released its args"))
	}
	switch {
	case m.Oneway():
		return outcome{err: err}
	case err != nil:
		out.result, out.err = o.declared(req, err)
	default:
		if out.result, err = o.result(req, call, own); err != nil {
			out.err = o.conceal("bad result", m, err)
		}
	}
	if out.err != nil {
		out.answer = o.answerTo(m, out.err)
	}
	return out
}

// result returns the result that call has, complete; see outcome. It is not req's any more.
func (o *origin) result(req *request, call *Call, own *nocopy.Message) (*nocopy.Message, error) {
	m := req.method
	if own == nil { // an interceptor has made the result, or somebody has released it
		var err error
		if own, err = o.copyResult(req, call.Result); err != nil {
			return nil, fmt.Errorf("it can't be sent: %w", err)
		}
		if !req.stillUsed && call.isForwarded() {
			call.Result.Release() // what it has is in own
		}
	} else {
		req.detachResult(own)
		req.headers.addTo(own, m.Result)
	}
	if thriftimpl.EndHandles(own); !req.stillUsed {
		thriftimpl.EndHandles(req.args)
	}
	if err := req.complete(own, message.Reply, m.Name); err != nil {
		thriftimpl.End(own)
		return nil, err
	}
	return own, nil
}

// declared returns a result with the declared exception that err is or wraps, complete. If there
// is none, it returns err; if the exception can't be sent, what the client gets instead.
func (o *origin) declared(req *request, err error) (result *nocopy.Message, _ error) {
	m := req.method
	if len(m.Throws) == 0 {
		return nil, err
	}
	made := o.newResult(m)
	defer func() {
		if result == nil { // also when a method of err panics
			thriftimpl.End(made)
		}
	}()
	ok, bad := m.SetException(made.Root(), err)
	if ok {
		req.headers.addTo(made, m.Result)
		bad = req.complete(made, message.Reply, m.Name)
	}
	switch {
	case bad != nil:
		return nil, o.conceal("bad handler", m, bad)
	case !ok:
		return nil, err
	}
	return made, nil
}

// answerTo returns the answer to a call of m that has failed with err.
func (o *origin) answerTo(m *Method, err error) *ApplicationException {
	var e *ApplicationException
	if errors.As(err, &e) && e != nil {
		return e
	}
	text := err.Error() // if it panics, it does so in any case
	if o.srv.HideErrors {
		return o.conceal("call failed", m, err)
	}
	return &ApplicationException{InternalError, text}
}

// copyResult returns a copy of a result that the server has not made, with room for a reply's
// header.
func (o *origin) copyResult(req *request, result nocopy.Struct) (*nocopy.Message, error) {
	m := req.method
	s, err := req.headers.addToCopy(result, m.Result)
	if err != nil {
		return nil, err
	}
	if s != result {
		defer thriftimpl.Struct(s).End()
	}
	return thriftimpl.CopyHeld(m.Result, thriftimpl.Struct(s), message.HeaderRoom(len(m.Name)), o.srv.Limits, o.srv.recycle)
}

// detachResult removes m from the messages that release frees: it becomes the reply.
func (r *request) detachResult(m *nocopy.Message) {
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

// answer makes e the reply to a request for the method name.
func (o *origin) answer(req *request, e *ApplicationException, name string) {
	m := message.NewException(int32(e.Type), e.Message, message.HeaderRoom(len(name)))
	req.headers.addTo(m, message.ExceptionDesc)
	req.complete(m, message.Exception, name) // two fields are never nested too deeply
	req.setReply(m)
}

// complete completes a message that is sent in reply, with its header in the reserved room. It
// returns an error if m is nested too deeply, or too large.
func (r *request) complete(m *nocopy.Message, typ message.Type, name string) error {
	if !r.bare {
		strict := r.style.Form != message.Old
		message.PutHeader(thriftimpl.Prepend(m, message.HeaderSize(strict, len(name))), strict, typ, "", name, r.seqid)
	}
	return m.Check()
}

// setReply makes m, which is complete, the reply.
func (r *request) setReply(m *nocopy.Message) { r.reply, r.sent = m, r.headers.place() }

// method returns the method that a call names, nil if there is none.
func (s *Server) method(h message.Header) *Method {
	if m := s.health; m != nil && string(h.Name[:min(len(m.prefix), len(h.Name))]) == m.prefix && string(h.Name[len(m.prefix):]) == m.Name {
		if own := s.Processor.methods[string(h.Name)]; own == nil {
			return m
		}
	}
	if s.describer != nil && string(h.Name) == DescribeMethod {
		return s.describer
	}
	if string(h.Name) == shared.Method { // there is none, which a fallback can't change
		return nil
	}
	return s.Processor.method(h)
}
