package transport

import (
	"fmt"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/internal/memory"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/compact"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/impl"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/message"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// Unframed sends messages one after the other. Where one ends is known when it has been scanned.
var Unframed Transport = new(unframed)

type unframed struct{}

func (*unframed) next(r *Receiver) (message.Header, memory.Chunk, error) {
	for !r.inStruct { // else a call that was reading has been interrupted
		b := r.in.Bytes()
		if !r.Requests && len(b) >= tell && beginsMessage(b[lengthSize:]) {
			return message.Header{}, memory.Chunk{}, errFramed
		}
		h, need, err := message.Parse(b)
		if err != nil && len(b) < tell {
			need, err = tell, nil // wherever bytes are cut, the error is the same
		}
		switch {
		case err == nil && need > 0:
			err = r.fill(need)
		case err == nil:
			r.beginStruct(h)
		}
		if err != nil {
			return message.Header{}, memory.Chunk{}, err
		}
	}
	if r.unframed.compact != nil {
		return r.nextCompact()
	}
	return r.nextStruct()
}

// arriving is an unframed message whose header has arrived. In Thrift Binary scan finds its end.
type arriving struct {
	header  message.Header
	compact *compact.Reader  // converts its struct; nil if it is Thrift Binary
	desc    *thriftimpl.Desc // of a struct in the compact protocol, nil if it is not known
}

// beginStruct passes over the header of an unframed message, and prepares for its struct.
func (r *Receiver) beginStruct(h message.Header) {
	m := &r.unframed
	h.Name = r.keepName(h.Name)
	m.header = h
	r.in.Skip(h.Size)
	r.inStruct = true
	if h.Form == message.Compact {
		m.compact, m.desc = r.beginCompact(h, r.Buffered(), r.Limits.Message)
	} else {
		r.scan.Reset(r.Limits.Parse.MaxDepth)
	}
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

// nextStruct receives the struct of an unframed message in Thrift Binary.
func (r *Receiver) nextStruct() (message.Header, memory.Chunk, error) {
	h := r.unframed.header
	end, bad, err := r.scan.Receive(&r.in, 0, true, func(n int, size int64) error {
		if size+int64(h.Size) > int64(r.Limits.Message) {
			return r.tooLong()
		}
		for len(r.in.Bytes()) < n {
			if err := r.fill(n); err != nil {
				return err
			}
		}
		return nil
	})
	switch {
	case err != nil:
		return h, memory.Chunk{}, err
	case bad != nil:
		bad.Path = string(h.Name)
		return h, memory.Chunk{}, bad
	}
	r.inStruct = false
	return h, r.in.Take(end), nil
}

func (*unframed) arrived(*Receiver) bool { return false } // that is not known

func (*unframed) HasHeaders() bool { return false }

func (*unframed) AppendFront(b []byte, _ int) []byte { return b }

func (*unframed) Add(b *chain.Batch, m *nocopy.Message) { impl.AddTo(m, b, false) }
