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
	// The tracer comes last, so that it is the first to finish: the others see what it corrects.
	kc, err := client.NewClient(s.Info(), append(append(first, opts...), client.WithTracer(tracer{}))...)
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

	mu      sync.Mutex
	replies []*nocopy.Message // of all attempts, in the order in which they came
	ended   bool
}

type callKey struct{}

// callOf returns the client's call that is under way, nil if there is none.
func callOf(ctx context.Context) *call {
	c, _ := ctx.Value(callKey{}).(*call)
	return c
}

var errEnded = errors.New("nocopy: the reply came after the call had ended")

// received makes m, which has been received, the result r of an attempt.
func (c *call) received(r *Result, m *nocopy.Message) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		m.Release()
		return errEnded
	}
	c.replies = append(c.replies, m)
	r.body.set(m)
	return nil
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
	a := nocopy.Struct(thriftimpl.New(m.rpc.Args))
	if args != nil {
		args(a)
	}
	k := &call{method: m, args: Args{method: m}, result: Result{method: m}}
	k.args.body.desc, k.result.body.desc, k.result.call = m.rpc.Args, m.rpc.Result, k
	if err := a.Message().Check(); err != nil {
		a.Release()
		return thriftimpl.Absent(), err
	}
	k.args.body.encode(a.Message(), referFrom, longOwn)
	a.Release()
	if len(opts) > 0 {
		ctx = client.NewCtxWithCallOptions(ctx, opts)
	}
	ctx = context.WithValue(ctx, callKey{}, k)
	if m.rpc.Oneway() {
		return thriftimpl.Absent(), c.kitex.Call(ctx, method, &k.args, nil)
	}
	err := c.kitex.Call(ctx, method, &k.args, &k.result)
	k.mu.Lock()
	k.ended = true
	k.mu.Unlock()
	if err != nil {
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

// OpenStream opens a stream. For generated code.
func OpenStream(ctx context.Context, c *Client, method string, opts []streamcall.Option) (streaming.ClientStream, error) {
	ctx = client.NewCtxWithCallOptions(ctx, streamcall.GetCallOptions(opts))
	return c.kitex.(client.Streaming).StreamX(ctx, method)
}
