package compressed_test

import (
	"errors"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nocopythrift/nocopythrift/internal/compressed"
)

// TestBudget: what was taken counts until it is given back, and then fades.
func TestBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		done := make(chan struct{})
		b := compressed.NewBudget(1000, done)
		take := func(n int64, want error, after time.Duration) {
			t.Helper()
			start := time.Now()
			if err := b.Take(n, time.Minute, nil); err != want {
				t.Errorf("%d: %v instead of %v", n, err, want)
			}
			if passed := time.Since(start); passed < after || passed > after+10*time.Millisecond {
				t.Errorf("%d: after %v instead of %v", n, passed, after)
			}
		}
		take(1000, nil, 0)
		take(500, nil, 0)
		take(1, compressed.ErrBusy, time.Minute)
		b.Give(500, 0) // at once
		take(500, nil, 0)
		b.Give(0, 1000)
		take(250, nil, time.Second) // of 250 per second
		take(750, nil, 3*time.Second)
		b.Give(0, 1500)
		time.Sleep(time.Hour)
		take(1000, nil, 0) // not more than there is in all
		take(501, compressed.ErrBusy, time.Minute)
		time.AfterFunc(time.Second, func() { b.Give(1000, 0) })
		take(1000, nil, time.Second)
		b.Add(2000)
		take(1, compressed.ErrBusy, time.Minute)
		time.AfterFunc(time.Second, func() { close(done) })
		take(1, compressed.ErrBusy, time.Second)
	})
}

// TestBudgetStops: take ends soon when it is told to.
func TestBudgetStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := compressed.NewBudget(1000, nil)
		b.Add(1500)
		var stop atomic.Bool
		start := time.Now()
		time.AfterFunc(time.Hour, func() { stop.Store(true) })
		if err := b.Take(1, 0, stop.Load); !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(start) > time.Hour+time.Second {
			t.Errorf("%v after %v", err, time.Since(start))
		}
	})
}

// TestBudgetConcurrently: many goroutines never hold more than there is, and all get what they
// want.
func TestBudgetConcurrently(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := compressed.NewBudget(1000, nil)
		var held, all atomic.Int64
		var wg sync.WaitGroup
		for i := range int64(50) {
			wg.Go(func() {
				n := 20*i + 1
				for range 3 {
					if err := b.Take(n, 0, nil); err != nil {
						t.Error(err)
					}
					if now := held.Add(n); now > 1500 {
						t.Errorf("%d are held", now)
					}
					all.Add(n)
					time.Sleep(time.Millisecond)
					held.Add(-n)
					b.Give(n/2, n-n/2)
				}
			})
		}
		start := time.Now()
		wg.Wait()
		if least := time.Duration(all.Load()/2-1500) * time.Second / 250; time.Since(start) < least {
			t.Errorf("%d bytes after %v, which is less than %v", all.Load(), time.Since(start), least)
		}
		time.Sleep(time.Minute)
		if err := b.Take(1500, -1, nil); err != nil {
			t.Error("some are used still")
		}
	})
}
