package rpctest

import (
	"context"
	"fmt"
	"net"
	"sync"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// Serve starts srv and returns a client for it. Both are closed when the test ends, which waits
// for handlers. srv must not be serving yet. It may have just a Processor.
//
// The test fails if a message of a call lacks required fields, which would be sent empty:
// arguments of a client, a handler's result, or its declared exception. See
// nocopy.Message.Missing. To check this, Serve adds an innermost interceptor to srv and to the
// client.
func Serve(t testing.TB, srv *rpc.Server, opts ...rpc.Option) *rpc.Client {
	t.Helper()
	if srv != nil {
		srv.Interceptors = append(srv.Interceptors[:len(srv.Interceptors):len(srv.Interceptors)], resultsOf(t))
	}
	c, stop := Start(srv, append(opts[:len(opts):len(opts)], rpc.Interceptors(argsOf(t)))...)
	t.Cleanup(stop)
	return c
}

// Start serves a Server in memory and returns a Client of it, for uses outside of tests. The
// caller must call stop, which closes both and waits for handlers.
func Start(srv *rpc.Server, opts ...rpc.Option) (c *rpc.Client, stop func()) {
	if srv == nil || srv.Processor == nil {
		panic("nocopy: rpctest of a Server without a Processor")
	}
	l := &listener{conns: make(chan net.Conn), closed: make(chan struct{})}
	served := make(chan struct{})
	go func() {
		defer close(served)
		srv.Serve(l)
	}()
	opts = append(opts[:len(opts):len(opts)], rpc.Dialer(func(ctx context.Context, _, _ string) (net.Conn, error) {
		return l.dial(ctx)
	}))
	c, err := rpc.Dial(context.Background(), "memory", "server", opts...)
	stop = func() {
		if c != nil {
			c.Close()
		}
		srv.Close()
		<-served
	}
	if err != nil {
		stop()
		panic("nocopy: rpctest: " + err.Error())
	}
	return c, stop
}

// Recorder is a Caller that records the calls that it passes on. Any number of goroutines may use
// it.
type Recorder struct {
	to rpc.Caller

	mu    sync.Mutex
	calls []Recorded
}

// Recorded is a call that a Recorder has passed on: its arguments, its result, which may be
// absent, and its error. Arguments and result are copies, in messages of their own.
type Recorded struct {
	Method       *rpc.Method
	Args, Result nocopy.Struct
	Err          error
}

// String returns the call as text.
func (r Recorded) String() string {
	s := r.Method.String() + r.Args.StringAs(r.Method.Args)
	switch {
	case r.Err != nil:
		return fmt.Sprintf("%s: %v", s, r.Err)
	case r.Method.Oneway():
		return s
	}
	return s + " = " + r.Result.StringAs(r.Method.Result)
}

// NewRecorder returns a Recorder that passes calls on to a Caller, such as the client that Serve
// returns.
func NewRecorder(to rpc.Caller) *Recorder {
	if to == nil {
		panic("nocopy: rpctest.NewRecorder of a nil Caller")
	}
	return &Recorder{to: to}
}

// NewArgs returns empty arguments for a call. The caller fills them and passes them to Call.
func (r *Recorder) NewArgs(m *rpc.Method) nocopy.Struct { return r.to.NewArgs(m) }

// Call passes a call on.
func (r *Recorder) Call(ctx context.Context, m *rpc.Method, args nocopy.Struct) (nocopy.Struct, error) {
	kept := Recorded{Method: m, Args: args.Clone(m.Args), Result: thriftimpl.Absent()}
	result, err := r.to.Call(ctx, m, args)
	if kept.Err = err; err == nil && !m.Oneway() {
		kept.Result = result.Clone(m.Result)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls = append(r.calls, kept)
	return result, err
}

// Calls returns the calls that have ended, in the order of their ends.
func (r *Recorder) Calls() []Recorded {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]Recorded{}, r.calls...)
}
