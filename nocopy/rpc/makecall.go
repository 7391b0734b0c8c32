package rpc

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/header"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/message"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// callIntercepted makes a call through a client's interceptors and returns its result. It takes
// over args.
func callIntercepted(ctx context.Context, outermost Handler, m *Method, args nocopy.Struct) (result nocopy.Struct, err error) {
	t := &clientTries{method: m, args: args, returned: make(chan struct{}), running: 1}
	t.results = t.first[:0]
	t.call = Call{Method: m, Args: args, Result: thriftimpl.Absent(), tries: t}
	result = thriftimpl.Absent()
	defer func() { t.finish(result) }() // also when an interceptor panics
	err = outermost(forClient(ctx), &t.call)
	if left := t.close(); err == nil {
		return t.finalResult(left)
	}
	return result, err
}

// tryOf returns the tries that call belongs to, and the method and the arguments that this try
// sends. endTry must end the try.
func tryOf(call *Call) (*clientTries, *Method, nocopy.Struct, error) {
	t := clientTriesOf(call)
	if t == nil {
		return nil, nil, thriftimpl.Absent(), fmt.Errorf("rpc: %w", errForeign)
	}
	if !atomic.CompareAndSwapInt32(&call.busy, 0, 1) {
		return nil, nil, thriftimpl.Absent(), callError(t.method, errBusy)
	}
	m, args, err := t.beginTry(call)
	if err != nil {
		atomic.StoreInt32(&call.busy, 0)
	}
	return t, m, args, err
}

// sentOnce returns what a call without interceptors returns for what it was answered with.
func sentOnce(result nocopy.Struct, err error, x *extras) (nocopy.Struct, error) {
	x.deliver()
	if err != nil && result != thriftimpl.Absent() {
		result.Release()
		result = thriftimpl.Absent()
	}
	return result, err
}

// result returns the result of a call of m that a reply holds, and the error. The caller owns the
// result, also with an error: then it is absent or holds the exception that is the error. With
// wants, it sets got to the headers of the reply.
func (o *options) result(m *Method, r receivedReply, wants bool, got *header.List) (nocopy.Struct, error) {
	note := func(s nocopy.Struct, d *thriftimpl.Desc) {
		switch {
		case !wants:
		case r.headers != nil:
			*got = *r.headers
		default:
			*got = fieldOf(s, d)
		}
	}
	switch {
	case r.typ == message.Exception:
		s, err := o.parseReply(m, r.body, exceptionDesc, false)
		if err != nil {
			return thriftimpl.Absent(), err
		}
		defer s.Release()
		note(s, exceptionDesc)
		return thriftimpl.Absent(), readException(s)
	case r.typ != message.Reply:
		r.body.Release()
		return thriftimpl.Absent(), &ApplicationException{InvalidMessageType, fmt.Sprintf("%d in reply to %s", r.typ, m)}
	case !r.nameMatches:
		r.body.Release()
		return thriftimpl.Absent(), &ApplicationException{WrongMethodName, fmt.Sprintf("in reply to %s", m)}
	}
	result, err := o.parseReply(m, r.body, m.Result, o.isLazy(m))
	if err != nil {
		return thriftimpl.Absent(), err
	}
	note(result, m.Result)
	return result, m.outcome(result)
}

// parseReply parses the body of a reply to a call of m as a d.
func (o *options) parseReply(m *Method, body chain.Chunk, d *thriftimpl.Desc, lazy bool) (nocopy.Struct, error) {
	s, err := thriftimpl.ParseChunk(d, body, o.limits, o.recycle, lazy)
	if err != nil {
		return thriftimpl.Absent(), badReply(m, err)
	}
	return nocopy.Struct(s), nil
}

// badReply returns the error of a call of m whose reply is malformed or too large.
func badReply(m *Method, err error) error { return callError(m, fmt.Errorf("bad reply: %w", err)) }
