package apachethrift

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/thrift/lib/go/thrift"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// NewCaller returns a Caller for generated clients that makes calls through c, Apache's client,
// with its protocol, transport and middlewares ([thrift.WrapClient]). Middlewares see the
// arguments and results as TStructs. They read the headers of replies from the ResponseMeta. The
// contexts of calls are passed on unchanged, with the headers that [thrift.SetHeader] and
// [thrift.SetWriteHeaderList] have put there. The options are for results, as in [Read].
//
// As many goroutines at the same time may use the Caller as may use c: with a TStandardClient that
// is one.
//
// Some errors are those of package rpc: declared exceptions have their own type; an
// *rpc.ApplicationException also wraps Apache's exception, which errors.As finds; after the
// context has ended, the error is the context's. Other errors are those of c.
//
// For one of several services on a port, give c a [thrift.TMultiplexedProtocol]. An
// [rpc.MultiplexedCaller] around this Caller returns errors.
func NewCaller(c thrift.TClient, opts ...nocopy.Option) rpc.Caller {
	if c == nil {
		panic("nocopy: apachethrift.NewCaller without a TClient")
	}
	return &caller{c, opts}
}

type caller struct {
	client thrift.TClient
	opts   []nocopy.Option
}

func (c *caller) NewArgs(m *rpc.Method) nocopy.Struct {
	args := thriftimpl.New(m.Args)
	args.Offer()
	return nocopy.Struct(args)
}

func (c *caller) Call(ctx context.Context, m *rpc.Method, args nocopy.Struct) (nocopy.Struct, error) {
	none := thriftimpl.Absent()
	if thriftimpl.Struct(args).Claim(m.Args) {
		defer thriftimpl.Struct(args).End()
	}
	if m.Multiplexed() {
		return none, fmt.Errorf("apachethrift: %s: use a thrift.TMultiplexedProtocol, not rpc.MultiplexedCaller", m)
	}
	if err := ctx.Err(); err != nil {
		return none, fmt.Errorf("apachethrift: %s: %w", m, err)
	}
	if err := thriftimpl.Struct(args).Sendable(); err != nil {
		return none, fmt.Errorf("apachethrift: %s: the arguments can't be sent: %w", m, err)
	}
	if !thriftimpl.Struct(args).Is(m.Args) {
		return none, fmt.Errorf("apachethrift: %s: the arguments are of another type", m)
	}
	a := &callStruct{Desc: m.Args, Value: args}
	if m.Oneway() {
		_, err := c.client.Call(ctx, m.Name, a, nil)
		return none, callError(ctx, err)
	}
	r := &callStruct{Desc: m.Result, Options: c.opts, Method: m, Value: none}
	_, err := c.client.Call(ctx, m.Name, a, r)
	if err = r.outcome(ctx, err); err != nil {
		r.Value.Release()
		return none, err
	}
	return r.Value, nil
}

// outcome returns the error of a call whose result is s. The client has returned err for it.
func (s *callStruct) outcome(ctx context.Context, err error) error {
	d, _ := s.Exception.(declared)
	switch {
	case err != nil && !errors.As(err, &d): // a middleware may have turned d into an error
		return callError(ctx, err)
	case d.err != nil:
		return d.err
	case !s.Value.Valid():
		return &rpc.ApplicationException{Type: rpc.MissingResult, Message: s.Method.String()}
	}
	return s.Method.Outcome(s.Value)
}

// callStruct is the arguments or the result of a call as a TStruct. Apache's library looks for a
// TException in the fields of results, by reflection. All fields are therefore exported.
type callStruct struct {
	Desc      *thriftimpl.Desc
	Value     nocopy.Struct
	Options   []nocopy.Option
	Method    *rpc.Method // nil for arguments
	Exception thrift.TException
}

func (s *callStruct) Write(ctx context.Context, p thrift.TProtocol) error {
	return write(ctx, p, s.Desc, thriftimpl.Struct(s.Value))
}

func (s *callStruct) Read(ctx context.Context, p thrift.TProtocol) error {
	v, err := read(ctx, p, s.Desc, s.Options)
	if err != nil {
		return protocolException(err)
	}
	s.Value.Release() // of an earlier try
	s.Value, s.Exception = nocopy.Struct(v), nil
	if s.Method != nil && len(s.Method.Throws) > 0 {
		call := rpc.Call{Method: s.Method, Result: s.Value}
		if err := call.Exception(); err != nil {
			s.Exception = declared{err}
		}
	}
	return nil
}

// String returns the struct as text.
func (s *callStruct) String() string { return s.Value.Format(s.Desc) }

// callError converts the error of a call over a TClient to the form of package rpc.
func callError(ctx context.Context, err error) error {
	var x thrift.TApplicationException
	switch {
	case err == nil:
		return nil
	case errors.As(err, &x):
		return &refused{&rpc.ApplicationException{Type: rpc.ExceptionType(x.TypeId()), Message: x.Error()}, err}
	case ctx.Err() != nil && !errors.Is(err, ctx.Err()):
		return fmt.Errorf("%w: %w", ctx.Err(), err)
	}
	return err
}

// refused is a TApplicationException in the forms of both package rpc and Apache's library.
type refused struct {
	own *rpc.ApplicationException
	err error
}

func (r *refused) Error() string   { return r.own.Error() }
func (r *refused) Unwrap() []error { return []error{r.own, r.err} }
