package dynamic

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/descriptor"
	"github.com/nocopythrift/nocopythrift/nocopy/reflection"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// Service is a service whose methods can be called and handled. Its embedded description has its
// own methods. The zero Service describes none.
type Service struct {
	descriptor.Service
	s *service
}

func serviceOf(s *service) Service {
	if s == nil {
		return Service{}
	}
	return Service{descriptor.ServiceOf(&s.Service), s}
}

// Base returns the service that s extends, and whether there is one.
func (s Service) Base() (base Service, ok bool) {
	if s.s == nil {
		return Service{}, false
	}
	return serviceOf(s.s.base), s.s.base != nil
}

// AllMethods iterates over the methods of the service, then over those of the services that it
// extends.
func (s Service) AllMethods() iter.Seq[descriptor.Method] {
	return func(yield func(descriptor.Method) bool) {
		for in := s.s; in != nil; in = in.base {
			for m := range descriptor.ServiceOf(&in.Service).Methods() {
				if !yield(m) {
					return
				}
			}
		}
	}
}

// call returns the rpc.Method and the description of a method of the service, or of a service that
// it extends.
func (s Service) call(name string) (*rpc.Method, descriptor.Method, error) {
	for in := s.s; in != nil; in = in.base {
		if i, ok := in.index[name]; ok {
			return in.calls[i], descriptor.MethodOf(&in.Methods[i]), nil
		}
	}
	service := ""
	if s.s != nil {
		service = s.s.Name + "."
	}
	return nil, descriptor.Method{}, fmt.Errorf("method %s%s: %w", service, name, descriptor.ErrNotFound)
}

// Exception is a declared exception, as the error of a call or of a handler. errors.As finds it:
//
//	var e dynamic.Exception
//	if errors.As(err, &e) { why, err := e.Get("why") … }
type Exception struct{ reflection.Message }

// Error returns the exception as text, as generated exceptions do.
func (e Exception) Error() string { return e.String() }

func exceptionOf(s nocopy.Struct, of *thriftimpl.Desc) error {
	return Exception{message(of, thriftimpl.Struct(s))}
}

// Client calls the methods of a service by name.
type Client struct {
	service Service
	caller  rpc.Caller
}

// Client returns a client that calls through c, such as an *rpc.Client.
func (s Service) Client(c rpc.Caller) Client {
	if c == nil {
		panic("nocopy: dynamic.Service.Client of a nil Caller")
	}
	return Client{s, rpc.InheritedCaller(c, s.Name())}
}

// NewArgs returns empty arguments for a method. The caller fills them and passes them to Call. If
// the service has no such method, the error wraps descriptor.ErrNotFound.
func (c Client) NewArgs(method string) (Message, error) {
	m, _, err := c.service.call(method)
	if err != nil {
		return Message{}, err
	}
	return message(m.Args, thriftimpl.Struct(c.caller.NewArgs(m))), nil
}

// Call calls a method and returns its result. The field success of the result is the method's
// return value. Release gives the result's memory back. Arguments from NewArgs belong to the call.
// Other arguments are copied; they may be any whole message of the method's arguments.
//
// The errors are those of a generated client; see package rpc. A declared exception is an
// Exception in a message of its own. With an error, and for a oneway method, the result is the
// zero Message.
func (c Client) Call(ctx context.Context, method string, args Message) (Message, error) {
	m, _, err := c.service.call(method)
	if err != nil {
		return Message{}, err
	}
	if args.ThriftDesc() != m.Args {
		return Message{}, fmt.Errorf("the arguments of %s are not a message of type %s", m, m.Args.Name())
	}
	s, err := c.caller.Call(ctx, m, nocopy.Struct(args.ThriftStruct()))
	if err != nil || m.Oneway() {
		return Message{}, err
	}
	return message(m.Result, thriftimpl.Struct(s)), nil
}

// Call is a call as a Handler sees it. It ends when the handler returns, together with Args and
// Result.
type Call struct {
	Method descriptor.Method
	Args   Message
	Result Message // the handler fills it; the zero Message if the method is oneway
	Peer   net.Addr
}

// Return sets the method's return value to v: any value that Message.Set accepts for its type,
// such as a Go map for a struct. It returns an error if v does not fit.
func (c *Call) Return(v any) error {
	if c.Method.Oneway() {
		return fmt.Errorf("method %s is oneway and returns nothing", c.Method.Name())
	}
	return c.Result.SetByID(0, v)
}

// Handler handles a call. It fills c.Result or returns an error. To answer with a declared
// exception, it returns an Exception with a message of that type. Lifetimes and errors are those
// of rpc.Handler.
type Handler func(ctx context.Context, c *Call) error

// Processor returns a Processor for an rpc.Server. h handles the calls of all methods of the
// service, and of the services that it extends. h may be nil if the Processor's WithHandler gives
// all of them handlers of package rpc, as in a proxy that edits the messages that it forwards.
func (s Service) Processor(h Handler) *rpc.Processor {
	if h == nil {
		h = func(context.Context, *Call) error { return errors.New("the method has no handler") }
	}
	return s.processor(func(string) Handler { return h })
}

// ProcessorOf returns a Processor with a handler for each method, keyed by name. It answers
// methods that are not in the map with rpc.UnknownMethod. It returns an error if a name is not a
// method of the service, or a Handler is nil.
func (s Service) ProcessorOf(handlers map[string]Handler) (*rpc.Processor, error) {
	for name, h := range handlers {
		if _, _, err := s.call(name); err != nil {
			return nil, err
		}
		if h == nil {
			return nil, fmt.Errorf("method %s.%s has a nil Handler", s.Name(), name)
		}
	}
	return s.processor(func(name string) Handler { return handlers[name] }), nil
}

// processor returns a Processor. of returns the handler of a method, or nil to leave the method
// out.
func (s Service) processor(of func(name string) Handler) *rpc.Processor {
	if s.s == nil {
		panic("nocopy: a processor of the zero dynamic.Service")
	}
	var methods []*rpc.Method
	for m := range s.AllMethods() {
		if h := of(m.Name()); h != nil {
			call, desc, _ := s.call(m.Name())
			methods = append(methods, call.HandledBy(handlerOf(desc, call, h)))
		}
	}
	return rpc.NewProcessor(s.s.Name, nil, methods...)
}

// handlerOf returns h as a handler of package rpc.
func handlerOf(desc descriptor.Method, m *rpc.Method, h Handler) rpc.Handler {
	return func(ctx context.Context, c *rpc.Call) error {
		call := Call{Method: desc, Args: message(m.Args, thriftimpl.Struct(c.Args)), Peer: c.Peer}
		if !m.Oneway() {
			call.Result = message(m.Result, thriftimpl.Struct(c.Result))
		}
		return h(ctx, &call)
	}
}

// Forward returns a handler that forwards calls unchanged to a server. It decodes neither
// arguments nor results nor declared exceptions, and needs no IDL. Use it with
// rpc.Processor.WithFallback. This forwards the calls of all methods:
//
//	rpc.NewProcessor("", nil).WithFallback(dynamic.Forward(client))
//
// Only the header of a call reports whether it expects a reply. Apache Thrift's Go library always
// says so, even for oneway methods; Forward then waits for a reply until the caller is gone. If
// the IDL is known, use Service.Proxy. [rpc.Forward] explains how malformed arguments of one
// client can affect calls of others on the same connection.
func Forward(to rpc.Caller) rpc.Handler {
	if to == nil {
		panic("nocopy: dynamic.Forward to a nil Caller")
	}
	return rpc.Forward(to)
}

// Proxy returns a Processor that forwards the calls of all methods as Forward does. The
// IDL says which methods are oneway, those of extended services included. A call's header does not
// count. If the server has several services, to is a MultiplexedCaller.
func (s Service) Proxy(to rpc.Caller) *rpc.Processor {
	if s.s == nil {
		panic("nocopy: a processor of the zero dynamic.Service")
	}
	h := Forward(to)
	var oneway []*rpc.Method
	for m := range s.AllMethods() {
		if m.Oneway() {
			oneway = append(oneway, rpc.RawMethod(m.Name(), true).HandledBy(h))
		}
	}
	return rpc.NewProcessor(s.s.Name, nil, oneway...).WithFallback(h)
}

// CallRaw calls a method by its name alone. args are the wire bytes of the struct
// with its arguments. CallRaw returns the wire bytes of the result, including declared exceptions.
// Both belong to the caller; args must not change until CallRaw returns.
func CallRaw(ctx context.Context, c rpc.Caller, name string, args []byte) ([]byte, error) {
	result, err := callRaw(ctx, c, rpc.RawMethod(name, false), args)
	if err != nil {
		return nil, err
	}
	b := result.Message().AppendTo(nil)
	result.Release()
	return b, nil
}

// CallRawOneway calls a oneway method by its name alone. args are the wire bytes of
// the struct with its arguments.
func CallRawOneway(ctx context.Context, c rpc.Caller, name string, args []byte) error {
	_, err := callRaw(ctx, c, rpc.RawMethod(name, true), args)
	return err
}

func callRaw(ctx context.Context, c rpc.Caller, m *rpc.Method, args []byte) (nocopy.Struct, error) {
	s, err := thriftimpl.Parse(m.Args, args)
	if err != nil {
		return nocopy.Struct{}, fmt.Errorf("arguments of %s: %w", m, err)
	}
	defer s.Release() // the call has a copy
	return c.Call(ctx, m, nocopy.Struct(s))
}
