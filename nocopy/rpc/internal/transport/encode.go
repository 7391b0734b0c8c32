package transport

import (
	"compress/zlib"
	"encoding/binary"
	"sync"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/internal/entry"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/compact"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/header"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/message"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/stats"
)

// This file makes messages of styles that are not plain, from Thrift Binary.

// Encoded is a message as it is sent. If its style is in place, it is only the bytes before the
// message.
type Encoded struct {
	writer *compact.Writer
	buffer *buffer
}

// buffer is memory for bytes.
type buffer struct{ b []byte }

var buffers = sync.Pool{New: func() any { return new(buffer) }}

// deflaters are the Writers that compress. One takes about a MiB. It is therefore given back
// before its compressed message is written.
var deflaters = sync.Pool{New: func() any {
	z, _ := zlib.NewWriterLevel(nil, zlib.BestSpeed)
	return z
}}

func (b *buffer) Write(p []byte) (int, error) {
	b.b = append(b.b, p...)
	return len(p), nil
}

// Bytes returns the bytes, which are valid until Free.
func (e Encoded) Bytes() []byte {
	switch {
	case e.buffer != nil:
		return e.buffer.b
	case e.writer != nil:
		return e.writer.Bytes()
	}
	return nil
}

// mostKept bounds the memory that an Encoded keeps for another message, in bytes.
const mostKept = 64 << 10

// Free gives up the memory.
func (e Encoded) Free() {
	if e.writer != nil {
		e.writer.Free()
	}
	if e.buffer != nil {
		if cap(e.buffer.b) > mostKept {
			e.buffer.b = nil
		}
		buffers.Put(e.buffer)
	}
}

// Encoder makes messages of one style for one connection.
type Encoder struct {
	Transport Transport
	Style     message.Style
	Stats     *stats.Hook
}

// Reply returns a reply with these headers. b has the reply, which Reply empties: its header in
// Thrift Binary, and its struct.
func (e Encoder) Reply(b *chain.Batch, l header.List) Encoded {
	wire, chunk := b.Gather()
	defer chunk.Release()
	var room [headRoom]byte
	h, _, _ := message.Parse(wire)
	if e.Style.Form != message.Compact {
		return e.encode(wire[:h.Size], wire[h.Size:], h.SeqID, l)
	}
	return e.encode(message.AppendCompact(room[:0], h.Type, "", h.Name, h.SeqID), wire[h.Size:], h.SeqID, l)
}

// Call returns a call with these headers. b has its arguments, and is emptied.
func (e Encoder) Call(b *chain.Batch, typ message.Type, prefix, name string, seqid int32, l header.List) Encoded {
	wire, chunk := b.Gather()
	defer chunk.Release()
	var room [headRoom]byte
	head := room[:0]
	if e.Style.Form != message.Compact {
		head = append(head, make([]byte, message.HeaderSize(true, len(prefix)+len(name)))...)
		message.PutHeader(head, true, typ, prefix, name, seqid)
	} else {
		head = message.AppendCompact(head, typ, prefix, name, seqid)
	}
	return e.encode(head, wire, seqid, l)
}

// headRoom is room for the bytes before the struct of most messages.
const headRoom = 128

// Front returns the bytes before a message of n bytes with these headers. The style is in place.
func (e Encoder) Front(l header.List, seqid int32, n int) Encoded {
	b := buffers.Get().(*buffer)
	b.b = e.AppendFront(b.b[:0], l, seqid, n)
	return Encoded{buffer: b}
}

// AppendFront appends what Front returns.
func (e Encoder) AppendFront(b []byte, l header.List, seqid int32, n int) []byte {
	from := len(b)
	b = e.appendFront(b, l, seqid)
	if e.Transport != Unframed {
		setLength(b[from:], n)
	}
	return b
}

// lengthSize is the size of a frame's length.
const lengthSize = 4

// setLength sets the length of a frame that has n more bytes than b.
func setLength(b []byte, n int) { binary.BigEndian.PutUint32(b, uint32(len(b)-lengthSize+n)) }

// appendFront appends the bytes before a message. If it comes in a frame, the frame's length is 0
// yet.
func (e Encoder) appendFront(b []byte, l header.List, seqid int32) []byte {
	if e.Transport != Unframed {
		b = append(b, 0, 0, 0, 0)
	}
	if t := e.Style.THeader; t != nil {
		b = message.AppendTHeader(b, *t, l, e.Style.Form, seqid)
	}
	return b
}

// encode returns a message: its header head, and the struct wire, which is in Thrift Binary.
func (e Encoder) encode(head, wire []byte, seqid int32, l header.List) Encoded {
	e.Stats.Converted(len(wire))
	if t := e.Style.THeader; t != nil && t.Zlib {
		return e.deflate(head, wire, seqid, l)
	}
	var room [headRoom]byte
	front := append(e.appendFront(room[:0], l, seqid), head...)
	w := writeCompact(front, wire)
	if e.Transport != Unframed {
		setLength(w.Bytes(), 0)
	}
	return Encoded{writer: w}
}

// writeCompact returns a Writer with front, and then wire in the compact protocol.
func writeCompact(front, wire []byte) *compact.Writer {
	w := compact.TakeWriter(len(front) + len(wire))
	if err := w.Write(front, wire, entry.IndexID, nil); err != nil {
		panic("nocopy: a message is " + err.Error())
	}
	return w
}

// deflate is encode for a message that is compressed.
func (e Encoder) deflate(head, wire []byte, seqid int32, l header.List) Encoded {
	b := buffers.Get().(*buffer)
	b.b = e.appendFront(b.b[:0], l, seqid)
	z := deflaters.Get().(*zlib.Writer)
	defer deflaters.Put(z)
	z.Reset(b)
	if e.Style.Form == message.Compact {
		w := writeCompact(head, wire)
		z.Write(w.Bytes())
		w.Free()
	} else {
		z.Write(append([]byte(nil), head...)) // what it is given goes to the heap
		z.Write(wire)
	}
	z.Close()
	z.Reset(nil)
	setLength(b.b, 0)
	return Encoded{buffer: b}
}
