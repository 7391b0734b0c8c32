package rpc

import (
	"context"
	"fmt"
	"sync"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/message"
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
// the same time.
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
	c.limits = transport.LimitsOf(c.opt.maxFrame, c.opt.limits, "the option rpc.MaxFrame")
	c.outermost = outermostOf(c.opt.interceptors, c.try)
	return c
}

// roundTripper is a Caller by a function of the program's.
type roundTripper struct {
	opt       options
	limits    transport.Limits
	outermost Handler // nil: there are no interceptors
	roundTrip func(ctx context.Context, m *Method, call []byte) ([]byte, error)
}

func (c *roundTripper) NewArgs(m *Method) nocopy.Struct {
	if m == nil {
		panic("nocopy: rpc.NewCaller: a nil Method")
	}
	args := thriftimpl.New(m.Args)
	args.Offer()
	return nocopy.Struct(args)
}

func (c *roundTripper) Call(ctx context.Context, m *Method, args nocopy.Struct) (nocopy.Struct, error) {
	args, err := m.claimArgs(args, c.outermost != nil)
	if err != nil {
		return thriftimpl.Absent(), err
	}
	if c.outermost != nil {
		return callIntercepted(ctx, c.outermost, m, args)
	}
	defer thriftimpl.Struct(args).End()
	var x extras
	result, err := c.send(ctx, m, args, &x)
	return sentOnce(result, err, &x)
}

// try is the innermost next, as Client.try.
func (c *roundTripper) try(ctx context.Context, call *Call) error {
	t, m, args, err := tryOf(call)
	if err != nil {
		return err
	}
	defer t.endTry(call, args)
	x := extras{fields: call.fields}
	result, err := c.send(ctx, m, args, &x)
	return t.setResult(call, result, err, &x)
}

// send makes a call once.
func (c *roundTripper) send(ctx context.Context, m *Method, args nocopy.Struct, x *extras) (nocopy.Struct, error) {
	if err := x.add(ctx, m, false); err != nil {
		return thriftimpl.Absent(), callError(m, err)
	}
	const seqid = 1
	p := newPending(m, args, x)
	defer p.recycle()
	var call []byte
	if form := c.opt.style.Form; form == message.Compact {
		p.encode(transport.Encoder{Transport: transport.Unframed, Style: message.Style{Form: form}}, seqid)
		call = p.encoded.Bytes()
	} else {
		p.putHead(transport.Unframed)
		p.id[3] = seqid
		var b chain.Batch
		b.AddBytes(p.head)
		p.addArgs(&b)
		wire, chunk := b.Gather()
		defer chunk.Release()
		call = wire
	}
	reply, err := c.roundTrip(ctx, m, call)
	switch {
	case err != nil:
		return thriftimpl.Absent(), callError(m, err)
	case m.Oneway():
		return thriftimpl.Absent(), nil
	case len(reply) > c.limits.Frame:
		return thriftimpl.Absent(), badReply(m, fmt.Errorf("%w: %d bytes, more than %s = %d", nocopy.ErrLimit, len(reply), c.limits.Name, c.limits.Frame))
	}
	in := transport.Receiver{Limits: c.limits, Describe: func(h message.Header) *thriftimpl.Desc {
		if h.Type == message.Exception {
			return exceptionDesc
		}
		return m.Result
	}}
	in.Reset(c.opt.recycle)
	h, body, err := in.Whole(chain.Chunk{Mem: reply})
	switch {
	case err != nil:
		return thriftimpl.Absent(), badReply(m, err)
	case h.SeqID != seqid:
		return thriftimpl.Absent(), &ApplicationException{BadSequenceID, fmt.Sprintf("reply %d to call %d", h.SeqID, seqid)}
	}
	return c.opt.result(m, receivedReply{h.Type, string(h.Name) == m.Name, nil, body}, len(x.wanted) > 0, &x.got)
}
