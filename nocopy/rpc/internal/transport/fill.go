package transport

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"
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
	if r.Last {
		return r.fillLast(want)
	}
	inMessage := r.HasBegun()
	switch idle := r.idle(); {
	case !inMessage && idle > 0:
		r.setDeadline(time.Now().Add(idle))
	case inMessage && !r.inMessage && r.MessageTimeout > 0:
		r.setDeadline(time.Now().Add(r.MessageTimeout))
	case !inMessage && r.hasDeadline:
		r.setDeadline(time.Time{})
	}
	r.inMessage = inMessage
	err := r.read(want)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, os.ErrDeadlineExceeded) && r.wasRetired():
		r.setDeadline(r.deadline)
		return r.fill(want)
	case errors.Is(err, os.ErrDeadlineExceeded) && r.IsClosing() && r.Leave != nil:
		r.Leave()
		return r.fillLast(want)
	case !inMessage:
		return err
	case err == io.EOF:
		return io.ErrUnexpectedEOF
	case errors.Is(err, os.ErrDeadlineExceeded) && !r.IsClosing():
		return ErrTimeout
	}
	return err
}

// LastWait is how long the Receiver waits for more bytes when only bytes that have arrived are
// read.
const LastWait = 2 * time.Millisecond

// fillLast reads once if anything has arrived. If not, its error is os.ErrDeadlineExceeded.
func (r *Receiver) fillLast(want int) error {
	for {
		r.EndReadsAt(time.Now().Add(LastWait))
		err := r.read(want)
		if r.Shut && err == io.EOF {
			return os.ErrDeadlineExceeded
		}
		if !errors.Is(err, os.ErrDeadlineExceeded) || !socket.HasBytes(socket.Underlying(r.Conn)) {
			return err
		}
	}
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

// IsClosing reports whether reading is to end.
func (r *Receiver) IsClosing() bool {
	return r.Closing != nil && (r.Closing.Load() || r.Ages.Expired.Load())
}

// setDeadline sets the read deadline, 0 for none, unless the server is closing: then reading ends
// at once.
func (r *Receiver) setDeadline(t time.Time) {
	r.EndReadsAt(t)
	r.hasDeadline, r.deadline = !t.IsZero(), t
	if r.IsClosing() {
		r.Interrupt()
	}
}

// Interrupt makes Next return soon. Closing must have been set. Any goroutine may call it.
func (r *Receiver) Interrupt() { r.EndReadsAt(time.Unix(1, 0)) }

// Resume makes Next go on after Interrupt, with the deadline that it had; Closing is not set any
// more.
func (r *Receiver) Resume() { r.EndReadsAt(r.deadline) }

// EndReadsAt sets the read deadline of the connection. Any goroutine may call it; locks may be
// held.
func (r *Receiver) EndReadsAt(t time.Time) { socket.SetReadDeadline(r.Conn, t) }

// Quiet is how long a connection that has reached its age must have been without a call.
const Quiet = 50 * time.Millisecond

// Ages tells a connection's Receiver that its time has come.
type Ages struct {
	Old     atomic.Bool // MaxConnAge is over: idle connections are closed soon
	Expired atomic.Bool // MaxConnAgeGrace is nearly over: only bytes that have arrived are read
}

// idle returns how long the Receiver waits for a message to begin, 0 for ever.
func (r *Receiver) idle() time.Duration {
	if r.Ages.Old.Load() && (r.IdleTimeout == 0 || r.IdleTimeout > Quiet) {
		return Quiet
	}
	return r.IdleTimeout
}

// wasRetired reports whether reading ended before its deadline because the connection became old
// meanwhile. Then reading goes on.
func (r *Receiver) wasRetired() bool {
	return r.Ages.Old.Load() && (r.deadline.IsZero() || time.Now().Before(r.deadline)) && !r.IsClosing()
}

// Buffered returns how many bytes have been received of messages that Next has not returned.
func (r *Receiver) Buffered() int { return len(r.in.Bytes()) }

// Unread returns the bytes that Buffered counts. They are valid until Next is called.
func (r *Receiver) Unread() []byte { return r.in.Bytes() }

// FillAhead waits for more bytes; ClearDeadline must have been called.
func (r *Receiver) FillAhead() error { return r.read(r.Buffered() + 1) }

// ClearDeadline removes the read deadline, also one that Interrupt has set: the caller must check
// after it whether the server is closing.
func (r *Receiver) ClearDeadline() {
	r.EndReadsAt(time.Time{})
	r.hasDeadline, r.deadline = false, time.Time{}
}
