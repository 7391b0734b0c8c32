package transport

import (
	"errors"
	"io"
	"net"
	"sync/atomic"
	"time"

	"github.com/nocopythrift/nocopythrift/internal/compressed"
	"github.com/nocopythrift/nocopythrift/internal/memory"
	"github.com/nocopythrift/nocopythrift/internal/shm"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/message"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/stats"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// Receiver receives messages from a connection, one after the other. It is for one goroutine at a
// time, except Interrupt, EndReadsAt and Passing.
type Receiver struct {
	Conn           net.Conn
	Src            io.Reader // Conn, or a reader of it that keeps descriptors that are passed
	Link           *shm.Link // nil if there is no shared memory
	Trusts         bool      // messages in shared memory are used where they lie
	Transport      Transport // nil: it is told from the first bytes
	Accept         Wire      // in which ways messages may come; 0: in all
	Limits         Limits
	IdleTimeout    time.Duration // how long to wait for a message to begin; 0 for ever
	MessageTimeout time.Duration // how long a message may take that has begun; 0 for ever
	Requests       bool          // the messages are requests, else replies
	// Describe returns the descriptor of the struct in a message with this header, nil if it is
	// not known. It is called for messages in the compact protocol.
	Describe func(message.Header) *thriftimpl.Desc
	// For compressed messages. Without it there can't be any
	Budget *compressed.Budget
	// Waits is called before a message waits for Budget. It may be nil
	Waits func()
	// Interrupted reports whether reading is to end at once. It does so before Interrupt is called
	Interrupted func() bool
	// Failed is called when reading has failed. It returns true to read again, or else the error
	// that Next returns; Meaning has the usual one. If it is nil, that is returned
	Failed    func(err error, inMessage bool) (again bool, as error)
	ReadUntil func() time.Time // if not nil, the deadline of a read, instead of the timeouts
	Stats     *stats.Hook
	Arrived   time.Time // when the last bytes did, if Stats wants to know

	in          memory.Receiver
	frameRest   memory.Chunk // the messages that follow in the frame of the last one
	opened      *opened      // the THeader of the last frame; nil if it had none
	waiting     memory.Chunk // a frame that waits to be decompressed
	charge      Charge       // of the last message
	charged     atomic.Int64
	rest        int         // bytes to be passed over before the next message
	passing     atomic.Bool // there are such bytes
	scan        thriftimpl.Scanner
	hasDeadline bool      // a read deadline is set
	deadline    time.Time // the one that was set last
	inMessage   bool      // the deadline is for a message that has begun
	inStruct    bool      // the struct of unframed is arriving, which may not be in in
	unframed    arriving
	name        []byte // of the message that was received last, if its header was passed over
}

// Reset makes r take memory for what it receives, from pools if recycle is true. It is called
// once.
func (r *Receiver) Reset(recycle bool) { r.in.Reset(recycle) }

// Passing reports whether a message that was too large is being passed over. Any goroutine may
// call it.
func (r *Receiver) Passing() bool { return r.passing.Load() }

// Next receives the next message: it sets h to its header, and returns a chunk with its struct,
// which the caller must release. In a frame, further messages may follow in the chunk, which
// ParseStruct separates. The header's name is valid as long as the chunk, and until Next is called
// again. The error is io.EOF if the stream ends between messages; after some errors the header is
// known, and its size is not 0. After a message, TakeCharge must be called.
func (r *Receiver) Next(h *message.Header) (c memory.Chunk, err error) {
	if n := r.ordinary(); n > 0 {
		r.inMessage, r.opened = false, nil
		r.in.Skip(frameHeader)
		return splitHeader(h, r.in.Take(n))
	}
	if *h, c, err = r.next(); err == nil {
		if r.accepts(WireOf(r.Transport, h.Style)) {
			return c, nil
		}
		*h, c, err = r.reject(*h, c)
	}
	r.charge.End()
	return c, err
}

func (r *Receiver) next() (message.Header, memory.Chunk, error) {
	if len(r.frameRest.Mem) > 0 {
		c := r.frameRest
		r.frameRest = memory.Chunk{}
		return r.splitNext(c)
	}
	if c := r.waiting; len(c.Mem) > 0 {
		r.waiting = memory.Chunk{}
		return r.openTHeader(c)
	}
	if err := r.passRest(); err != nil {
		return message.Header{}, memory.Chunk{}, err
	}
	r.inMessage = false
	if r.Transport == nil {
		if err := r.detect(); err != nil {
			return message.Header{}, memory.Chunk{}, err
		}
	}
	return r.Transport.next(r)
}

// passRest passes over the rest of a frame that was too large, in memory for a part of it. If it
// returns an error, the next call goes on with the rest.
func (r *Receiver) passRest() error {
	const part = 16 << 10
	for r.rest > 0 {
		n := min(r.rest, r.Buffered())
		r.in.Skip(n)
		if r.rest -= n; r.rest > 0 {
			if err := r.fill(min(r.rest, part)); err != nil {
				return err
			}
		} else {
			r.passing.Store(false)
		}
	}
	return nil
}

// HasMessage reports whether the whole next message has arrived, as far as that is known.
func (r *Receiver) HasMessage() bool {
	if len(r.frameRest.Mem) > 0 {
		return true
	}
	return r.Transport != nil && r.Transport.arrived(r)
}

// HasBegun reports whether anything has arrived of the next message.
func (r *Receiver) HasBegun() bool {
	return len(r.frameRest.Mem) > 0 || len(r.waiting.Mem) > 0 || r.in.Arrived() > 0 || r.rest > 0 || r.inStruct
}

// Free frees the memory of the bytes that have arrived.
func (r *Receiver) Free() {
	r.frameRest.Release()
	r.waiting.Release()
	r.frameRest, r.waiting = memory.Chunk{}, memory.Chunk{}
	r.endCompact()
	r.in.Free()
}

// ParseStruct parses the struct at the beginning of a message's chunk as a d, or passes over it if
// d is nil. Bytes after the struct are the next message of a frame: they are kept for Next. If the
// struct is so malformed that its end can't be found, they are dropped. In a compressed frame they
// are an error.
func (r *Receiver) ParseStruct(chunk memory.Chunk, d *thriftimpl.Desc, l nocopy.Limits, recycle, lazy bool) (m *nocopy.Message, err error) {
	if d != nil {
		if m, err = thriftimpl.ParseForCall(d, chunk.From(0), l, recycle, lazy); err == nil {
			return m, nil
		}
	}
	var bad *nocopy.Error
	if errors.Is(err, nocopy.ErrTrailing) && errors.As(err, &bad) {
		if r.isCompressed() {
			return nil, errSeveral(len(chunk.Mem) - bad.Offset)
		}
		r.frameRest = chunk.From(bad.Offset)
		first := chunk.From(0)
		return thriftimpl.ParseForCall(d, first.First(bad.Offset), l, recycle, lazy)
	}
	r.scan.Reset(r.Limits.Parse.MaxDepth)
	if end, _, failed := r.scan.Scan(chunk.Mem); failed == nil && 0 < end && end < len(chunk.Mem) && !r.isCompressed() {
		r.frameRest = chunk.From(end)
	}
	return nil, err
}
