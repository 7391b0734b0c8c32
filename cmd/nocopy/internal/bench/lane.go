package bench

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/invoke"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/target"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// lane makes one call at a time.
type lane struct {
	server *target.Server // nil if it could not be connected to again
	own    bool           // no other lane uses it
}

const (
	mostDials = 32                     // at most so many connections are made at the same time
	dialPause = 100 * time.Millisecond // the pause after one that failed
)

// connect makes a connection for each lane.
func (r *runner) connect() error {
	r.lanes = make([]lane, r.most())
	errs := make([]error, len(r.lanes))
	turns := make(chan struct{}, mostDials)
	var all sync.WaitGroup
	for i := range r.lanes {
		turns <- struct{}{}
		all.Go(func() {
			r.lanes[i].own = true
			r.lanes[i].server, errs[i] = r.Again(r.sh.Ctx, r.Address, r.wire, rpc.PoolSize(1))
			<-turns
		})
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return r.Explain(r.Address, err)
		}
	}
	return nil
}

// close ends the connections that lanes have of their own.
func (r *runner) close() {
	for _, l := range r.lanes {
		if l.own && l.server != nil {
			l.server.Close()
		}
	}
}

// call makes a call. If its answer does not come, the connection is not used again: it would have
// to wait for that.
func (r *runner) call(ctx context.Context, l *lane, args []byte) invoke.Outcome {
	calling, done := r.Context(ctx)
	defer done()
	if l.server == nil {
		server, err := r.Again(calling, r.Address, r.wire, rpc.PoolSize(1))
		if err != nil {
			select {
			case <-time.After(dialPause):
			case <-calling.Done():
			}
			return invoke.Outcome{Err: err}
		}
		l.server = server
	}
	o := r.method.CallOnly(calling, l.server.Caller, args)
	if l.own && (errors.Is(o.Err, context.DeadlineExceeded) || errors.Is(o.Err, context.Canceled)) {
		l.server.Close()
		l.server = nil
	}
	o.Err = r.Plainly(o.Err)
	return o
}
