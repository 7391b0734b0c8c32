package transport

import "github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/message"

// compactRatio is how many bytes of Thrift Binary a byte of the compact protocol may become.
const compactRatio = 8

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
	err := c.of.Budget.Take(n, -1, nil)
	if err != nil {
		err = c.await(n)
	}
	if err != nil {
		return err
	}
	c.n = n
	c.of.charged.Add(n)
	return nil
}

// await takes n bytes of the Budget once there are so many.
func (c *Charge) await(n int64) error {
	if c.of.Waits != nil {
		c.of.Waits()
	}
	var stop func() bool
	if !c.of.Requests { // a call that reads its own reply may be given up
		stop = c.of.Interrupted
	}
	return c.of.Budget.Take(n, c.of.MessageTimeout, stop)
}

// settle replaces the reserved bytes by those that a message of n bytes takes.
func (c *Charge) settle(n int) {
	if c.of == nil {
		return
	}
	left := c.free - int64(n)
	need := max(-left, 0)
	c.free = max(left, 0)
	if c.n != need {
		c.of.charged.Add(need - c.n)
		c.of.Budget.Give(c.n-need, 0)
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
		c.of.Budget.Add(-left)
	}
}

// End is called once, when the message is not used any more. Any goroutine may call it.
func (c *Charge) End() {
	if c.n > 0 {
		c.of.charged.Add(-c.n)
		c.of.Budget.Give(0, c.n)
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

// Growth returns how many times as large a message becomes in Thrift Binary, at most, that begins
// with this byte.
func Growth(first byte) int64 {
	if first == message.CompactID {
		return compactRatio
	}
	return 1
}
