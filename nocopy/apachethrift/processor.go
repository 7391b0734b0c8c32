package apachethrift

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/apache/thrift/lib/go/thrift"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// NewProcessor returns p, such as NewXProcessor(handler) of a service X, as a TProcessor for
// Apache's servers, over any protocol and transport. [thrift.WrapProcessor] puts middlewares
// around its methods. Interceptors of package rpc belong to a Server and do not run here. l bounds
// the arguments of calls.
//
// Handlers are called as by an rpc.Server, with the context that Process gets. [thrift.GetHeader]
// finds the headers of Apache's server in it, and a [thrift.TResponseHelper] sets those of the
// reply. Args and result belong to the library and end when the handler returns; the result is
// then written and released. While the handler runs, the client's connection is checked as in
// Apache's generated code; see [thrift.ServerConnectivityCheckInterval].
//
// A declared exception is written as the result's field. Process returns it as a TException of
// type TExceptionTypeCompiled, in which errors.As finds it. Other errors are answered by a
// TApplicationException. It has the type of an *rpc.ApplicationException or of Apache's own; for
// anything else it is INTERNAL_ERROR, with Apache's text before the error's. A panic is answered
// with a fixed text and an id; slog.Default logs the details under that id.
//
// AddToProcessorMap may replace methods before the server is started, for instance to move a
// service one method at a time.
func NewProcessor(p *rpc.Processor, l nocopy.Limits) thrift.TProcessor {
	if p == nil {
		panic("nocopy: apachethrift.NewProcessor without a Processor")
	}
	t := &processor{functions: map[string]thrift.TProcessorFunction{}}
	for name, m := range p.Methods() {
		t.functions[name] = &function{method: m, limits: l}
	}
	return t
}

type processor struct {
	functions map[string]thrift.TProcessorFunction
}

func (p *processor) ProcessorMap() map[string]thrift.TProcessorFunction { return p.functions }

func (p *processor) AddToProcessorMap(name string, f thrift.TProcessorFunction) {
	p.functions[name] = f
}

func (p *processor) Process(ctx context.Context, in, out thrift.TProtocol) (bool, thrift.TException) {
	name, kind, seqid, err := in.ReadMessageBegin(ctx)
	if err != nil {
		return false, thrift.WrapTException(err)
	}
	f := p.functions[name]
	var refusal thrift.TApplicationException
	switch {
	case kind != thrift.CALL && kind != thrift.ONEWAY:
		refusal = thrift.NewTApplicationException(thrift.INVALID_MESSAGE_TYPE_EXCEPTION, fmt.Sprintf("message of type %d", kind))
	case f == nil:
		refusal = thrift.NewTApplicationException(thrift.UNKNOWN_METHOD, "Unknown function "+name)
	default:
		return f.Process(ctx, seqid, in, out)
	}
	if err := in.Skip(ctx, thrift.STRUCT); err != nil {
		return false, thrift.WrapTException(err)
	}
	if err := in.ReadMessageEnd(ctx); err != nil {
		return false, thrift.WrapTException(err)
	}
	if kind != thrift.ONEWAY {
		if err := reply(ctx, out, name, thrift.EXCEPTION, seqid, refusal.Write); err != nil {
			return false, thrift.WrapTException(err)
		}
	}
	return false, refusal
}

// reply writes a message whose contents body writes.
func reply(ctx context.Context, out thrift.TProtocol, name string, kind thrift.TMessageType, seqid int32,
	body func(context.Context, thrift.TProtocol) error) error {
	err := out.WriteMessageBegin(ctx, name, kind, seqid)
	if err == nil {
		err = body(ctx, out)
	}
	if err == nil {
		err = out.WriteMessageEnd(ctx)
	}
	if err == nil {
		err = out.Flush(ctx)
	}
	return err
}

// function is a method as a TProcessorFunction.
type function struct {
	method *rpc.Method
	limits nocopy.Limits
}

func (f *function) Process(ctx context.Context, seqid int32, in, out thrift.TProtocol) (bool, thrift.TException) {
	m := f.method
	args, err := receive(ctx, in, m.Args, f.limits)
	if err != nil {
		in.ReadMessageEnd(ctx)
		if !m.Oneway() {
			x := thrift.NewTApplicationException(thrift.PROTOCOL_ERROR, err.Error())
			reply(ctx, out, m.Name, thrift.EXCEPTION, seqid, x.Write)
		}
		return false, thrift.WrapTException(protocolException(err))
	}
	if err := in.ReadMessageEnd(ctx); err != nil {
		return false, thrift.WrapTException(err)
	}
	if m.Oneway() {
		return true, thrift.WrapTException(m.Invoke(ctx, args, f.limits, nil))
	}
	ctx, stop := watch(ctx, in.Transport())
	defer stop()
	var replied, failed bool
	err = m.Invoke(ctx, args, f.limits, func(result []byte) error {
		stop()
		replied = true
		err := reply(ctx, out, m.Name, thrift.REPLY, seqid, func(ctx context.Context, out thrift.TProtocol) error {
			return writeBytes(ctx, out, m.Result, result)
		})
		failed = err != nil
		return err
	})
	stop()
	switch {
	case failed:
		return false, &thrift.ProcessorError{WriteError: thrift.WrapTException(err)}
	case replied && err != nil:
		return true, declared{err}
	case replied:
		return true, nil
	}
	return f.fail(ctx, seqid, out, err)
}

// fail answers a call whose error is err.
func (f *function) fail(ctx context.Context, seqid int32, out thrift.TProtocol, err error) (bool, thrift.TException) {
	failure := thrift.WrapTException(err)
	abandoned := err
	if !errors.Is(err, thrift.ErrAbandonRequest) && errors.Is(err, context.Canceled) {
		abandoned = context.Cause(ctx)
	}
	if errors.Is(abandoned, thrift.ErrAbandonRequest) {
		return false, &thrift.ProcessorError{WriteError: thrift.WrapTException(abandoned), EndpointError: failure}
	}
	var own *rpc.ApplicationException
	var x thrift.TApplicationException
	switch {
	case errors.As(err, &own) && own != nil:
		x = thrift.NewTApplicationException(int32(own.Type), own.Message)
	case !errors.As(err, &x):
		x = thrift.NewTApplicationException(thrift.INTERNAL_ERROR, "Internal error processing "+f.method.Name+": "+err.Error())
	}
	if err := reply(ctx, out, f.method.Name, thrift.EXCEPTION, seqid, x.Write); err != nil {
		return false, &thrift.ProcessorError{WriteError: thrift.WrapTException(err), EndpointError: failure}
	}
	return true, failure
}

// watch returns a context that ends, with the cause thrift.ErrAbandonRequest, when the client is
// gone. stop ends the checking of the transport; it may be called more than once.
func watch(ctx context.Context, t thrift.TTransport) (_ context.Context, stop func()) {
	interval := thrift.ServerConnectivityCheckInterval
	if interval <= 0 || t == nil {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	stopped, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		ticker := time.NewTicker(interval)
		defer ticker.Stop()
		for {
			select {
			case <-stopped:
				return
			case <-ticker.C:
				if !t.IsOpen() {
					cancel(thrift.ErrAbandonRequest)
					return
				}
			}
		}
	}()
	var once sync.Once
	return ctx, func() {
		once.Do(func() {
			close(stopped)
			<-ended
		})
	}
}

// declared is a declared exception in the form of Apache's library.
type declared struct{ err error }

func (d declared) Error() string                         { return d.err.Error() }
func (d declared) Unwrap() error                         { return d.err }
func (d declared) TExceptionType() thrift.TExceptionType { return thrift.TExceptionTypeCompiled }
