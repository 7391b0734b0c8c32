package bench

import (
	"context"
	"errors"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/invoke"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/shell"
)

// runner makes the calls.
type runner struct {
	*Command
	sh     *shell.Shell
	wire   string
	lanes  []lane // one for each call that is under way at the same time
	method *invoke.Method
	source *source
}

// limits are when a run ends.
type limits struct {
	duration time.Duration
	number   int64 // of calls; 0: no limit
}

// lastAnswers is how long answers are awaited after the last call.
const lastAnswers = time.Second

// run is a measurement under way.
type run struct {
	*runner
	load
	limits
	began time.Time
	next  *atomic.Int64 // the number of the next call
	*measurement
}

// run makes calls until the time is over, or enough have been made, or the user interrupts. It
// counts them in next.
func (r *runner) run(l load, until limits, next *atomic.Int64) (*result, error) {
	ctx, cancel := context.WithCancel(r.sh.Ctx) // of waiting for the next call
	defer cancel()
	answers, giveUp := context.WithCancel(r.sh.Ctx) // of calls
	defer giveUp()
	m := &run{runner: r, load: l, limits: until, began: time.Now(), next: next, measurement: newMeasurement()}
	end := time.AfterFunc(until.duration+lastAnswers, giveUp)
	defer end.Stop()
	var failed atomic.Pointer[error]
	workers := make([]worker, l.concurrency)
	var all sync.WaitGroup
	for i := range workers {
		all.Go(func() {
			if err := m.work(ctx, answers, &workers[i], &r.lanes[i]); err != nil {
				failed.CompareAndSwap(nil, &err)
				cancel()
			}
		})
	}
	all.Wait()
	if err := failed.Load(); err != nil {
		return nil, *err
	}
	m.complete()
	res := &m.result
	res.load, res.duration, res.took = l, until.duration, time.Since(m.began)
	if until.number == 0 && r.sh.Ctx.Err() == nil {
		res.took = max(res.took, until.duration) // also if no call was due at the end
	}
	sent := int64(0)
	for _, w := range workers {
		sent += w.sent
		if w.unfinished {
			res.unfinished++
			res.waited = max(res.waited, w.waited)
		}
		if w.sent > 0 && w.answered == 0 {
			res.silent++
		}
	}
	res.due = sent
	if l.rate > 0 {
		due := int64(math.Ceil(l.rate * min(res.took, until.duration).Seconds()))
		if until.number > 0 {
			due = min(due, until.number)
		}
		res.unsent = max(due-sent, 0)
		res.due += res.unsent
	}
	return res, nil
}

// worker is what is known of one goroutine's calls.
type worker struct {
	sent, answered int64
	unfinished     bool          // the last one had no answer at the end
	waited         time.Duration // for that, so far
}

// work makes one call after the other. Waiting for the next one ends with ctx, and waiting for its
// answer with answers.
func (r *run) work(ctx, answers context.Context, w *worker, l *lane) error {
	for {
		n := r.next.Add(1) - 1
		if r.number > 0 && n >= r.number {
			return nil
		}
		due, ok := r.wait(ctx, n)
		if !ok {
			return nil
		}
		args, err := r.source.args(uint64(n))
		if err != nil {
			return err
		}
		if r.rate == 0 {
			due = time.Since(r.began)
		}
		w.sent++
		o := r.call(answers, l, args)
		now := time.Since(r.began)
		if answers.Err() != nil && errors.Is(o.Err, context.Canceled) {
			w.unfinished, w.waited = true, now-due
			return nil
		}
		if answered(&o) {
			w.answered++
		}
		r.note(r.began, now-due, &o, len(args))
		if r.rate == 0 && o.Err != nil {
			runtime.Gosched()
		}
	}
}

// wait blocks until call n is due, and returns the due time. ok is false if the run has ended.
func (r *run) wait(ctx context.Context, n int64) (due time.Duration, ok bool) {
	if r.rate > 0 {
		due = time.Duration(float64(n) / r.rate * float64(time.Second))
		if d := due - time.Since(r.began); d > 0 && due < r.duration {
			timer := time.NewTimer(d)
			defer timer.Stop()
			select {
			case <-timer.C:
			case <-ctx.Done():
			}
		}
	}
	return due, due < r.duration && ctx.Err() == nil && time.Since(r.began) < r.duration
}
