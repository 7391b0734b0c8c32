package transport

import (
	"fmt"

	"github.com/nocopythrift/nocopythrift/internal/memory"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/compact"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/message"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// This file turns the structs of messages in the compact protocol into Thrift Binary.

// decodeFramed returns a message in the compact protocol, with its struct in Thrift Binary. c has
// its struct, and the rest of the frame, which is kept for Next.
func (r *Receiver) decodeFramed(h message.Header, c memory.Chunk) (message.Header, memory.Chunk, error) {
	defer c.Release()
	h.Name = r.keepName(h.Name)
	in, d := r.beginCompact(h, len(c.Mem), r.Limits.Frame)
	defer in.Free()
	end, status := in.Convert(c.Mem, 0, true)
	compressed := r.isCompressed()
	if compressed {
		r.charge.settle(max(len(c.Mem), in.Len()))
	}
	if status != compact.Done {
		return h, memory.Chunk{}, badStruct{faultOf(in, d, h)}
	}
	switch {
	case end == len(c.Mem):
	case !r.Requests: // a reply is alone in its frame, as in Thrift Binary
		return h, memory.Chunk{}, badStruct{&nocopy.Error{Offset: end, Path: string(h.Name), Err: nocopy.ErrTrailing}}
	case compressed:
		return h, memory.Chunk{}, errSeveral(len(c.Mem) - end)
	default:
		r.frameRest = c.From(end)
	}
	return h, r.made(in), nil
}

// nextCompact receives the struct of an unframed message in the compact protocol, and returns it
// in Thrift Binary.
func (r *Receiver) nextCompact() (message.Header, memory.Chunk, error) {
	h, in := r.unframed.header, r.unframed.compact
	status, err := in.Receive(&r.in, compact.Skip, func(n int) error {
		if h.Size+int(in.Passed())+n > r.Limits.Message {
			return r.tooLong()
		}
		return r.fill(n)
	})
	if err != nil {
		return h, memory.Chunk{}, err
	}
	switch _, err := in.Fault(); {
	case status == compact.Failed && in.IsLarge():
		return h, memory.Chunk{}, err // as of one in Thrift Binary
	case status == compact.Failed:
		return h, memory.Chunk{}, faultOf(in, r.unframed.desc, h)
	case h.Size+int(in.Passed()) > r.Limits.Message: // its end had arrived
		return h, memory.Chunk{}, r.tooLong()
	}
	r.inStruct = false
	defer r.endCompact()
	return h, r.made(in), nil
}

// endCompact gives up the Reader of an unframed message.
func (r *Receiver) endCompact() {
	if m := &r.unframed; m.compact != nil {
		m.compact.Free()
		m.compact, m.desc = nil, nil
	}
}

// tooLong returns the error of an unframed message that is larger than allowed.
func (r *Receiver) tooLong() error {
	return fmt.Errorf("%w: message of more than %s = %d bytes", nocopy.ErrLimit, r.Limits.Name, r.Limits.Message)
}

// keepName copies the name of a message whose bytes are given up. It is valid until the next one
// is received.
func (r *Receiver) keepName(name []byte) []byte {
	r.name = append(r.name[:0], name...)
	return r.name
}

// beginCompact returns a Reader for the struct of a message of about n bytes, and the descriptor
// of the struct, nil if it is not known. In Thrift Binary, the struct may have at most most bytes.
func (r *Receiver) beginCompact(h message.Header, n, most int) (*compact.Reader, *thriftimpl.Desc) {
	parse := r.Limits.Parse
	l := compact.LimitsFor(most, parse.MaxDepth)
	if l.Name = r.Limits.Name; parse.MaxBytes > 0 {
		l.Bytes, l.Name = parse.MaxBytes, ""
	}
	var d *thriftimpl.Desc
	var t *thriftimpl.Type
	if r.Describe != nil {
		d = r.Describe(h)
	}
	if d != nil {
		t = d.Type()
	}
	in := compact.TakeReader(n)
	in.Reset(t, l)
	if h.Version2 {
		in.Version2()
	}
	return in, d
}

// made returns a chunk with the bytes that in has made.
func (r *Receiver) made(in *compact.Reader) memory.Chunk {
	r.Stats.Converted(in.Len())
	return r.in.Copy(in.Bytes())
}

// faultOf returns the error that in has found in its struct. d is the struct's descriptor, nil if
// it is not known.
func faultOf(in *compact.Reader, d *thriftimpl.Desc, h message.Header) *nocopy.Error {
	name := string(h.Name)
	if d != nil {
		name = d.Name()
	}
	const most = 64 // steps of a path
	return in.Error(name, most)
}
