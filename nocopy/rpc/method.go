package rpc

import (
	"context"
	"errors"
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
	set func(result nocopy.Struct, d *nocopy.Desc, err error) bool
	get func(result nocopy.Struct, d *nocopy.Desc) error
}

// Throws describes a declared exception: the field of the result that holds it, and what it is.
func Throws[E interface {
	nocopy.View
	error
}](f nocopy.Field, of *nocopy.Desc) Exception {
	return Exception{
		set: func(result nocopy.Struct, d *nocopy.Desc, err error) bool {
			var e E
			if !errors.As(err, &e) {
				return false
			}
			result.SetChild(f, d, nocopy.Struct(e))
			return true
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

// Call is one call, as handlers and interceptors see it. It must not be kept.
type Call struct {
	Method *Method
	Args   nocopy.Struct
	Result nocopy.Struct // what a handler fills; on a client set when the call has come back
	Peer   net.Addr      // who calls; on a client nil
}

// Handler has a call handled: on a server by filling its result or by returning an error, on a client by sending it.
type Handler func(ctx context.Context, c *Call) error

// Interceptor stands in front of handlers, on a server or on a client: it calls next, or returns an error instead.
type Interceptor func(ctx context.Context, c *Call, next Handler) error

// chain puts interceptors in front of a handler, the first one outermost.
func chain(list []Interceptor, h Handler) Handler {
	for i := len(list) - 1; i >= 0; i-- {
		f, next := list[i], h
		h = func(ctx context.Context, c *Call) error { return f(ctx, c, next) }
	}
	return h
}
