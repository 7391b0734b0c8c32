package rpc

import (
	"bytes"
	"fmt"
	"maps"
	"strings"
	"sync/atomic"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// rawDesc describes arguments and results of which nothing is known: a struct without fields. What
// is on the wire is kept, passed over once to find its end, and not looked at.
var rawDesc = thriftimpl.NewDesc("struct")

func init() { rawDesc.Define() }

// RawMethod returns a Method of which only the name is known: its arguments and results are
// structs without known fields. A Caller calls by it with arguments that were parsed with the
// descriptor in Args, and what it returns has the result's bytes, those of declared exceptions
// too. name is as in the header of a call: for a service among several "service:method".
func RawMethod(name string, oneway bool) *Method {
	at := strings.LastIndexByte(name, ':') + 1
	m := &Method{Name: name[at:], Args: rawDesc, prefix: name[:at], raw: true}
	if !oneway {
		m.Result = rawDesc
	}
	return m
}

// WireName returns the name that the headers of calls have: the method's, after "service:" in
// multiplexed calls.
func (m *Method) WireName() string { return m.prefix + m.Name }

// fallback handles the calls of methods that a Processor does not have.
type fallback struct {
	handler Handler
	args    *thriftimpl.Desc // what the arguments are parsed as
	slow    *atomic.Bool
}

// WithFallback returns a Processor that has h handle the calls of methods that p does not have,
// which p answers with UnknownMethod. To h they are calls of a RawMethod: c.Method.WireName is the
// name that was called, c.Args.Message().Bytes() are the arguments, which were not looked at,
// c.Peek finds a value in them, and h puts a struct of its own, of which the bytes are the result,
// into c.Result. Forward makes such handlers. An *ApplicationException that h returns is sent with
// its type.
//
// Whether a call is oneway its header tells. Apache's Go clients, though, send oneway calls as
// two-way ones, for which Forward waits in vain: give NewProcessor a RawMethod for such methods.
//
// Of a Multiplexed processor, h is for the calls of all services and methods that it does not
// have. In one, the fallback of a service's Processor is for the calls of that service, and gets
// their methods' names alone.
func (p *Processor) WithFallback(h Handler) *Processor {
	return p.withFallback("WithFallback", rawDesc, h)
}

// WithFallbackArgs returns a Processor that has h handle the calls of methods that p does not
// have, see WithFallback, whose arguments have something in common, such as a header in the first
// of them: args, the descriptor of a generated struct S, says what, and ArgsOf[S] reads and
// changes it. All other fields are unknown ones, which are kept:
//
//	p = p.WithFallbackArgs(envelope.ArgumentsDesc, func(ctx context.Context, c *rpc.Call) error {
//		args, _ := rpc.ArgsOf[envelope.Arguments](c)
//		args.GetRequest().GetHeader().SetVia("proxy")
//		return forward(ctx, c)
//	})
//
// A call whose arguments do not have required fields of args is malformed.
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
func (p *Processor) method(h header) *Method {
	if m := p.methods[string(h.name)]; m != nil || p.unknown == nil && len(p.ofService) == 0 {
		return m
	}
	at := bytes.LastIndexByte(h.name, ':') + 1
	f, name := p.ofService[string(h.name[:at])], h.name[at:]
	if f == nil {
		f, name = p.unknown, h.name
	}
	if f == nil {
		return nil
	}
	m := RawMethod(string(name), h.typ == typeOneway)
	m.Args, m.handler, m.slow = f.args, f.handler, f.slow
	return m
}

// ThrowsAny declares an exception whose type is not known to the compiler, in field f of a result:
// of describes it, and as returns the struct of that type that a result holds as an error. An
// error that a handler returns is sent if it is or wraps a nocopy.AnyStruct that of describes.
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
