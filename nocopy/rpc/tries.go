package rpc

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/nocopythrift/nocopythrift/nocopy"
)

// tries is a call that goes through interceptors: they may send it any number of times. Its
// Call, and the copies that they make of it, refer to it.
type tries struct {
	call   Call
	method *Method       // that was called
	args   nocopy.Struct // owned by the call
	over   chan struct{} // closed when the call returns

	mu      sync.Mutex
	ended   bool
	under   int           // interceptors that have not returned
	kept    nocopy.Struct // the result, which is the caller's
	results []tryResult
	first   [1]tryResult // where results begins
}

// tryResult is what next has left in a Call.
type tryResult struct {
	in     *Call
	result nocopy.Struct
}

// errBusy is the error of a next that would have to share a Call's Result with another.
var errBusy = errors.New("next is under way for this Call: tries at the same time need a copy of it each")

// intercepted is Call with interceptors. It owns args.
func (c *Client) intercepted(ctx context.Context, m *Method, args nocopy.Struct) (result nocopy.Struct, err error) {
	t := &tries{method: m, args: args, over: make(chan struct{}), under: 1}
	t.results = t.first[:0]
	t.call = Call{Method: m, Args: args, Result: nocopy.Absent(), tries: t}
	result = nocopy.Absent()
	defer func() { t.release(result) }() // also when an interceptor panics
	err = c.handle(ctx, &t.call)
	if left := t.end(); err == nil {
		return t.check(left)
	}
	return result, err
}

// end makes further tries fail and returns the Result that the interceptors have left.
func (t *tries) end() nocopy.Struct {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended = true
	return t.call.Result
}

// release ends the tries that are under way and releases the call's messages but the result; if
// there are still interceptors that may look at them, the last of those does.
func (t *tries) release(result nocopy.Struct) {
	t.end()
	close(t.over)
	t.mu.Lock()
	t.kept = result
	t.mu.Unlock()
	t.leave()
}

// innerTry calls an interceptor that is not the outermost.
func innerTry(ctx context.Context, call *Call, f Handler) error {
	if call == nil || call.tries == nil {
		return fmt.Errorf("rpc: %w", errForeign)
	}
	t := call.tries
	if !t.enter() {
		return callError(t.method, errReturned)
	}
	defer t.leave()
	return f(ctx, call)
}

// enter counts an interceptor that is about to be called, if the call has not returned.
func (t *tries) enter() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended {
		return false
	}
	t.under++
	return true
}

// leave is called for every interceptor that has returned. The last one ends the call's messages.
func (t *tries) leave() {
	t.mu.Lock()
	t.under--
	last := t.under == 0
	t.mu.Unlock()
	if last {
		t.free()
	}
}

// free releases the messages: nobody else will touch them.
func (t *tries) free() {
	for _, r := range t.results {
		if r.result != t.kept {
			r.result.End()
		}
	}
	t.args.End()
}

// check returns what the call returns if its interceptors leave this result and no error. A
// struct of their own stays theirs.
func (t *tries) check(result nocopy.Struct) (nocopy.Struct, error) {
	m := t.method
	absent := result == nocopy.Absent() || result == (nocopy.Struct{})
	switch {
	case m.Oneway():
		return nocopy.Absent(), nil
	case absent && m.Success == 0:
		return nocopy.New(m.Result), nil
	case absent:
		return nocopy.Absent(), &ApplicationException{MissingResult, m.String()}
	case !result.Is(m.Result):
		return nocopy.Absent(), callError(m, errResult)
	}
	if err := m.outcome(result); err != nil {
		return nocopy.Absent(), err
	}
	for _, r := range t.results {
		if r.result == result {
			return result, nil
		}
	}
	result, err := result.ClaimCopy(m.Result)
	if err != nil {
		return nocopy.Absent(), callError(m, err)
	}
	return result, nil
}

// try is the innermost handler.
func (c *Client) try(ctx context.Context, call *Call) error {
	if call == nil || call.tries == nil {
		return fmt.Errorf("rpc: %w", errForeign)
	}
	t := call.tries
	if !atomic.CompareAndSwapInt32(&call.busy, 0, 1) {
		return callError(t.method, errBusy)
	}
	defer atomic.StoreInt32(&call.busy, 0)
	m, args, err := t.begin(call)
	if err != nil {
		return err
	}
	defer t.done(args)
	result, err := c.send(ctx, t.over, m, args)
	return t.tried(call, result, err)
}

// begin returns what is to be sent: arguments that are retained and finished, which done is to
// be told.
func (t *tries) begin(call *Call) (*Method, nocopy.Struct, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended {
		return nil, nocopy.Absent(), callError(t.method, errReturned)
	}
	m := call.Method
	if m == nil {
		return nil, nocopy.Absent(), callError(t.method, errMethod)
	}
	call.Result = nocopy.Absent()
	for i, r := range t.results { // of the try before
		if r.in == call {
			r.result.End()
			t.results[i] = t.results[len(t.results)-1]
			t.results = t.results[:len(t.results)-1]
			break
		}
	}
	args := call.Args
	if args != t.args || m.Args != t.method.Args {
		var err error
		if args, err = m.copyArgs(args); err != nil { // the interceptor's own
			return nil, args, err
		}
	}
	if !args.Retain() {
		return nil, args, callError(m, errArgs)
	}
	if err := args.Sendable(); err != nil { // finished here: copies of the Call may be sending it at the same time
		args.Drop()
		return nil, args, callError(m, err)
	}
	return m, args, nil
}

// done ends what begin began.
func (t *tries) done(args nocopy.Struct) {
	args.Drop()
	if args != t.args {
		args.End()
	}
}

// tried puts the result of a try into its Call.
func (t *tries) tried(call *Call, result nocopy.Struct, err error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case result == nocopy.Absent():
	case t.ended:
		result.Release()
	default:
		result.Offer()
		t.results = append(t.results, tryResult{call, result})
		call.Result = result
	}
	return err
}

// takeArgs returns arguments for a call of m that the call owns: args if they come from NewArgs
// and no call has had them yet; a copy of others.
func (m *Method) takeArgs(args nocopy.Struct) (nocopy.Struct, error) {
	if m == nil {
		return nocopy.Absent(), errors.New("rpc: no Method to call")
	}
	if args.Claim(m.Args) {
		return args, nil
	}
	return m.copyArgs(args)
}

// copyArgs returns a copy of args that the caller owns.
func (m *Method) copyArgs(args nocopy.Struct) (nocopy.Struct, error) {
	c, err := args.ClaimCopy(m.Args)
	if err != nil {
		return nocopy.Absent(), callError(m, fmt.Errorf("arguments: %w", err))
	}
	return c, nil
}

func callError(m *Method, err error) error { return fmt.Errorf("rpc: %s: %w", m, err) }
