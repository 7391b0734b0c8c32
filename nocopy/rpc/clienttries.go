package rpc

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/nocopythrift/nocopythrift/internal/memory"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/client"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/header"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/message"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// clientTries is the state of a client's call with interceptors: they may send it any number of
// times; each time is a try. Call.tries refers to it, also from copies of the Call.
type clientTries struct {
	call     Call
	method   *Method       // the method that was called
	args     nocopy.Struct // its arguments, which the call owns
	returned chan struct{} // closed when the call returns

	running
	final   nocopy.Struct // the call's result, which the caller owns
	results []tryResult   // the other results too
	first   [1]tryResult  // the first memory of results
}

// tryResult is a result that next has put into a Call.
type tryResult struct {
	in     *Call
	result nocopy.Struct
}

// errBusy is the error of a next that would have to share a Call's Result with another.
var errBusy = errors.New("next is under way for this Call: tries at the same time need a copy of it each")

func (t *clientTries) onClient() bool                  { return true }
func (t *clientTries) addForwarded(nocopy.Struct) bool { return false }
func (t *clientTries) hasForwarded(nocopy.Struct) bool { return false }

// close makes further tries fail and returns the Result that the interceptors have left.
func (t *clientTries) close() nocopy.Struct {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	return t.call.Result
}

// finish gives up the tries that are under way and frees the call's messages except result. If
// interceptors are still running, the last one that returns frees them.
func (t *clientTries) finish(result nocopy.Struct) {
	t.close()
	close(t.returned)
	t.mu.Lock()
	t.final = result
	t.mu.Unlock()
	t.leave()
}

// clientTriesOf returns the state of the call that an interceptor has given to next; nil if it is
// not one of a client's.
func clientTriesOf(call *Call) *clientTries {
	if call == nil {
		return nil
	}
	t, _ := call.tries.(*clientTries)
	return t
}

// callInterceptor calls f, an interceptor that is not the outermost, and counts it as running.
func callInterceptor(ctx context.Context, call *Call, f Handler) error {
	t := clientTriesOf(call)
	if t == nil {
		return fmt.Errorf("rpc: %w", errForeign)
	}
	if !t.enter() {
		return callError(t.method, errReturned)
	}
	defer t.leave()
	return f(ctx, call)
}

// leave notes that an interceptor has returned. The last one's call frees the call's messages.
func (t *clientTries) leave() {
	t.mu.Lock()
	t.n--
	last := t.n == 0
	t.mu.Unlock()
	if last {
		t.release()
	}
}

// release frees the call's messages except its result. Nothing may use them any more.
func (t *clientTries) release() {
	for _, r := range t.results {
		if r.result != t.final {
			thriftimpl.Struct(r.result).End()
		}
	}
	thriftimpl.Struct(t.args).End()
}

// finalResult returns what the call returns if its interceptors have left result and no error. If
// result is a struct of theirs, the call returns a copy.
func (t *clientTries) finalResult(result nocopy.Struct) (nocopy.Struct, error) {
	m := t.method
	absent := result == thriftimpl.Absent() || result == (nocopy.Struct{})
	switch {
	case m.Oneway():
		return thriftimpl.Absent(), nil
	case absent && m.Success == 0:
		return nocopy.Struct(thriftimpl.New(m.Result)), nil
	case absent:
		return thriftimpl.Absent(), &ApplicationException{MissingResult, m.String()}
	case !thriftimpl.Struct(result).Is(m.Result):
		return thriftimpl.Absent(), callError(m, errResult)
	}
	if err := m.Outcome(result); err != nil {
		return thriftimpl.Absent(), err
	}
	for _, r := range t.results {
		if r.result == result {
			return result, nil
		}
	}
	own, err := thriftimpl.Struct(result).ClaimCopy(m.Result)
	if err != nil {
		return thriftimpl.Absent(), callError(m, err)
	}
	return nocopy.Struct(own), nil
}

// beginTry returns the method and the arguments that a try sends. The arguments are retained and
// finished: copies of the Call may send them at the same time. endTry must be called with them.
// beginTry ends the result of the previous try with the same Call.
func (t *clientTries) beginTry(call *Call) (*Method, nocopy.Struct, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return nil, thriftimpl.Absent(), callError(t.method, errReturned)
	}
	m := call.Method
	if m == nil {
		return nil, thriftimpl.Absent(), callError(t.method, errMethod)
	}
	call.Result = thriftimpl.Absent()
	for i, r := range t.results {
		if r.in == call {
			thriftimpl.Struct(r.result).End()
			t.results[i] = t.results[len(t.results)-1]
			t.results = t.results[:len(t.results)-1]
			break
		}
	}
	args := call.Args
	if args != t.args || m.Args != t.method.Args {
		var err error
		if args, err = m.copyToSend(args); err != nil { // the interceptor's own
			return nil, args, err
		}
	}
	if !thriftimpl.Struct(args).Retain() {
		return nil, args, callError(m, errArgs)
	}
	if err := thriftimpl.Struct(args).Sendable(); err != nil {
		thriftimpl.Struct(args).Drop()
		return nil, args, callError(m, err)
	}
	return m, args, nil
}

// endTry ends a try with call, and the use of arguments that beginTry has returned.
func (t *clientTries) endTry(call *Call, args nocopy.Struct) {
	thriftimpl.Struct(args).Drop()
	if args != t.args {
		thriftimpl.Struct(args).End()
	}
	atomic.StoreInt32(&call.busy, 0)
}

// setResult puts the result of a try into its Call, delivers the reply's headers, and returns err.
// If the call has returned meanwhile, it releases the result.
func (t *clientTries) setResult(call *Call, result nocopy.Struct, err error, x *extras) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.closed {
		x.deliver()
	}
	switch {
	case result == thriftimpl.Absent():
	case t.closed:
		result.Release()
	default:
		thriftimpl.Struct(result).Offer()
		t.results = append(t.results, tryResult{call, result})
		call.Result = result
	}
	return err
}

// claimArgs returns arguments for a call of m, which owns them: args itself if it comes from
// NewArgs and no call has claimed it yet, else a copy; unless interceptors are going to see it, it
// is one that can only be sent.
func (m *Method) claimArgs(args nocopy.Struct, seen bool) (nocopy.Struct, error) {
	if m == nil {
		return thriftimpl.Absent(), errors.New("rpc: no Method to call")
	}
	if thriftimpl.Struct(args).Claim(m.Args) {
		return args, nil
	}
	if !seen {
		return m.copyToSend(args)
	}
	c, err := thriftimpl.Struct(args).ClaimCopy(m.Args)
	if err != nil {
		return thriftimpl.Absent(), callError(m, fmt.Errorf("arguments: %w", err))
	}
	return nocopy.Struct(c), nil
}

// copyToSend returns a copy of args that can only be sent. The caller owns it.
func (m *Method) copyToSend(args nocopy.Struct) (nocopy.Struct, error) {
	c, err := thriftimpl.Struct(args).ClaimToSend(m.Args)
	if err != nil {
		return thriftimpl.Absent(), callError(m, fmt.Errorf("arguments: %w", err))
	}
	return nocopy.Struct(c), nil
}

// callIntercepted makes a call through a client's interceptors and returns its result. It takes
// over args.
func callIntercepted(ctx context.Context, outermost Handler, m *Method, args nocopy.Struct) (result nocopy.Struct, err error) {
	t := &clientTries{method: m, args: args, returned: make(chan struct{}), running: running{n: 1}}
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

// resultOf returns the result of a call of m that a reply holds, and the error. The caller owns
// the result, also with an error: then it is absent or holds the exception that is the error. With
// wants, it sets got to the headers of the reply.
func (o *options) resultOf(m *Method, r client.Reply, wants bool, got *header.List) (nocopy.Struct, error) {
	note := func(s nocopy.Struct, d *thriftimpl.Desc) {
		switch {
		case !wants:
		case r.Headers != nil:
			*got = *r.Headers
		default:
			*got = fieldOf(s, d)
		}
	}
	switch {
	case r.Type == message.Exception:
		s, err := o.parseReply(m, r.Body, message.ExceptionDesc, false)
		if err != nil {
			return thriftimpl.Absent(), err
		}
		defer s.Release()
		note(s, message.ExceptionDesc)
		typ, text := message.ReadException(s)
		if e := (ApplicationException{ExceptionType(typ), text}); message.SaysNotHandled(s, typ) {
			return thriftimpl.Absent(), &notHandled{e, m}
		} else {
			return thriftimpl.Absent(), &e
		}
	case r.Type != message.Reply:
		r.Body.Release()
		return thriftimpl.Absent(), &unfitting{ApplicationException{InvalidMessageType, fmt.Sprintf("%d in reply to %s", r.Type, m)}}
	case !r.NameMatches:
		r.Body.Release()
		return thriftimpl.Absent(), &unfitting{ApplicationException{WrongMethodName, fmt.Sprintf("in reply to %s", m)}}
	}
	result, err := o.parseReply(m, r.Body, m.Result, o.isLazy(m))
	if err != nil {
		return thriftimpl.Absent(), err
	}
	note(result, m.Result)
	return result, m.Outcome(result)
}

// parseReply parses the body of a reply to a call of m as a d.
func (o *options) parseReply(m *Method, body memory.Chunk, d *thriftimpl.Desc, lazy bool) (nocopy.Struct, error) {
	s, err := thriftimpl.ParseChunk(d, body, o.Limits, o.Recycle, lazy)
	if err != nil {
		return thriftimpl.Absent(), callError(m, client.BadReply(err))
	}
	return nocopy.Struct(s), nil
}
