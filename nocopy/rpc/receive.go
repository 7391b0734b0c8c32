package rpc

import (
	"bytes"
	"cmp"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync/atomic"
	"time"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/internal/shm"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

type transport uint8

const (
	undetected transport = iota // to be told from the first bytes
	framed
	unframed
)

// receiver receives messages from a connection, one after the other. It is for one goroutine at a
// time, except interrupt.
type receiver struct {
	nc             net.Conn
	src            io.Reader // nc, or what reads from it and keeps descriptors that are passed
	link           *shm.Link // nil if there is no shared memory
	trusts         bool      // messages in shared memory are used where they lie
	in             chain.Receiver
	transport      transport
	limits         receiveLimits
	idleTimeout    time.Duration // how long to wait for a message to begin; 0 for ever
	messageTimeout time.Duration // how long a message may take that has begun; 0 for ever
	requests       bool          // the messages are requests, else replies
	closing        *atomic.Bool  // reading is to end; set before interrupt is called
	ages           ages
	// Called when closing was set, by the goroutine that reads: it is to set last. Nil: reading ends
	leave   func()
	last    bool // only what has arrived is still read
	shut    bool // nothing more can arrive: the end of the stream is this side's doing
	stats   *statsHook
	arrived time.Time // when the last bytes did, if stats wants to know

	frameRest   chain.Chunk // the messages that follow in the frame of the last one
	rest        int         // bytes to be passed over before the next message
	passing     atomic.Bool // there are such bytes
	scan        thriftimpl.Scanner
	hasDeadline bool      // a read deadline is set
	deadline    time.Time // the one that was set last
	inMessage   bool      // the deadline is that of a message that has begun
}

// next returns the next message: its header and a chunk with its struct, which the caller must
// release. In a frame, further messages may follow in the chunk: the caller sets frameRest to
// them. The header's name is valid as long as the chunk. The error is io.EOF if the stream ends
// between messages; after some errors the header is known, and its size is not 0.
func (r *receiver) next() (header, chain.Chunk, error) {
	if len(r.frameRest.Mem) > 0 {
		c := r.frameRest
		r.frameRest = chain.Chunk{}
		return splitHeader(c)
	}
	if err := r.passRest(); err != nil {
		return header{}, chain.Chunk{}, err
	}
	r.inMessage = false
	if r.transport == undetected {
		if err := r.detect(); err != nil {
			return header{}, chain.Chunk{}, err
		}
	}
	if r.transport == framed {
		return r.nextFrame()
	}
	return r.nextUnframed()
}

// detect sets transport by the first bytes.
func (r *receiver) detect() error {
	for {
		b := r.in.Bytes()
		if n := len(b); n >= 5 || n >= 2 && b[0] == version1>>8 {
			break
		}
		if err := r.fill(5); err != nil {
			return err
		}
	}
	is, err := isFramed(r.in.Bytes())
	if r.transport = unframed; is {
		r.transport = framed
	}
	return err
}

// nextFrame receives the next message of a framed connection, or of shared memory, and returns its
// header and the bytes after that.
func (r *receiver) nextFrame() (header, chain.Chunk, error) {
	const length = 4
	for len(r.in.Bytes()) < length {
		if err := r.fill(length); err != nil {
			return header{}, chain.Chunk{}, err
		}
	}
	n := int32(binary.BigEndian.Uint32(r.in.Bytes()))
	switch {
	case r.link != nil && uint32(n) == shm.Mark:
		return r.nextShared()
	case n <= 0:
		return header{}, chain.Chunk{}, fmt.Errorf("%w: %d", chain.ErrFrameSize, n)
	case int(n) > r.limits.frame:
		h, err := r.headerOfLarge(int(n))
		return h, chain.Chunk{}, cmp.Or(err, r.tooLarge(int(n)))
	}
	for len(r.in.Bytes()) < length+int(n) {
		if err := r.fill(length + int(n)); err != nil {
			return header{}, chain.Chunk{}, err
		}
	}
	r.in.Skip(length)
	return splitHeader(r.in.Take(int(n)))
}

// errTooLarge is the error of a frame of which the length alone is wrong: if its header is known,
// another message may follow.
var errTooLarge = fmt.Errorf("%w: %w", chain.ErrFrameSize, nocopy.ErrLimit)

// tooLarge returns the error of a frame of n bytes, which are more than allowed.
func (r *receiver) tooLarge(n int) error {
	return fmt.Errorf("%w: %d bytes, more than %s = %d", errTooLarge, n, r.limits.name, r.limits.frame)
}

// headerOfLarge returns the header of a frame of n bytes, which are more than allowed. The message
// can then be answered, or fail its call, and next passes over its bytes. The header's size is 0
// if there is none, or not one of a request or reply: the length is not to be believed. The header
// of a request must come within a second.
func (r *receiver) headerOfLarge(n int) (header, error) {
	const length = 4
	fill := r.fill
	if r.requests {
		before := r.deadline
		defer func() { r.setDeadline(before) }()
		r.setDeadline(time.Now().Add(time.Second))
		fill = r.read
	}
	for {
		h, need, err := parseHeader(r.in.Bytes()[length:])
		known := r.requests && h.isRequest() || !r.requests && h.isReply()
		switch {
		case err != nil, max(need, h.size) > n, need == 0 && !known:
			return header{}, nil
		case need == 0:
			h.name = bytes.Clone(h.name)
			r.rest = length + n
			r.passing.Store(true)
			return h, nil
		}
		if err := fill(length + need); err != nil && r.requests {
			return header{}, nil
		} else if err != nil {
			return header{}, err
		}
	}
}

// passRest passes over what is left of a frame that was too large, in memory for a part of it. If
// it returns an error, it goes on with what is left when it is called again.
func (r *receiver) passRest() error {
	const part = 16 << 10
	for r.rest > 0 {
		n := min(r.rest, r.buffered())
		r.in.Discard(n)
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

// splitHeader returns the header at the beginning of the chunk, and the chunk without it. On error
// it releases the chunk.
func splitHeader(c chain.Chunk) (header, chain.Chunk, error) {
	h, need, err := parseHeader(c.Mem)
	if err == nil && need > 0 {
		err = fmt.Errorf("frame of length %d is too short: %w", len(c.Mem), io.ErrUnexpectedEOF)
	}
	if err != nil {
		c.Release()
		return header{}, chain.Chunk{}, err
	}
	c.Mem = c.Mem[h.size:]
	return h, c, nil
}

// nextUnframed receives the next message of an unframed connection, to its end, and returns its
// header and the bytes after that.
func (r *receiver) nextUnframed() (header, chain.Chunk, error) {
	var h header
	for {
		var need int
		var err error
		if h, need, err = parseHeader(r.in.Bytes()); err == nil && need > 0 {
			err = r.fill(need)
		} else if err == nil {
			break
		}
		if err != nil {
			return header{}, chain.Chunk{}, err
		}
	}
	return r.nextStruct(h)
}

// keepWhole is the most bytes of an unframed struct that are kept in one piece: they are moved to
// another block if the one that they began in is full.
const keepWhole = 8 << 10

// nextStruct receives the struct of an unframed message, whose header h has arrived. A struct of
// more than keepWhole bytes is cut between values where blocks end, so that no bytes are moved.
func (r *receiver) nextStruct(h header) (header, chain.Chunk, error) {
	r.scan.Reset(r.limits.parse.MaxDepth)
	// The bytes in r.in before the struct's, and those of the struct that were cut off
	before, cut := h.size, 0
	for {
		end, need, err := r.scan.Scan(r.in.Bytes()[before:])
		if before > 0 {
			h, _, _ = parseHeader(r.in.Bytes()) // its bytes may have moved, and its name with them
		}
		if err != nil {
			var bad *nocopy.Error
			if errors.As(err, &bad) {
				bad.Path = string(h.name)
			}
			return h, chain.Chunk{}, err
		}
		if int64(max(need, end))+int64(cut+h.size) > int64(r.limits.message) {
			return h, chain.Chunk{}, fmt.Errorf("%w: message of more than %s = %d bytes", nocopy.ErrLimit, r.limits.name, r.limits.message)
		}
		if end > 0 {
			r.in.Skip(before)
			return h, r.in.Take(end), nil
		}
		if n := r.scan.Passed(); cut+n > keepWhole && !r.in.Fits(before+need) {
			r.in.Skip(before)
			r.in.Cut(n)
			r.scan.Drop()
			need, before, cut = need-n, 0, cut+n
		}
		for len(r.in.Bytes()) < before+need {
			if err := r.fill(before + need); err != nil {
				return h, chain.Chunk{}, err
			}
		}
	}
}

// errTimeout is the error of a message that has begun and did not arrive in time.
var errTimeout = fmt.Errorf("the rest of a message did not arrive in time: %w", os.ErrDeadlineExceeded)

// fill waits for more bytes; want is how many are needed. The time that it may take is idleTimeout
// before a message, and messageTimeout from a message's first byte on.
func (r *receiver) fill(want int) error {
	if r.last {
		return r.fillLast(want)
	}
	inMessage := r.hasBegun()
	switch idle := r.idle(); {
	case !inMessage && idle > 0:
		r.setDeadline(time.Now().Add(idle))
	case inMessage && !r.inMessage && r.messageTimeout > 0:
		r.setDeadline(time.Now().Add(r.messageTimeout))
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
	case errors.Is(err, os.ErrDeadlineExceeded) && r.isClosing() && r.leave != nil:
		r.leave()
		return r.fillLast(want)
	case !inMessage:
		return err
	case err == io.EOF:
		return io.ErrUnexpectedEOF
	case errors.Is(err, os.ErrDeadlineExceeded) && !r.isClosing():
		return errTimeout
	}
	return err
}

// lastWait is how long the receiver waits for more bytes when only what has arrived is read.
const lastWait = 2 * time.Millisecond

// fillLast reads once if anything has arrived. If not, its error is os.ErrDeadlineExceeded.
func (r *receiver) fillLast(want int) error {
	for {
		r.endReadsAt(time.Now().Add(lastWait))
		err := r.read(want)
		if r.shut && err == io.EOF {
			return os.ErrDeadlineExceeded
		}
		if !errors.Is(err, os.ErrDeadlineExceeded) || !hasBytes(underlying(r.nc)) {
			return err
		}
	}
}

// read reads once; want is as in chain.Receiver.Fill.
func (r *receiver) read(want int) error {
	before := r.buffered()
	err := r.in.Fill(r.src, want)
	if n := r.buffered() - before; r.stats != nil && n > 0 {
		r.arrived = r.stats.now()
		r.stats.received(n)
	}
	return err
}

// hasMessage reports whether the whole next message has arrived; false for unframed ones, of which
// that is not known.
func (r *receiver) hasMessage() bool {
	if len(r.frameRest.Mem) > 0 {
		return true
	}
	b := r.in.Bytes()
	if r.transport != framed || len(b) <= 4 {
		return false
	}
	n := binary.BigEndian.Uint32(b)
	return int64(len(b)-4) >= int64(n) || r.link != nil && n == shm.Mark && len(b) >= shm.PositionSize
}

func (r *receiver) isClosing() bool {
	return r.closing != nil && (r.closing.Load() || r.ages.expired.Load())
}

// setDeadline sets the read deadline, 0 for none, unless the server is closing: then reading ends
// at once.
func (r *receiver) setDeadline(t time.Time) {
	r.endReadsAt(t)
	r.hasDeadline, r.deadline = !t.IsZero(), t
	if r.isClosing() {
		r.interrupt()
	}
}

// interrupt makes next return soon. closing must have been set. Any goroutine may call it.
func (r *receiver) interrupt() { r.endReadsAt(time.Unix(1, 0)) }

// resume makes next go on after interrupt, with the deadline that it had; closing is not set any
// more.
func (r *receiver) resume() { r.endReadsAt(r.deadline) }

// endReadsAt sets the read deadline of the connection. Locks may be held.
// A connection of the program's may panic or end the goroutine: it is closed then.
func (r *receiver) endReadsAt(t time.Time) {
	switch nc := r.nc; beneath(nc).(type) {
	case *net.TCPConn, *net.UnixConn:
		nc.SetReadDeadline(t)
	default:
		setForeignDeadline(nc, t)
	}
}

// setForeignDeadline sets the read deadline of a connection of the program's, in a goroutine that
// this may end.
func setForeignDeadline(nc net.Conn, t time.Time) {
	returned := make(chan bool)
	go func() {
		ok := false
		defer func() {
			recover()
			returned <- ok
		}()
		nc.SetReadDeadline(t)
		ok = true
	}()
	if !<-returned {
		go closeConn(nc)
	}
}

// beneath returns the connection that carries nc, if nc is of TLS; else nc.
func beneath(nc net.Conn) net.Conn {
	if t, ok := nc.(*tls.Conn); ok {
		return t.NetConn()
	}
	return nc
}

// hasBegun reports whether anything has arrived of the next message.
func (r *receiver) hasBegun() bool {
	return len(r.frameRest.Mem) > 0 || r.in.Arrived() > 0 || r.rest > 0
}

// free frees the memory of what has arrived.
func (r *receiver) free() {
	r.frameRest.Release()
	r.frameRest = chain.Chunk{}
	r.in.Free()
}
