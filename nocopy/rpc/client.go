package rpc

import (
	"context"
	"crypto/tls"
	"errors"
	"math/rand/v2"
	"net"
	"sync"
	"time"

	"github.com/nocopythrift/nocopythrift/nocopy"
)

// Client makes calls over a pool of connections to one server, any number at a time. A connection
// that fails is made anew when it is needed again.
type Client struct {
	network, addr string
	opt           options
	handle        Handler // nil: there are no interceptors
	tls           *tls.Config

	mu       sync.Mutex
	conns    []*poolConn
	inFlight int
	waiting  []chan struct{} // calls that wait for others to end, the first one first
	closed   bool
	ctx      context.Context // ends with Close: for dialling
	cancel   context.CancelFunc
}

// poolConn is a place for a connection in a client's pool.
type poolConn struct {
	calls   int           // that use it or wait for it
	conn    *clientConn   // nil: not connected
	dialing chan struct{} // closed when the attempt that is under way has ended; nil: none is
	err     error         // of the last attempt
	pause   time.Duration // before the next attempt
	after   time.Time     // when it may be made
}

// ErrClientClosed is the error of calls of a client that was closed.
var ErrClientClosed = errors.New("rpc: client closed")

const (
	firstPause = 20 * time.Millisecond
	maxPause   = 2 * time.Second
)

// Dial connects to a server, as net.Dial does, and returns a client for it. ctx is for this
// connection; others are made when there are more calls than connections.
func Dial(ctx context.Context, network, addr string, opts ...Option) (*Client, error) {
	c := &Client{network: network, addr: addr, opt: optionsOf(opts)}
	if len(c.opt.interceptors) > 0 {
		c.handle = wrapped(c.opt.interceptors, c.try, innerTry)
	}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	if c.opt.tls != nil {
		c.tls = c.opt.tls.Clone()
		if host, _, err := net.SplitHostPort(addr); err == nil && c.tls.ServerName == "" {
			c.tls.ServerName = host
		}
	}
	conn, err := c.dial(ctx)
	if err != nil {
		c.cancel()
		return nil, err
	}
	c.conns = append(c.conns, &poolConn{conn: conn})
	return c, nil
}

func (c *Client) dial(ctx context.Context) (*clientConn, error) {
	ctx, cancel := context.WithTimeout(ctx, c.opt.dialTimeout)
	defer cancel()
	nc, err := c.opt.dial(ctx, c.network, c.addr)
	if err != nil {
		return nil, err
	}
	if c.tls != nil {
		t := tls.Client(nc, c.tls)
		if err := t.HandshakeContext(ctx); err != nil {
			nc.Close()
			return nil, err
		}
		nc = t
	}
	return newClientConn(nc, &c.opt), nil
}

// NewArgs returns the arguments of a call, to be filled and given to Call.
func (c *Client) NewArgs(m *Method) nocopy.Struct {
	args := nocopy.New(m.Args)
	args.Offer()
	return args
}

// Call sends args and waits for the reply. When ctx ends it returns at once, and other calls go
// on. Most servers, ours unless it is Unordered, send replies in order: calls on the same
// connection have theirs after that of the one that was given up, so others are made on another
// connection as long as the pool has one. When the call has not been sent, since the connection
// turned out to be broken, it tries another.
//
// Arguments from NewArgs are taken over, also with an error, and may be given to one call only.
// Others are copied and stay the caller's: any whole message of the method's arguments, such as
// those that a server's handler was called with, or an interceptor's. What is neither, or was
// released, is an error.
func (c *Client) Call(ctx context.Context, m *Method, args nocopy.Struct) (nocopy.Struct, error) {
	args, err := m.takeArgs(args)
	if err != nil {
		return nocopy.Absent(), err
	}
	if c.handle != nil {
		return c.intercepted(ctx, m, args)
	}
	defer args.End()
	result, err := c.send(ctx, nil, m, args)
	if err != nil && result != nocopy.Absent() {
		result.Release()
		result = nocopy.Absent()
	}
	return result, err
}

// send makes one call, as clientConn.call does. args have an owner until it returns, or until
// over is closed.
func (c *Client) send(ctx context.Context, over <-chan struct{}, m *Method, args nocopy.Struct) (nocopy.Struct, error) {
	err := ctx.Err()
	if err == nil {
		err = c.enter(ctx, over)
	}
	if err != nil {
		return nocopy.Absent(), callError(m, err)
	}
	var p *poolConn
	defer func() { c.leave(p, true) }()
	const attempts = 3
	for i := 1; ; i++ {
		var conn *clientConn
		if p, conn, err = c.connection(ctx, over); err != nil {
			return nocopy.Absent(), callError(m, err)
		}
		result, err := conn.call(ctx, over, m, args)
		if err == nil || i == attempts || !errors.Is(err, errNotSent) {
			return result, err
		}
		c.leave(p, false)
		p = nil
	}
}

// enter waits until there are fewer calls in flight than allowed.
func (c *Client) enter(ctx context.Context, over <-chan struct{}) error {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return ErrClientClosed
	}
	if c.inFlight < c.opt.maxInFlight {
		c.inFlight++
		c.mu.Unlock()
		return nil
	}
	turn := make(chan struct{})
	c.waiting = append(c.waiting, turn)
	c.mu.Unlock()
	var err error
	select {
	case <-turn: // who left has passed its place on
		return nil
	case <-ctx.Done():
		err = ctx.Err()
	case <-over:
		err = errReturned
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, w := range c.waiting {
		if w == turn {
			c.waiting = append(c.waiting[:i], c.waiting[i+1:]...)
			return err
		}
	}
	c.pass() // it was our turn after all
	return err
}

// pass gives a call's place to the next one that waits.
func (c *Client) pass() {
	if len(c.waiting) == 0 {
		c.inFlight--
		return
	}
	close(c.waiting[0])
	c.waiting = c.waiting[1:]
}

// leave ends what connection began, and with all what enter began.
func (c *Client) leave(p *poolConn, all bool) {
	c.mu.Lock()
	if p != nil {
		p.calls--
	}
	if all {
		c.pass()
	}
	c.mu.Unlock()
}

// connection chooses the connection with the fewest calls, those that were given up and have had
// no reply yet included. If all have some it makes another, as long as the pool is not full.
func (c *Client) connection(ctx context.Context, over <-chan struct{}) (*poolConn, *clientConn, error) {
	c.mu.Lock()
	p := c.choose()
	p.calls++
	for {
		switch {
		case c.closed:
			c.mu.Unlock()
			return p, nil, ErrClientClosed
		case p.conn != nil && !p.conn.broken():
			conn := p.conn
			c.mu.Unlock()
			return p, conn, nil
		case p.dialing == nil:
			switch {
			case p.conn == nil:
			case p.conn.useful.Load():
				p.pause = 0
			default: // it was closed without a single reply
				p.failed()
			}
			p.conn, p.err = nil, nil
			p.dialing = make(chan struct{})
			go c.redial(p)
		}
		dialing := p.dialing
		c.mu.Unlock()
		select {
		case <-dialing:
		case <-ctx.Done():
			return p, nil, ctx.Err()
		case <-over:
			return p, nil, errReturned
		}
		c.mu.Lock()
		if err := p.err; err != nil {
			c.mu.Unlock()
			return p, nil, err
		}
		if !c.closed && p.conn != nil && p.conn.broken() { // already
			c.mu.Unlock()
			return p, nil, errServerClosed
		}
	}
}

// failed makes the pause before the next attempt longer.
func (p *poolConn) failed() {
	p.pause = min(max(2*p.pause, firstPause), maxPause)
	p.after = time.Now().Add(p.pause/2 + rand.N(p.pause/2))
}

func (c *Client) choose() *poolConn {
	var best *poolConn
	fewest := 0
	for _, p := range c.conns {
		if p.conn == nil || p.conn.broken() {
			continue
		}
		n := p.calls + int(p.conn.owed.Load())
		if n == 0 {
			return p
		}
		if best == nil || n < fewest {
			best, fewest = p, n
		}
	}
	// None is idle: use one that is not connected, or add one, unless connecting has just failed.
	var spare *poolConn
	for _, p := range c.conns {
		if (p.conn == nil || p.conn.broken()) && (spare == nil || p.calls < spare.calls) {
			spare = p
		}
	}
	switch {
	case spare != nil && (best == nil || spare.calls == 0 && spare.pause == 0):
		return spare
	case len(c.conns) < c.opt.poolSize:
		p := &poolConn{}
		c.conns = append(c.conns, p)
		return p
	}
	return best
}

// redial connects p, after the pause that failures have earned.
func (c *Client) redial(p *poolConn) {
	c.mu.Lock()
	wait := time.Duration(0)
	if p.pause > 0 {
		wait = time.Until(p.after)
	}
	c.mu.Unlock()
	var conn *clientConn
	err := c.ctx.Err()
	if wait > 0 {
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-c.ctx.Done():
			err = c.ctx.Err()
		}
		timer.Stop()
	}
	if err == nil {
		conn, err = c.dial(c.ctx)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed { // also if that is why there is no connection
		if conn != nil {
			conn.close(ErrClientClosed)
		}
		conn, err = nil, ErrClientClosed
	}
	if p.conn, p.err = conn, err; err != nil {
		p.failed()
	}
	close(p.dialing)
	p.dialing = nil
}

// Close closes all connections. Calls under way fail with ErrClientClosed.
func (c *Client) Close() error {
	c.mu.Lock()
	c.closed = true
	var conns []*clientConn
	var dialing []chan struct{}
	for _, p := range c.conns {
		if p.conn != nil {
			conns = append(conns, p.conn)
		}
		if p.dialing != nil {
			dialing = append(dialing, p.dialing)
		}
	}
	c.cancel()
	c.mu.Unlock()
	for _, conn := range conns {
		conn.close(ErrClientClosed)
		conn.wait()
	}
	for _, d := range dialing {
		<-d
	}
	return nil
}
