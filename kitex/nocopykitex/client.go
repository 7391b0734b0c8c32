package nocopykitex

import (
	"context"
	"errors"
	"maps"
	"sync"
	"sync/atomic"

	"github.com/bytedance/gopkg/cloud/metainfo"
	"github.com/cloudwego/kitex/client"
	"github.com/cloudwego/kitex/client/callopt"
	"github.com/cloudwego/kitex/client/callopt/streamcall"
	"github.com/cloudwego/kitex/pkg/endpoint"
	"github.com/cloudwego/kitex/pkg/remote"
	"github.com/cloudwego/kitex/pkg/streaming"
	"github.com/cloudwego/kitex/transport"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// Client calls the methods of a service through Kitex. Generated clients use it.
type Client struct {
	service *Service
	kitex   client.Client
	// Set if, over its connections, a reply is read only after all written bytes have been sent
	atOnce atomic.Bool
}

// NewClient returns a client of the service at the destination. For generated code.
func NewClient(s *Service, destService string, opts []client.Option) (*Client, error) {
	first := []client.Option{
		client.WithDestService(destService),
		client.WithUnaryOptions(client.WithUnaryMiddleware(attempts)),
	}
	if s.streams {
		first = append(first, client.WithTransportProtocol(transport.TTHeaderStreaming))
	}
	kc, err := client.NewClient(s.Info(), append(first, opts...)...)
	if err != nil {
		return nil, err
	}
	return &Client{service: s, kitex: kc}, nil
}

// Close closes the client's connections.
func (c *Client) Close() error {
	if closer, ok := c.kitex.(interface{ Close() error }); ok {
		return closer.Close()
	}
	return nil
}

// call is a client's call in progress, with its retries.
type call struct {
	client *Client
	method *Method
	args   Args
	result Result // the result that is returned
	// The arguments refer to the arguments of a server's call, and their memory is recycled
	inScope bool
	first   attempt

	mu       sync.Mutex
	replies  []nocopy.Struct // of all attempts, in the order of arrival
	others   []nocopy.Struct // results set by middlewares
	returned nocopy.Struct   // the result after end; it belongs to the caller
	running  int             // number of running attempts
	ended    bool
	sent     int  // number of attempts that have encoded the arguments
	answered int  // number of attempts that have certainly sent them
	closed   bool // the arguments must not be encoded any more
}

// attempt is an attempt of a client's call.
type attempt struct {
	of                    *call
	begun, sent, answered bool
}

type attemptKey struct{}

// attemptOf returns the attempt of a context, or nil.
func attemptOf(ctx context.Context) *attempt {
	a, _ := ctx.Value(attemptKey{}).(*attempt)
	return a
}

var errEnded = errors.New("nocopy: the call has ended")

// attempts is the outermost middleware. It notes the beginning and end of attempts, because some
// continue after their call has ended.
func attempts(next endpoint.UnaryEndpoint) endpoint.UnaryEndpoint {
	return func(ctx context.Context, req, resp any) (err error) {
		a := attemptOf(ctx)
		if a == nil {
			return next(ctx, req, resp)
		}
		c := a.of
		if r, ok := resp.(*Result); ok && r.method == c.method {
			r.call = c
		}
		c.mu.Lock()
		c.running++
		again := a.begun
		a.begun = true
		c.mu.Unlock()
		if again {
			a = &attempt{of: c, begun: true}
			ctx = context.WithValue(ctx, attemptKey{}, a)
		}
		returned := false
		defer func() { c.leave(a, err, returned) }()
		err = next(ctx, req, resp)
		returned = true
		return err
	}
}

// leave notes that an attempt ends, with err if it has returned, otherwise with a panic. The last
// attempt releases the replies that nobody gets, if their memory is recycled.
func (c *call) leave(a *attempt, err error, returned bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if a.sent && returned && (a.answered || c.client.atOnce.Load() && c.wasSent(err)) {
		c.answered++
	}
	c.running--
	c.releaseReplies()
}

// wasSent reports whether an attempt that ends with err has sent the arguments. The connection
// sends all written bytes before it reads a reply.
func (c *call) wasSent(err error) bool {
	if err == nil {
		return c.method.rpc.Oneway()
	}
	_, replied := errors.AsType[*remote.TransError](err) // an undeclared exception
	return replied
}

// releaseReplies releases unused replies, if their memory is recycled and no goroutine can still
// be reading them.
func (c *call) releaseReplies() {
	if !c.ended || c.running > 0 {
		return
	}
	for _, r := range append(c.replies, c.others...) {
		if r != c.returned && thriftimpl.Recycles(thriftimpl.Struct(r)) && thriftimpl.Struct(r).Sendable() == nil {
			r.Release()
		}
	}
	c.replies, c.others = nil, nil
}

// made notes a result that a middleware has set.
func (c *call) made(s nocopy.Struct) {
	c.mu.Lock()
	c.others = append(c.others, s)
	c.mu.Unlock()
}

// end notes that Kitex has returned from the call with this result, which may be absent.
func (c *call) end(result nocopy.Struct) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended, c.returned = true, result
	c.releaseReplies()
}

// send notes that the arguments are about to be encoded. It returns an error if their memory may
// be in use again.
func (c *call) send(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return errEnded
	}
	c.sent++
	if a := attemptOf(ctx); a != nil && a.of == c {
		a.sent = true
	}
	return nil
}

// received makes s, which was received, the result r of an attempt. atOnce says that the
// attempt's arguments have been sent.
func (c *call) received(a *attempt, r *Result, s nocopy.Struct, atOnce bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if atOnce {
		c.client.atOnce.Store(true)
		a.answered = true
	}
	if c.ended {
		s.Release()
		return errEnded
	}
	c.replies = append(c.replies, s)
	r.body.receive(s)
	return nil
}

// close prevents any further encoding of the arguments. It returns true if nobody is still sending
// them.
func (c *call) close() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	return c.ended && c.sent == c.answered
}

// lastReply returns the last reply, or a zero Struct.
func (c *call) lastReply() nocopy.Struct {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.replies) == 0 {
		return nocopy.Struct{}
	}
	return c.replies[len(c.replies)-1]
}

// Call calls a method and returns its result. args sets the arguments. The result belongs to the
// caller; Release gives its memory back. A declared exception is returned as the error, as in
// package rpc. Other errors are Kitex's. For generated code.
func Call[A, R nocopy.View](ctx context.Context, c *Client, method string, args func(A), opts []callopt.Option) (R, error) {
	var fill func(nocopy.Struct)
	if args != nil {
		fill = func(s nocopy.Struct) { args(A(s)) }
	}
	r, err := c.call(ctx, method, fill, opts)
	return R(r), err
}

// CallOneway calls a oneway method. args sets the arguments. For generated code.
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
	k := &call{client: c, method: m, args: Args{method: m}, result: Result{method: m}}
	k.args.body.desc, k.result.body.desc = m.rpc.Args, m.rpc.Result
	k.args.call, k.result.call = k, k
	if err := k.encode(args, around); err != nil {
		return thriftimpl.Absent(), err
	}
	if len(opts) > 0 {
		ctx = client.NewCtxWithCallOptions(ctx, opts)
	}
	ctx, asks, err := sendHeaders(ctx)
	if err != nil {
		return thriftimpl.Absent(), err
	}
	k.first.of = k
	ctx = context.WithValue(ctx, attemptKey{}, &k.first)
	returned := thriftimpl.Absent()
	defer func() { k.end(returned) }() // even if a middleware panics
	if m.rpc.Oneway() {
		err = c.kitex.Call(ctx, method, &k.args, nil)
	} else {
		err = c.kitex.Call(ctx, method, &k.args, &k.result)
	}
	if asks {
		rpc.DeliverReplyHeaders(ctx, maps.All(metainfo.RecvAllBackwardValues(ctx)))
	}
	if err != nil || m.rpc.Oneway() {
		return thriftimpl.Absent(), err
	}
	returned = k.result.body.root()
	if err := m.rpc.Outcome(returned); err != nil {
		if returned.Valid() {
			returned.Release()
		}
		return thriftimpl.Absent(), err
	}
	return returned, nil
}

// encode sets the arguments: fill, unless it is nil, fills empty ones. If around is a server's
// call that recycles memory, the arguments refer to its memory, and end with it, once they have
// been sent. Otherwise they are only read from now on, and the garbage collector frees them.
func (c *call) encode(fill func(nocopy.Struct), around *scope) error {
	var own *nocopy.Message
	var a nocopy.Struct
	if around != nil {
		own = thriftimpl.NewForCall(c.method.rpc.Args, 0, nocopy.Limits{}, true)
		a = own.Root()
	} else {
		a = nocopy.Struct(thriftimpl.New(c.method.rpc.Args))
	}
	if own != nil {
		defer func() {
			if !c.inScope { // fill has panicked, or its arguments can't be sent
				thriftimpl.End(own)
			}
		}()
	}
	if fill != nil {
		fill(a)
	}
	if own != nil {
		if err := own.Check(); err != nil {
			return err
		}
		thriftimpl.EndHandles(own)
		c.args.body.set(own)
		c.inScope = true
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
