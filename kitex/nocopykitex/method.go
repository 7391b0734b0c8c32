package nocopykitex

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/cloudwego/kitex/pkg/remote"
	"github.com/cloudwego/kitex/pkg/serviceinfo"
	"github.com/cloudwego/kitex/pkg/streaming"
	"github.com/cloudwego/kitex/server"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// Generated code names the oldest version of this package that it needs: with an older one the
// compiler reports the name of this constant as undefined. If a nocopyc of version 1.y writes
// something that 1.x of this package did not have, its code refers to another constant,
// NeedsNocopykitexV1_y, which is added here. This one stays.
const NeedsNocopykitexV1 = 1

// GeneratedV1 makes code that version 0.3.0 generated fail to compile. The compiler reports that
// it is not a constant, and names its type, which says what to do.
var GeneratedV1 GenerateThisCodeAgainWithNocopyc

// GenerateThisCodeAgainWithNocopyc appears in the compiler's error for code that a version before
// 1.0 generated.
type GenerateThisCodeAgainWithNocopyc struct{}

// Method describes a method of a service for Kitex. Generated code makes one for each.
type Method struct {
	name    string
	rpc     *rpc.Method // nil for a streaming method
	info    serviceinfo.MethodInfo
	first   func(args nocopy.Struct) any
	success *Value
	call    func(ctx context.Context, handler any, args, result nocopy.Struct) error
	mode    serviceinfo.StreamingMode
	stream  serviceinfo.MethodHandler
}

// Unary describes a method with a result. call is a method of the handler interface H. first and
// success are nil if there is no argument or no return value. For generated code.
func Unary[H any, A, R nocopy.View](name string, call func(H, context.Context, A, R) error, first func(nocopy.Struct) any, success *Value) *Method {
	return &Method{
		name: name, first: first, success: success,
		call: func(ctx context.Context, h any, args, result nocopy.Struct) error {
			return call(unwrap[H](h), ctx, A(args), R(result))
		},
	}
}

// Oneway is Unary for a oneway method. For generated code.
func Oneway[H any, A nocopy.View](name string, call func(H, context.Context, A) error, first func(nocopy.Struct) any) *Method {
	return &Method{
		name: name, first: first,
		call: func(ctx context.Context, h any, args, _ nocopy.Struct) error { return call(unwrap[H](h), ctx, A(args)) },
	}
}

// OverStreams makes m use transports for streams, as (streaming.mode = "unary") in the IDL
// demands, and returns m. For generated code.
func (m *Method) OverStreams() *Method {
	m.mode = serviceinfo.StreamingUnary
	return m
}

// Stream describes a streaming method. call handles a stream. For generated code.
func Stream[H any](name string, mode serviceinfo.StreamingMode, call func(ctx context.Context, h H, st streaming.ServerStream) error) *Method {
	return &Method{name: name, mode: mode, stream: func(ctx context.Context, h, arg, _ any) error {
		st, err := streaming.GetServerStreamFromArg(arg)
		if err != nil {
			return err
		}
		return call(ctx, unwrap[H](h), st)
	}}
}

// Service describes a service for Kitex. Generated code makes one.
type Service struct {
	name, pkg string
	handler   any
	methods   map[string]*Method
	streams   bool
}

// NewService returns the description of a service. Its parameters are the service's name and
// namespace in the IDL, a nil pointer to the interface of its handlers, a Processor with its
// methods, and the methods. For generated code.
func NewService(name, pkg string, handler any, p *rpc.Processor, methods ...*Method) *Service {
	s := &Service{name: name, pkg: pkg, handler: handler, methods: map[string]*Method{}}
	known := map[string]*rpc.Method{}
	for name, m := range p.Methods() {
		known[name] = m
	}
	for _, m := range methods {
		s.methods[m.name] = m
		if m.stream != nil {
			s.streams = true
			m.info = serviceinfo.NewMethodInfo(m.stream, func() any { return nil }, func() any { return nil }, false,
				serviceinfo.WithStreamingMode(m.mode))
			continue
		}
		if m.rpc = known[m.name]; m.rpc == nil {
			panic("nocopy: service " + name + " has no method " + m.name)
		}
		m.info = serviceinfo.NewMethodInfo(m.serve, m.newArgs, m.newResult, m.rpc.Oneway(),
			serviceinfo.WithStreamingMode(m.mode))
	}
	return s
}

func (m *Method) newArgs() any {
	a := &Args{method: m}
	a.body.desc = m.rpc.Args
	return a
}

func (m *Method) newResult() any {
	if m.rpc.Oneway() {
		return nil
	}
	r := &Result{method: m}
	r.body.desc = m.rpc.Result
	return r
}

// Info returns the description for Kitex's servers and clients.
func (s *Service) Info() *serviceinfo.ServiceInfo {
	info := &serviceinfo.ServiceInfo{
		ServiceName:     s.name,
		HandlerType:     s.handler,
		Methods:         map[string]serviceinfo.MethodInfo{},
		PayloadCodec:    serviceinfo.Thrift,
		KiteXGenVersion: kitexVersion,
		Extra:           map[string]any{serviceinfo.PackageName: s.pkg},
	}
	for name, m := range s.methods {
		info.Methods[name] = m.info
	}
	return info
}

// kitexVersion is the version of Kitex that this package was written for.
const kitexVersion = "v0.16.3"

// NewServer returns a server of the service with this handler. For generated code.
func NewServer(s *Service, handler any, opts []server.Option) server.Server {
	opts = append(opts[:len(opts):len(opts)], server.WithCompatibleMiddlewareForUnary())
	svr := server.NewServer(opts...)
	if err := Register(svr, s, handler, nil); err != nil {
		panic(err)
	}
	return svr
}

// Register adds the service with this handler to a server. For generated code.
func Register(svr server.Server, s *Service, handler any, opts []server.RegisterOption) error {
	switch reflect.ValueOf(handler).Kind() {
	case reflect.Pointer, reflect.Map, reflect.Func, reflect.Chan, reflect.Slice, reflect.Invalid:
	default:
		handler = &valueHandler{handler}
	}
	return svr.RegisterService(s.Info(), handler, opts...)
}

// valueHandler wraps a handler that is not a pointer. Kitex checks whether a handler is nil by
// reflection, which panics for other values.
type valueHandler struct{ handler any }

// unwrap returns the handler that was registered as h.
func unwrap[H any](h any) H {
	if v, ok := h.(*valueHandler); ok {
		h = v.handler
	}
	return h.(H)
}

// serve handles a call, as a serviceinfo.MethodHandler.
func (m *Method) serve(ctx context.Context, handler, arg, res any) error {
	if st, ok := arg.(*streaming.Args); ok {
		return m.serveStream(ctx, handler, st.ServerStream)
	}
	args, ok := arg.(*Args)
	if !ok || args.method != m {
		return fmt.Errorf("nocopy: method %s called with a %T", m.name, arg)
	}
	result, _ := res.(*Result)
	s := scopeOf(ctx, true)
	if s != nil {
		defer s.end()
		if !s.begin(result) {
			return errors.New("nocopy: the call has ended")
		}
	}
	recycle := s != nil && s.recycle
	a := args.body.message()
	if a == nil {
		return errEmpty
	}
	ctx, closeReply := receiveHeaders(ctx)
	err := m.handle(ctx, handler, a, result, recycle)
	closeReply()
	if recycle {
		thriftimpl.EndHandles(a)
	} else if a.Check() == nil {
		args.body.encode(a, 0, longOwn)
		thriftimpl.End(a)
	}
	return err
}

// serveStream handles a call over a transport for streams. Servers without
// server.WithCompatibleMiddlewareForUnary leave that to the method.
func (m *Method) serveStream(ctx context.Context, handler any, st streaming.ServerStream) error {
	args, result := m.newArgs(), m.newResult()
	if err := st.RecvMsg(ctx, args); err != nil {
		return err
	}
	if err := m.serve(ctx, handler, args, result); err != nil {
		return err
	}
	return st.SendMsg(ctx, result)
}

// handle calls the handler with args and stores its outcome in result, which may be nil. It
// returns an error other than a declared exception in the form that Kitex sends.
func (m *Method) handle(ctx context.Context, handler any, args *nocopy.Message, result *Result, recycle bool) error {
	var room [2]*nocopy.Message
	own := room[:0] // the results made here
	defer func() {
		for _, r := range own {
			thriftimpl.End(r)
		}
	}()
	newResult := func() *nocopy.Message {
		own = append(own, thriftimpl.NewForCall(m.rpc.Result, 0, nocopy.Limits{}, recycle))
		return own[len(own)-1]
	}
	var r *nocopy.Message
	out := thriftimpl.Absent()
	if result != nil {
		r = newResult()
		out = r.Root()
	}
	err := m.call(ctx, handler, args.Root(), out)
	if err == nil && (thriftimpl.Disowned(args) || r != nil && thriftimpl.Disowned(r)) {
		err = errDisowned
	}
	if result == nil {
		return err
	}
	if err == nil {
		err = r.Check()
	}
	if err != nil {
		r, err = m.declared(err, newResult)
	}
	if err != nil {
		return err
	}
	own = slices.DeleteFunc(own, func(o *nocopy.Message) bool { return o == r })
	result.keep(r, recycle)
	return nil
}

var errDisowned = errors.New("nocopy: the handler has released its arguments or its result, which belong to Kitex")

// declared returns a result, made by newResult, with the declared exception err. If err is not a
// declared exception, it returns the error that Kitex sends.
func (m *Method) declared(err error, newResult func() *nocopy.Message) (*nocopy.Message, error) {
	if len(m.rpc.Throws) > 0 {
		r := newResult()
		ok, bad := m.rpc.SetException(r.Root(), err)
		if ok && bad == nil {
			bad = r.Check()
		}
		if bad != nil {
			return nil, bad
		}
		if ok {
			return r, nil
		}
	}
	if e, ok := errors.AsType[*rpc.ApplicationException](err); ok && e != nil {
		return nil, remote.NewTransError(int32(e.Type), err)
	}
	return nil, err
}

// keep makes m, which must be finished, the result.
func (r *Result) keep(m *nocopy.Message, recycle bool) {
	if recycle {
		thriftimpl.EndHandles(m)
		r.body.set(m)
		return
	}
	r.body.encode(m, shareFrom, longOwn)
	thriftimpl.End(m)
}
