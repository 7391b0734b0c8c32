package server

import (
	"errors"
	"io"
	"os"
	"sync/atomic"
	"time"

	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/socket"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/transport"
)

// reader receives the requests of a connection. Reading ends when the server is closing or the
// connection is too old: from then on only requests that have arrived are read.
type reader struct {
	transport.Receiver
	closing *atomic.Bool // the server is closing; set before Interrupt is called
	old     atomic.Bool  // MaxConnAge is over: the connection is closed soon if it is idle
	expired atomic.Bool  // MaxConnAgeGrace is nearly over
	hurries bool         // the goroutine that reads knows that the connection is old
	leave   func()       // called by that goroutine when reading is to end: it calls endSoon
	last    bool         // only bytes that have arrived are still read
	shut    bool         // nothing more can arrive: the end of the stream is this side's doing
	until   time.Time    // when reading ends if last is set and more can arrive; else zero
}

// begin makes the Receiver ask the reader.
func (r *reader) begin() {
	r.Interrupted = func() bool { return r.isClosing() || r.old.Load() && !r.hurries }
	r.Failed = r.failed
}

// isClosing reports whether reading is to end.
func (r *reader) isClosing() bool {
	return r.closing != nil && r.closing.Load() || r.expired.Load()
}

// lastWait is how long the reader waits for more bytes when only bytes that have arrived are read.
const lastWait = 2 * time.Millisecond

// quiet is how long a connection that has reached its age must have been without a call.
const quiet = 50 * time.Millisecond

// endSoon makes the reader read only bytes that have arrived. If there are none, the error is
// os.ErrDeadlineExceeded. If until is not zero, more bytes can arrive, and reading ends then,
// whatever comes.
func (r *reader) endSoon(shut bool, until time.Time) {
	r.last, r.shut, r.until, r.ReadUntil = true, shut, until, r.readUntil
}

// readUntil returns when a read ends that begins now, if only bytes that have arrived are read.
func (r *reader) readUntil() time.Time {
	if soon := time.Now().Add(lastWait); r.until.IsZero() || soon.Before(r.until) {
		return soon
	}
	return r.until
}

// failed is the Receiver's Failed.
func (r *reader) failed(err error, inMessage bool) (again bool, as error) {
	timeout := errors.Is(err, os.ErrDeadlineExceeded)
	switch {
	case r.shut && err == io.EOF:
		return false, os.ErrDeadlineExceeded
	case r.last:
		inTime := r.until.IsZero() || time.Now().Before(r.until)
		return timeout && inTime && socket.HasBytes(socket.Underlying(r.Conn)), err
	case timeout && r.isClosing():
		r.leave()
		return true, nil
	case timeout && r.wasRetired():
		r.hurry()
		r.Resume()
		return true, nil
	}
	return false, transport.Meaning(err, inMessage)
}

// hurry makes the reader of an old connection wait for a request only shortly.
func (r *reader) hurry() {
	if r.old.Load() && !r.hurries {
		r.hurries = true
		if r.IdleTimeout == 0 || r.IdleTimeout > quiet {
			r.IdleTimeout = quiet
		}
	}
}

// wasRetired reports whether reading ended before its deadline because the connection became old
// meanwhile.
func (r *reader) wasRetired() bool {
	d := r.Deadline()
	return r.old.Load() && (d.IsZero() || time.Now().Before(d))
}
