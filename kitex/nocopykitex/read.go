package nocopykitex

import (
	"context"
	"errors"
	"fmt"
	"net"
	"reflect"
	"sync/atomic"

	"github.com/cloudwego/gopkg/bufiox"
	"github.com/cloudwego/kitex/pkg/remote/trans/gonet"
	"github.com/cloudwego/netpoll"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/internal/memory"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

const (
	// copyBelow is the size of the smallest message that is not copied when memory is recycled. A
	// slice of netpoll's buffers keeps a whole node of them alive.
	copyBelow = 8 << 10

	// firstRead is how much memory is allocated for a message before its bytes have arrived.
	firstRead = 64 << 10

	// readStep: after that, this many times as much memory as has arrived is allocated.
	readStep = 4
)

// received has a message's bytes, and how they were received.
type received struct {
	chunk  memory.Chunk
	sliced int // how many of them Kitex has not counted as read
	// Bytes written to the connection they came from have been sent when Kitex's Write has
	// returned without an error
	atOnce bool
}

// receive reads the bytes of a struct: n bytes, or up to its end if n is 0. It copies them into
// memory of their own. With recycle, a large message stays a slice of netpoll's buffers, which is
// given back when the chunk is released. (Without recycle, netpoll would lose the buffers and have
// to make new ones, whose sizes are powers of two. That takes longer than copying.)
func receive(r bufiox.Reader, n int, recycle bool) (in received, err error) {
	np := netpollReader(r)
	in.atOnce = sendsAtOnce(r, np)
	if n <= 0 && np == nil {
		in.chunk, err = copyStruct(r, recycle)
		return in, err
	}
	if n <= 0 {
		if n, err = structEnd(np); err != nil {
			return in, err
		}
	}
	if n > chain.MaxSize {
		return in, tooLong(n)
	}
	if np == nil {
		in.chunk, err = copyFrom(r, n, recycle)
		return in, err
	}
	if n < copyBelow || !recycle {
		b, err := r.Next(n) // returns only when n bytes are there: allocates no memory before
		if err != nil {
			return in, err
		}
		in.chunk = memory.NewChunk(n, recycle)
		copy(in.chunk.Mem, b)
		return in, nil
	}
	s, err := np.Slice(n)
	if err != nil {
		return in, err
	}
	in.sliced = n
	buf, ok := s.(*netpoll.LinkBuffer)
	if !ok {
		in.chunk, err = copyFrom(sliceReader{s}, n, recycle)
		return in, errors.Join(err, s.Release())
	}
	held.Add(1)
	in.chunk = memory.HoldPieces(buf.GetBytes(nil), func() {
		held.Add(-1)
		buf.Close()
	})
	return in, nil
}

// held is the number of slices of netpoll's buffers that messages hold.
var held atomic.Int64

// sendsAtOnce reports whether the connection of r sends written bytes before Kitex's Write
// returns. Multiplexed connections do not. If np is not nil, r reads through it.
func sendsAtOnce(r bufiox.Reader, np netpoll.Reader) bool {
	_, ok := np.(netpoll.Connection)
	return ok || np == nil && reflect.TypeOf(r) == gonetBuffer
}

// gonetBuffer is the type of the buffers of Kitex's transport over package net.
var gonetBuffer = reflect.TypeOf(gonet.NewGonetExtension().NewReadByteBuffer(context.Background(), gonetConn{}, nil))

// gonetConn stands in for a connection of the transport over package net.
type gonetConn struct{ net.Conn }

func (gonetConn) Reader() *bufiox.DefaultReader { return nil }
func (gonetConn) Writer() *bufiox.DefaultWriter { return nil }

// netpollReader returns netpoll's reader below r, or nil if there is none.
func netpollReader(r bufiox.Reader) netpoll.Reader {
	if p, ok := r.(interface{ NetpollReader() netpoll.Reader }); ok {
		return p.NetpollReader()
	}
	return nil
}

// copyFrom reads n bytes into new memory, which grows with the bytes that arrive.
func copyFrom(r interface{ ReadBinary([]byte) (int, error) }, n int, recycle bool) (memory.Chunk, error) {
	size := n
	for size > firstRead {
		size = (size + readStep - 1) / readStep
	}
	c, got := memory.NewChunk(size, recycle), 0
	for {
		if _, err := r.ReadBinary(c.Mem[got:]); err != nil {
			c.Release()
			return memory.Chunk{}, err
		}
		if got = len(c.Mem); got == n {
			return c, nil
		}
		next := memory.NewChunk(min(got*readStep, n), recycle)
		copy(next.Mem, c.Mem)
		c.Release()
		c = next
	}
}

// sliceReader reads from a result of Slice of another version of netpoll.
type sliceReader struct{ netpoll.Reader }

func (s sliceReader) ReadBinary(b []byte) (int, error) {
	p, err := s.Next(len(b))
	return copy(b, p), err
}

// structEnd returns the length of the next struct in bytes, for messages without a length. It
// waits for no byte after the struct.
func structEnd(r netpoll.Reader) (int, error) {
	var scan thriftimpl.Scanner
	scan.Reset(0)
	for want := 1; ; {
		b, err := r.Peek(max(want, r.Len())) // more than wanted if more is there already
		if err != nil {
			return 0, err
		}
		end, need, err := scan.Scan(b)
		if err != nil || end > 0 {
			return end, err
		}
		if need > chain.MaxSize {
			return 0, tooLong(need)
		}
		want = need
	}
}

// copyStruct reads the next struct, and no byte after it, into new memory, which grows with the
// bytes that arrive.
func copyStruct(r bufiox.Reader, recycle bool) (memory.Chunk, error) {
	var scan thriftimpl.Scanner
	scan.Reset(0)
	c, have := memory.NewChunk(firstStruct, recycle), 0
	for {
		end, need, err := scan.Scan(c.Mem[:have])
		if err == nil && end > 0 {
			c.Mem = c.Mem[:end:end]
			return c, nil
		}
		if err == nil && need > chain.MaxSize {
			err = tooLong(need)
		}
		to := min(need, max(have*readStep, firstRead))
		if err == nil && to > len(c.Mem) {
			next := memory.NewChunk(max(to, 2*len(c.Mem)), recycle)
			copy(next.Mem, c.Mem[:have])
			c.Release()
			c = next
		}
		if err == nil {
			_, err = r.ReadBinary(c.Mem[have:to])
		}
		if err != nil {
			c.Release()
			return memory.Chunk{}, err
		}
		have = to
	}
}

// firstStruct is how much memory is first allocated for a message of unknown length.
const firstStruct = 1 << 10

func tooLong(n int) error { return fmt.Errorf("%w: message of %d bytes", nocopy.ErrLimit, n) }

// parse parses received bytes, which the message takes over. With ofCall it returns a message of a
// call. It ignores bytes after the struct, as Kitex's own codecs do.
func parse(d *thriftimpl.Desc, c memory.Chunk, ofCall, recycle bool) (*nocopy.Message, error) {
	whole := c.From(0)
	m, err := parseExact(d, c, ofCall, recycle)
	if err != nil && errors.Is(err, nocopy.ErrTrailing) {
		m, err = parseFirst(d, whole, err, ofCall, recycle)
	}
	whole.Release()
	return m, err
}

// parseFirst parses the struct at the beginning of whole. err says where it ends.
func parseFirst(d *thriftimpl.Desc, whole memory.Chunk, err error, ofCall, recycle bool) (*nocopy.Message, error) {
	bad, ok := errors.AsType[*nocopy.Error](err)
	if !ok {
		return nil, err
	}
	first := memory.NewChunk(bad.Offset, recycle)
	b := first.Mem[:0]
	for p := &whole; p != nil && len(b) < bad.Offset; p = p.Next() {
		b = append(b, p.Mem[:min(len(p.Mem), bad.Offset-len(b))]...)
	}
	return parseExact(d, first, ofCall, recycle)
}

func parseExact(d *thriftimpl.Desc, c memory.Chunk, ofCall, recycle bool) (*nocopy.Message, error) {
	if ofCall {
		return thriftimpl.ParseForCall(d, c, nocopy.Limits{}, recycle, false)
	}
	s, err := thriftimpl.ParseChunk(d, c, nocopy.Limits{}, recycle, false)
	if err != nil {
		return nil, err
	}
	return nocopy.Struct(s).Message(), nil
}
