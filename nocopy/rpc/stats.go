package rpc

import (
	"runtime/debug"
	"sync"
	"time"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/linkbuf"
)

// Stats are functions that a Server calls to count events, and a Client that has them as an
// option. Any of them may be nil. Without Stats nothing is measured. The goroutines that carry
// calls call them, several at the same time. They must neither wait nor end their goroutine. A
// panic is recovered; the first one is logged. Stats must not be changed once they are in use.
type Stats struct {
	// Conns is called with 1 when a connection was made, and with −1 when nothing uses it any more.
	Conns func(delta int)
	// InFlight is called with 1 and −1. On a server, these mark when the outermost interceptor, or
	// the handler if there is none, is called and returns. On a client, they mark when a call, or a
	// try of it, gets its place among MaxInFlight, and when it ends.
	InFlight func(delta int)
	// Queued is called once per call, with the time that it has waited. On a server, that is the time
	// from the arrival of its last byte until it is handled. On a client, it is the time until the
	// call is written: waiting for a place among MaxInFlight, for a connection, and for other calls
	// to be written. A client's call that is never written is not counted.
	Queued func(time.Duration)
	// Received is called with the number of bytes read from a connection. Sent is called with the
	// number of bytes written, and how many of them were sent without copying. Both include headers,
	// frames, and messages in shared memory. With TLS they count bytes before encryption.
	Received func(bytes int)
	Sent     func(linkbuf.Stats)
	// Refused is called on a server when a message is not handled, with the type of the answer, such
	// as UnknownMethod. Interceptors do not see such messages.
	Refused func(ExceptionType)
}

func (s *Stats) apply(o *options) {
	if s == nil {
		panic("nocopy: a nil *rpc.Stats as an Option")
	}
	o.stats = newStatsHook(s, func(args ...any) { o.warn(hookPanicked, args...) })
}

// BlockStats counts the blocks of memory for messages in this process, both recycled blocks and
// those left to the garbage collector.
type BlockStats struct {
	Taken    uint64 // from the pools, or made because they were empty
	Returned uint64 // to the pools; others are in use or left to the garbage collector
}

// ReadBlockStats returns the counts since the first Server or Client in the process got Stats.
func ReadBlockStats() BlockStats {
	taken, returned := chain.Blocks()
	return BlockStats{Taken: taken, Returned: returned}
}

const hookPanicked = "a function of Stats panicked"

// statsHook calls the functions of Stats. The nil statsHook does nothing.
type statsHook struct {
	stats Stats
	once  *sync.Once
	warn  func(args ...any)
	// Called in the goroutine that a function has ended; nil if there is nothing to do. Callers must
	// hold no lock.
	ended func()
}

// newStatsHook returns a hook that logs the first panic with warn; nil if s is nil.
func newStatsHook(s *Stats, warn func(args ...any)) *statsHook {
	if s == nil {
		return nil
	}
	chain.CountBlocks()
	return &statsHook{stats: *s, once: new(sync.Once), warn: warn}
}

// of returns a hook for one connection, which the function ended closes.
func (h *statsHook) of(ended func()) *statsHook {
	if h == nil {
		return nil
	}
	c := *h
	c.ended = ended
	return &c
}

// caught is deferred around the functions of Stats, which set returned when they have returned.
func (h *statsHook) caught(returned *bool) {
	v := recover()
	if *returned {
		return
	}
	ended := v == nil // recover returns no nil of a panic
	if ended {
		v = "it has ended its goroutine, as runtime.Goexit does"
	}
	h.once.Do(func() { h.warn("err", textOf(v), "stack", string(debug.Stack())) })
	if ended && h.ended != nil {
		h.ended()
	}
}

// tell calls f, a function of h's Stats. The methods below are inlined, so that without Stats they
// cost one comparison.
func tell[T any](h *statsHook, f func(T), v T) {
	if f != nil {
		returned := false
		defer h.caught(&returned)
		f(v)
		returned = true
	}
}

func (h *statsHook) conns(delta int) {
	if h != nil {
		tell(h, h.stats.Conns, delta)
	}
}

func (h *statsHook) inFlight(delta int) {
	if h != nil {
		tell(h, h.stats.InFlight, delta)
	}
}

// now returns the time, if somebody wants to know how long something waits from now on.
func (h *statsHook) now() (t time.Time) {
	if h != nil && h.stats.Queued != nil {
		t = time.Now()
	}
	return t
}

// queued tells of something that has waited since t, which now has returned.
func (h *statsHook) queued(t time.Time) {
	if h != nil && !t.IsZero() {
		tell(h, h.stats.Queued, time.Since(t))
	}
}

func (h *statsHook) received(n int) {
	if h != nil && n > 0 {
		tell(h, h.stats.Received, n)
	}
}

// sent tells of what a write has sent.
func (h *statsHook) sent(s chain.Stats) {
	if h != nil && s.Bytes > 0 {
		tell(h, h.stats.Sent, linkbuf.Stats(s))
	}
}

func (h *statsHook) refused(t ExceptionType) {
	if h != nil {
		tell(h, h.stats.Refused, t)
	}
}
