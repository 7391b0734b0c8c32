package rpc

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync/atomic"
	"time"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/nocopy"
)

type transport uint8

const (
	unknown transport = iota // the first bytes will tell
	framed
	unframed
)

// receiver takes messages in from a connection, one after the other. It is for one goroutine at a
// time.
type receiver struct {
	nc        net.Conn
	in        chain.Receiver
	transport transport
	limits    limits
	idle      time.Duration // how long the next message may keep us waiting; 0: for ever
	partial   time.Duration // how long one may take that has begun
	answers   bool          // messages over the limit are answered
	closing   *atomic.Bool  // set before the read deadline is moved into the past to end reading

	rest    chain.Chunk // of the frame whose first message was returned last
	scan    nocopy.Scanner
	timed   bool // a read deadline is set
	started bool // a part of a message has arrived
}

// next returns the next message: its header and what follows, which is its struct and, inside of a
// frame, perhaps more messages. The header's name is valid as long as the chunk. io.EOF is the end
// between messages.
func (r *receiver) next() (header, chain.Chunk, error) {
	if len(r.rest.Mem) > 0 {
		c := r.rest
		r.rest = chain.Chunk{}
		return openFrame(c)
	}
	r.started = false
	if r.transport == unknown {
		if err := r.detect(); err != nil {
			return header{}, chain.Chunk{}, err
		}
	}
	if r.transport == framed {
		return r.nextFrame()
	}
	return r.nextUnframed()
}

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

func (r *receiver) nextFrame() (header, chain.Chunk, error) {
	const length = 4
	for len(r.in.Bytes()) < length {
		if err := r.fill(length); err != nil {
			return header{}, chain.Chunk{}, err
		}
	}
	n := int32(binary.BigEndian.Uint32(r.in.Bytes()))
	switch {
	case n <= 0:
		return header{}, chain.Chunk{}, fmt.Errorf("%w: %d", chain.ErrFrameSize, n)
	case int(n) > r.limits.frame:
		return r.headerOnly(length), chain.Chunk{}, fmt.Errorf("%w: %w: %d bytes, more than %s = %d",
			chain.ErrFrameSize, nocopy.ErrLimit, n, r.limits.name, r.limits.frame)
	}
	for len(r.in.Bytes()) < length+int(n) {
		if err := r.fill(length + int(n)); err != nil {
			return header{}, chain.Chunk{}, err
		}
	}
	r.in.Skip(length)
	return openFrame(r.in.Take(int(n)))
}

// headerOnly returns the header at offset at of the bytes that have arrived, for an answer to a
// message that will not be received. Its size is 0 if it is none or does not arrive within a
// second.
func (r *receiver) headerOnly(at int) header {
	if !r.answers {
		return header{}
	}
	r.setDeadline(time.Now().Add(time.Second))
	for {
		h, need, err := parseHeader(r.in.Bytes()[at:])
		if err != nil || need > 0 && r.in.Fill(r.nc, at+need) != nil {
			return header{}
		}
		if need == 0 {
			return h
		}
	}
}

// openFrame returns the header of the message at the beginning of the chunk, and the chunk without
// it.
func openFrame(c chain.Chunk) (header, chain.Chunk, error) {
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

// keepWhole is up to how many bytes a struct stays in one piece, and moves when the block that it
// began in is full.
const keepWhole = 8 << 10

// nextStruct receives the struct of an unframed message, whose header h has arrived. What does not
// stay in one piece is cut where values end, and what has arrived stays where it is.
func (r *receiver) nextStruct(h header) (header, chain.Chunk, error) {
	r.scan.Reset(r.limits.parse.MaxDepth)
	lead, cut := h.size, 0 // bytes before the struct's that are not cut, and those of the struct that are
	for {
		end, need, err := r.scan.Scan(r.in.Bytes()[lead:])
		if lead > 0 {
			h, _, _ = parseHeader(r.in.Bytes()) // it may have moved
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
			r.in.Skip(lead)
			return h, r.in.Take(end), nil
		}
		if n := r.scan.Passed(); cut+n > keepWhole && !r.in.Fits(lead+need) {
			r.in.Skip(lead)
			r.in.Cut(n)
			r.scan.Drop()
			need, lead, cut = need-n, 0, cut+n
		}
		for len(r.in.Bytes()) < lead+need {
			if err := r.fill(lead + need); err != nil {
				return h, chain.Chunk{}, err
			}
		}
	}
}

// errTimeout is the error for a message that was begun and did not arrive in time.
var errTimeout = fmt.Errorf("the rest of a message did not arrive in time: %w", os.ErrDeadlineExceeded)

// fill waits for more bytes.
func (r *receiver) fill(want int) error {
	started := r.in.Arrived() > 0
	switch {
	case !started && r.idle > 0:
		r.setDeadline(time.Now().Add(r.idle))
	case started && !r.started && r.partial > 0:
		r.setDeadline(time.Now().Add(r.partial))
	case !started && r.timed:
		r.setDeadline(time.Time{})
	}
	r.started = started
	err := r.in.Fill(r.nc, want)
	switch {
	case err == nil:
		return nil
	case !started:
		return err
	case err == io.EOF:
		return io.ErrUnexpectedEOF
	case errors.Is(err, os.ErrDeadlineExceeded) && !r.isClosing():
		return errTimeout
	}
	return err
}

// ready says whether the whole of the next message has arrived already; of one outside of a frame
// nobody knows.
func (r *receiver) ready() bool {
	if len(r.rest.Mem) > 0 {
		return true
	}
	b := r.in.Bytes()
	return r.transport == framed && len(b) > 4 && int64(len(b)-4) >= int64(binary.BigEndian.Uint32(b))
}

func (r *receiver) isClosing() bool { return r.closing != nil && r.closing.Load() }

func (r *receiver) setDeadline(t time.Time) {
	r.nc.SetReadDeadline(t)
	r.timed = !t.IsZero()
	if r.isClosing() {
		r.nc.SetReadDeadline(time.Unix(1, 0))
	}
}

// stop makes next return soon. closing must have been set.
func (r *receiver) stop() { r.nc.SetReadDeadline(time.Unix(1, 0)) }

func (r *receiver) free() {
	r.rest.Release()
	r.rest = chain.Chunk{}
	r.in.Free()
}
