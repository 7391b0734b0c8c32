package rpc

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// Forward returns a Handler that makes each call with backend, such as a Client, and answers with
// its result or its *ApplicationException. The result may hold fields and exceptions that this
// program does not know. Pass the Handler to Processor.WithHandler or WithFallback. Handlers and
// interceptors around it may read and change c.Args and c.Result:
//
//	forward := rpc.Forward(backend)
//	p := meta.NewMetastoreProcessor(meta.UnimplementedMetastoreHandler{})
//	p = p.WithHandler(forward).WithHandler(
//		func(ctx context.Context, c *rpc.Call) error {
//			args, _ := rpc.ArgsOf[meta.MetastoreCreateTableArgs](c)
//			args.GetTable().SetOwner("proxy")
//			return forward(ctx, c)
//		}, "create_table")
//
// Each side has its own sequence ids and transport. The backend gets method names without a
// service's name, with two exceptions: backend is a MultiplexedCaller, or the method came to a
// fallback with a service's name. The call ends with ctx, which a server ends when its client is
// gone. Server.Lazy and the option Lazy avoid indexing values that are not read.
//
// All arguments are well-formed when they are forwarded. But lazily parsed arguments, and
// arguments of a RawMethod, may lack required fields, or have text that is not UTF-8. A Server of
// this package refuses such a call and goes on. Other Thrift servers close the connection, and
// calls of other clients on it then fail. If clients are not trusted and the backend is such a
// server, call c.Args.Message().Index before forwarding lazily parsed arguments. For a RawMethod,
// forward the calls of each such client with a Client of its own.
//
// Forward copies only changed bytes and pieces shorter than 4 KiB, unless one side speaks the
// compact protocol or compresses: then messages are converted, see Stats.Converted. (If backend is
// a Client with interceptors, arguments are indexed again, and copied if they are in several
// pieces and have nested containers.) Arguments are sent as they are when the call begins.
//
// A result is released when the reply has been made from it, or, if another one is sent, when the
// call ends. There is one exception: a result that was put into a copy of a Call belongs to the
// handler, unless the server has interceptors.
func Forward(backend Caller) Handler {
	if backend == nil {
		panic("nocopy: rpc.Forward to a nil Caller")
	}
	var passing sync.Map // *Method → a copy of it that passes results on
	return func(ctx context.Context, c *Call) error {
		m := c.Method
		if !m.raw && !m.Oneway() {
			p, ok := passing.Load(m)
			if !ok {
				of := *m
				of.passes = m
				p, _ = passing.LoadOrStore(m, &of)
			}
			m = p.(*Method)
		}
		ctx, passBack := passHeaders(ctx)
		result, err := backend.Call(ctx, m, c.Args)
		if passBack != nil {
			passBack()
		}
		if err == nil && !m.Oneway() {
			c.putForwarded(result)
		}
		return err
	}
}

// putForwarded makes result, which a backend has sent, c's Result. It is released when the reply
// has been made of it, or when the call ends, unless somebody has released it before.
func (c *Call) putForwarded(result nocopy.Struct) {
	c.Result = result
	s := thriftimpl.Struct(result)
	if !s.Is(c.Method.Result) {
		return
	}
	s.Offer()
	s.Claim(c.Method.Result) // from now on End tells whether it was released
	switch a, ok := c.tries.(*serverTries); {
	case ok:
		a.mu.Lock()
		a.forwarded = append(a.forwarded, result)
		a.mu.Unlock()
	case c.forwarded == nocopy.Struct{}:
		c.forwarded = result
	default:
		c.forwardedBefore = append(c.forwardedBefore, c.forwarded)
		c.forwarded = result
	}
}

// isForwarded reports whether Forward has put c's Result there.
func (c *Call) isForwarded() bool {
	if a, ok := c.tries.(*serverTries); ok {
		a.mu.Lock()
		defer a.mu.Unlock()
		return slices.Contains(a.forwarded, c.Result)
	}
	return c.Result == c.forwarded || slices.Contains(c.forwardedBefore, c.Result)
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

// ArgsOf returns c's arguments as their generated type S, and reports whether they have that type.
// Otherwise it returns the zero S. They are valid as long as c.Args.
func ArgsOf[S nocopy.StructView](c *Call) (S, bool) { return structOf[S](c.Args, c.Method.Args) }

// ResultOf returns c's result as its generated type S, and reports whether it has that type.
// Otherwise, and if c is oneway or has no result yet, it returns the zero S. It is valid as long
// as c.Result.
func ResultOf[S nocopy.StructView](c *Call) (S, bool) { return structOf[S](c.Result, c.Method.Result) }

// AnyArgs returns c's arguments for packages that accept messages of any type, such as reflection
// and messages. It is absent if they do not have the method's type. The arguments of a RawMethod
// have no known fields. Packages fmt and log/slog print the result like a generated type, with
// values redacted. It is valid as long as c.Args.
func AnyArgs(c *Call) nocopy.AnyStruct { return anyOf(c.Args, c.Method.Args) }

// AnyResult returns c's result with its descriptor, for packages that accept messages of any type.
// It is absent also if c is oneway or has no result yet. It is printed like AnyArgs. It is valid
// as long as c.Result.
func AnyResult(c *Call) nocopy.AnyStruct { return anyOf(c.Result, c.Method.Result) }

// described is a struct with its type.
type described struct {
	s nocopy.Struct
	d *thriftimpl.Desc
}

func (a described) ThriftDesc() *thriftimpl.Desc    { return a.d }
func (a described) ThriftStruct() thriftimpl.Struct { return thriftimpl.Struct(a.s) }
func (a described) String() string                  { return thriftimpl.StringOf(a.ThriftStruct(), a.d) }
func (a described) Format(f fmt.State, verb rune) {
	thriftimpl.FormatOf(a.ThriftStruct(), f, verb, a.d)
}
func (a described) LogValue() slog.Value { return thriftimpl.LogValueOf(a.ThriftStruct(), a.d) }

// anyOf returns s, of type d; absent if it is not of that type.
func anyOf(s nocopy.Struct, d *thriftimpl.Desc) nocopy.AnyStruct {
	if d == nil {
		return described{thriftimpl.Absent(), rawDesc}
	}
	if !thriftimpl.Struct(s).Is(d) {
		s = thriftimpl.Absent()
	}
	return described{s, d}
}

// structOf returns s, of type d, as an S, if S is the type of d and s is not absent.
func structOf[S nocopy.StructView](s nocopy.Struct, d *thriftimpl.Desc) (S, bool) {
	var zero S
	if d == nil || zero.ThriftDesc() != d || !thriftimpl.Struct(s).Is(d) {
		return zero, false
	}
	return S(s), true
}
