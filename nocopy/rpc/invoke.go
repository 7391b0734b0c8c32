package rpc

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/message"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// This file is for packages that carry calls by other means than a Server and a Client, such as
// package apachethrift.

// Methods iterates over the methods of the services, in no particular order. Each comes with the
// name by which it is called: in a Multiplexed processor "service:method".
func (p *Processor) Methods() iter.Seq2[string, *Method] {
	return func(yield func(string, *Method) bool) {
		for name, m := range p.methods {
			if !yield(name, m) {
				return
			}
		}
	}
}

// Multiplexed reports whether calls of m have the name of a service before the method's name, as
// calls of a MultiplexedCaller do.
func (m *Method) Multiplexed() bool { return m.prefix != "" }

// Outcome returns the error of a call with this result, of type m.Result. If the result holds a
// declared exception, Outcome returns it as a message of its own. If it holds neither an
// exception nor the return value, Outcome returns an *ApplicationException of type MissingResult.
// Otherwise it returns nil.
func (m *Method) Outcome(result nocopy.Struct) error { return m.outcome(result) }

// SetException sets the declared exception that err is or wraps in result, an empty struct of
// type m.Result, and reports whether there is one. It returns an error if the exception can't be
// sent.
func (m *Method) SetException(result nocopy.Struct, err error) (bool, error) {
	return m.setException(result, err)
}

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
	headers := requestHeaders{inArgs: true}
	if headersOf(ctx) == nil { // else the headers of WithRequestHeaders count
		headers = headersIn(message.Header{}, chain.Chunk{Mem: args}, m.Args)
	}
	a, err := thriftimpl.ParseHeld(m.Args, chain.Chunk{Mem: args}, l, false, m.lazy)
	if err != nil {
		return &ApplicationException{ProtocolError, err.Error()}
	}
	defer thriftimpl.End(a)
	result, err := m.resultOf(headers.context(ctx, m, a), a, l, &headers)
	if result == nil {
		return err
	}
	defer thriftimpl.End(result)
	if len(m.Throws) > 0 {
		err = m.exception(result.Root())
	}
	thriftimpl.EndHandles(result)
	thriftimpl.EndHandles(a)
	if failed := write(result.Bytes()); failed != nil {
		return failed
	}
	return err
}

// resultOf calls the handler and returns the result, which is finished; nil if the method is
// oneway or has failed otherwise than with a declared exception, which is in the result.
func (m *Method) resultOf(ctx context.Context, args *nocopy.Message, l nocopy.Limits, headers *requestHeaders) (result *nocopy.Message, err error) {
	var own []*nocopy.Message // the results that were made
	add := func(r *nocopy.Message) *nocopy.Message {
		own = append(own, r)
		return r
	}
	defer func() {
		if v := recover(); v != nil {
			result, err = nil, new(Server).handlerPanicked(m, nil, v)
		}
		for _, r := range own {
			if r != result {
				thriftimpl.End(r)
			}
		}
	}()
	conceal := func(what string, err error) (*nocopy.Message, error) {
		return nil, new(Server).conceal(what, m, nil, err, nil)
	}
	call := Call{Method: m, Args: args.Root(), Result: thriftimpl.Absent()}
	if !m.Oneway() {
		call.Result = add(thriftimpl.NewHeld(m.Result, 0, l, false)).Root()
	}
	defer call.endForwarded()
	err = m.handler(ctx, &call)
	if err == nil && thriftimpl.Disowned(args) {
		return conceal("bad handler", errors.New("the handler has released its args"))
	}
	if m.Oneway() {
		return nil, err
	}
	if err != nil {
		declared := add(thriftimpl.NewHeld(m.Result, 0, l, false))
		ok, bad := m.setException(declared.Root(), err)
		switch {
		case bad != nil:
			return conceal("bad handler", bad)
		case !ok:
			// If methods of err panic, they do so here, where that is recovered
			errors.Is(err, context.Canceled)
			errors.As(err, new(*ApplicationException))
			_ = err.Error()
			return nil, err
		}
		result = declared
		headers.addTo(result, m.Result)
	} else if result = own[0]; result.Root() != call.Result {
		// The handler has released its result, or has put another one there
		s, err := headers.addToCopy(call.Result, m.Result)
		if err == nil && s != call.Result {
			defer thriftimpl.Struct(s).End()
		}
		if err == nil {
			result, err = thriftimpl.CopyHeld(m.Result, thriftimpl.Struct(s), 0, l, false)
		}
		if err != nil {
			return conceal("bad result", fmt.Errorf("it can't be sent: %w", err))
		}
		add(result)
	} else {
		headers.addTo(result, m.Result)
	}
	if bad := result.Check(); bad != nil {
		return conceal("bad result", bad)
	}
	return result, nil
}
