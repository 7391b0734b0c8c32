package client

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"time"

	"github.com/nocopythrift/nocopythrift/internal/compressed"
	"github.com/nocopythrift/nocopythrift/internal/shm"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/impl"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/message"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// Pool is a Carrier over connections to one server, any number of calls at a time. It replaces
// failed connections when it needs them.
type Pool struct {
	network, addr string
	opt           Config
	tls           *tls.Config

	entered chan struct{} // holds one value for each call in flight

	mu      sync.Mutex
	conns   []*place
	retired map[*connection]struct{} // connections that calls use, but no place has any more
	sweeper *time.Timer              // calls sweep; nil if connections have no limits of time
	closed  bool
	ctx     context.Context // of dialling; ends with Close
	cancel  context.CancelFunc
}

// place is one of the places in a client's pool of connections.
type place struct {
	calls     int           // the number of calls that use it or wait for it
	conn      *connection   // nil if there is none
	dialing   chan struct{} // closed when the dialling that is under way ends; nil if none is
	err       error         // of the last dialling
	pause     time.Duration // before the next dialling; 0 unless the last one failed
	notBefore time.Time     // when the next dialling may begin
}

const (
	firstDialPause = 20 * time.Millisecond
	maxDialPause   = 2 * time.Second
)

// DialPool returns a Pool with a connection to the server. ctx bounds only the time for that.
func DialPool(ctx context.Context, network, addr string, o Config) (*Pool, error) {
	c := &Pool{network: network, addr: addr, opt: o, retired: map[*connection]struct{}{}}
	c.opt.begin()
	c.entered = make(chan struct{}, o.MaxInFlight)
	c.ctx, c.cancel = context.WithCancel(context.Background())
	c.opt.inflated = compressed.NewBudget(c.opt.receives().Frame, c.ctx.Done())
	if o.TLS != nil {
		c.tls = o.TLS.Clone()
		if host, _, err := net.SplitHostPort(addr); err == nil && c.tls.ServerName == "" {
			c.tls.ServerName = host
		}
	}
	conn, err := c.dial(ctx)
	if err != nil {
		c.cancel()
		return nil, err
	}
	c.conns = append(c.conns, &place{conn: conn})
	c.startSweeping()
	return c, nil
}

// NewArgs returns arguments of a call, built in the shared memory of one of the connections if
// they are expected to be large.
func (c *Pool) NewArgs(m Method) thriftimpl.Struct {
	if c.opt.Sizes == nil {
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
		if chunk, ok := c.opt.Sizes.Place(link, m.Args); ok {
			room := message.HeaderSize(true, len(m.Prefix)+len(m.Name))
			return thriftimpl.Struct(impl.NewIn(m.Args, chunk, room, nil).Root())
		}
	}
	return thriftimpl.New(m.Args)
}

// HasHeaders reports whether the transport has a place for headers.
func (c *Pool) HasHeaders() bool { return c.opt.Transport.HasHeaders() }

// Carry chooses a connection and makes the call there; if the connection has failed before, it
// chooses another.
func (c *Pool) Carry(ctx context.Context, returned <-chan struct{}, call Call) (reply Reply, err error) {
	var p *place
	var conn *connection
	defer func() { c.release(p, conn) }()
	const maxTries = 3
	for i := 1; ; i++ {
		if p, conn, err = c.acquireConn(ctx, returned); err != nil {
			return Reply{}, err
		}
		reply, err = conn.call(ctx, returned, &call)
		if err == nil || i == maxTries || !errors.Is(err, ErrNotSent) {
			return reply, err
		}
		c.release(p, conn)
		p, conn = nil, nil
	}
}

// Enter waits until there are fewer calls in flight than allowed, and counts one more.
func (c *Pool) Enter(ctx context.Context, returned <-chan struct{}) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if c.ctx.Err() != nil {
		return ErrClosed
	}
	select {
	case c.entered <- struct{}{}:
		return nil
	default:
	}
	select {
	case c.entered <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-returned:
		return ErrReturned
	case <-c.ctx.Done():
		return ErrClosed
	}
}

// Leave ends the count of a call that has entered.
func (c *Pool) Leave() { <-c.entered }

// release notes that a call does not use p and conn any more, unless they are nil.
func (c *Pool) release(p *place, conn *connection) {
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

// acquireConn returns a connection for a call, and its place, whose use ends with release, also
// after an error. If the chosen place has no connection that works, it waits for one.
func (c *Pool) acquireConn(ctx context.Context, returned <-chan struct{}) (*place, *connection, error) {
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
			return p, nil, ErrReturned
		}
		c.mu.Lock()
	}
}

// connAt returns the connection at p for a call that uses it from now on, or why the call can't
// have one. If a connection is being made, it returns the channel that is closed afterwards
// instead; connAt is called again then, with waited. c.mu is held.
func (c *Pool) connAt(p *place, waited bool) (conn *connection, dialing <-chan struct{}, err error) {
	switch {
	case c.closed:
		return nil, nil, ErrClosed
	case p.conn != nil && !p.conn.failed.Load():
		p.conn.use.calls++
		p.conn.use.total++
		return p.conn, nil, nil
	case waited && p.err != nil:
		return nil, nil, fmt.Errorf("%w: %w", ErrNotSent, p.err)
	case waited && p.conn != nil: // it has failed already
		return nil, nil, fmt.Errorf("%w: %w", ErrNotSent, errServerClosed)
	case c.opt.One:
		err := errRetired
		if p.conn != nil {
			err = p.conn.reason()
		}
		return nil, nil, fmt.Errorf("%w: %w: %w", ErrNotSent, ErrNoOther, err)
	case p.dialing == nil:
		c.startDialing(p)
	}
	return nil, p.dialing, nil
}

// startDialing starts to make another connection for p. c.mu is held.
func (c *Pool) startDialing(p *place) {
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

// backOff makes the pause before the next dialling longer.
func (p *place) backOff() {
	p.pause = min(max(2*p.pause, firstDialPause), maxDialPause)
	p.notBefore = time.Now().Add(p.pause/2 + rand.N(p.pause/2))
}

// chooseConn returns the place with the fewest calls, which include those whose replies are owed
// although they have ended. If no connection is without calls, it prefers a place without a
// connection, and a new one while the pool is not full. c.mu is held.
func (c *Pool) chooseConn() *place {
	var best *place
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
	var unconnected *place
	for _, p := range c.conns {
		if (p.conn == nil || p.conn.failed.Load()) && (unconnected == nil || p.calls < unconnected.calls) {
			unconnected = p
		}
	}
	switch {
	case unconnected != nil && (best == nil || unconnected.calls == 0 && unconnected.pause == 0):
		return unconnected
	case len(c.conns) < c.opt.PoolSize:
		p := &place{}
		c.conns = append(c.conns, p)
		return p
	}
	return best
}

// redial connects p after the pause that is due, and closes p.dialing.
func (c *Pool) redial(p *place) {
	c.mu.Lock()
	wait := time.Duration(0)
	if p.pause > 0 {
		wait = time.Until(p.notBefore)
	}
	c.mu.Unlock()
	var conn *connection
	err := errDialEnded
	defer func() { c.endRedial(p, conn, err) }()
	defer c.opt.recoverDial(&err)
	conn, err = c.dialAfter(wait)
}

// dialAfter makes a connection when the time wait has passed.
func (c *Pool) dialAfter(wait time.Duration) (*connection, error) {
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
func (c *Pool) endRedial(p *place, conn *connection, err error) {
	var late *connection
	defer func() { // without holding the lock
		if late != nil {
			late.close(ErrClosed)
		}
	}()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed { // perhaps that is why there is no connection
		late, conn, err = conn, nil, ErrClosed
	}
	if p.conn, p.err = conn, err; err != nil {
		p.backOff()
	}
	close(p.dialing)
	p.dialing = nil
}

// Close closes all connections and waits until nothing uses them any more. Calls under way fail
// with ErrClosed.
func (c *Pool) Close() error {
	c.mu.Lock()
	c.closed = true
	var conns []*connection
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
		conn.close(ErrClosed)
		conn.wait()
	}
	for _, d := range dialing {
		<-d
	}
	return nil
}

// State is the state of a Pool, for tests.
type State struct {
	InFlight int // calls in flight
	Using    int // uses of connections by calls
	Queued   int // calls that wait for others to be written
	Writing  int // calls that are being written
	Linked   int // connections with shared memory
}

// Inside returns the pool's state, for tests.
func (c *Pool) Inside() State {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := State{InFlight: len(c.entered)}
	for _, p := range c.conns {
		n.Using += p.calls
		if conn := p.conn; conn != nil {
			conn.mu.Lock()
			n.Queued += len(conn.queue)
			n.Writing += len(conn.batched)
			if conn.link != nil {
				n.Linked++
			}
			conn.mu.Unlock()
		}
	}
	return n
}
