package transport

import (
	"errors"
	"fmt"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/internal/memory"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/impl"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/message"
)

// Unframed sends messages one after the other. Where one ends is known when it has been scanned.
var Unframed Transport = new(unframed)

type unframed struct{}

func (*unframed) next(r *Receiver) (message.Header, memory.Chunk, error) {
	var h message.Header
	for {
		var need int
		var err error
		b := r.in.Bytes()
		if !r.Requests && len(b) >= tell && beginsMessage(b[lengthSize:]) {
			return message.Header{}, memory.Chunk{}, errFramed
		}
		if h, need, err = message.Parse(b); err != nil && len(b) < tell {
			need, err = tell, nil // wherever bytes are cut, the error is the same
		}
		if err == nil && need > 0 {
			err = r.fill(need)
		} else if err == nil {
			break
		}
		if err != nil {
			return message.Header{}, memory.Chunk{}, err
		}
	}
	if h.Form == message.Compact {
		return r.decodeUnframed(h)
	}
	return r.nextStruct(h)
}

// tell is how many bytes that are no message are needed to name their protocol in an error.
const tell = max(message.Tell, lengthSize+2)

// errFramed is the error of a reply in a frame. Its length would be read as the length of a
// method's name.
var errFramed = fmt.Errorf("%w: a reply in a frame, where the client expects none", message.ErrVersion)

// beginsMessage reports whether b begins as messages in frames do, and names of methods don't.
func beginsMessage(b []byte) bool {
	return b[0] == message.Version1>>8 && b[1] == message.Version1&0xff || b[0] == message.CompactID && (b[1]&31 == 1 || b[1]&31 == 2) || message.IsTHeader(b)
}

// An unframed struct of at most keepWhole bytes stays in one piece: it is moved to another block
// if the one that it began in is full.
const keepWhole = 8 << 10

// nextStruct receives the struct of an unframed message, whose header h has arrived. A struct of
// more than keepWhole bytes is cut between values where blocks end, which avoids moving its bytes.
func (r *Receiver) nextStruct(h message.Header) (message.Header, memory.Chunk, error) {
	r.scan.Reset(r.Limits.Parse.MaxDepth)
	// The number of bytes in r.in before the struct, and of the struct's bytes that were cut off
	before, cut := h.Size, 0
	for {
		end, need, err := r.scan.Scan(r.in.Bytes()[before:])
		if before > 0 {
			h, _, _ = message.Parse(r.in.Bytes()) // its bytes may have moved, and its name with them
		}
		if err != nil {
			var bad *nocopy.Error
			if errors.As(err, &bad) {
				bad.Path = string(h.Name)
			}
			return h, memory.Chunk{}, err
		}
		if int64(max(need, end))+int64(cut+h.Size) > int64(r.Limits.Message) {
			return h, memory.Chunk{}, r.tooLong()
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
				return h, memory.Chunk{}, err
			}
		}
	}
}

func (*unframed) arrived(*Receiver) bool { return false } // that is not known

func (*unframed) HasHeaders() bool { return false }

func (*unframed) AppendFront(b []byte, _ int) []byte { return b }

func (*unframed) Add(b *chain.Batch, m *nocopy.Message) { impl.AddTo(m, b, false) }
