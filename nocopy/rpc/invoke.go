package rpc

import (
	"context"
	"errors"

	"github.com/nocopythrift/nocopythrift/internal/memory"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/message"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/server"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// This file is for packages that carry calls by other means than a Server and a Client, such as
// package apachethrift.

// Invoke calls the method's handler as a Server without interceptors does. args holds the wire
// bytes of the arguments; Invoke takes them over. Unless the method is oneway, Invoke then calls
// write with the wire bytes of the result, which are valid until write returns.
//
// If write fails, Invoke returns its error. If the handler returned a declared exception, or put
// one into the result, Invoke writes the result and returns the exception. Otherwise, if there is
// no result, it returns the handler's error or an *ApplicationException. Malformed arguments give
// the type ProtocolError. The handler's context has the headers in the arguments, unless ctx is
// one of WithRequestHeaders; see HeaderField. A panic of the handler, or a result that can't be
// sent, gives the type InternalError and an id; slog.Default logs the details under that id.
func (m *Method) Invoke(ctx context.Context, args []byte, l nocopy.Limits, write func(result []byte) error) error {
	if m.handler == nil {
		panic("nocopy: rpc.Method.Invoke of " + m.String() + ", which has no handler")
	}
	if write == nil && m.Result != nil {
		panic("nocopy: rpc.Method.Invoke of " + m.String() + ": write is nil")
	}
	req := requests.Get().(*request)
	defer req.GiveBack()
	req.method, req.bare, req.Oneway, req.headers.inArgs = m, true, m.Oneway(), true
	if headersOf(ctx) == nil { // else the headers of WithRequestHeaders count
		req.headers = headersIn(message.Header{}, memory.Chunk{Mem: args}, m.Args)
	}
	var err error
	if req.args, err = thriftimpl.ParseHeld(m.Args, memory.Chunk{Mem: args}, l, false, m.lazy); err != nil {
		return &ApplicationException{ProtocolError, err.Error()}
	}
	req.srv, req.from = &Server{Limits: l}, &server.Origin{Ctx: ctx, Oneway: ctx}
	result, err := req.invoke()
	if result == nil {
		return err
	}
	defer thriftimpl.End(result)
	if len(m.Throws) > 0 {
		err = m.exception(result.Root())
	}
	thriftimpl.EndHandles(result)
	if failed := write(result.Bytes()); failed != nil {
		return failed
	}
	return err
}

// invoke calls the handler of a request and returns its result, or why there is none.
func (r *request) invoke() (result *nocopy.Message, err error) {
	defer func() {
		if v := recover(); v != nil {
			result, err = nil, r.srv.handlerPanicked(r.method, nil, v)
		}
	}()
	out := r.handled()
	if out.err != nil {
		errors.Is(out.err, context.Canceled) // callers may ask that: if it panics, then here
	}
	return out.result, out.err
}
