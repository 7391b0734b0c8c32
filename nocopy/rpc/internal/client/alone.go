package client

import (
	"context"
	"fmt"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/internal/memory"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/message"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/stats"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/transport"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// Alone is a Carrier by a function of the program, which is given one message at a time. There
// may be any number of calls in flight.
type Alone struct {
	opt       Config
	roundTrip func(ctx context.Context, of any, call []byte) (reply []byte, err error)
}

// NewAlone returns an Alone. roundTrip carries a call; of is the Call's.
func NewAlone(o Config, roundTrip func(ctx context.Context, of any, call []byte) (reply []byte, err error)) *Alone {
	c := &Alone{o, roundTrip}
	c.opt.begin()
	return c
}

// HasHeaders reports that a message alone has no place for headers.
func (c *Alone) HasHeaders() bool { return false }

// Enter does nothing.
func (c *Alone) Enter(context.Context, <-chan struct{}) error { return nil }

// Leave does nothing.
func (c *Alone) Leave() {}

// Carry gives the function the message with a call, and returns the reply in the function's.
func (c *Alone) Carry(ctx context.Context, _ <-chan struct{}, call Call) (Reply, error) {
	p := c.opt.newPending(&call)
	defer p.recycle()
	var b chain.Batch
	p.encodeAlone(&b, c.opt.Style.Form, nil)
	sent, chunk := b.Gather()
	defer chunk.Release()
	reply, err := c.roundTrip(ctx, call.Of, sent)
	switch l := c.opt.receives(); {
	case err != nil:
		return Reply{}, err
	case call.Method.IsOneway():
		return Reply{}, nil
	case len(reply) > l.Frame:
		return Reply{}, BadReply(fmt.Errorf("%w: %d bytes, more than %s = %d", nocopy.ErrLimit, len(reply), l.Name, l.Frame))
	}
	h, body, err := c.opt.whole(&call.Method, memory.Chunk{Mem: reply}, nil)
	if err != nil {
		return Reply{}, err
	}
	return Reply{h.Type, string(h.Name) == call.Method.Name, nil, body}, nil
}

// whole returns the header and the struct of the reply to a call of m, which was alone.
func (o *Config) whole(m *Method, reply memory.Chunk, s *stats.Hook) (message.Header, memory.Chunk, error) {
	in := transport.Receiver{Limits: o.receives(), Stats: s, Describe: func(h message.Header) *thriftimpl.Desc {
		if h.Type == message.Exception {
			return message.ExceptionDesc
		}
		return m.Result
	}}
	in.Reset(o.Recycle)
	h, body, err := in.Whole(reply)
	switch {
	case err != nil:
		err = BadReply(err)
	case h.SeqID != aloneID:
		body.Release()
		err = badSequenceID(h.SeqID, aloneID)
	}
	return h, body, err
}
