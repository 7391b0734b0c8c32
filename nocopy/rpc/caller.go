package rpc

import (
	"context"
	"sync"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/client"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/message"
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

// InheritedCaller returns a Caller for the methods that a service inherits. It calls them by c as
// methods of the service, which logs and errors name. For generated code.
func InheritedCaller(c Caller, service string) Caller {
	if c == nil {
		panic("nocopy: rpc.InheritedCaller of a nil Caller")
	}
	methods, ok := inheritedMethods.Load(service)
	if !ok {
		methods, _ = inheritedMethods.LoadOrStore(service, new(sync.Map))
	}
	return inherited{c, service, methods.(*sync.Map)}
}

// inheritedMethods has the methods that services inherit, always the same ones, since Callers
// remember methods: service → *sync.Map of *Method → its copy for the service.
var inheritedMethods sync.Map

type inherited struct {
	Caller
	service string
	methods *sync.Map
}

// method returns m as a method of the service. A RawMethod is made for one call.
func (c inherited) method(m *Method) *Method {
	if m.Service == c.service || m.raw {
		return m
	}
	found, ok := c.methods.Load(m)
	if !ok {
		found, _ = c.methods.LoadOrStore(m, m.of(c.service))
	}
	return found.(*Method)
}

func (c inherited) NewArgs(m *Method) nocopy.Struct { return c.Caller.NewArgs(c.method(m)) }

func (c inherited) Call(ctx context.Context, m *Method, args nocopy.Struct) (nocopy.Struct, error) {
	return c.Caller.Call(ctx, c.method(m), args)
}

// NewCaller returns a Caller whose calls roundTrip carries, by any means: a queue, a WebSocket,
// another connection. call is one message without a frame, in Thrift Binary or, with
// Protocol(Compact), in the compact protocol. It is valid until roundTrip returns, and roundTrip
// must not change it. reply is the message that answers it; roundTrip gives it up. For a oneway
// method, reply is ignored. Generated clients may call roundTrip from any number of goroutines at
// the same time. Server.ServeMessage is the other side.
//
// If roundTrip returns an error, the call's error wraps it. An error that wraps ErrNotSent,
// ErrNotHandled or ErrConnLost tells Retry what to do. Headers are in a field of the arguments,
// see HeaderField.
//
// These options hold: Interceptors, Deadlines, Protocol, Limits, MaxFrame, Lazy, LazyMethods and
// Recycle. Others have no effect. With Recycle, strings that were read from the result end with
// it.
func NewCaller(roundTrip func(ctx context.Context, m *Method, call []byte) (reply []byte, err error), opts ...Option) Caller {
	if roundTrip == nil {
		panic("nocopy: rpc.NewCaller without a function")
	}
	o := settingsOf(opts)
	o.setDefaults()
	o.Stats = nil
	return callsBy(client.NewAlone(o.Config, func(ctx context.Context, of any, call []byte) ([]byte, error) {
		return roundTrip(ctx, of.(*Method), call)
	}), &o)
}

// calls makes calls that a Carrier carries, with interceptors around them.
type calls struct {
	by        client.Carrier
	opt       *options
	outermost Handler // nil: there are no interceptors
}

func callsBy(by client.Carrier, o *options) calls {
	c := calls{by: by, opt: o}
	if len(o.interceptors) > 0 {
		c.outermost = wrap(o.interceptors, c.sendTry, callInterceptor)
	}
	return c
}

// send sends a call once and returns its result, which the caller owns, also with an error: then
// it is absent or holds the exception that is the error. It returns early when ctx ends or
// returned is closed. The caller owns args and must keep them until send returns. x has the fields
// that go out with them; send adds ctx's headers, and sets those of the reply.
func (c calls) send(ctx context.Context, returned <-chan struct{}, m *Method, args nocopy.Struct, x *extras) (result nocopy.Struct, err error) {
	result = thriftimpl.Absent()
	call := client.Call{Method: m.called(), Of: m, Args: args, Began: c.opt.Stats.Now()}
	if err = x.addHeaders(ctx, m, c.by.HasHeaders()); err == nil {
		err = c.by.Enter(ctx, returned)
	}
	if err != nil {
		return result, callError(m, err)
	}
	defer c.by.Leave()
	defer c.opt.Stats.InFlight(-1) // first: the next call counts when it has the place
	c.opt.Stats.InFlight(1)
	call.Fields, call.Headers = x.fields, x.list
	reply, err := c.by.Carry(ctx, returned, call)
	switch refusal, is := err.(*message.Refusal); {
	case is:
		return result, &unfitting{ApplicationException{ExceptionType(refusal.Type), refusal.Text}}
	case err != nil:
		return result, callError(m, err)
	case m.Oneway():
		return result, nil
	}
	result, err = c.opt.resultOf(m, reply, len(x.wanted) > 0, &x.got)
	return result, err
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
	var x extras
	result, err := c.send(ctx, nil, m, args, &x)
	x.deliver()
	if err != nil && result != thriftimpl.Absent() {
		result.Release()
		result = thriftimpl.Absent()
	}
	return result, err
}

// sendTry is the innermost next: it sends the call once.
func (c calls) sendTry(ctx context.Context, call *Call) error {
	t, m, args, err := tryOf(call)
	if err != nil {
		return err
	}
	defer t.endTry(call, args)
	x := extras{fields: call.fields}
	result, err := c.send(ctx, t.returned, m, args, &x)
	return t.setResult(call, result, err, &x)
}
