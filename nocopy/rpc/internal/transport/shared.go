package transport

import (
	"bytes"
	"fmt"

	"github.com/nocopythrift/nocopythrift/internal/memory"
	"github.com/nocopythrift/nocopythrift/internal/shm"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/message"
)

// nextShared receives the next message in shared memory, whose position comes next, and returns
// its header and the bytes after that.
func (r *Receiver) nextShared() (message.Header, memory.Chunk, error) {
	for len(r.in.Bytes()) < shm.PositionSize {
		if err := r.fill(shm.PositionSize); err != nil {
			return message.Header{}, memory.Chunk{}, err
		}
	}
	t, err := r.Link.Take(r.in.Bytes())
	if err != nil {
		return message.Header{}, memory.Chunk{}, fmt.Errorf("%w: %w", memory.ErrFrameSize, err)
	}
	r.in.Skip(shm.PositionSize)
	n, held := len(t.Mem), false
	defer func() { // also when a function of Stats ends the goroutine
		if !held {
			t.Return()
		}
	}()
	if n > r.Limits.Frame {
		return r.headerOf(t.Mem), memory.Chunk{}, r.tooLarge(n)
	}
	r.Stats.Received(n)
	if r.Trusts {
		held = true
		return r.split(memory.HoldOwned(t.Mem, t, true))
	}
	return r.split(r.in.Copy(t.Mem))
}

// headerOf returns the header of a message in shared memory, or a zero one if it has none.
func (r *Receiver) headerOf(mem []byte) message.Header {
	h, need, err := message.Parse(bytes.Clone(mem[:min(len(mem), message.MaxHeader)]))
	if need > 0 || err != nil {
		return message.Header{}
	}
	return h
}
