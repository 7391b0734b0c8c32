package compressed

import (
	"fmt"
	"os"
	"sync"
	"time"
)

const (
	// FreeRatio is how many times as large as its compressed bytes a message may become before it
	// is charged to a Budget.
	FreeRatio = 32

	// MaxRatio bounds the ratio to which zlib and gzip compress.
	MaxRatio = 1032
)

// Budget bounds the bytes that compressed messages have become, on all connections of a server or
// a client. A call's bytes count until it has been answered, a reply's until its call returns.
// Then they fade away, so many per second: that bounds the time for decompressing. Any goroutine
// may call the methods.
type Budget struct {
	most int64           // at the same time
	rate int64           // how many fade per second
	done <-chan struct{} // closed when nothing is to wait any more

	mu     sync.Mutex
	used   int64         // by messages that are in use, or are being decompressed
	fading int64         // of messages that are not used any more, as of faded
	faded  time.Time     // when fading was updated
	freed  chan struct{} // closed when used becomes less; nil if nobody waits for that
}

// NewBudget returns a Budget of one and a half times largest, the limit for a message. A quarter
// of largest fades per second. When done is closed, nothing waits any more.
func NewBudget(largest int, done <-chan struct{}) *Budget {
	return &Budget{most: int64(largest) / 2 * 3, rate: max(int64(largest)/4, 1), done: done}
}

// ErrBusy is the error of a message for which a Budget had no room in time.
var ErrBusy = fmt.Errorf("too much is in use of messages that were compressed more than %d times", FreeRatio)

// Take takes n bytes, at most as many as the largest message. It waits for them for at most
// timeout; 0 waits without a limit, a negative timeout not at all. Meanwhile it calls stop now and
// then, unless stop is nil. If stop returns true, the error is os.ErrDeadlineExceeded,
// else it is ErrBusy.
func (b *Budget) Take(n int64, timeout time.Duration, stop func() bool) error {
	const look = 10 * time.Millisecond // how often stop is asked
	for began := time.Now(); ; {
		wait, freed := b.tryTake(n)
		switch left := timeout - time.Since(began); {
		case freed == nil:
			return nil
		case stop != nil && stop():
			return os.ErrDeadlineExceeded
		case timeout != 0 && left <= 0:
			return ErrBusy
		case timeout > 0:
			wait = min(wait, left)
		}
		if stop != nil {
			wait = min(wait, look)
		}
		timer := time.NewTimer(wait)
		select {
		case <-freed:
		case <-timer.C:
		case <-b.done:
			timer.Stop()
			return ErrBusy
		}
		timer.Stop()
	}
}

// tryTake takes n bytes if there are as many. If not, it returns the time after which there will
// be, and a channel that is closed when more are freed.
func (b *Budget) tryTake(n int64) (wait time.Duration, freed <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fade()
	lack := b.used + b.fading + n - b.most
	if lack <= 0 {
		b.used += n
		return 0, nil
	}
	if b.freed == nil {
		b.freed = make(chan struct{})
	}
	if wait = time.Hour; lack <= b.fading {
		wait = time.Duration(float64(lack)/float64(b.rate)*float64(time.Second)) + time.Millisecond
	}
	return wait, b.freed
}

// fade updates fading. b.mu is held.
func (b *Budget) fade() {
	now := time.Now()
	if n := int64(now.Sub(b.faded).Seconds() * float64(b.rate)); n > 0 || b.fading == 0 {
		b.fading, b.faded = max(b.fading-n, 0), now
	}
}

// Add takes n bytes without waiting for them.
func (b *Budget) Add(n int64) {
	b.mu.Lock()
	b.used += n
	b.mu.Unlock()
}

// Give returns bytes that were taken. faded of them fade, the others are free at once.
func (b *Budget) Give(free, faded int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fade()
	b.used -= free + faded
	b.fading += faded
	if b.freed != nil {
		close(b.freed)
		b.freed = nil
	}
}
