package rpc

import (
	"context"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/client"
)

// Client makes calls to one server over a pool of connections, any number at a time. It replaces
// failed connections when it needs them. Any number of goroutines may use a Client.
type Client struct {
	opt   options
	pool  *client.Pool
	calls calls
}

// Dial connects to a server, as net.Dial does, and returns a client for it. ctx bounds only the
// time for this first connection. The client makes further ones when all others are in use.
func Dial(ctx context.Context, network, addr string, opts ...Option) (*Client, error) {
	if ctx == nil {
		panic("nocopy: rpc.Dial with a nil Context")
	}
	c := &Client{opt: optionsOf(opts)}
	pool, err := client.DialPool(ctx, network, addr, c.opt.Config)
	if err != nil {
		return nil, err
	}
	c.pool, c.calls = pool, callsBy(pool, &c.opt)
	return c, nil
}

// NewArgs returns empty arguments for a call. The caller fills them and passes them to Call.
func (c *Client) NewArgs(m *Method) nocopy.Struct {
	c.mustBe()
	if m == nil {
		panic("nocopy: rpc.Client: a nil Method")
	}
	args := c.pool.NewArgs(m.called())
	args.Offer()
	return nocopy.Struct(args)
}

// Call sends args and waits for the reply. When ctx ends, it returns at once; other calls go on.
// If the connection failed before the call was sent, Call tries another one. A oneway call ends
// without an error when it was written; whether it arrives is not known.
//
// Most servers reply in the order of the calls; a Server does, unless it is Unordered. A call that
// was given up therefore delays later calls on its connection. New calls use other connections
// while the pool has any.
//
// Arguments from NewArgs belong to the call, even if it fails, and may be used for one call only.
// Other arguments are copied and remain the caller's. They may be any whole message of the
// method's arguments, such as the arguments that a server's handler has received. Anything else,
// including released arguments, gives an error.
func (c *Client) Call(ctx context.Context, m *Method, args nocopy.Struct) (nocopy.Struct, error) {
	c.mustBe()
	return c.calls.Call(ctx, m, args)
}

func (c *Client) mustBe() {
	if c == nil {
		panic("nocopy: a nil *rpc.Client: Dial returns one together with an error")
	}
}

// Close closes all connections and waits until nothing uses them any more. Calls under way fail
// with ErrClientClosed.
func (c *Client) Close() error { return c.pool.Close() }
