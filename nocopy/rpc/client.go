package rpc

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"sync"
	"time"

	"github.com/nocopythrift/nocopythrift/internal/shm"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/foreign"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/message"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/transport"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// Client makes calls to one server over a pool of connections, any number at a time. It replaces
// failed connections when it needs them. Any number of goroutines may use a Client.
type Client struct {
	network, addr string
	opt           options
	calls         calls
	tls           *tls.Config

	places chan struct{} // holds one value for each call in flight

	mu      sync.Mutex
	conns   []*poolConn
	retired map[*clientConn]struct{} // connections that calls use, but no place has any more
	sweeper *time.Timer              // calls sweep; nil if connections have no limits of time
	closed  bool
	ctx     context.Context // of dialling; ends with Close
	cancel  context.CancelFunc
}

const (
	firstDialPause = 20 * time.Millisecond
	maxDialPause   = 2 * time.Second
)

// newArgs returns arguments of a call, built in the shared memory of one of the connections if
// they are expected to be large.
func (c *Client) newArgs(m *Method) thriftimpl.Struct {
	if c.opt.sizes == nil {
		return thriftimpl.New(m.Args)
	}
	var link *shm.Link
	fewest := 0
	c.mu.Lock()
	for _, p := range c.conns {
		if p.conn != nil && p.conn.in.Trusts && (link == nil || p.calls < fewest) {
			link, fewest = p.conn.link, p.calls
		}
	}
	c.mu.Unlock()
	if link != nil {
		if chunk, ok := c.opt.sizes.Place(link, m.Args); ok {
			room := message.HeaderSize(true, len(m.prefix)+len(m.Name))
			return thriftimpl.Struct(thriftimpl.NewIn(m.Args, chunk, room, nil).Root())
		}
	}
	return thriftimpl.New(m.Args)
}

// NewArgs returns empty arguments for a call. The caller fills them and passes them to Call.
func (c *Client) NewArgs(m *Method) nocopy.Struct {
	c.mustBe()
	if m == nil {
		panic("nocopy: rpc.Client: a nil Method")
	}
	args := c.newArgs(m)
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

// send waits for its place among MaxInFlight calls, chooses a connection and makes the call there;
// if the connection has failed before, it chooses another. See sender.
func (c *Client) send(ctx context.Context, returned <-chan struct{}, m *Method, args nocopy.Struct, fields []sentField) (result nocopy.Struct, x extras, err error) {
	began := c.opt.stats.Now()
	x, err = extrasOf(ctx, m, fields, c.opt.transport.HasHeaders())
	if err == nil {
		err = ctx.Err()
	}
	if err == nil {
		err = c.enter(ctx, returned)
	}
	if err != nil {
		return thriftimpl.Absent(), x, callError(m, err)
	}
	var p *poolConn
	var conn *clientConn
	defer func() { <-c.places }()
	defer func() { c.leave(p, conn) }()
	defer c.opt.stats.InFlight(-1) // first: the next call counts when it has the place
	c.opt.stats.InFlight(1)
	const maxTries = 3
	for i := 1; ; i++ {
		if p, conn, err = c.acquireConn(ctx, returned); err != nil {
			return thriftimpl.Absent(), x, callError(m, err)
		}
		result, err = conn.call(ctx, returned, m, args, &x, began)
		if err == nil || i == maxTries || !errors.Is(err, ErrNotSent) {
			return result, x, err
		}
		c.leave(p, conn)
		p, conn = nil, nil
	}
}

// enter waits until there are fewer calls in flight than allowed, and counts one more.
func (c *Client) enter(ctx context.Context, returned <-chan struct{}) error {
	if c.ctx.Err() != nil {
		return ErrClientClosed
	}
	select {
	case c.places <- struct{}{}:
		return nil
	default:
	}
	select {
	case c.places <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-returned:
		return errReturned
	case <-c.ctx.Done():
		return ErrClientClosed
	}
}

// leave notes that a call does not use p and conn any more, unless they are nil.
func (c *Client) leave(p *poolConn, conn *clientConn) {
	c.mu.Lock()
	if p != nil {
		p.calls--
	}
	last := conn != nil && conn.use.end()
	if last {
		delete(c.retired, conn)
	}
	c.mu.Unlock()
	if last {
		conn.close(errRetired)
	}
}

// acquireConn returns a connection for a call, and its place, whose use ends with leave, also
// after an error. If the chosen place has no connection that works, it waits for one.
func (c *Client) acquireConn(ctx context.Context, returned <-chan struct{}) (*poolConn, *clientConn, error) {
	c.mu.Lock()
	p := c.chooseConn()
	p.calls++
	for waited := false; ; waited = true {
		conn, dialing, err := c.connAt(p, waited)
		c.mu.Unlock()
		if dialing == nil {
			return p, conn, err
		}
		select {
		case <-dialing:
		case <-ctx.Done():
			return p, nil, ctx.Err()
		case <-returned:
			return p, nil, errReturned
		}
		c.mu.Lock()
	}
}

// connAt returns the connection at p for a call that uses it from now on, or why the call can't
// have one. If a connection is being made, it returns the channel that is closed afterwards
// instead; connAt is called again then, with waited. c.mu is held.
func (c *Client) connAt(p *poolConn, waited bool) (conn *clientConn, dialing <-chan struct{}, err error) {
	switch {
	case c.closed:
		return nil, nil, ErrClientClosed
	case p.conn != nil && !p.conn.failed.Load():
		p.conn.use.calls++
		p.conn.use.total++
		return p.conn, nil, nil
	case waited && p.err != nil:
		return nil, nil, fmt.Errorf("%w: %w", ErrNotSent, p.err)
	case waited && p.conn != nil: // it has failed already
		return nil, nil, fmt.Errorf("%w: %w", ErrNotSent, errServerClosed)
	case c.opt.one:
		err := errRetired
		if p.conn != nil {
			err = p.conn.reason()
		}
		return nil, nil, fmt.Errorf("%w: %w: %w", ErrNotSent, errNoOther, err)
	case p.dialing == nil:
		c.startDialing(p)
	}
	return nil, p.dialing, nil
}

// startDialing starts to make another connection for p. c.mu is held.
func (c *Client) startDialing(p *poolConn) {
	switch {
	case p.conn == nil:
	case p.conn.replied.Load():
		p.pause = 0
	default: // it has failed without a single reply
		p.backOff()
	}
	c.retire(p)
	p.err = nil
	p.dialing = make(chan struct{})
	go c.redial(p)
}

// errNoOther is the error of a client with OneConnection after that.
var errNoOther = errors.New("the connection has ended, and with rpc.OneConnection there is no other")

// backOff makes the pause before the next dialling longer.
func (p *poolConn) backOff() {
	p.pause = min(max(2*p.pause, firstDialPause), maxDialPause)
	p.notBefore = time.Now().Add(p.pause/2 + rand.N(p.pause/2))
}

// chooseConn returns the place with the fewest calls, which include those whose replies are owed
// although they have ended. If no connection is without calls, it prefers a place without a
// connection, and a new one while the pool is not full. c.mu is held.
func (c *Client) chooseConn() *poolConn {
	var best *poolConn
	fewest := 0
	for _, p := range c.conns {
		if p.conn == nil || p.conn.failed.Load() {
			continue
		}
		n := p.calls + p.conn.owed()
		if n == 0 {
			return p
		}
		if best == nil || n < fewest {
			best, fewest = p, n
		}
	}
	// None is idle. A place whose last dialling failed is used only if there is no connection at all.
	var unconnected *poolConn
	for _, p := range c.conns {
		if (p.conn == nil || p.conn.failed.Load()) && (unconnected == nil || p.calls < unconnected.calls) {
			unconnected = p
		}
	}
	switch {
	case unconnected != nil && (best == nil || unconnected.calls == 0 && unconnected.pause == 0):
		return unconnected
	case len(c.conns) < c.opt.poolSize:
		p := &poolConn{}
		c.conns = append(c.conns, p)
		return p
	}
	return best
}

// redial connects p after the pause that is due, and closes p.dialing.
func (c *Client) redial(p *poolConn) {
	c.mu.Lock()
	wait := time.Duration(0)
	if p.pause > 0 {
		wait = time.Until(p.notBefore)
	}
	c.mu.Unlock()
	var conn *clientConn
	err := errDialEnded
	defer func() { c.endRedial(p, conn, err) }()
	defer c.opt.recoverDial(&err)
	conn, err = c.dialAfter(wait)
}

// recoverDial is deferred where a connection is made. It turns a panic into an error and logs it.
func (o *options) recoverDial(err *error) {
	if v := recover(); v != nil {
		*err = fmt.Errorf("dialling has panicked: %s", foreign.Text(v))
		o.warn("dialling has panicked", "err", foreign.Text(v), "stack", string(debug.Stack()))
	}
}

// errDialEnded is the error of a Dialer, or of functions of a tls.Config, that did not return.
var errDialEnded = errors.New("dialling has ended its goroutine, as runtime.Goexit does")

// dialAfter makes a connection when the time wait has passed.
func (c *Client) dialAfter(wait time.Duration) (*clientConn, error) {
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
	if err != nil {
		return nil, err
	}
	return c.dial(c.ctx)
}

// endRedial ends the dialling of p, with its result.
func (c *Client) endRedial(p *poolConn, conn *clientConn, err error) {
	var late *clientConn
	defer func() { // without holding the lock
		if late != nil {
			late.close(ErrClientClosed)
		}
	}()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed { // perhaps that is why there is no connection
		late, conn, err = conn, nil, ErrClientClosed
	}
	if p.conn, p.err = conn, err; err != nil {
		p.backOff()
	}
	close(p.dialing)
	p.dialing = nil
}

// Close closes all connections and waits until nothing uses them any more. Calls under way fail
// with ErrClientClosed.
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
	for conn := range c.retired {
		conns = append(conns, conn)
	}
	if c.sweeper != nil {
		c.sweeper.Stop()
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

// call makes one call. It returns early when ctx ends or returned is closed. The caller owns the
// result, also with an error: then it is absent or holds the exception that is the error.
func (c *clientConn) call(ctx context.Context, returned <-chan struct{}, m *Method, args nocopy.Struct, x *extras, began time.Time) (nocopy.Struct, error) {
	if !thriftimpl.Struct(args).Retain() {
		return thriftimpl.Absent(), callError(m, errReturned)
	}
	done := ctx.Done()
	mayBlock := done == nil && returned == nil
	p := newPending(m, args, x)
	p.began = began
	if c.opt.style.IsPlain() {
		p.putHead(c.opt.transport)
	} else {
		p.encode(c.encoder(), c.takeID())
	}
	if c.link != nil {
		c.place(p)
	}
	// Without frames, reading can't be interrupted: a message is not read in parts
	mayRead := returned == nil && (done == nil || c.opt.transport != transport.Unframed)
	reads, err := c.enqueue(p, mayBlock, mayRead)
	if err != nil {
		thriftimpl.Struct(args).Drop()
		p.recycle()
		return thriftimpl.Absent(), err
	}
	if reads {
		c.readOwn(ctx, p)
	}
	if mayBlock {
		<-p.done
	} else {
		select {
		case <-p.done:
		case <-done:
			if c.giveUp(p) {
				return thriftimpl.Absent(), callError(m, ctx.Err())
			}
			<-p.done
		case <-returned:
			if c.giveUp(p) {
				return thriftimpl.Absent(), callError(m, errReturned)
			}
			<-p.done
		}
	}
	result, err := c.result(p)
	x.got = p.got
	p.recycle()
	return result, err
}

// newPending returns a call of m. args must be retained; the connection drops them when they are
// written. x is sent with them. putHead or encode must be called next.
func newPending(m *Method, args nocopy.Struct, x *extras) *pending {
	p := pendings.Get().(*pending)
	p.method, p.args, p.state = m, args, callQueued
	p.list, p.wants = x.list, len(x.wanted) > 0
	if len(x.fields) > 0 {
		p.cuts, p.tail = tailOf(args, x.fields)
	}
	return p
}
