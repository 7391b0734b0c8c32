package rpc

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"runtime/debug"

	"github.com/nocopythrift/nocopythrift/nocopy"
)

// handle has a request handled and its reply prepared. All that touches what handlers and
// interceptors give back happens here: whatever that does, panics included, there is a reply
// afterwards. If it ends the goroutine, the connection goes on in another.
func (c *serverConn) handle(req *request, turn uint64) {
	returned, failed := false, false
	defer func() {
		if returned {
			return
		}
		if !failed { // a panic on the way out has an answer
			c.fail(req, "the handler has ended its goroutine, as runtime.Goexit does")
		}
		c.exit(turn)
		c.complete(req, turn)
	}()
	c.try(req, &failed)
	returned = true
}

// fail makes the reply of a handler that has not returned.
func (c *serverConn) fail(req *request, v any) {
	e := c.srv.conceal("handler panicked", req.method, c.peer, v, debug.Stack())
	if req.attempts != nil {
		_, _, req.inUse = req.attempts.close(nocopy.Struct{})
	}
	if req.reply = nil; !req.oneway() {
		c.answer(req, e, req.method.Name)
	}
}

// try is handle, but for the end of the goroutine. A goroutine that ends goes on to do so after a
// panic on the way out that is recovered here: only the caller can tell.
func (c *serverConn) try(req *request, failed *bool) {
	defer func() {
		if v := recover(); v != nil {
			*failed = true
			c.fail(req, v)
		}
	}()
	m := req.method
	ctx, call := c.ctx, &req.call
	*call = Call{Method: m, Args: req.args.Root(), Result: nocopy.Absent(), Peer: c.peer}
	var result *nocopy.Message
	if m.Oneway() {
		ctx = c.srv.ctx
	} else {
		result = c.newResult(m)
		call.Result = result.Root()
	}
	if c.srv.handle == nil {
		req.result = result
		err := m.handler(ctx, call)
		if result != nil && result.Root() != call.Result {
			result = nil
		}
		c.prepare(req, call, result, err)
	} else {
		c.intercept(ctx, req, result)
	}
}

// intercept is handle of a server with interceptors.
func (c *serverConn) intercept(ctx context.Context, req *request, result *nocopy.Message) {
	a := newAttempts(c, req.call, result)
	req.attempts = a
	err := c.srv.handle(ctx, &a.call)
	own, filling, running := a.close(a.call.Result)
	if req.inUse = running; filling && err == nil {
		err = c.conceal("bad interceptor", req.method, errUnfinished)
	}
	c.prepare(req, &a.call, own, err)
}

func (c *serverConn) newResult(m *Method) *nocopy.Message {
	return nocopy.NewHeld(m.Result, roomFor(len(m.Name)), c.srv.Limits, c.srv.Recycle)
}

// prepare makes the reply of what the outermost interceptor has left in the call, or the handler
// if there is none, and has returned. own is the result's message if that is the server's.
func (c *serverConn) prepare(req *request, call *Call, own *nocopy.Message, err error) {
	m := req.method
	if err == nil && req.args.Disowned() {
		err = c.conceal("bad handler", m, errors.New("the handler has released its args"))
	}
	if m.Oneway() {
		if err != nil {
			c.srv.log(slog.LevelError, "oneway call failed", "method", m.String(), "peer", c.peer, "err", textOf(err))
		}
		return
	}
	if err == nil && own == nil { // a result of the interceptor's, or one that was released
		if own, err = nocopy.CopyHeld(m.Result, call.Result, roomFor(len(m.Name)), c.srv.Limits, c.srv.Recycle); err != nil {
			err = c.conceal("bad result", m, fmt.Errorf("it can't be sent: %w", err))
		}
	} else if err == nil {
		req.disown(own)
	}
	if err != nil {
		c.replyError(req, err)
		return
	}
	if own.EndHandles(); !req.inUse {
		req.args.EndHandles()
	}
	if err := c.seal(req, own, typeReply, m.Name); err != nil {
		own.End()
		c.replyError(req, c.conceal("bad result", m, err))
	}
}

// disown takes a result from those that are given back besides the reply.
func (r *request) disown(m *nocopy.Message) {
	if r.attempts == nil {
		r.result = nil
		return
	}
	for i, own := range r.attempts.results {
		if own == m {
			r.attempts.results[i] = r.attempts.results[len(r.attempts.results)-1]
			r.attempts.results = r.attempts.results[:len(r.attempts.results)-1]
			return
		}
	}
}

// replyError makes a reply of an error. What the handler has put into the result does not go out.
func (c *serverConn) replyError(req *request, err error) {
	m := req.method
	if len(m.Throws) > 0 {
		ok, bad := c.replyException(req, err)
		if ok {
			return
		}
		if bad != nil {
			err = c.conceal("bad handler", m, bad)
		}
	}
	var e *ApplicationException
	if !errors.As(err, &e) || e == nil {
		if e = (&ApplicationException{InternalError, err.Error()}); c.srv.HideErrors {
			e = c.conceal("call failed", m, err)
		}
	}
	c.answer(req, e, m.Name)
}

// replyException makes a reply of an error that is a declared exception, and reports whether it is
// one. bad tells why one can't be sent.
func (c *serverConn) replyException(req *request, err error) (ok bool, bad error) {
	result := c.newResult(req.method)
	defer func() {
		if !ok { // also when a method of err panics
			result.End()
		}
	}()
	if ok, bad = req.method.setException(result.Root(), err); ok {
		bad = c.seal(req, result, typeReply, req.method.Name)
		ok = bad == nil
	}
	return ok, bad
}

// answer makes the exception the reply.
func (c *serverConn) answer(req *request, e *ApplicationException, name string) {
	c.seal(req, e.message(roomFor(len(name))), typeException, name)
}

// seal puts the header before m, finishes it and makes it the reply. The error is of a message
// that can't be sent, since it is nested too deeply.
func (c *serverConn) seal(req *request, m *nocopy.Message, typ messageType, name string) error {
	putHeader(m.Prepend(headerSize(req.strict, len(name))), req.strict, typ, "", name, req.seqid)
	if err := m.Check(); err != nil {
		return err
	}
	req.reply = m
	return nil
}

func (c *serverConn) conceal(what string, m *Method, err error) *ApplicationException {
	return c.srv.conceal(what, m, c.peer, err, nil)
}

// concealed is what a client gets to read instead, before the id.
const concealed = "the server has failed; its log tells why under id "

// conceal logs what a client must not see, a panic's value or an error, and returns what it gets
// instead: a text that is always the same and an id under which the log has the rest.
func (s *Server) conceal(what string, m *Method, peer net.Addr, v any, stack []byte) *ApplicationException {
	id := fmt.Sprintf("%016x", rand.Uint64())
	args := []any{"id", id, "peer", peer, "err", textOf(v)}
	if m != nil {
		args = append(args, "method", m.String())
	}
	if stack != nil {
		args = append(args, "stack", string(stack))
	}
	s.log(slog.LevelError, what, args...)
	return &ApplicationException{InternalError, concealed + id}
}

// textOf returns the text of a value, whatever its methods do: fmt survives those that panic, but
// not with what panics in its turn, and none that end their goroutine.
func textOf(v any) (text string) {
	if s, ok := v.(string); ok {
		return s
	}
	text = fmt.Sprintf("a %T, whose text can't be had", v)
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() { recover() }()
		text = fmt.Sprint(v)
	}()
	<-done
	return text
}

const warn = slog.LevelWarn

// log survives a logger that panics.
func (s *Server) log(level slog.Level, what string, args ...any) {
	defer func() { recover() }()
	s.logger().Log(context.Background(), level, "rpc: "+what, args...)
}
