package transport

import (
	"encoding/binary"
	"fmt"

	"github.com/nocopythrift/nocopythrift/internal/memory"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/message"
)

// Whole returns the message that c is, such as the body of a request of HTTP, as Next does. It
// takes c over. That bytes follow the message is an error, in Thrift Binary one of parsing the
// struct. The Receiver needs no connection.
func (r *Receiver) Whole(c memory.Chunk) (message.Header, memory.Chunk, error) {
	size := len(c.Mem)
	if isFrame(c.Mem) {
		c.Release()
		return message.Header{}, memory.Chunk{}, errFrame
	}
	h, c, err := r.splitNext(c)
	if rest := len(r.frameRest.Mem); err == nil && rest > 0 {
		r.Free()
		c.Release()
		return h, memory.Chunk{}, badStruct{&nocopy.Error{Offset: size - rest, Path: string(h.Name), Err: nocopy.ErrTrailing}}
	}
	return h, c, err
}

// errFrame is the error of a message in a frame, where messages come alone.
var errFrame = fmt.Errorf("%w: it is in a frame, where messages have none", message.ErrVersion)

// isFrame reports whether b is a message in a frame: its length, and a strict or compact header.
func isFrame(b []byte) bool {
	const length = 4
	return len(b) > length && int64(binary.BigEndian.Uint32(b)) == int64(len(b)-length) &&
		(b[length] == message.Version1>>8 || b[length] == message.CompactID)
}
