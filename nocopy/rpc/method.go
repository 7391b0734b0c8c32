package rpc

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync/atomic"

	"github.com/nocopythrift/nocopythrift/nocopy"
)

// Method describes a method of a service. Generated code makes one for each.
type Method struct {
	Service string // the service that declares it
	Name    string // as in the IDL
	Args    *nocopy.Desc
	Result  *nocopy.Desc // nil: the method is oneway
	Success nocopy.Field // of the result; 0: the method returns nothing
	Throws  []Exception

	prefix  string // of multiplexed calls: the service's name and a colon
	handler Handler
	pace    *pace
}

// pace is what is known of how long handlers of a method take.
type pace struct{ slow atomic.Bool }

// HandledBy returns a copy of the method with its handler, for NewProcessor.
func (m *Method) HandledBy(h Handler) *Method {
	c := *m
	c.handler, c.pace = h, new(pace)
	return &c
}

// Oneway says whether calls of the method have no reply.
func (m *Method) Oneway() bool { return m.Result == nil }

// String returns the service and the method, with a dot between them.
func (m *Method) String() string { return m.prefix + m.Service + "." + m.Name }

// Exception is an exception that a method declares.
type Exception struct {
	set func(result nocopy.Struct, d *nocopy.Desc, err error) (bool, error)
	get func(result nocopy.Struct, d *nocopy.Desc) error
}

// Throws describes a declared exception: the field of the result that holds it, and what it is.
func Throws[E interface {
	nocopy.View
	error
}](f nocopy.Field, of *nocopy.Desc) Exception {
	return Exception{
		set: func(result nocopy.Struct, d *nocopy.Desc, err error) (bool, error) {
			var e E
			if !errors.As(err, &e) {
				return false, nil
			}
			if err := nocopy.Struct(e).Sendable(); err != nil {
				return false, fmt.Errorf("the handler returned a %T that can't be sent: %w", e, err)
			}
			result.SetChild(f, d, nocopy.Struct(e))
			return true, nil
		},
		get: func(result nocopy.Struct, d *nocopy.Desc) error {
			if !result.Has(f) {
				return nil
			}
			return E(result.Child(f, d).Clone(of)) // the result may be released
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

// setException puts the declared exception that err is, or wraps, into an empty result and reports
// whether it is one. The error is of an exception that is absent or was released.
func (m *Method) setException(result nocopy.Struct, err error) (bool, error) {
	for i := range m.Throws {
		if ok, err := m.Throws[i].set(result, m.Result, err); ok || err != nil {
			return ok, err
		}
	}
	return false, nil
}

// outcome returns the error that a result stands for: the declared exception that it holds, or
// that it holds nothing.
func (m *Method) outcome(result nocopy.Struct) error {
	err := m.exception(result)
	if err == nil && m.Success != 0 && !result.Has(m.Success) {
		return &ApplicationException{MissingResult, m.String()}
	}
	return err
}

// Call is one call, as handlers and interceptors see it. It ends when the outermost interceptor
// returns and must not be kept.
type Call struct {
	Method *Method

	// Args are the arguments. They are the library's and live until the outermost interceptor
	// returns. An interceptor may put a struct of its own there, which must be of Method.Args and
	// stays its own. As text they are c.Args.Format(c.Method.Args).
	Args nocopy.Struct

	// Result is what a handler fills; on a client it is set when the call has come back. An
	// interceptor may put a struct of its own there instead, such as one that it keeps for many
	// calls or that a Client's Call has returned: a server sends a copy of it and the interceptor
	// may release it at any time after it has returned, or leave it to the garbage collector.
	Result nocopy.Struct

	Peer net.Addr // who calls; on a client nil

	attempts *attempts // what next has to know on a server
	tries    *tries    // and on a client
	busy     int32     // 1 while a client's next is under way with this Call
}

// Exception returns the declared exception that Result holds, nil if there is none. It is a
// message of its own.
func (c *Call) Exception() error {
	if m := c.Method; m != nil && len(m.Throws) > 0 && c.Result.Is(m.Result) {
		return m.exception(c.Result)
	}
	return nil
}

// Handler has a call handled: on a server by filling its result or by returning an error, on a
// client by sending it.
//
// An exception that a server's handler returns, as it is or wrapped, stays the handler's: the
// reply has a copy. The handler may release it once the call has ended, return it for many calls
// at once, or leave it to the garbage collector. If it is released before the handler has
// returned, the client gets an internal error instead.
//
// Release of a handler's args or result ends their handles, and the call with an internal error.
type Handler func(ctx context.Context, c *Call) error

// Interceptor stands before handlers, on a server or on a client: it calls next, or returns an
// error instead.
//
// It may call next more than once, one call after the other, such as for another attempt: each
// begins with an empty result. To have several at once it gives each a copy of the Call with a
// Result of its own. On a server next returns an error when the interceptor has returned, so that
// who does not want to wait for it any longer may return an error at once. Args and results live
// until all calls of next have returned.
//
// On a server, the error of next is a declared exception whether the handler returned it or put it
// into the result, and Result holds it both ways. A panic of the handler is an error too. What the
// outermost interceptor returns decides: an error is the reply, whatever Result holds; nil makes
// Result the reply as it is, so that who swallows a declared exception has to put something else
// there.
type Interceptor func(ctx context.Context, c *Call, next Handler) error

// wrapped puts interceptors around a handler, the first one outermost. All but that are called
// by way of inner: their next is somebody's who may return before they do.
func wrapped(list []Interceptor, h Handler, inner func(ctx context.Context, c *Call, next Handler) error) Handler {
	for i := len(list) - 1; i >= 0; i-- {
		f, next := list[i], h
		h = func(ctx context.Context, c *Call) error { return f(ctx, c, next) }
		if i > 0 {
			f := h
			h = func(ctx context.Context, c *Call) error { return inner(ctx, c, f) }
		}
	}
	return h
}
