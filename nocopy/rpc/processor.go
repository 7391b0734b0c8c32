package rpc

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"maps"
	"sync/atomic"

	"github.com/nocopythrift/nocopythrift/internal/memory"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/message"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/server"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// Processor holds the methods of a service and their handlers. It is immutable. Any number of
// servers may share it.
type Processor struct {
	methods map[string]*Method // by the name that a call's header has
	unknown *fallback          // for all other calls; nil if there is none
	// For all other calls of a service, by its name and a colon; "" is for calls without one
	ofService map[string]*fallback
	// Services whose IDL is known, by the same; nil if there are none
	described map[string]describedService
}

// NewProcessor returns the Processor of a service with these methods, each with a handler, and
// with the methods of base, which may be nil. For generated code; programs call NewXProcessor of
// their service X.
func NewProcessor(service string, base *Processor, methods ...*Method) *Processor {
	p := &Processor{methods: map[string]*Method{}}
	if base != nil {
		p.inherit(base)
	}
	for _, m := range methods {
		if m == nil {
			panic("nocopy: rpc.NewProcessor with a nil Method")
		}
		if m.handler == nil {
			panic("nocopy: method " + service + "." + m.Name + " has no handler")
		}
		p.methods[m.Name] = m
	}
	return p
}

// Multiplexed returns a Processor for several services on one port, keyed by name. Clients call
// "service:method"; see MultiplexedCaller. Calls without a service's name go to the service with
// the name "", if there is one.
func Multiplexed(services map[string]*Processor) *Processor {
	p := &Processor{methods: map[string]*Method{}}
	for service, of := range services {
		if of == nil {
			panic("nocopy: rpc.Multiplexed: no processor for service " + service)
		}
		if service != "" {
			service += ":"
		}
		for name, m := range of.methods {
			p.methods[service+name] = m
		}
		p.addFallbacks(service, of)
		for inner, d := range of.described {
			if p.described == nil {
				p.described = map[string]describedService{}
			}
			p.described[service+inner] = d
		}
	}
	return p
}

// WithFallback returns a Processor in which h handles calls of methods that p does not have.
// Without a fallback, they are answered with UnknownMethod. h gets them as calls of a RawMethod.
// c.Method.WireName is the called name, c.Args.Message().Bytes() are the unchecked arguments, and
// c.Peek finds a value in them. h puts a struct of its own with the result's bytes into c.Result.
// Forward makes such handlers. If h returns an *ApplicationException, it is sent with its type.
//
// The header of a call tells whether it is oneway. Note that Apache's Go clients send oneway calls
// as two-way ones, for which Forward waits in vain. For such methods, give NewProcessor a
// RawMethod.
//
// The fallback of a Multiplexed processor handles all calls of unknown services and methods. The
// fallback of a service's Processor in it handles the calls of that service, and gets the methods'
// names alone.
func (p *Processor) WithFallback(h Handler) *Processor {
	return p.withFallback("WithFallback", rawDesc, h)
}

// WithFallbackArgs is WithFallback for methods whose arguments have something in common, such as a
// header in the first of them. args, the descriptor of a generated struct S, declares the common
// fields. ArgsOf[S] reads and changes them. All other fields are unknown ones, which are kept:
//
//	p = p.WithFallbackArgs(envelope.ArgumentsDesc, func(ctx context.Context, c *rpc.Call) error {
//		args, _ := rpc.ArgsOf[envelope.Arguments](c)
//		args.GetRequest().GetHeader().SetVia("proxy")
//		return forward(ctx, c)
//	})
//
// A call whose arguments lack a required field of args is malformed.
func (p *Processor) WithFallbackArgs(args *thriftimpl.Desc, h Handler) *Processor {
	if args == nil {
		panic("nocopy: rpc.Processor.WithFallbackArgs with a nil Desc")
	}
	return p.withFallback("WithFallbackArgs", args, h)
}

func (p *Processor) withFallback(caller string, args *thriftimpl.Desc, h Handler) *Processor {
	if h == nil {
		panic("nocopy: rpc.Processor." + caller + " with a nil Handler")
	}
	c := *p
	c.unknown = &fallback{h, args, new(atomic.Bool)}
	return &c
}

// addFallbacks adds the fallbacks of a service's processor, the names of whose methods have a
// prefix.
func (p *Processor) addFallbacks(prefix string, of *Processor) {
	if p.ofService == nil {
		p.ofService = map[string]*fallback{}
	}
	if of.unknown != nil {
		p.ofService[prefix] = of.unknown
	}
	for inner, f := range of.ofService {
		p.ofService[prefix+inner] = f
	}
}

// inherit adds what base has to p.
func (p *Processor) inherit(base *Processor) {
	maps.Copy(p.methods, base.methods)
	p.unknown, p.ofService = base.unknown, base.ofService
}

// method returns the method that a call names, nil if the processor does not have it.
func (p *Processor) method(h message.Header) *Method {
	if m := p.methods[string(h.Name)]; m != nil || p.unknown == nil && len(p.ofService) == 0 {
		return m
	}
	at := bytes.LastIndexByte(h.Name, ':') + 1
	f, name := p.ofService[string(h.Name[:at])], h.Name[at:]
	if f == nil {
		f, name = p.unknown, h.Name
	}
	if f == nil {
		return nil
	}
	m := RawMethod(string(name), h.Type == message.Oneway)
	m.Args, m.handler, m.slow = f.args, f.handler, f.slow
	return m
}

// This file is for packages that carry calls by other means than a Server and a Client, such as
// package apachethrift.

// Methods iterates over the methods of the services, in no particular order. Each comes with the
// name by which it is called: in a Multiplexed processor "service:method".
func (p *Processor) Methods() iter.Seq2[string, *Method] {
	return func(yield func(string, *Method) bool) {
		for name, m := range p.methods {
			if !yield(name, m) {
				return
			}
		}
	}
}

// Multiplexed reports whether calls of m have the name of a service before the method's name, as
// calls of a MultiplexedCaller do.
func (m *Method) Multiplexed() bool { return m.prefix != "" }

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
	req := requests.Get().(*request)
	defer req.Release()
	req.method, req.bare, req.Oneway, req.headers.inArgs = m, true, m.Oneway(), true
	if headersOf(ctx) == nil { // else the headers of WithRequestHeaders count
		req.headers = headersIn(message.Header{}, memory.Chunk{Mem: args}, m.Args)
	}
	var err error
	if req.args, err = thriftimpl.ParseHeld(m.Args, memory.Chunk{Mem: args}, l, false, m.lazy); err != nil {
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
func (r *request) invoke() (result *nocopy.Message, err error) {
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
