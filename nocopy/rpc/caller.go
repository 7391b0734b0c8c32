package rpc

import (
	"context"
	"fmt"
	"sync"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/internal/memory"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/message"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/stats"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/transport"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// MultiplexedCaller returns a Caller for one of the services that share a server; see Multiplexed.
// It calls "service:method".
func MultiplexedCaller(c Caller, service string) Caller {
	if c == nil {
		panic("nocopy: rpc.MultiplexedCaller of a nil Caller")
	}
	return &multiplexed{Caller: c, prefix: service + ":"}
}

type multiplexed struct {
	Caller
	prefix  string
	methods sync.Map // *Method → *prefixed
}

// prefixed is a method with a prefix, and what Forward makes of it.
type prefixed struct{ usual, passing Method }

// method returns m with the prefix, always the same one unless it is a RawMethod.
func (c *multiplexed) method(m *Method) *Method {
	if m.raw { // made for one call
		p := *m
		p.prefix = c.prefix + m.prefix
		return &p
	}
	of := m
	if m.passes != nil { // each Forward has copies of its own
		of = m.passes
	}
	p, ok := c.methods.Load(of)
	if !ok {
		both := &prefixed{*of, *of}
		both.usual.prefix = c.prefix + of.prefix
		both.passing.prefix, both.passing.passes = both.usual.prefix, &both.usual
		p, _ = c.methods.LoadOrStore(of, both)
	}
	if m.passes != nil {
		return &p.(*prefixed).passing
	}
	return &p.(*prefixed).usual
}

func (c *multiplexed) NewArgs(m *Method) nocopy.Struct { return c.Caller.NewArgs(c.method(m)) }

func (c *multiplexed) Call(ctx context.Context, m *Method, args nocopy.Struct) (nocopy.Struct, error) {
	return c.Caller.Call(ctx, c.method(m), args)
}

// NewCaller returns a Caller whose calls roundTrip carries, by any means: a queue, a WebSocket,
// another connection. call is one message without a frame, in Thrift Binary or, with
// Protocol(Compact), in the compact protocol. It is valid until roundTrip returns, and roundTrip
// must not change it. reply is the message that answers it; roundTrip gives it up. For a oneway
// method, reply is ignored. Generated clients may call roundTrip from any number of goroutines at
// the same time. Server.ServeMessage is the other side.
//
// If roundTrip returns an error, the call's error wraps it. An error that wraps ErrNotSent or
// ErrConnLost tells Retry what to do. Headers are in a field of the arguments, see HeaderField.
//
// These options hold: Interceptors, Deadlines, Protocol, Limits, MaxFrame, Lazy, LazyMethods and
// Recycle. Others have no effect. With Recycle, strings that were read from the result end with
// it.
func NewCaller(roundTrip func(ctx context.Context, m *Method, call []byte) (reply []byte, err error), opts ...Option) Caller {
	if roundTrip == nil {
		panic("nocopy: rpc.NewCaller without a function")
	}
	c := &roundTripper{opt: settingsOf(opts), roundTrip: roundTrip}
	c.opt.setDefaults()
	c.calls = callsBy(c, c.opt.interceptors)
	return c
}

// roundTripper is a Caller by a function of the program's.
type roundTripper struct {
	calls
	opt       options
	roundTrip func(ctx context.Context, m *Method, call []byte) ([]byte, error)
}

func (c *roundTripper) send(ctx context.Context, _ <-chan struct{}, m *Method, args nocopy.Struct, fields []sentField) (result nocopy.Struct, x extras, err error) {
	result = thriftimpl.Absent()
	if x, err = extrasOf(ctx, m, fields, false); err != nil {
		return result, x, callError(m, err)
	}
	p := newPending(m, args, &x)
	defer p.recycle()
	var b chain.Batch
	p.encodeAlone(&b, c.opt.style.Form, nil)
	call, chunk := b.Gather()
	defer chunk.Release()
	reply, err := c.roundTrip(ctx, m, call)
	switch l := c.opt.receives(); {
	case err != nil:
		return result, x, callError(m, err)
	case m.Oneway():
		return result, x, nil
	case len(reply) > l.Frame:
		return result, x, badReply(m, fmt.Errorf("%w: %d bytes, more than %s = %d", nocopy.ErrLimit, len(reply), l.Name, l.Frame))
	}
	h, body, err := c.opt.whole(m, memory.Chunk{Mem: reply}, nil)
	if err != nil {
		return result, x, err
	}
	result, err = c.opt.result(m, receivedReply{h.Type, string(h.Name) == m.Name, nil, body}, len(x.wanted) > 0, &x.got)
	return result, x, err
}

// whole returns the header and the struct of the reply to a call of m, which was alone.
func (o *options) whole(m *Method, reply memory.Chunk, s *stats.Hook) (message.Header, memory.Chunk, error) {
	in := transport.Receiver{Limits: o.receives(), Stats: s, Describe: func(h message.Header) *thriftimpl.Desc {
		if h.Type == message.Exception {
			return exceptionDesc
		}
		return m.Result
	}}
	in.Reset(o.recycle)
	h, body, err := in.Whole(reply)
	switch {
	case err != nil:
		err = badReply(m, err)
	case h.SeqID != aloneID:
		body.Release()
		err = &ApplicationException{BadSequenceID, fmt.Sprintf("reply %d to call %d", h.SeqID, aloneID)}
	}
	return h, body, err
}

// receives returns the limits for replies.
func (o *options) receives() transport.Limits {
	return transport.LimitsOf(o.maxFrame, o.limits, "the option rpc.MaxFrame")
}

// sender sends the calls of a Caller.
type sender interface {
	// send sends a call once and returns its result, which the caller owns, also with an error: then
	// it is absent or holds the exception that is the error. It returns early when ctx ends or
	// returned is closed. The caller owns args and must keep them until send returns. fields go out
	// with them, and ctx's headers.
	send(ctx context.Context, returned <-chan struct{}, m *Method, args nocopy.Struct, fields []sentField) (nocopy.Struct, extras, error)
}

// calls makes the calls that a sender sends, with interceptors around them.
type calls struct {
	by        sender
	outermost Handler // nil: there are no interceptors
}

func callsBy(s sender, list []Interceptor) calls {
	c := calls{by: s}
	if len(list) > 0 {
		c.outermost = wrap(list, c.try, callInterceptor)
	}
	return c
}

// NewArgs returns empty arguments for a call, as Client.NewArgs does.
func (c calls) NewArgs(m *Method) nocopy.Struct {
	if m == nil {
		panic("nocopy: rpc.Caller.NewArgs of a nil Method")
	}
	args := thriftimpl.New(m.Args)
	args.Offer()
	return nocopy.Struct(args)
}

// Call makes a call, as Client.Call does.
func (c calls) Call(ctx context.Context, m *Method, args nocopy.Struct) (nocopy.Struct, error) {
	args, err := m.claimArgs(args, c.outermost != nil)
	if err != nil {
		return thriftimpl.Absent(), err
	}
	if c.outermost != nil {
		return callIntercepted(ctx, c.outermost, m, args)
	}
	defer thriftimpl.Struct(args).End()
	result, x, err := c.by.send(ctx, nil, m, args, nil)
	x.deliver()
	if err != nil && result != thriftimpl.Absent() {
		result.Release()
		result = thriftimpl.Absent()
	}
	return result, err
}

// try is the innermost next: it sends the call once.
func (c calls) try(ctx context.Context, call *Call) error {
	t, m, args, err := tryOf(call)
	if err != nil {
		return err
	}
	defer t.endTry(call, args)
	result, x, err := c.by.send(ctx, t.returned, m, args, call.fields)
	return t.setResult(call, result, err, x)
}
