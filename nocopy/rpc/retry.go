package rpc

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/client"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/setting"
)

// RetryPolicy tells Retry which calls to repeat, how often and when. The zero value repeats only
// calls that were not sent or not handled.
type RetryPolicy struct {
	// Idempotent holds the names of methods that may run twice without harm. In multiplexed calls
	// they are "service:method".
	Idempotent []string
	// MaxTries limits the tries of a call, including the first one. 0 means 3. With a negative value
	// only the budget and the call's context limit them.
	MaxTries int
	// MinPause is the longest pause before the second try. It doubles with each further try, up to
	// MaxPause. The actual pause is random, from one half to all of that, to keep clients from trying
	// at the same time. 0 means 20 ms and 1 s. A negative value means no pause.
	MinPause, MaxPause time.Duration
	// Budget limits repetitions to this number per call, on average, plus 10: during an outage,
	// repetitions must not be most of a server's work. All calls that the Interceptor sees share it.
	// 0 means 0.1. A negative value means no limit.
	Budget float64
}

// Retry returns an interceptor for clients, see Interceptors, that repeats calls that have failed
// without being handled, or without a reply:
//
//   - A call with ErrNotSent, of any method. The server has not begun to handle it: it does not
//     run twice.
//   - A call with ErrNotHandled, of any method, which says the same.
//   - A call with ErrConnLost, of a method that policy.Idempotent names. The server may have
//     handled it. It may therefore run more than once, at most MaxTries times.
//
// No other call is repeated: not one with another reply, not even an exception, nor one whose
// context has ended, nor one whose reply was too large (nocopy.ErrLimit), nor one of a closed
// client. A Client repeats a call on its own up to twice, at once, if a connection turns out to
// be closed before the call was sent; such a call does not run twice either.
//
// The error is the last try's. But if the server may have handled an earlier try, it is
// ErrConnLost, even if the last try was not sent or not handled.
func Retry(policy RetryPolicy) Interceptor {
	r := &retrier{
		idempotent: map[string]bool{},
		tries:      setting.Or(policy.MaxTries, 3),
		minPause:   setting.Or(policy.MinPause, 20*time.Millisecond),
		maxPause:   setting.Or(policy.MaxPause, time.Second),
		budget:     policy.Budget,
		tokens:     reserve,
	}
	if r.budget == 0 {
		r.budget = 0.1
	}
	for _, name := range policy.Idempotent {
		r.idempotent[name] = true
	}
	return r.intercept
}

// reserve is how many repetitions there may be before any are earned, and the most that can be
// saved.
const reserve = 10

type retrier struct {
	idempotent         map[string]bool // by WireName
	tries              int             // 0: no limit
	minPause, maxPause time.Duration
	budget             float64

	mu     sync.Mutex
	tokens float64 // how many repetitions there may be
}

func (r *retrier) intercept(ctx context.Context, call *Call, next Handler) error {
	r.earn()
	var lost error // of the first try that the server may have handled
	for try := 1; ; try++ {
		err := next(ctx, call)
		if lost == nil && errors.Is(err, ErrConnLost) {
			lost = err
		}
		if r.mayRepeat(call, err) && try != r.tries && r.spend() && r.pause(ctx, try) {
			continue
		}
		if lost != nil && (errors.Is(err, ErrNotSent) || errors.Is(err, ErrNotHandled)) {
			return fmt.Errorf("%w; then: %s", lost, strings.TrimPrefix(err.Error(), "rpc: "))
		}
		return err
	}
}

// mayRepeat reports whether a call that has failed with err may be made again.
func (r *retrier) mayRepeat(call *Call, err error) bool {
	switch {
	case errors.Is(err, ErrClientClosed), errors.Is(err, client.ErrNoOther), errors.Is(err, nocopy.ErrLimit):
		return false
	case errors.Is(err, ErrNotSent), errors.Is(err, ErrNotHandled):
		return true
	}
	return errors.Is(err, ErrConnLost) && call.Method != nil && r.idempotent[call.Method.WireName()]
}

// earn adds what a new call allows to the budget.
func (r *retrier) earn() {
	r.mu.Lock()
	r.tokens = min(r.tokens+max(r.budget, 0), reserve)
	r.mu.Unlock()
}

// spend reports whether the budget allows a repetition, and takes it.
func (r *retrier) spend() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.budget < 0:
	case r.tokens < 1:
		return false
	default:
		r.tokens--
	}
	return true
}

// pause waits before the next try. It reports false if ctx ends first.
func (r *retrier) pause(ctx context.Context, tries int) bool {
	d := r.minPause
	for ; tries > 1 && d < r.maxPause; tries-- {
		d *= 2
	}
	d = min(d, r.maxPause)
	timer := time.NewTimer(d/2 + rand.N(d/2+1))
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}
