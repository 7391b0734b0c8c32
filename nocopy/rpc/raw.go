package rpc

import (
	"bytes"
	"fmt"
	"maps"
	"strings"
	"sync/atomic"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/message"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// rawDesc describes arguments and results of which nothing is known: a struct without fields. What
// is on the wire is kept, passed over once to find its end, and not looked at.
var rawDesc = thriftimpl.NewDesc("struct")

func init() { rawDesc.Define() }

// RawMethod returns a Method of which only the name is known. Its arguments and results are
// structs without known fields. A Caller accepts arguments that were parsed with the descriptor in
// Args, and returns the result's bytes, including those of declared exceptions. name is the name
// in the header of a call, for a service of several "service:method".
func RawMethod(name string, oneway bool) *Method {
	at := strings.LastIndexByte(name, ':') + 1
	m := &Method{Name: name[at:], Args: rawDesc, prefix: name[:at], raw: true}
	if !oneway {
		m.Result = rawDesc
	}
	return m
}

// WireName returns the name in the headers of calls: the method's name, in multiplexed calls after
// "service:".
func (m *Method) WireName() string { return m.prefix + m.Name }

// fallback handles the calls of methods that a Processor does not have.
type fallback struct {
	handler Handler
	args    *thriftimpl.Desc // what the arguments are parsed as
	slow    *atomic.Bool
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

// ThrowsAny declares an exception whose type the compiler does not know. f is its field in the
// result, and of its descriptor. as returns the exception in a result as an error. A handler's
// error is sent if it is or wraps a nocopy.AnyStruct with the descriptor of.
func ThrowsAny(f thriftimpl.Field, of *thriftimpl.Desc, as func(nocopy.Struct) error) Exception {
	return Exception{
		set: func(result nocopy.Struct, d *thriftimpl.Desc, err error) (bool, error) {
			e := anyStructIn(err, of)
			if e == nil {
				return false, nil
			}
			if err := e.ThriftStruct().Sendable(); err != nil {
				return false, fmt.Errorf("the handler returned a %s that can't be sent: %w", of.Name(), err)
			}
			thriftimpl.Struct(result).SetChild(f, d, e.ThriftStruct())
			return true, nil
		},
		get: func(result nocopy.Struct, d *thriftimpl.Desc) error {
			if !thriftimpl.Struct(result).HasField(f) {
				return nil
			}
			// The error outlives the result
			return as(nocopy.Struct(thriftimpl.Struct(result).Child(f, d).Clone(of)))
		},
	}
}

// anyStructIn returns the struct that of describes that err is or wraps, nil if there is none.
func anyStructIn(err error, of *thriftimpl.Desc) nocopy.AnyStruct {
	if e, ok := err.(nocopy.AnyStruct); ok && e.ThriftDesc() == of {
		return e
	}
	switch x := err.(type) {
	case interface{ Unwrap() error }:
		if inner := x.Unwrap(); inner != nil {
			return anyStructIn(inner, of)
		}
	case interface{ Unwrap() []error }:
		for _, inner := range x.Unwrap() {
			if e := anyStructIn(inner, of); e != nil {
				return e
			}
		}
	}
	return nil
}
