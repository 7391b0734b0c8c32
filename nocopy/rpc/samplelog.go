package rpc

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"
)

// SampleLogs returns a Handler that passes at most perSecond records of each kind per second to h,
// and drops the others. Use it for the Logger of a Server or Client whose peers are not trusted
// and might fill the log. The kind of a record is its message, up to 1 KiB of it. After the first
// 1,000 kinds, all further messages are one kind.
//
// At the end of a second, one more record per kind tells how many were dropped. It has the
// message, level and time of the last of them, and the attribute dropped. SampleLogs keeps copies
// of messages, which may alias recycled memory.
//
// If a record was dropped, the log lacks the id of its panic or error that the client was told.
// SampleLogs panics if h is nil, or perSecond less than 1.
func SampleLogs(h slog.Handler, perSecond int) slog.Handler {
	if h == nil || perSecond < 1 {
		panic("nocopy: rpc.SampleLogs needs a Handler and a number of records")
	}
	return &sampler{Handler: h, counts: &logCounts{perSecond: perSecond, kinds: map[string]*logKind{}}}
}

const (
	maxKinds = 1000    // of records that are counted one by one
	maxKind  = 1 << 10 // bytes of a message by which its kind is known
)

// sampler is the Handler that SampleLogs returns.
type sampler struct {
	slog.Handler
	counts *logCounts // shared with those that WithAttrs and WithGroup return
}

type logCounts struct {
	perSecond int
	mu        sync.Mutex
	kinds     map[string]*logKind
	others    logKind
}

// logKind counts the records of a kind in one second.
type logKind struct {
	message string    // up to maxKind of it, a copy; of others that of the last that was dropped
	until   time.Time // when the second ends
	passed  int
	dropped int
	last    slog.Record  // the last that was dropped
	to      slog.Handler // where it would have gone
}

func (s *sampler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &sampler{s.Handler.WithAttrs(attrs), s.counts}
}

func (s *sampler) WithGroup(name string) slog.Handler {
	return &sampler{s.Handler.WithGroup(name), s.counts}
}

func (s *sampler) Handle(ctx context.Context, r slog.Record) error {
	if !s.counts.pass(r, s.Handler) {
		return nil
	}
	return s.Handler.Handle(ctx, r)
}

// pass counts r, a record for h, and reports whether it is passed on.
func (c *logCounts) pass(r slog.Record, h slog.Handler) bool {
	now := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	message := r.Message[:min(len(r.Message), maxKind)]
	k := c.kinds[message]
	if k == nil {
		if k = &c.others; len(c.kinds) < maxKinds {
			k = &logKind{message: strings.Clone(message)}
			c.kinds[k.message] = k
		}
	}
	if k.dropped == 0 && !now.Before(k.until) { // else tell begins the next second
		k.until, k.passed = now.Add(time.Second), 0
	}
	if k.passed < c.perSecond {
		k.passed++
		return true
	}
	if k.dropped == 0 {
		time.AfterFunc(k.until.Sub(now), func() { c.tell(k) })
	}
	k.dropped++
	if k == &c.others {
		k.message = strings.Clone(message)
	}
	k.last, k.to = slog.NewRecord(r.Time, r.Level, k.message, r.PC), h
	return false
}

// tell logs how many records of a kind were dropped in the second that has ended.
func (c *logCounts) tell(k *logKind) {
	defer func() { recover() }() // as for other records, the Handler may do anything
	c.mu.Lock()
	r, h := k.last, k.to
	r.AddAttrs(slog.Int("dropped", k.dropped))
	k.dropped, k.to, k.last = 0, nil, slog.Record{}
	k.until, k.passed = time.Now().Add(time.Second), 0
	c.mu.Unlock()
	h.Handle(context.Background(), r)
}
