package transport

import (
	"encoding/binary"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/internal/entry"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/compact"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/message"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/stats"
)

// This file makes messages of other forms than Thrift Binary, from Thrift Binary.

// Encoded is a message as it is sent.
type Encoded struct{ writer *compact.Writer }

// Bytes returns the bytes, which are valid until Free.
func (e Encoded) Bytes() []byte {
	if e.writer == nil {
		return nil
	}
	return e.writer.Bytes()
}

// Free gives up the memory.
func (e Encoded) Free() {
	if e.writer != nil {
		e.writer.Free()
	}
}

// EncodeReply returns the message that b has, which it empties, in the compact protocol, with what
// comes before it on a connection of transport t.
func EncodeReply(t Transport, b *chain.Batch, s *stats.Hook) Encoded {
	wire, chunk := b.Gather()
	defer chunk.Release()
	var room [headRoom]byte
	h, _, _ := message.Parse(wire)
	return encode(t, message.AppendCompact(appendRoom(room[:0], t), h.Type, "", h.Name, h.SeqID), wire[h.Size:], s)
}

// EncodeCall returns a call in the compact protocol, with what comes before it on a connection of
// transport t. b has its arguments; EncodeCall empties it.
func EncodeCall(t Transport, b *chain.Batch, typ message.Type, prefix, name string, seqid int32, s *stats.Hook) Encoded {
	wire, chunk := b.Gather()
	defer chunk.Release()
	var room [headRoom]byte
	return encode(t, message.AppendCompact(appendRoom(room[:0], t), typ, prefix, name, seqid), wire, s)
}

// headRoom is room for what comes before the struct of most messages.
const headRoom = 96

// appendRoom appends room for the length of a frame, if t has frames.
func appendRoom(b []byte, t Transport) []byte {
	if t == Framed {
		return append(b, 0, 0, 0, 0)
	}
	return b
}

// encode returns a message: front, and then the struct wire in the compact protocol. In a frame,
// front begins with room for its length.
func encode(t Transport, front, wire []byte, s *stats.Hook) Encoded {
	w := compact.TakeWriter(len(front) + len(wire))
	if err := w.WriteAfter(front, wire, entry.IndexID); err != nil {
		panic("nocopy: a message is " + err.Error())
	}
	if b := w.Bytes(); t == Framed {
		const length = 4
		binary.BigEndian.PutUint32(b, uint32(len(b)-length))
	}
	s.Converted(len(wire))
	return Encoded{w}
}
