package transport

import (
	"errors"
	"os"
	"sync"
	"time"
)

// This file bounds what becomes of compressed messages. They can be a thousand times as large as
// the bytes that were sent.

const (
	// freeRatio is how many times as large as its frame a compressed message may become, together
	// with its index, before it is charged to a Budget.
	freeRatio = 32

	// zlibRatio is the most times that zlib compresses.
	zlibRatio = 1032

	// compactRatio is how many bytes of Thrift Binary a byte of the compact protocol may become.
	compactRatio = 8
)

// Budget bounds the bytes that compressed messages have become, on all connections of a server or
// a client. A message's bytes count until it is not used any more. Then they fade away, so many
// per second: that bounds the time for decompressing. Any goroutine may call the methods.
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

// NewBudget returns a Budget of one and a half times MaxFrame. A quarter of MaxFrame fades per
// second.
func NewBudget(l Limits, done <-chan struct{}) *Budget {
	return &Budget{most: int64(l.Frame) / 2 * 3, rate: max(int64(l.Frame)/4, 1), done: done}
}

// errBusy is the error of a Budget from which nothing could be taken in time.
var errBusy = errors.New("the budget is used up")

// take takes n bytes, at most MaxFrame. It waits until there are as many, for at most timeout, 0
// for any time. Meanwhile it asks stop now and then, unless that is nil. If stop returns true, the
// error is os.ErrDeadlineExceeded.
func (b *Budget) take(n int64, timeout time.Duration, stop func() bool) error {
	const look = 10 * time.Millisecond // how often stop is asked
	for began := time.Now(); ; {
		wait, freed := b.tryTake(n)
		switch left := timeout - time.Since(began); {
		case freed == nil:
			return nil
		case stop != nil && stop():
			return os.ErrDeadlineExceeded
		case timeout > 0 && left <= 0:
			return errBusy
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
			return errBusy
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

// add takes n bytes without waiting for them.
func (b *Budget) add(n int64) {
	b.mu.Lock()
	b.used += n
	b.mu.Unlock()
}

// give returns bytes that were taken. faded of them fade, the others are free at once.
func (b *Budget) give(free, faded int64) {
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

// Charge is the part of a Budget that a compressed message takes. The zero Charge is of all other
// messages: its methods do nothing.
type Charge struct {
	of   *Receiver
	n    int64 // bytes that were taken
	free int64 // bytes that the message may become without a charge
}

// reserve takes what a message may need that becomes at most so many bytes. It does nothing if the
// message has a reservation.
func (c *Charge) reserve(most int64) error {
	n := min(most, int64(c.of.Limits.Frame)) - c.free
	if n <= 0 || c.n > 0 {
		return nil
	}
	var stop func() bool
	if !c.of.Requests { // a call that reads its own reply may be given up
		stop = c.of.IsClosing
	}
	if err := c.of.Budget.take(n, c.of.MessageTimeout, stop); err != nil {
		return err
	}
	c.n = n
	c.of.charged.Add(n)
	return nil
}

// settle replaces what was reserved by what a message takes that has become n bytes.
func (c *Charge) settle(n int) {
	if c.of == nil {
		return
	}
	left := c.free - int64(n)
	need := max(-left, 0)
	c.free = max(left, 0)
	if c.n != need {
		c.of.charged.Add(need - c.n)
		c.of.Budget.give(c.n-need, 0)
		c.n = need
	}
}

// Add charges the message for n bytes more, such as those of its index.
func (c *Charge) Add(n int) {
	if c.of == nil {
		return
	}
	left := c.free - int64(n)
	c.free = max(left, 0)
	if left < 0 {
		c.n -= left
		c.of.charged.Add(-left)
		c.of.Budget.add(-left)
	}
}

// End is called once, when the message is not used any more. Any goroutine may call it.
func (c *Charge) End() {
	if c.n > 0 {
		c.of.charged.Add(-c.n)
		c.of.Budget.give(0, c.n)
	}
	*c = Charge{}
}

// TakeCharge returns the charge of the message that Next has returned. The caller must End it.
func (r *Receiver) TakeCharge() Charge {
	c := r.charge
	r.charge = Charge{}
	return c
}

// Charged reports whether the messages in use are charged so much that no more should be received.
// Any goroutine may call it.
func (r *Receiver) Charged() bool { return r.charged.Load() > int64(r.Limits.Frame)/4 }
