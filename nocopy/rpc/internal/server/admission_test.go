package server

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func admissionOf(inFlight, queued int) *admission {
	return newAdmission(&Config{MaxInFlight: inFlight, MaxQueued: queued, Log: func(slog.Level, string, ...any) {}})
}

// TestAdmissionSettings: what the settings mean that are 0 or negative.
func TestAdmissionSettings(t *testing.T) {
	for _, c := range []struct {
		inFlight, queued int
		timeout          time.Duration
		places, room     int64
		patience         time.Duration
	}{
		{3, 0, 0, 3, 3, 30 * time.Second},
		{3, 7, time.Minute, 3, 7, time.Minute},
		{1, -1, -1, 1, 0, 30 * time.Second}, // never for ever
	} {
		a := newAdmission(&Config{MaxInFlight: c.inFlight, MaxQueued: c.queued, ReadTimeout: c.timeout})
		if a.places != c.places || a.room != c.room || a.patience != c.patience {
			t.Errorf("%+v: %d places, room for %d, for %v", c, a.places, a.room, a.patience)
		}
	}
	for _, n := range []int{0, -1} {
		if newAdmission(&Config{MaxInFlight: n, MaxQueued: 1}) != nil {
			t.Errorf("MaxInFlight %d is a limit", n)
		}
	}
}

// enters returns the turn that a new request gets, and how it is.
func enters(a *admission) (*turn, string) {
	t, err := a.enter(&Request{})
	switch {
	case err != nil:
		return nil, "refused"
	case t != nil:
		return t, "waits"
	}
	return nil, "in"
}

func (t *turn) has() bool {
	select {
	case <-t.got:
		return true
	default:
		return false
	}
}

// TestAdmission: there are as many places as are allowed, and as many calls wait. A place that is
// given back is the next one's.
func TestAdmission(t *testing.T) {
	a := admissionOf(2, 3)
	var turns []*turn
	for i, want := range []string{"in", "in", "waits", "waits", "waits", "refused", "refused"} {
		turn, got := enters(a)
		if got != want {
			t.Errorf("call %d: %s, want %s", i, got, want)
		}
		if turn != nil {
			turns = append(turns, turn)
		}
	}
	for i, turn := range turns {
		if turn.has() {
			t.Errorf("call %d has its place before its turn", i)
		}
		if a.leave(); !turn.has() {
			t.Errorf("call %d does not get its place in its turn", i)
		}
	}
	a.leave()
	a.leave()
	if a.taken.Load() != 0 || a.waiting.Load() != 0 || a.queue.Len() != 0 {
		t.Errorf("%d places are taken, %d calls wait", a.taken.Load(), a.waiting.Load())
	}
}

// TestAdmissionInTurn: a call that comes when a place is free, but others still wait for it, does
// not overtake them. One that leaves the queue makes room for another.
func TestAdmissionInTurn(t *testing.T) {
	a := admissionOf(1, 2)
	enters(a)
	first, _ := enters(a)
	a.taken.Add(-1) // the first step of leave
	second, how := enters(a)
	if how != "waits" || !first.has() || second.has() {
		t.Errorf("the second call %s; the first one has its place: %v", how, first.has())
	}
	if third, how := enters(a); how != "waits" || !third.quit() || third.quit() {
		t.Errorf("the third call %s", how)
	}
	if _, how := enters(a); how != "waits" {
		t.Errorf("the fourth call %s", how)
	}
	if _, how := enters(a); how != "refused" {
		t.Errorf("the fifth call %s", how)
	}
	if first.quit() {
		t.Error("the first call has quit though it has a place")
	}
}

// TestAdmissionMeets: when a place is given back while a call queues up, the call gets it.
func TestAdmissionMeets(t *testing.T) {
	a := admissionOf(1, 1)
	a.taken.Add(1)
	a.taken.Add(-1) // it is given back after the call has looked for a place, and before it waits
	if turn := a.queueUp(); !turn.has() || a.taken.Load() != 1 || a.waiting.Load() != 0 {
		t.Errorf("the call waits although there is a place: %d taken, %d wait", a.taken.Load(), a.waiting.Load())
	}
}

// TestAdmissionConcurrently: with many goroutines, no place is lost, none is used twice, and no
// call waits while there is a place.
func TestAdmissionConcurrently(t *testing.T) {
	const places, room, goroutines, rounds = 3, 5, 16, 2000
	a := admissionOf(places, room)
	var in, most, refused, quit atomic.Int64
	var all sync.WaitGroup
	for range goroutines {
		all.Go(func() {
			for range rounds {
				turn, err := a.enter(&Request{})
				switch {
				case err != nil:
					refused.Add(1)
					continue
				case turn != nil && rand.N(4) == 0 && turn.quit():
					quit.Add(1)
					continue
				case turn != nil:
					<-turn.got
				}
				n := in.Add(1)
				for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
				}
				if rand.N(8) == 0 {
					time.Sleep(time.Microsecond)
				}
				in.Add(-1)
				a.leave()
			}
		})
	}
	all.Wait()
	if most.Load() > places || a.taken.Load() != 0 || a.waiting.Load() != 0 || a.queue.Len() != 0 {
		t.Errorf("at most %d calls in; %d places are taken and %d calls wait at the end", most.Load(), a.taken.Load(), a.waiting.Load())
	}
	t.Logf("%d refused, %d have quit", refused.Load(), quit.Load())
}

// waitingCall is a Call that expires.
type waitingCall struct {
	Call
	expires time.Time
}

func (c waitingCall) Expires() time.Time { return c.expires }

// TestWaitLate: a call that gets its place when its time is over, or its client gone, is not
// handled, and the next one gets the place.
func TestWaitLate(t *testing.T) {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	ctx := context.Background()
	for name, c := range map[string]struct {
		server, ctx context.Context
		after       time.Duration // until it expires; 0: never
		err         error
	}{
		"in time":  {ctx, ctx, time.Second, nil},
		"for ever": {ctx, ctx, 0, nil},
		"too late": {ctx, ctx, -time.Second, errLate},
		"gone":     {ctx, ended, 0, errLate},
		"Close":    {ended, ctx, 0, errLate},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				for range 64 { // which of several events is noticed is left to chance
					a := admissionOf(1, 2)
					o := &Origin{srv: &Server{admission: a, ctx: c.server}}
					enters(a)
					req := &Request{}
					turn, _ := a.enter(req)
					next, _ := enters(a)
					a.leave()
					call := waitingCall{}
					if c.after != 0 {
						call.expires = time.Now().Add(c.after)
					}
					req.Call = call
					if err := o.wait(c.ctx, req, turn); err != c.err || (req.place != nil) != (err == nil) || next.has() != (err != nil) {
						t.Errorf("%v; it has a place: %v; the next one has it: %v", err, req.place != nil, next.has())
					}
				}
			})
		})
	}
}

// BenchmarkAdmission: a place that is taken and given back, and the same with no limit. With
// several processors, they share the counters.
func BenchmarkAdmission(b *testing.B) {
	for name, a := range map[string]*admission{"limit": admissionOf(1000, 0), "none": nil} {
		b.Run(name, func(b *testing.B) {
			b.RunParallel(func(pb *testing.PB) {
				req := new(Request)
				for pb.Next() {
					a.enter(req)
					req.leave()
				}
			})
		})
	}
}
