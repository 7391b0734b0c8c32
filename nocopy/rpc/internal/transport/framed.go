package transport

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/internal/memory"
	"github.com/nocopythrift/nocopythrift/internal/shm"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/impl"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/message"
)

// Framed sends each message in a frame: after its length, four bytes. A frame may hold several
// messages, and its length may stand for a position in shared memory.
var Framed Transport = new(framed)

type framed struct{}

// frameHeader is the number of bytes before the messages of a frame: its length.
const frameHeader = 4

// ordinary returns the length of the next frame if all of it has arrived, and it begins with a
// message in Thrift Binary whose header is strict; else 0. Such a frame needs none of what next
// looks for. Most messages are of this kind if many calls are under way on a connection.
func (r *Receiver) ordinary() int {
	b := r.in.Bytes()
	if r.Transport != Framed || len(b) <= frameHeader+1 || r.rest > 0 || len(r.frameRest.Mem)+len(r.waiting.Mem) > 0 || !r.accepts(FramedBinary) {
		return 0
	}
	n := uint64(binary.BigEndian.Uint32(b))
	if n > uint64(min(r.Limits.Frame, len(b)-frameHeader)) || binary.BigEndian.Uint16(b[frameHeader:]) != message.Version1 {
		return 0
	}
	return int(n)
}

func (*framed) next(r *Receiver) (message.Header, memory.Chunk, error) {
	const length = frameHeader
	for len(r.in.Bytes()) < length {
		if err := r.fill(length); err != nil {
			return message.Header{}, memory.Chunk{}, err
		}
	}
	n := int32(binary.BigEndian.Uint32(r.in.Bytes()))
	switch {
	case r.Link != nil && uint32(n) == shm.Mark:
		return r.nextShared()
	case n <= 0:
		return message.Header{}, memory.Chunk{}, cmp.Or(r.foreign(), fmt.Errorf("%w: %d", memory.ErrFrameSize, n))
	case int(n) > r.Limits.Frame:
		h, err := r.headerOfLarge(int(n))
		if h.Size == 0 { // also if nothing more came: an alert of TLS is shorter than a header
			err = cmp.Or(r.foreign(), err)
		}
		return h, memory.Chunk{}, cmp.Or(err, r.tooLarge(int(n)))
	}
	for len(r.in.Bytes()) < length+int(n) {
		if err := r.fill(length + int(n)); err != nil {
			return message.Header{}, memory.Chunk{}, err
		}
	}
	r.in.Skip(length)
	return r.split(r.in.Take(int(n)))
}

func (*framed) arrived(r *Receiver) bool {
	b := r.in.Bytes()
	if len(b) <= 4 {
		return false
	}
	n := binary.BigEndian.Uint32(b)
	return int64(len(b)-4) >= int64(n) || r.Link != nil && n == shm.Mark && len(b) >= shm.PositionSize
}

func (*framed) HasHeaders() bool { return false }

func (*framed) AppendFront(b []byte, n int) []byte {
	return binary.BigEndian.AppendUint32(b, uint32(n))
}

func (*framed) Add(b *chain.Batch, m *nocopy.Message) { impl.AddTo(m, b, true) }

// errUnframed is the error of a length that is the beginning of a message instead.
var errUnframed = fmt.Errorf("%w: a message without a frame", memory.ErrFrameSize)

// foreign returns an error that names the protocol of the bytes that arrived instead of a frame;
// nil if it is not known.
func (r *Receiver) foreign() error {
	switch b := r.in.Bytes(); {
	case b[0] == message.Version1>>8 && b[1] == message.Version1&0xff:
		return errUnframed
	case b[0] == message.CompactID:
		return fmt.Errorf("%w, in the compact protocol", errUnframed)
	default:
		return message.Foreign(b)
	}
}

// ErrTooLarge is the error of a frame that is only too long: if its header is known, another
// message may follow.
var ErrTooLarge = fmt.Errorf("%w: %w", memory.ErrFrameSize, nocopy.ErrLimit)

// badStruct is the error of a message whose struct is malformed, and whose end is known.
type badStruct struct{ err *nocopy.Error }

func (b badStruct) Error() string { return b.err.Error() }
func (b badStruct) Unwrap() error { return b.err }

// EndKnown reports whether err is about one message whose end is known: if its header is known
// too, another message may follow.
func EndKnown(err error) bool {
	var bad badStruct
	var refused *message.Refusal
	return errors.Is(err, ErrTooLarge) || errors.As(err, &bad) || errors.As(err, &refused) && !refused.Ends
}

// tooLarge returns the error of a frame of n bytes, which are more than allowed.
func (r *Receiver) tooLarge(n int) error {
	return fmt.Errorf("%w: %d bytes, more than %s = %d", ErrTooLarge, n, r.Limits.Name, r.Limits.Frame)
}

// headerOfLarge returns the header of a frame of n bytes, which are more than allowed. The message
// can then be answered, or fail its call, and next passes over its bytes. The header's size is 0
// if there is none, or not one of a request or reply: the length is not to be believed. The header
// of a request must come within a second.
func (r *Receiver) headerOfLarge(n int) (message.Header, error) {
	const length = 4
	if r.Requests {
		before, timeout := r.deadline, r.MessageTimeout
		defer func() {
			r.MessageTimeout = timeout
			r.setDeadline(before)
		}()
		r.MessageTimeout, r.inMessage = time.Second, false
	}
	for {
		h, need, err := r.parseLarge(r.in.Bytes()[length:])
		known := r.Requests && h.IsRequest() || !r.Requests && h.IsReply()
		switch {
		case err != nil, max(need, h.Size) > n, need == 0 && !known:
			return message.Header{}, nil
		case need == 0:
			h.Name = bytes.Clone(h.Name)
			r.rest = length + n
			r.passing.Store(true)
			return h, nil
		}
		if err := r.fill(length + need); err != nil && r.Requests {
			return message.Header{}, nil
		} else if err != nil {
			return message.Header{}, err
		}
	}
}

// split returns the first of the messages in a frame: its header and a chunk with its struct. What
// follows may be in the same chunk. On error it releases the chunk.
func (r *Receiver) split(c memory.Chunk) (message.Header, memory.Chunk, error) {
	r.opened = nil
	if message.IsTHeader(c.Mem) {
		return r.openTHeader(c)
	}
	return r.splitNext(c)
}

// splitNext is split for all messages but the first of a frame.
func (r *Receiver) splitNext(c memory.Chunk) (message.Header, memory.Chunk, error) {
	var h message.Header
	c, err := splitHeader(&h, c)
	if err == nil && r.opened != nil {
		h, c, err = r.opened.check(h, c)
	}
	if err != nil || h.Form != message.Compact {
		return h, c, err
	}
	return r.decodeFramed(h, c)
}

// splitHeader sets h to the header at the beginning of the chunk, and returns the chunk without
// it. On error it releases the chunk.
func splitHeader(h *message.Header, c memory.Chunk) (memory.Chunk, error) {
	need, err := h.Parse(c.Mem)
	if err == nil && need > 0 {
		err = fmt.Errorf("a message of %d bytes is too short: %w", len(c.Mem), io.ErrUnexpectedEOF)
	}
	if err != nil {
		c.Release()
		*h = message.Header{}
		return memory.Chunk{}, err
	}
	c.Mem = c.Mem[h.Size:]
	return c, nil
}
