package nocopykitex

import (
	"context"

	"github.com/cloudwego/gopkg/bufiox"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// Args are the arguments of a call, as Kitex's middlewares and codecs see them. A client encodes
// them before it calls Kitex. Sending only reads them, which lets retries and backup requests send
// them at the same time, and after the call has returned. Their memory is never recycled.
type Args struct {
	method *Method
	body   body
	call   *call // the client's call; nil on a server
}

// Struct returns the arguments as a struct, for conversion to their generated type, as in
// kv.StoreGetArgs(a.Struct()). On a client, a middleware may change them until it calls the next
// one. Arguments from NewArgs of serviceinfo.MethodInfo are empty: callers of a server.LocalCaller
// fill them.
func (a *Args) Struct() nocopy.Struct {
	if a.body.empty() {
		a.body.set(thriftimpl.NewForCall(a.method.rpc.Args, 0, nocopy.Limits{}, false))
	}
	return a.body.root()
}

// GetFirstArgument returns the first argument: for a struct a pointer to its handle, for other
// types the value. It is nil if the method has none.
func (a *Args) GetFirstArgument() any {
	if a.method.first == nil {
		return nil
	}
	return a.method.first(a.Struct())
}

// Write writes the arguments. Kitex calls it.
func (a *Args) Write(ctx context.Context, _ string, out bufiox.Writer) error {
	if a.call != nil {
		if err := a.call.send(ctx); err != nil {
			return err
		}
	}
	return a.body.write(out)
}

// Read receives the arguments. They have n bytes; if n is 0, they end at their STOP. Kitex calls
// it on servers.
func (a *Args) Read(ctx context.Context, _ string, n int, in bufiox.Reader) error {
	growStack(0)
	s := scopeOf(ctx, true)
	recycle := s != nil && s.recycle
	r, err := receive(in, n, recycle)
	if err != nil {
		return err
	}
	m, err := parse(a.method.rpc.Args, r.chunk, true, recycle)
	if err != nil {
		return err
	}
	a.body.set(m)
	if s != nil {
		s.sliced.Store(int64(r.sliced))
		s.args, s.atOnce = a, r.atOnce
	}
	return nil
}

// Result is the result of a call, as Kitex's middlewares and codecs see it.
type Result struct {
	method *Method
	body   body
	call   *call // on a client, the call whose result, or attempt's result, this is; else nil
}

// Struct returns the result as a struct, for conversion to its generated type, as in
// kv.StoreGetResult(r.Struct()). Before there is a result, it is absent.
func (r *Result) Struct() nocopy.Struct { return r.body.root() }

// GetResult returns a pointer to the return value, or a nil pointer if there is none. If the
// method returns nothing, it is a nil interface.
func (r *Result) GetResult() any {
	if r.method.success == nil {
		return nil
	}
	s := r.Struct()
	return r.method.success.get(s, thriftimpl.Struct(s).HasField(r.method.rpc.Success))
}

// SetSuccess sets the return value to v, which is a value or a pointer to one, such as another
// call's GetResult. Nil, or a nil pointer, removes it. SetSuccess panics if v has another type.
func (r *Result) SetSuccess(v any) {
	var there bool
	if r.method.success != nil {
		v, there = r.method.success.value(v)
	}
	if !there {
		// Kitex passes the result of the attempt that has ended the call. It may hold a declared
		// exception, which GetResult does not return.
		if r.call != nil && r == &r.call.result {
			r.body.receive(r.call.lastReply())
		} else {
			r.body.receive(nocopy.Struct{})
		}
		return
	}
	if r.call != nil {
		if s := r.method.wholeResult(v); s != (nocopy.Struct{}) {
			r.body.receive(s)
			return
		}
	}
	h, _ := v.(nocopy.AnyHandle)
	recycle := h != nil && thriftimpl.Recycles(h.ThriftStruct())
	if r.call != nil {
		var s thriftimpl.Struct
		if recycle {
			s = thriftimpl.New(r.method.rpc.Result, nocopy.Recycle)
		} else {
			s = thriftimpl.New(r.method.rpc.Result)
		}
		r.method.setSuccess(s, v)
		r.call.made(nocopy.Struct(s))
		r.body.receive(nocopy.Struct(s))
		return
	}
	m := thriftimpl.NewForCall(r.method.rpc.Result, 0, nocopy.Limits{}, recycle)
	r.method.setSuccess(thriftimpl.Struct(m.Root()), v)
	r.body.set(m)
}

// Write writes the result. Kitex calls it on servers.
func (r *Result) Write(ctx context.Context, _ string, out bufiox.Writer) error {
	if s := scopeOf(ctx, true); s != nil {
		s.answer(r)
	}
	if r.body.empty() { // a middleware has answered instead of the handler
		r.body.set(thriftimpl.NewForCall(r.method.rpc.Result, 0, nocopy.Limits{}, false))
	}
	return r.body.write(out)
}

// Read receives the result. It has n bytes; if n is 0, it ends at its STOP. Kitex calls it on
// clients.
func (r *Result) Read(ctx context.Context, _ string, n int, in bufiox.Reader) error {
	s := scopeOf(ctx, false)
	recycle := s != nil && s.recycle
	b, err := receive(in, n, recycle)
	if err != nil {
		return err
	}
	if s != nil {
		s.sliced.Store(int64(b.sliced))
	}
	m, err := parse(r.method.rpc.Result, b.chunk, false, recycle)
	if err != nil {
		return err
	}
	if a := attemptOf(ctx); a != nil && a.of.method == r.method {
		return a.of.received(a, r, m.Root(), b.atOnce)
	}
	r.body.receive(m.Root())
	return nil
}
