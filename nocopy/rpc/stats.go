package rpc

import (
	"runtime/debug"
	"sync"
	"time"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/linkbuf"
)

// Stats are functions that a Server, or a Client of which they are an option, calls when something
// is to be counted. Any of them may be nil; without Stats nothing is measured. They are called by
// the goroutines that carry the calls, several at a time, and must neither wait nor end their
// goroutine. A panic is recovered; the first one is logged. They must not be changed once they are
// in use.
type Stats struct {
	// Conns is called with 1 when a connection was made, and with −1 when nothing uses it any more.
	Conns func(delta int)
	// InFlight is called on a server with 1 before a handler, or the outermost interceptor, is
	// called, and with −1 when it has returned; on a client when a call, or a try of it, has its
	// place among MaxInFlight, and when it has ended.
	InFlight func(delta int)
	// Queued is called once for each call, with the time that it has waited: on a server from the
	// arrival of its last bytes until it is handled; on a client for its place, for a connection and
	// for others to be written, until it is. A client's call that is never written is not counted.
	Queued func(time.Duration)
	// Received is called with the bytes that were read from a connection, and Sent with those that
	// were written, and how many of them from where they lay, not copied together first. Headers and
	// frames are included, and messages in shared memory; with TLS they are counted before they are
	// encrypted.
	Received func(bytes int)
	Sent     func(linkbuf.Stats)
	// Refused is called on a server with the type of the answer to a message that is not handled,
	// such as UnknownMethod. Interceptors do not see it.
	Refused func(ExceptionType)
}

func (s *Stats) apply(o *options) {
	if s == nil {
		panic("nocopy: a nil *rpc.Stats as an Option")
	}
	o.stats = newStatsHook(s, func(args ...any) { o.warn(hookPanicked, args...) })
}

// BlockStats tells of the blocks of memory that messages of this process are in: those that are
// recycled, and those that are left to the garbage collector.
type BlockStats struct {
	Taken    uint64 // from the pools, or made since they were empty
	Returned uint64 // to the pools; the others are in use, or the garbage collector's
}

// ReadBlockStats returns what was counted since Stats were given to a Server or a Client for the
// first time.
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
