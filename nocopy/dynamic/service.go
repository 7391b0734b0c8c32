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

// Service is a service, whose methods can be called and handled. The description that it has tells
// its own methods. The zero Service describes none.
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

// Base returns the service that s extends, and whether it extends one.
func (s Service) Base() (base Service, ok bool) {
	if s.s == nil {
		return Service{}, false
	}
	return serviceOf(s.s.base), s.s.base != nil
}

// AllMethods returns an iterator over the methods of the service, and after them those of the
// services that it extends.
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

// call returns what package rpc calls a method of the service, or of those that it extends, by,
// and the method's description.
func (s Service) call(name string) (*rpc.Method, descriptor.Method, error) {
	for in := s.s; in != nil; in = in.base {
		for i, m := range in.calls {
			if m.Name == name {
				return m, descriptor.MethodOf(&in.Methods[i]), nil
			}
		}
	}
	service := ""
	if s.s != nil {
		service = s.s.Name + "."
	}
	return nil, descriptor.Method{}, fmt.Errorf("method %s%s: %w", service, name, descriptor.ErrNotFound)
}

// Exception is a declared exception: the error of a call that was answered with it, or of a
// handler that answers with it. errors.As finds it:
//
//	var e dynamic.Exception
//	if errors.As(err, &e) { why, err := e.Get("why") … }
type Exception struct{ reflection.Message }

// Error returns the exception as text, as generated exceptions do.
func (e Exception) Error() string { return e.String() }

func exceptionOf(s nocopy.Struct, of *thriftimpl.Desc) error {
	return Exception{message(of, thriftimpl.Struct(s))}
}

// Client calls the methods of a service by their names.
type Client struct {
	service Service
	caller  rpc.Caller
}

// Client returns a client that calls through c, such as an *rpc.Client.
func (s Service) Client(c rpc.Caller) Client {
	if c == nil {
		panic("nocopy: dynamic.Service.Client of a nil Caller")
	}
	return Client{s, c}
}

// NewArgs returns the arguments of a method, to be filled and given to Call. The error wraps
// descriptor.ErrNotFound: the service has no such method.
func (c Client) NewArgs(method string) (Message, error) {
	m, _, err := c.service.call(method)
	if err != nil {
		return Message{}, err
	}
	return message(m.Args, thriftimpl.Struct(c.caller.NewArgs(m))), nil
}

// Call calls a method and returns its result, whose field success is what the method returns; its
// Release gives its memory back. Arguments from NewArgs belong to the call from then on. Others
// are copied, and may be any whole message of the method's arguments.
//
// The error is as a generated client's, see package rpc; a declared exception is an Exception,
// which is a message of its own. With an error, and of a oneway method, the result is the zero
// Message.
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

// Call is a call as a Handler sees it. It ends when the handler returns: then Args and Result do.
type Call struct {
	Method descriptor.Method
	Args   Message
	Result Message // to be filled; the zero Message if the method is oneway
	Peer   net.Addr
}

// Return sets what the method returns: v is what Message's Set takes for that type, such as a Go
// map for a struct. The error tells why v can't be it.
func (c *Call) Return(v any) error {
	if c.Method.Oneway() {
		return fmt.Errorf("method %s is oneway and returns nothing", c.Method.Name())
	}
	return c.Result.SetID(0, v)
}

// Handler handles a call: it fills c.Result or returns an error. A declared exception is an
// Exception with a message of its type. Lifetimes and errors are those of rpc.Handler.
type Handler func(ctx context.Context, c *Call) error

// Processor returns a Processor for an rpc.Server that has h handle the calls of all methods of
// the service and of those that it extends. h may be nil if all of them get handlers of package
// rpc by the Processor's WithHandler, as in a proxy that edits what it forwards.
func (s Service) Processor(h Handler) *rpc.Processor {
	if h == nil {
		h = func(context.Context, *Call) error { return errors.New("the method has no handler") }
	}
	return s.processor(func(string) Handler { return h })
}

// ProcessorOf returns a Processor with a handler for each method, by its name. Calls of methods
// that are not in the map are answered with rpc.UnknownMethod. The error tells of a name that is
// no method of the service, or of a nil Handler.
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

// processor returns a Processor for the methods for which of returns a handler.
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

// handlerOf returns h as package rpc calls it.
func handlerOf(desc descriptor.Method, m *rpc.Method, h Handler) rpc.Handler {
	return func(ctx context.Context, c *rpc.Call) error {
		call := Call{Method: desc, Args: message(m.Args, thriftimpl.Struct(c.Args)), Peer: c.Peer}
		if !m.Oneway() {
			call.Result = message(m.Result, thriftimpl.Struct(c.Result))
		}
		return h(ctx, &call)
	}
}

// Forward returns a handler that forwards calls as they are to a server: nothing of arguments,
// results and declared exceptions is decoded, and no IDL is needed. It is for
// rpc.Processor.WithFallback; with rpc.NewProcessor("", nil) that forwards the calls of all
// methods:
//
//	rpc.NewProcessor("", nil).WithFallback(dynamic.Forward(client))
//
// Only a call's header tells whether it wants a reply. Those of Apache Thrift's Go library always
// say so, of oneway methods, too: a reply is then waited for until the caller is gone. Where the
// IDL is known use Service.Proxy. What malformed arguments of a stranger do to others' calls on
// the same connection is in the documentation of [rpc.Forward].
func Forward(to rpc.Caller) rpc.Handler {
	if to == nil {
		panic("nocopy: dynamic.Forward to a nil Caller")
	}
	return rpc.Forward(to)
}

// Proxy returns a Processor that forwards the calls of all methods as Forward does, and that knows
// which methods of the service, and of those that it extends, are oneway, whatever a call's header
// says. Of one of several services to is a MultiplexedCaller.
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

// CallRaw calls a method of which only the name is known: args are the wire bytes of the struct
// with its arguments, and so are those that it returns of its result, declared exceptions
// included. Both are the caller's; args must not change until it returns.
func CallRaw(ctx context.Context, c rpc.Caller, name string, args []byte) ([]byte, error) {
	result, err := callRaw(ctx, c, rpc.RawMethod(name, false), args)
	if err != nil {
		return nil, err
	}
	b := result.Message().AppendTo(nil)
	result.Release()
	return b, nil
}

// CallRawOneway calls a oneway method of which only the name is known. args are the wire bytes of
// its arguments, a struct.
func CallRawOneway(ctx context.Context, c rpc.Caller, name string, args []byte) error {
	_, err := callRaw(ctx, c, rpc.RawMethod(name, true), args)
	return err
}

func callRaw(ctx context.Context, c rpc.Caller, m *rpc.Method, args []byte) (nocopy.Struct, error) {
	s, err := thriftimpl.Parse(m.Args, args)
	if err != nil {
		return nocopy.Struct{}, fmt.Errorf("arguments of %s: %w", m, err)
	}
	return c.Call(ctx, m, nocopy.Struct(s))
}
