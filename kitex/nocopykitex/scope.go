package nocopykitex

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/cloudwego/kitex/client"
	"github.com/cloudwego/kitex/pkg/rpcinfo"
	"github.com/cloudwego/kitex/server"
)

// ServerRecycle makes a server recycle memory. Arguments and results of a call, and everything
// read from them, end when the reply has been sent. If that time is unknown, as on multiplexed
// connections or after a failed write, memory that was passed to Kitex is left to the garbage
// collector.
//
// The option is a stats.Tracer. If there is a tracer, Kitex measures each stage of a call, unless
// server.WithStatsLevel(stats.LevelDisabled) is given. Use that if no other tracer needs the
// times.
func ServerRecycle() server.Option { return server.WithTracer(tracer{server: true, recycle: true}) }

// ClientRecycle makes the results of a client's calls recycle memory. Values that were read from a
// result end when it is released. The garbage collector frees results that are not released. The
// option is a stats.Tracer, like ServerRecycle.
func ClientRecycle() client.Option { return client.WithTracer(tracer{recycle: true}) }

// scope is one call from beginning to end, as a tracer sees it.
type scope struct {
	server  bool
	recycle bool
	ri      rpcinfo.RPCInfo // of the call, only for comparison
	sliced  atomic.Int64    // number of received bytes that Kitex has not counted

	// On a server
	args   *Args
	atOnce bool // written bytes have been sent when Kitex's Write has returned

	mu      sync.Mutex
	result  *Result
	calls   []*call // calls of clients that may refer to the arguments
	running int     // number of running handlers
	ended   bool
}

type scopeKey struct{}

// scopeOf returns the scope of a server's or a client's call, or nil.
func scopeOf(ctx context.Context, server bool) *scope {
	if s, ok := ctx.Value(scopeKey{}).(*scope); ok && s.server == server {
		return s
	}
	return nil
}

// tracer makes the scopes, and ends them.
type tracer struct{ server, recycle bool }

// Start implements stats.Tracer.
func (t tracer) Start(ctx context.Context) context.Context {
	if t.server {
		growStack(0)
	}
	s, ri := scopeOf(ctx, t.server), rpcinfo.GetRPCInfo(ctx)
	if s == nil || s.ri != ri {
		s = &scope{server: t.server, ri: ri}
		ctx = context.WithValue(ctx, scopeKey{}, s)
	}
	s.recycle = s.recycle || t.recycle
	return ctx
}

// Finish implements stats.Tracer. It corrects the number of bytes received, and gives memory back.
func (t tracer) Finish(ctx context.Context) {
	s, ri := scopeOf(ctx, t.server), rpcinfo.GetRPCInfo(ctx)
	if s == nil || ri == nil {
		return
	}
	if n := s.sliced.Swap(0); n > 0 {
		if stats := rpcinfo.AsMutableRPCStats(ri.Stats()); stats != nil {
			stats.SetRecvSize(ri.Stats().RecvSize() + uint64(n))
		}
	}
	if s.server && s.recycle {
		s.release(s.atOnce && ri.Stats().Error() == nil)
	}
}

// begin notes that a handler is called. It returns false if the call has already ended.
func (s *scope) begin(r *Result) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.result = r
	s.running++
	return !s.ended
}

// answer notes that r will be sent.
func (s *scope) answer(r *Result) {
	s.mu.Lock()
	s.result = r
	s.mu.Unlock()
}

// add notes a client's call that a handler makes.
func (s *scope) add(c *call) {
	s.mu.Lock()
	s.calls = append(s.calls, c)
	s.mu.Unlock()
}

// end notes that a handler has returned.
func (s *scope) end() {
	s.mu.Lock()
	s.running--
	s.mu.Unlock()
}

// release gives back the memory of the call, unless it may still be in use. sent says that all
// written bytes have been sent.
func (s *scope) release(sent bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended = true; s.running > 0 || s.args == nil { // a LocalCaller reads the result later
		return
	}
	done := true
	for _, c := range s.calls {
		done = c.close() && done
	}
	if !done {
		return // an attempt that was given up may still be sending the arguments
	}
	if s.result != nil && !s.result.body.end(sent) {
		return // the result may refer to the arguments
	}
	if s.args != nil {
		s.args.body.end(true)
	}
	for _, c := range s.calls {
		c.args.body.end(true)
	}
}
