package rpc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/internal/memory"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/foreign"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/message"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/transport"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// ServeMessage answers one call whose bytes came by any means, such as a UDP packet, an entry of a
// queue, or a frame of a WebSocket. call is one message without a frame, in Thrift Binary or the
// compact protocol. The reply is such a message, in the same protocol, and belongs to the caller.
// It is nil for a oneway call. NewCaller is the other side.
//
// ServeMessage returns when the handler has, also for oneway calls. Any number of goroutines may
// call it. It takes call over, which must not be changed any more: the arguments are not copied,
// and handlers may keep strings of them. With Recycle, call may be used again when ServeMessage
// has returned, unless interceptors return before the handler.
//
// A call of an unknown method, one with malformed arguments, and one whose handler fails are
// answered with an [ApplicationException]; the error is nil. ServeMessage returns an error, and no
// reply, for everything that must not be answered:
//
//	ErrVersion             the bytes are no message
//	io.ErrUnexpectedEOF    they end within the header of a message
//	nocopy.ErrLimit        they are more than MaxFrame
//	*ApplicationException  a oneway call of an unknown method, or a message that is no call
//	*nocopy.Error          a oneway call with malformed arguments
//	ErrServerClosed        after Shutdown or Close
//
// The handler's context is ctx, and ends with Close, too. Call.Peer is nil: what interceptors and
// handlers need to know of the sender goes into ctx. Interceptors, Deadlines, Limits, MaxFrame,
// HideErrors, Recycle, Lazy, Health, Describe and Stats hold. What is about connections does not,
// nor MaxConns: how many calls there are at the same time is up to the program. A Server with SASL
// answers no call. Shutdown waits for calls. A handler runs in the goroutine that has called
// ServeMessage, and may end it by runtime.Goexit.
func (s *Server) ServeMessage(ctx context.Context, call []byte) (reply []byte, err error) {
	if ctx == nil {
		panic("nocopy: rpc.Server.ServeMessage with a nil Context")
	}
	s.init()
	s.check()
	switch {
	case s.SASL != nil:
		return nil, errNoSASL
	case !s.enterHTTP():
		return nil, ErrServerClosed
	}
	defer s.serving.Done()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.ctx, cancel)()
	x := single{origin{srv: s, stats: s.stats, ctx: ctx, oneway: ctx}}
	return x.serve(call)
}

// errNoSASL is the error of a message for a server that demands logins.
var errNoSASL = errors.New("rpc: this server demands a login by SASL, which a single message does not have")

// single is a call that is alone, and its reply.
type single struct{ origin }

// serve returns the reply to a call, nil if there is none.
func (x *single) serve(call []byte) ([]byte, error) {
	l := transport.LimitsOf(x.srv.MaxFrame, x.srv.Limits, "rpc.Server.MaxFrame")
	x.stats.Received(len(call))
	arrived := x.stats.Now()
	if len(call) > l.Frame {
		return x.refuse("", fmt.Errorf("%w: %d bytes, more than %s = %d", nocopy.ErrLimit, len(call), l.Name, l.Frame))
	}
	in := transport.Receiver{Limits: l, Requests: true, Describe: x.srv.describe, Stats: x.stats}
	in.Reset(x.srv.recycle)
	h, body, err := in.Whole(memory.Chunk{Mem: call})
	if err != nil && h.Size == 0 {
		return x.refuse("", err)
	}
	req := x.newRequest(h)
	defer req.release()
	m, refusal := x.methodOf(h)
	if refusal != nil {
		name := x.bareName(h.Name)
		body.Release()
		if h.Type != message.Call { // also a reply, to which others would reply again
			return x.refuse(name, refusal)
		}
		x.stats.Refused(int32(refusal.Type))
		x.answer(req, refusal, name)
		return x.reply(req)
	}
	req.headers = headersIn(h, body, m.Args)
	if err == nil {
		req.args, err = x.parse(m, body)
	}
	switch {
	case err != nil && (h.Type == message.Oneway || m.Oneway()):
		return x.refuse(m.Name, err)
	case err != nil:
		x.refuse(m.Name, err)
		x.answer(req, protocolError(err), m.Name)
		return x.reply(req)
	}
	req.method = m
	x.handle(req, arrived)
	if m.Oneway() {
		return nil, nil
	}
	return x.reply(req)
}

// refuse notes that a message for the method name was refused because of err, which it returns.
func (x *single) refuse(name string, err error) ([]byte, error) {
	x.stats.Refused(int32(protocolError(err).Type))
	x.srv.log(slog.LevelWarn, "call refused", "method", foreign.Shortened(name, foreign.MaxName), "err", err)
	return nil, err
}

// parse parses the arguments of a call of m.
func (x *single) parse(m *Method, body memory.Chunk) (_ *nocopy.Message, err error) {
	defer x.guard(&err)
	return thriftimpl.ParseHeld(m.Args, body, x.srv.Limits, x.srv.recycle, x.srv.Lazy || m.lazy)
}

// handle calls the handler of a request.
func (x *single) handle(req *request, arrived time.Time) {
	returned, failed := false, false
	defer func() {
		if !returned && !failed { // nobody gets the answer
			x.answerPanic(req, "the handler has ended its goroutine, as runtime.Goexit does")
		}
	}()
	defer x.stats.InFlight(-1)
	x.stats.Queued(arrived)
	x.stats.InFlight(1)
	x.callHandler(req, &failed)
	returned = true
}

// reply returns the bytes of a request's reply.
func (x *single) reply(req *request) (reply []byte, err error) {
	defer func() { // handlers' goroutines may change results that they must not touch any more
		if v := recover(); v != nil {
			reply, err = nil, x.srv.conceal("reply failed", req.method, nil, v, debug.Stack())
		}
	}()
	var b chain.Batch
	if thriftimpl.AddTo(req.reply, &b, false); req.style.Form == message.Compact {
		req.encoded = transport.Encoder{Transport: transport.Unframed, Style: req.style, Stats: x.stats}.Reply(&b, nil)
		reply = bytes.Clone(req.encoded.Bytes())
	} else {
		wire, chunk := b.Gather()
		reply = bytes.Clone(wire)
		chunk.Release()
	}
	x.stats.Sent(memory.Stats{Bytes: len(reply)})
	return reply, nil
}
