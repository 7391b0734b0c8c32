package rpc

import (
	"bytes"
	"iter"
	"maps"
	"sync/atomic"

	"github.com/nocopythrift/nocopythrift/nocopy"
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
		for name, m := range p.methods {
			p.methods[name] = m.of(service)
		}
	}
	for _, m := range methods {
		if m == nil {
			panic("nocopy: rpc.NewProcessor with a nil Method")
		}
		if m.handler == nil {
			panic("nocopy: method " + service + "." + m.Name + " has no handler")
		}
		p.methods[m.Name] = m.of(service)
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
// The header of a call reports whether it is oneway. Note that Apache's Go clients send oneway
// calls as two-way ones, for which Forward waits in vain. For such methods, give NewProcessor a
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
func (p *Processor) WithFallbackArgs(args *nocopy.Desc, h Handler) *Processor {
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

// method returns the method that a call names, nil if the processor does not have it. oneway is
// what the call's header says.
func (p *Processor) method(called []byte, oneway bool) *Method {
	if m := p.methods[string(called)]; m != nil || p.unknown == nil && len(p.ofService) == 0 {
		return m
	}
	at := bytes.LastIndexByte(called, ':') + 1
	f, name := p.ofService[string(called[:at])], called[at:]
	if f == nil {
		f, name = p.unknown, called
	}
	if f == nil {
		return nil
	}
	m := RawMethod(string(name), oneway)
	m.Args, m.handler, m.slow = f.args, f.handler, f.slow
	return m
}

// WithHandler returns a Processor in which h handles the methods with these names, or all methods
// if there are no names, in place of their handlers. If all methods get other handlers, make the
// Processor with the generated UnimplementedXHandler. In a Multiplexed processor the names are
// "service:method".
func (p *Processor) WithHandler(h Handler, names ...string) *Processor {
	if h == nil {
		panic("nocopy: rpc.Processor.WithHandler with a nil Handler")
	}
	return p.with("WithHandler", func(m *Method) *Method { return m.HandledBy(h) }, names)
}

// WithLazy returns a Processor for which servers parse the arguments of the methods with these
// names lazily, as with nocopy.Lazy. Without names, it is all methods. See Server.Lazy.
func (p *Processor) WithLazy(names ...string) *Processor {
	return p.with("WithLazy", func(m *Method) *Method {
		c := *m
		c.lazy = true
		return &c
	}, names)
}

// with returns a copy of p in which f's results replace the methods with these names, or all.
func (p *Processor) with(caller string, f func(*Method) *Method, names []string) *Processor {
	c := *p
	c.methods = maps.Clone(p.methods)
	if len(names) == 0 {
		for name, m := range p.methods {
			c.methods[name] = f(m)
		}
	}
	for _, name := range names {
		m := p.methods[name]
		if m == nil {
			panic("nocopy: rpc.Processor." + caller + ": no method " + name)
		}
		c.methods[name] = f(m)
	}
	return &c
}

// describedService is a service with its IDL, as a Processor knows it.
type describedService struct {
	service string
	files   []IDLFile // the first one declares the service
}

// IDLFile is a .thrift file: the path by which other files include it, and its text.
type IDLFile struct{ Path, Text string }

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
