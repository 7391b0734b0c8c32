package server

import (
	"container/list"
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/message"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/setting"
)

// admission bounds the calls of a whole server that are handled at the same time. Further calls
// wait in a queue, first come, first served. If it is full, they are refused. The nil admission
// has no bound.
//
// As long as no call waits, a place is taken and given back by counting, without the lock, which
// costs 20 to 25 ns on an idle machine (BenchmarkAdmission). A call that queues up first counts
// itself in waiting, and then looks for a place once more. A call that ends first gives its place
// back, and then looks at waiting. One of the two sees the other.
type admission struct {
	places   int64         // calls that are handled at the same time
	room     int64         // calls that wait at the same time
	patience time.Duration // how long one waits at most
	log      func(level slog.Level, what string, args ...any)

	taken   atomic.Int64 // of places
	waiting atomic.Int64 // the length of queue

	mu      sync.Mutex
	queue   list.List // of *turn
	refused int       // calls since the last line in the log
	dropped int       // how many of them were oneway, and got no answer
	logged  time.Time // when that line was written
}

// turn is a call's place in the queue.
type turn struct {
	of  *admission
	at  *list.Element // nil if it has left the queue
	got chan struct{} // closed when the call has got a place
}

// logPause is the time between two lines in the log about calls that were refused.
const logPause = 10 * time.Second

var (
	errFull = &message.Refusal{Type: message.LoadShedding, Text: "too many calls are under way" + message.NotHandled}
	errLate = &message.Refusal{Type: message.LoadShedding, Text: "too many calls are under way, and its time to wait is over" + message.NotHandled}
)

// newAdmission returns the admission for a server of these settings.
func newAdmission(c *Config) *admission {
	if c.MaxInFlight <= 0 {
		return nil
	}
	a := &admission{places: int64(c.MaxInFlight), room: int64(setting.Or(c.MaxQueued, c.MaxInFlight)), log: c.Log}
	// Never for ever: the calls under way may themselves wait for the one that waits
	if a.patience = setting.Or(c.ReadTimeout, setting.Timeout); a.patience == 0 {
		a.patience = setting.Timeout
	}
	return a
}

// enter gives a request a place, unless it is exempt. If there is none, it returns the request's
// turn, with which wait must be called; or an error if too many calls wait.
func (a *admission) enter(req *Request) (*turn, error) {
	if a == nil || req.Exempt {
		return nil, nil
	}
	if a.waiting.Load() == 0 && a.take() {
		req.place = a
		return nil, nil
	}
	if t := a.queueUp(); t != nil {
		return t, nil
	}
	a.note(req.Oneway)
	return nil, errFull
}

// take takes a place, if there is one.
func (a *admission) take() bool {
	for n := a.taken.Load(); n < a.places; n = a.taken.Load() {
		if a.taken.CompareAndSwap(n, n+1) {
			return true
		}
	}
	return false
}

// queueUp returns a turn at the end of the queue, nil if the queue is full.
func (a *admission) queueUp() *turn {
	a.mu.Lock()
	defer a.mu.Unlock()
	if int64(a.queue.Len()) >= a.room {
		return nil
	}
	t := &turn{of: a, got: make(chan struct{})}
	t.at = a.queue.PushBack(t)
	a.advance()
	return t
}

// advance gives the first calls of the queue the places that there are. a.mu is held.
func (a *admission) advance() {
	a.waiting.Store(int64(a.queue.Len()))
	for a.queue.Len() > 0 && a.take() {
		t := a.queue.Remove(a.queue.Front()).(*turn)
		t.at = nil
		close(t.got)
	}
	a.waiting.Store(int64(a.queue.Len()))
}

// leave gives a place back.
func (a *admission) leave() {
	a.taken.Add(-1)
	if a.waiting.Load() > 0 {
		a.mu.Lock()
		a.advance()
		a.mu.Unlock()
	}
}

// quit takes t out of the queue. It reports false if t has got a place.
func (t *turn) quit() bool {
	t.of.mu.Lock()
	defer t.of.mu.Unlock()
	if t.at == nil {
		return false
	}
	t.of.queue.Remove(t.at)
	t.at = nil
	t.of.waiting.Store(int64(t.of.queue.Len()))
	return true
}

// note counts a call that is refused, for the log.
func (a *admission) note(oneway bool) {
	a.mu.Lock()
	a.refused++
	if oneway {
		a.dropped++
	}
	refused, dropped, now := a.refused, a.dropped, time.Now()
	due := now.Sub(a.logged) >= logPause
	if due {
		a.refused, a.dropped, a.logged = 0, 0, now
	}
	a.mu.Unlock()
	if due {
		a.log(slog.LevelWarn, "calls refused: too many are under way", "calls", refused, "oneway", dropped, "MaxInFlight", a.places)
	}
}

// wait waits until a request has the place that t is for. It returns an error if the request must
// not be handled: ctx has ended, the time that its client gives it is over, or it has waited for
// too long.
func (o *Origin) wait(ctx context.Context, req *Request, t *turn) error {
	in := false
	defer func() { // also if a function of Stats ends the goroutine
		if !t.quit() {
			req.place = t.of
		}
		if !in {
			req.leave()
		}
	}()
	if in = o.waited(ctx, req, t); !in {
		t.of.note(req.Oneway)
		return errLate
	}
	return nil
}

// waited waits for a turn, and reports whether the request is to be handled.
func (o *Origin) waited(ctx context.Context, req *Request, t *turn) bool {
	defer o.Stats.Waiting(-1)
	o.Stats.Waiting(1)
	left, expires := t.of.patience, req.Call.Expires()
	if !expires.IsZero() {
		left = min(left, time.Until(expires))
	}
	timer := time.NewTimer(left)
	defer timer.Stop()
	select {
	case <-t.got:
		// After Close, ctx may end a moment later than the call whose place this was
		return o.srv.ctx.Err() == nil && ctx.Err() == nil && (expires.IsZero() || time.Now().Before(expires))
	case <-timer.C:
	case <-ctx.Done():
	}
	return false
}

// admit gives a request a place, for which it may have to wait. The error is why it must not be
// handled.
func (o *Origin) admit(ctx context.Context, req *Request) error {
	t, err := o.srv.admission.enter(req)
	if t != nil {
		err = o.wait(ctx, req, t)
	}
	return err
}
