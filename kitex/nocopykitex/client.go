package nocopykitex

import (
	"context"
	"errors"
	"sync"

	"github.com/cloudwego/kitex/client"
	"github.com/cloudwego/kitex/client/callopt"
	"github.com/cloudwego/kitex/client/callopt/streamcall"
	"github.com/cloudwego/kitex/pkg/streaming"
	"github.com/cloudwego/kitex/transport"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// Client calls the methods of a service through Kitex. Generated clients are made of it.
type Client struct {
	service *Service
	kitex   client.Client
}

// NewClient returns a client of the service at the destination. For generated code.
func NewClient(s *Service, destService string, opts []client.Option) (*Client, error) {
	first := []client.Option{client.WithDestService(destService)}
	if s.streams {
		first = append(first, client.WithTransportProtocol(transport.TTHeaderStreaming))
	}
	kc, err := client.NewClient(s.Info(), append(first, opts...)...)
	if err != nil {
		return nil, err
	}
	return &Client{s, kc}, nil
}

// Close closes the client's connections.
func (c *Client) Close() error {
	if closer, ok := c.kitex.(interface{ Close() error }); ok {
		return closer.Close()
	}
	return nil
}

// call is a client's call while it is under way, with its retries.
type call struct {
	method *Method
	args   Args
	result Result // what is returned

	mu       sync.Mutex
	replies  []*nocopy.Message // of all attempts, in the order in which they came
	ended    bool
	sent     int  // how many attempts have encoded the arguments
	answered int  // how many of them have had a reply, before which all had been sent
	closed   bool // the arguments are not encoded any more
}

type callKey struct{}

// callOf returns the client's call that is under way, nil if there is none.
func callOf(ctx context.Context) *call {
	c, _ := ctx.Value(callKey{}).(*call)
	return c
}

var errEnded = errors.New("nocopy: the call has ended")

// send notes that the arguments are about to be encoded, unless their memory may be used again.
func (c *call) send() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return errEnded
	}
	c.sent++
	return nil
}

// received makes m, which has been received, the result r of an attempt. atOnce tells that the
// attempt's arguments have been sent.
func (c *call) received(r *Result, m *nocopy.Message, atOnce bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if atOnce {
		c.answered++
	}
	if c.ended {
		m.Release()
		return errEnded
	}
	c.replies = append(c.replies, m)
	r.body.set(m)
	return nil
}

// close keeps the arguments from being encoded from now on, and reports whether nobody is still
// sending them.
func (c *call) close() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	return c.ended && c.sent == c.answered
}

// lastReply returns the reply that came last, nil if there is none.
func (c *call) lastReply() *nocopy.Message {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.replies) == 0 {
		return nil
	}
	return c.replies[len(c.replies)-1]
}

// Call calls a method, whose arguments args sets, and returns its result, which belongs to the
// caller: Release gives its memory back. A declared exception is the error, as in package rpc;
// other errors are Kitex's. For generated code.
func Call[A, R nocopy.View](ctx context.Context, c *Client, method string, args func(A), opts []callopt.Option) (R, error) {
	var fill func(nocopy.Struct)
	if args != nil {
		fill = func(s nocopy.Struct) { args(A(s)) }
	}
	r, err := c.call(ctx, method, fill, opts)
	return R(r), err
}

// CallOneway is Call of a oneway method. For generated code.
func CallOneway[A nocopy.View](ctx context.Context, c *Client, method string, args func(A), opts []callopt.Option) error {
	_, err := Call[A, nocopy.Struct](ctx, c, method, args, opts)
	return err
}

func (c *Client) call(ctx context.Context, method string, args func(nocopy.Struct), opts []callopt.Option) (nocopy.Struct, error) {
	m := c.service.methods[method]
	around := scopeOf(ctx, true)
	if around != nil && !around.recycle {
		around = nil
	}
	k := &call{method: m, args: Args{method: m}, result: Result{method: m}}
	k.args.body.desc, k.result.body.desc = m.rpc.Args, m.rpc.Result
	k.args.call, k.result.call = k, k
	if err := k.encode(args, around); err != nil {
		return thriftimpl.Absent(), err
	}
	if len(opts) > 0 {
		ctx = client.NewCtxWithCallOptions(ctx, opts)
	}
	ctx = context.WithValue(ctx, callKey{}, k)
	var err error
	if m.rpc.Oneway() {
		err = c.kitex.Call(ctx, method, &k.args, nil)
	} else {
		err = c.kitex.Call(ctx, method, &k.args, &k.result)
	}
	k.mu.Lock()
	k.ended = true
	k.mu.Unlock()
	if err != nil || m.rpc.Oneway() {
		return thriftimpl.Absent(), err
	}
	r := k.result.body.root()
	if err := m.rpc.Outcome(r); err != nil {
		if r.Valid() {
			r.Release()
		}
		return thriftimpl.Absent(), err
	}
	return r, nil
}

// encode sets the arguments to what fill, which may be nil, makes of empty ones. If around is a
// server's call that uses memory again, they refer to its memory and end with it, once they have
// been sent. Otherwise they are only read from now on, and the garbage collector's.
func (c *call) encode(fill func(nocopy.Struct), around *scope) error {
	var held *nocopy.Message
	var a nocopy.Struct
	if around != nil {
		held = thriftimpl.NewHeld(c.method.rpc.Args, 0, nocopy.Limits{}, true)
		a = held.Root()
	} else {
		a = nocopy.Struct(thriftimpl.New(c.method.rpc.Args))
	}
	if fill != nil {
		fill(a)
	}
	if held != nil {
		if err := held.Check(); err != nil {
			thriftimpl.End(held)
			return err
		}
		c.args.body.set(held)
		around.add(c)
		return nil
	}
	defer a.Release()
	if err := a.Message().Check(); err != nil {
		return err
	}
	c.args.body.encode(a.Message(), shareFrom, longOwn)
	return nil
}

// OpenStream opens a stream. For generated code.
func OpenStream(ctx context.Context, c *Client, method string, opts []streamcall.Option) (streaming.ClientStream, error) {
	ctx = client.NewCtxWithCallOptions(ctx, streamcall.GetCallOptions(opts))
	return c.kitex.(client.Streaming).StreamX(ctx, method)
}
