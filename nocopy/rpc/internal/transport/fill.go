package transport

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/socket"
)

// ErrTimeout is the error of a message that has begun and did not arrive in time.
var ErrTimeout = fmt.Errorf("the rest of a message did not arrive in time: %w", os.ErrDeadlineExceeded)

// Await waits until something has arrived of the next message, for which it needs no memory and
// little stack. Next need not be called before.
func (r *Receiver) Await() error {
	if r.HasBegun() {
		return nil
	}
	r.in.Idle = true
	err := r.fill(1)
	r.in.Idle = false
	return err
}

// fill waits for more bytes; want is how many are needed. The time that it may take is IdleTimeout
// before a message, and MessageTimeout from a message's first byte on.
func (r *Receiver) fill(want int) error {
	for {
		inMessage := r.HasBegun()
		r.armDeadline(inMessage)
		err := r.read(want)
		switch {
		case err == nil:
			return nil
		case r.Failed == nil:
			return Meaning(err, inMessage)
		}
		if again, err := r.Failed(err, inMessage); !again {
			return err
		}
	}
}

// armDeadline sets the deadline of the next read, unless it has been set.
func (r *Receiver) armDeadline(inMessage bool) {
	switch {
	case r.ReadUntil != nil:
		r.EndReadsAt(r.ReadUntil())
		return
	case !inMessage && r.IdleTimeout > 0:
		r.setDeadline(time.Now().Add(r.IdleTimeout))
	case inMessage && !r.inMessage && r.MessageTimeout > 0:
		r.setDeadline(time.Now().Add(r.MessageTimeout))
	case !inMessage && r.hasDeadline:
		r.setDeadline(time.Time{})
	}
	r.inMessage = inMessage
}

// Meaning returns what an error of reading means: in the middle of a message it is another one.
func Meaning(err error, inMessage bool) error {
	switch {
	case !inMessage:
		return err
	case err == io.EOF:
		return io.ErrUnexpectedEOF
	case errors.Is(err, os.ErrDeadlineExceeded):
		return ErrTimeout
	}
	return err
}

// read reads once; want is as in memory.Receiver.Fill.
func (r *Receiver) read(want int) error {
	before := r.Buffered()
	err := r.in.Fill(r.Src, want)
	if n := r.Buffered() - before; r.Stats != nil && n > 0 {
		r.Arrived = r.Stats.Now()
		if r.Transport != nil { // else detect counts
			r.Stats.Received(n)
		}
	}
	return err
}

// setDeadline sets the read deadline, 0 for none, unless reading is to end at once.
func (r *Receiver) setDeadline(t time.Time) {
	r.EndReadsAt(t)
	r.hasDeadline, r.deadline = !t.IsZero(), t
	if r.Interrupted != nil && r.Interrupted() {
		r.Interrupt()
	}
}

// Deadline returns the read deadline, which is 0 if there is none, as if nobody had called
// Interrupt.
func (r *Receiver) Deadline() time.Time { return r.deadline }

// Interrupt makes Next return soon. Interrupted must report true. Any goroutine may call it.
func (r *Receiver) Interrupt() { r.EndReadsAt(time.Unix(1, 0)) }

// Resume makes Next go on after Interrupt, with the deadline that it had, unless it is interrupted
// again.
func (r *Receiver) Resume() { r.setDeadline(r.deadline) }

// EndReadsAt sets the read deadline of the connection. Any goroutine may call it; locks may be
// held.
func (r *Receiver) EndReadsAt(t time.Time) { socket.SetReadDeadline(r.Conn, t) }

// Buffered returns how many bytes have been received of messages that Next has not returned.
func (r *Receiver) Buffered() int { return len(r.in.Bytes()) }

// Unread returns the bytes that Buffered counts. They are valid until Next is called.
func (r *Receiver) Unread() []byte { return r.in.Bytes() }

// FillAhead waits for more bytes; ClearDeadline must have been called.
func (r *Receiver) FillAhead() error { return r.read(r.Buffered() + 1) }

// ClearDeadline removes the read deadline, also one that Interrupt has set: the caller must check
// after it whether reading is to end.
func (r *Receiver) ClearDeadline() {
	r.EndReadsAt(time.Time{})
	r.hasDeadline, r.deadline = false, time.Time{}
}
