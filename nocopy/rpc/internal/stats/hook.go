// Package stats calls the functions that count events, wherever they happen. Package rpc and its
// parts call it.
package stats

import (
	"runtime/debug"
	"sync"
	"time"

	"github.com/nocopythrift/nocopythrift/internal/memory"
	"github.com/nocopythrift/nocopythrift/linkbuf"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/foreign"
)

// Functions are the functions of an rpc.Stats. Any of them may be nil.
type Functions struct {
	Conns, InFlight, Waiting, Received, Converted func(int)
	Queued                                        func(time.Duration)
	Sent                                          func(linkbuf.Stats)
	Refused                                       func(int32)
}

// Hook calls the functions. The nil Hook does nothing.
type Hook struct {
	to   Functions
	once *sync.Once
	warn func(args ...any)
	// Called in the goroutine that a function has ended; nil if there is nothing to do. Callers must
	// hold no lock.
	ended func()
}

// New returns a Hook for f that logs the first panic with warn. From now on blocks are counted.
func New(f Functions, warn func(args ...any)) *Hook {
	memory.CountBlocks()
	return &Hook{to: f, once: new(sync.Once), warn: warn}
}

// Of returns a hook for one connection, which the function ended closes.
func (h *Hook) Of(ended func()) *Hook {
	if h == nil {
		return nil
	}
	c := *h
	c.ended = ended
	return &c
}

// caught is deferred around the functions, which set returned when they have returned.
func (h *Hook) caught(returned *bool) {
	v := recover()
	if *returned {
		return
	}
	ended := v == nil // recover returns no nil of a panic
	if ended {
		v = "it has ended its goroutine, as runtime.Goexit does"
	}
	h.once.Do(func() { h.warn("err", foreign.Text(v), "stack", string(debug.Stack())) })
	if ended && h.ended != nil {
		h.ended()
	}
}

// tell calls f, one of h's functions. The methods below are inlined: without Stats they cost one
// comparison.
func tell[T any](h *Hook, f func(T), v T) {
	if f != nil {
		returned := false
		defer h.caught(&returned)
		f(v)
		returned = true
	}
}

// Conns reports a connection that was made or has ended.
func (h *Hook) Conns(delta int) {
	if h != nil {
		tell(h, h.to.Conns, delta)
	}
}

// InFlight reports a call that has begun or ended.
func (h *Hook) InFlight(delta int) {
	if h != nil {
		tell(h, h.to.InFlight, delta)
	}
}

// Waiting reports a call that begins or ends to wait for a place.
func (h *Hook) Waiting(delta int) {
	if h != nil {
		tell(h, h.to.Waiting, delta)
	}
}

// Now returns the time, if somebody wants to know how long something waits from now on.
func (h *Hook) Now() (t time.Time) {
	if h != nil && h.to.Queued != nil {
		t = time.Now()
	}
	return t
}

// Queued reports something that has waited since t, which Now has returned.
func (h *Hook) Queued(t time.Time) {
	if h != nil && !t.IsZero() {
		tell(h, h.to.Queued, time.Since(t))
	}
}

// Received reports bytes that were read.
func (h *Hook) Received(n int) {
	if h != nil && n > 0 {
		tell(h, h.to.Received, n)
	}
}

// Sent reports how much a write has sent.
func (h *Hook) Sent(s memory.Stats) {
	if h != nil && s.Bytes > 0 {
		tell(h, h.to.Sent, linkbuf.Stats(s))
	}
}

// Converted reports bytes that were made into, or of, another form.
func (h *Hook) Converted(n int) {
	if h != nil {
		tell(h, h.to.Converted, n)
	}
}

// Refused reports an answer of type t to a message that is not handled.
func (h *Hook) Refused(t int32) {
	if h != nil {
		tell(h, h.to.Refused, t)
	}
}
