package rpc

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync/atomic"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// Method describes a method of a service. Generated code makes one for each.
type Method struct {
	Service string // the service that declares it
	Name    string // as in the IDL
	Args    *thriftimpl.Desc
	Result  *thriftimpl.Desc // nil if the method is oneway
	// The result's field for the return value; 0 if the method returns nothing
	Success thriftimpl.Field
	Throws  []Exception

	prefix  string  // the service's name and a colon in multiplexed calls, else ""
	raw     bool    // made by RawMethod
	lazy    bool    // a server parses its arguments lazily
	direct  bool    // interceptors are not called
	passes  *Method // if calls return their result whatever is in it, the same method without that
	handler Handler
	slow    *atomic.Bool // the handler took longer than patience last time
}

// HandledBy returns a copy of the method that has h as its handler, for NewProcessor.
func (m *Method) HandledBy(h Handler) *Method {
	c := *m
	c.handler, c.slow = h, new(atomic.Bool)
	return &c
}

// Unimplemented returns what a server answers to a method that it does not have: an
// ApplicationException of the type UnknownMethod. Handlers generated as UnimplementedXHandler
// return it.
func (m *Method) Unimplemented() error { return &ApplicationException{UnknownMethod, m.Name} }

// Oneway reports whether the method is oneway: its calls have no reply.
func (m *Method) Oneway() bool { return m.Result == nil }

// String returns the names of the service and of the method with a dot between them; of a
// RawMethod its WireName.
func (m *Method) String() string {
	if m.raw {
		return m.WireName()
	}
	return m.prefix + m.Service + "." + m.Name
}

// Exception is a declared exception of a method. Throws makes one.
type Exception struct {
	set func(result nocopy.Struct, d *thriftimpl.Desc, err error) (bool, error)
	get func(result nocopy.Struct, d *thriftimpl.Desc) error
}

// Throws returns the description of a declared exception: f is the result's field for it, and of
// is its descriptor. For generated code.
func Throws[E interface {
	nocopy.View
	error
}](f thriftimpl.Field, of *thriftimpl.Desc) Exception {
	return Exception{
		set: func(result nocopy.Struct, d *thriftimpl.Desc, err error) (bool, error) {
			var e E
			if !errors.As(err, &e) {
				return false, nil
			}
			if err := thriftimpl.Struct(e).Sendable(); err != nil {
				return false, fmt.Errorf("the handler returned a %T that can't be sent: %w", e, err)
			}
			thriftimpl.Struct(result).SetChild(f, d, thriftimpl.Struct(e))
			return true, nil
		},
		get: func(result nocopy.Struct, d *thriftimpl.Desc) error {
			if !thriftimpl.Struct(result).HasField(f) {
				return nil
			}
			return E(thriftimpl.Struct(result).Child(f, d).Clone(of)) // the error outlives the result
		},
	}
}

// exception returns the declared exception that a result holds, nil if there is none.
func (m *Method) exception(result nocopy.Struct) error {
	for i := range m.Throws {
		if err := m.Throws[i].get(result, m.Result); err != nil {
			return err
		}
	}
	return nil
}

// setException puts the declared exception that err is or wraps into an empty result, and reports
// whether there is one. It returns an error if the exception can't be sent, since it is absent,
// was released, or is nested too deeply.
func (m *Method) setException(result nocopy.Struct, err error) (bool, error) {
	for i := range m.Throws {
		if ok, err := m.Throws[i].set(result, m.Result, err); ok || err != nil {
			return ok, err
		}
	}
	return false, nil
}

// outcome returns the error of a call that has this result: the declared exception in it, or
// MissingResult if it holds neither that nor the return value; nil if all is well, or m passes
// results on.
func (m *Method) outcome(result nocopy.Struct) error {
	if m.passes != nil {
		return nil
	}
	err := m.exception(result)
	if err == nil && m.Success != 0 && !thriftimpl.Struct(result).HasField(m.Success) {
		return &ApplicationException{MissingResult, m.String()}
	}
	return err
}

// Call is a call as handlers and interceptors see it. It ends when the outermost interceptor
// returns, or the handler if there is none, and must not be kept.
type Call struct {
	Method *Method

	// Args are the arguments. They belong to the library and are valid until the call ends. An
	// interceptor may put a struct of its own there, which must be of type Method.Args and stays its
	// own. Packages fmt and log/slog print Args and Result as text, with values redacted; AnyArgs(c)
	// is printed on several lines by %+v.
	Args nocopy.Struct

	// Result is the result: a server's handler fills it; on a client next sets it to what the server
	// has sent. An interceptor may put a struct of its own there instead, such as one that it keeps
	// for many calls or that a Client's Call has returned: a copy of it is sent or returned. The
	// interceptor may release it at any time after it has returned, or leave it to the garbage
	// collector.
	Result nocopy.Struct

	Peer net.Addr // the client's address; nil on a client

	fields []sentField // what SetField has set on a client
	// The Result that Forward has put here last, and those that it had put here before. Nothing with
	// serverTries, which have them then
	forwarded       nocopy.Struct
	forwardedBefore []nocopy.Struct
	serverTries     *serverTries // nil on a client, and without interceptors
	clientTries     *clientTries // nil on a server, and without interceptors
	busy            int32        // 1 while a client's next is under way with this Call
}

// Exception returns the declared exception that Result holds, nil if there is none. It is a
// message of its own.
func (c *Call) Exception() error {
	if m := c.Method; m != nil && len(m.Throws) > 0 && thriftimpl.Struct(c.Result).Is(m.Result) {
		return m.exception(c.Result)
	}
	return nil
}

// Peek finds one value in the bytes of Args by the ids of fields and the indices of elements, as
// nocopy.Peek does: nothing is indexed. It is valid for as long as strings that are read from Args
// are, also when these are changed. (Args.Message().Bytes() would do too, but a message whose
// *Message was handed out is not used again for other calls, which costs memory.) If Args are in
// several pieces, as large ones are that came without a frame, and the value is not in the first,
// they are copied.
func (c *Call) Peek(path ...int) (nocopy.Value, error) {
	return thriftimpl.Struct(c.Args).Peek(path...)
}

// Handler handles a call: on a server it fills c.Result or returns an error, on a client it sends
// the call and sets c.Result.
//
// An exception that a server's handler returns, as it is or wrapped, stays the handler's: the
// reply has a copy. The handler may release it after the call has ended, return the same one from
// many calls at a time, or leave it to the garbage collector. If it is released before the handler
// has returned, the client gets an internal error instead.
//
// A handler must not release its args or result: their handles end then, and the client gets an
// internal error.
type Handler func(ctx context.Context, c *Call) error

// Interceptor is called around a handler, on a server or on a client. It calls next, which is the
// handler or the next interceptor, or returns an error instead.
//
// An interceptor may call next more than once, one call after the other, for instance to try
// again: each begins with an empty result. For several calls of next at the same time it gives
// each a copy of the Call, on a server with a Result of its own. On a server next returns an error
// after the interceptor has returned, so that an interceptor that does not want to wait for next
// any longer may return an error at once. Args and results are valid until all calls of next have
// returned.
//
// On a server, next's error is a declared exception whether the handler returned it or put it into
// the result, and Result holds it in both cases. A panic of the handler is an error of next too.
// The reply is what the outermost interceptor returns: an error, whatever Result holds; or, with
// nil, Result as it is, so that an interceptor that drops a declared exception must put another
// Result there.
type Interceptor func(ctx context.Context, c *Call, next Handler) error

// wrap returns h with interceptors around it, the first one outermost. All but the first are
// called through callInner, since the interceptor around them may return before they do.
func wrap(list []Interceptor, h Handler, callInner func(ctx context.Context, c *Call, next Handler) error) Handler {
	for i := len(list) - 1; i >= 0; i-- {
		f, next := list[i], h
		h = func(ctx context.Context, c *Call) error { return f(ctx, c, next) }
		if i > 0 {
			f := h
			h = func(ctx context.Context, c *Call) error { return callInner(ctx, c, f) }
		}
	}
	return h
}
