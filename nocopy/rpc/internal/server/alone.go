package server

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
	"github.com/nocopythrift/nocopythrift/nocopy/internal/impl"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/foreign"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/message"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/transport"
)

// errNoSASL is the error of a message for a server that demands logins.
var errNoSASL = errors.New("rpc: this server demands a login by SASL, which a single message does not have")

// single is a call that is alone, and its reply.
type single struct{ Origin }

// ServeMessage answers the call that a message is; see rpc's.
func (s *Server) ServeMessage(ctx context.Context, call []byte) (reply []byte, err error) {
	switch {
	case s.SASL != nil:
		return nil, errNoSASL
	case !s.enter():
		return nil, ErrClosed
	}
	defer s.serving.Done()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.ctx, cancel)()
	x := single{Origin{srv: s, Stats: s.Stats, Ctx: ctx, Oneway: ctx}}
	return x.serve(call)
}

// serve returns the reply to a call, nil if there is none.
func (x *single) serve(call []byte) ([]byte, error) {
	l := transport.LimitsOf(x.srv.MaxFrame, x.srv.Limits, "rpc.Server.MaxFrame")
	x.Stats.Received(len(call))
	arrived := x.Stats.Now()
	if len(call) > l.Frame {
		return x.refuse(fmt.Errorf("%w: %d bytes, more than %s = %d", nocopy.ErrLimit, len(call), l.Name, l.Frame))
	}
	in := transport.Receiver{Limits: l, Requests: true, Describe: x.srv.Calls.Descriptor, Stats: x.Stats}
	in.Reset(x.srv.Recycle)
	h, body, err := in.Whole(memory.Chunk{Mem: call})
	if err != nil && h.Size == 0 {
		return x.refuse(err)
	}
	req, refusal := x.srv.Calls.Begin(&x.Origin, h)
	defer req.release()
	if refusal != nil {
		body.Release()
		if h.Type == message.Call { // not a reply, to which others would reply again
			req.Call.Refused(refusal)
			req.Call.Answer(refusal)
			return x.reply(req)
		}
		err = refusal
	} else if req.Call.Head(h.Headers, body); err == nil {
		_, err = x.parse(req, body)
	}
	if err != nil {
		silent := refusal != nil || req.isOneway(h.Type)
		req.Call.Refused(err)
		x.log(req.Name, err)
		if silent {
			return nil, err
		}
		req.Call.Answer(err)
		return x.reply(req)
	}
	if err := x.admit(x.Ctx, req); err != nil {
		req.Call.Refused(err)
		if req.Oneway {
			return nil, err
		}
		req.Call.Answer(err)
		return x.reply(req)
	}
	if x.handle(req, arrived); req.Oneway {
		return nil, nil
	}
	return x.reply(req)
}

// refuse records that bytes were refused which are no message. It returns err, the reason.
func (x *single) refuse(err error) ([]byte, error) {
	typ := int32(message.ProtocolError)
	var refused *message.Refusal
	if errors.As(err, &refused) {
		typ = refused.Type
	}
	x.Stats.Refused(typ)
	x.log("", err)
	return nil, err
}

// log logs that a message for the method name was refused.
func (x *single) log(name string, err error) {
	x.srv.Log(slog.LevelWarn, "call refused", "method", foreign.Shortened(name, foreign.MaxName), "err", err)
}

// handle calls the handler of a request.
func (x *single) handle(req *Request, arrived time.Time) {
	returned := false
	defer func() {
		if !returned && !req.Failed { // nobody gets the answer
			req.Call.Panicked("the handler has ended its goroutine, as runtime.Goexit does")
		}
	}()
	defer req.leave()
	defer x.Stats.InFlight(-1)
	x.Stats.Queued(arrived)
	x.Stats.InFlight(1)
	req.Call.Handle()
	returned = true
}

// reply returns the bytes of a request's reply.
func (x *single) reply(req *Request) (reply []byte, err error) {
	defer func() { // handlers' goroutines may change results that they must not touch any more
		if v := recover(); v != nil {
			reply, err = nil, x.srv.Conceal("reply failed", nil, v, debug.Stack())
		}
	}()
	var b chain.Batch
	if impl.AddTo(req.Reply, &b, false); req.Style.Form == message.Compact {
		req.encoded = transport.Encoder{Transport: transport.Unframed, Style: req.Style, Stats: x.Stats}.Reply(&b, nil)
		reply = bytes.Clone(req.encoded.Bytes())
	} else {
		wire, chunk := b.Gather()
		reply = bytes.Clone(wire)
		chunk.Release()
	}
	x.Stats.Sent(memory.Stats{Bytes: len(reply)})
	return reply, nil
}
