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
	h, _, _ := message.Parse(wire)
	head := message.AppendCompact(make([]byte, 0, 64), h.Type, "", h.Name, h.SeqID)
	return encode(t, head, wire[h.Size:], s)
}

// EncodeCall returns a call in the compact protocol, with what comes before it on a connection of
// transport t. b has its arguments; EncodeCall empties it.
func EncodeCall(t Transport, b *chain.Batch, typ message.Type, prefix, name string, seqid int32, s *stats.Hook) Encoded {
	wire, chunk := b.Gather()
	defer chunk.Release()
	return encode(t, message.AppendCompact(make([]byte, 0, 64), typ, prefix, name, seqid), wire, s)
}

// encode returns a message with this header and the struct wire.
func encode(t Transport, head, wire []byte, s *stats.Hook) Encoded {
	const length = 4
	front := head
	if t == Framed {
		front = append(make([]byte, length, length+len(head)), head...)
	}
	w := compact.TakeWriter(len(front) + len(wire))
	if err := w.WriteAfter(front, wire, entry.IndexID); err != nil {
		panic("nocopy: a message is " + err.Error())
	}
	if t == Framed {
		binary.BigEndian.PutUint32(w.Bytes(), uint32(len(w.Bytes())-length))
	}
	s.Converted(len(wire))
	return Encoded{w}
}
