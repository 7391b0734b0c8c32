package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/internal/memory"
	"github.com/nocopythrift/nocopythrift/internal/shm"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/foreign"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/message"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/socket"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/transport"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// connection is one connection of a client. Its goroutine reads replies and gives them to the
// calls, by their sequence ids; a call whose turn it is may read instead. Requests are written by
// the goroutines that make calls: if none is writing, the next one to come writes all queued
// requests. Another goroutine does the writes that might block. Every call can therefore return
// when its context ends.
type connection struct {
	nc            net.Conn
	opt           *Config
	in            transport.Receiver   // used by the goroutine whose turn it is only
	link          *shm.Link            // nil if there is no shared memory
	batch         chain.Batch          // used by the writing goroutine only
	placed        int                  // bytes of batch in shared memory; as batch
	writeDeadline socket.WriteDeadline // used by the writing goroutine only
	failed        atomic.Bool
	replied       atomic.Bool         // a reply has come
	givenUp       atomic.Int32        // the number of calls given up without a reply so far
	goroutines    sync.WaitGroup      // the connection's
	wake          chan struct{}       // for the goroutine that reads, when it is its turn
	interrupted   atomic.Bool         // the call that reads is to give up its turn
	peek          func() (int, error) // see socket.Peeker; used with mu held
	peekBeneath   func() (int, error) // the same of the connection beneath TLS; peek without TLS
	now           time.Time           // when the call came that is about to be written; zero: ask
	lastWrite     time.Time           // when the last write began; both for the writing goroutine
	ackedBefore   int64               // see socket.Begin
	use           connUse

	mu             sync.Mutex
	calls          map[int32]*pending // being written or waiting for their reply, by sequence id
	lastID         int32              // the sequence id that was given last
	idsReused      bool               // lastID has started again from 1
	strayLogged    bool               // a stray reply was logged
	queue          []*pending         // to be written
	queuedBytes    int                // the sum of their sizes
	writing        bool               // a goroutine is writing, or about to
	batched        []*pending         // those in batch; only the writing goroutine changes it
	joined         bool               // several calls were written together last
	unrepliedBytes int                // about the bytes written to which no reply has come
	unrepliedCalls int                // about the calls written to which no reply has come
	begun          int64              // how many bytes were given to be written in all
	reach          int64              // at most so many of them have reached the server
	writeErr       error              // why nothing can be written any more; nil if it can
	ended          bool               // writeErr is the end of the stream
	err            error              // why the connection is closed; nil if it is not
	turn           readTurn           // who reads
	turns          uint64             // how many turns of calls have ended
	alone          int                // how many calls in a row were alone, up to AloneBefore
}

// readTurn says whose turn it is to read a client's connection. states.md has its changes as
// a table.
type readTurn uint8

const (
	ofReader readTurn = iota // the connection's goroutine reads, or has been woken to
	ofCall                   // the goroutine of a call reads
	ofNobody                 // nothing is expected; the goroutine looks now and then
)

// AloneBefore is how many two-way calls, one after the other, must have been alone on a connection
// before they read their own replies. Tests set it.
var AloneBefore = 8

// lookAfter is how long a connection may be without a call before its goroutine reads. That is how
// it notices events without a call, such as the server closing the connection.
const lookAfter = 50 * time.Millisecond

// newConnection returns a connection with shared memory, unless link is nil.
func newConnection(nc net.Conn, opt *Config, link *shm.Link) *connection {
	c := &connection{nc: nc, opt: opt, link: link, calls: map[int32]*pending{}, wake: make(chan struct{}, 1), reach: math.MaxInt64, ackedBefore: socket.Begin(nc), peek: socket.Peeker(nc)}
	if c.peekBeneath = c.peek; c.peek == nil {
		c.peekBeneath = socket.Peeker(socket.Underlying(nc))
	}
	c.use.begin(opt)
	c.in = transport.Receiver{
		Conn: nc, Src: shm.ReaderOf(nc), Link: link, Trusts: link != nil && opt.Shared.Trusts(), Transport: opt.Transport,
		Limits: opt.receives(), MessageTimeout: max(opt.StallTimeout, 0), Budget: opt.inflated,
		Interrupted: c.interrupted.Load, Accept: transport.WireOf(opt.Transport, opt.Style), Describe: c.describe,
	}
	c.in.Stats = opt.Stats.Of(func() { c.close(errBroken) })
	c.in.Reset(opt.Recycle)
	c.goroutines.Add(1)
	go c.read()
	return c
}

// owed returns how many replies are still to come that no call waits for. They are replies to
// calls that were given up, and one that is too large and is being passed over.
func (c *connection) owed() int {
	n := int(c.givenUp.Load())
	if c.in.Passing() {
		n++
	}
	return n
}

// wait waits until the goroutines of a connection that was closed have ended.
func (c *connection) wait() { c.goroutines.Wait() }

// nextID returns a sequence id that no call on the connection has, from 1 to math.MaxInt32, and
// then from 1 again. c.mu is held.
func (c *connection) nextID() int32 {
	for {
		if c.lastID == math.MaxInt32 {
			c.lastID, c.idsReused = 0, true
		}
		c.lastID++
		if c.calls[c.lastID] == nil {
			return c.lastID
		}
	}
}

// encoder returns the Encoder for calls whose style is not plain.
func (c *connection) encoder() transport.Encoder {
	return transport.Encoder{Transport: c.opt.Transport, Style: c.opt.Style, Stats: c.in.Stats}
}

// takeID returns a sequence id for a call that is encoded before it is queued.
func (c *connection) takeID() int32 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.nextID()
}

// describe returns the descriptor of a reply's struct, nil if it is not known.
func (c *connection) describe(h message.Header) *thriftimpl.Desc {
	if h.Type == message.Exception {
		return message.ExceptionDesc
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if p := c.calls[h.SeqID]; p != nil {
		return p.method.Result
	}
	return nil
}

// age returns how many sequence ids have been given after id; -1 if id was not given, or half of
// all ids ago. c.mu is held.
func (c *connection) age(id int32) int32 {
	switch {
	case id <= 0:
		return -1
	case id <= c.lastID:
		return c.lastID - id
	case c.idsReused && id-c.lastID > math.MaxInt32/2:
		return math.MaxInt32 - id + c.lastID
	}
	return -1
}

// read delivers replies until the connection fails.
func (c *connection) read() {
	defer c.goroutines.Done()
	returned := false
	defer c.endGoroutine(&returned)
	defer func() {
		c.in.Free()
		if c.link != nil {
			c.link.Close()
		}
		c.in.Stats.Conns(-1)
	}()
	c.in.Stats.Conns(1)
	for c.receive() {
		c.awaitTurn()
	}
	returned = true
}

// endGoroutine is deferred in the connection's goroutines, which set returned at their end. If a
// function of the program, or a method of its net.Conn, has panicked or ended the goroutine, it
// closes the connection. It recovers the panic: nobody else could.
func (c *connection) endGoroutine(returned *bool) {
	if v := recover(); v != nil {
		c.close(fmt.Errorf("a panic: %s", foreign.Text(v)))
	} else if !*returned {
		c.close(errBroken)
	}
}

// receive receives a reply and delivers it. It reports false if the connection has failed, which
// it closes then, or if a call that reads was interrupted.
func (c *connection) receive() bool {
	var h message.Header
	var body memory.Chunk
	err := c.in.Await()
	if err == nil {
		body, err = c.in.Next(&h)
	}
	switch {
	case err == nil:
	case h.Size > 0 && transport.EndKnown(err): // one call fails, others go on
	case c.interrupted.Load() && errors.Is(err, os.ErrDeadlineExceeded):
		return false
	case err == io.EOF:
		err = errServerClosed
		fallthrough
	default:
		c.close(err)
		return false
	}
	if !c.replied.Load() {
		c.replied.Store(true)
		if c.opt.answered != nil { // tests have none
			c.opt.answered.Store(true)
		}
	}
	charge := c.in.TakeCharge()
	charge.End() // the message is the program's
	c.deliver(&h, body, err)
	return true
}

// deliver gives a reply, or the error of one that is too large, to the call that waits for it. A
// second reply to a call, one to a call that was given up and one to a oneway call are dropped. A
// connection's first reply that nobody awaits is logged, unless a call was given up.
func (c *connection) deliver(h *message.Header, body memory.Chunk, err error) {
	c.mu.Lock()
	p := c.calls[h.SeqID]
	if p == nil {
		text, log := "reply with an unknown sequence id", false
		switch {
		case c.age(h.SeqID) < 0:
			log = c.endOldest(h)
		case c.givenUp.Load() > 0:
			c.givenUp.Add(-1)
		default:
			text, log = "reply that no call waits for", !c.strayLogged
			c.strayLogged = true
		}
		c.mu.Unlock()
		if log {
			c.opt.warn(text, "peer", c.nc.RemoteAddr(), "seqid", h.SeqID, "method", foreign.Shortened(string(h.Name), foreign.MaxName))
		}
		body.Release()
		return
	}
	if p.reply = (Reply{h.Type, string(h.Name) == p.method.Name, h.Headers, body}); err != nil {
		p.err = BadReply(err)
	}
	c.unrepliedBytes, c.unrepliedCalls = max(c.unrepliedBytes-p.size, 0), max(c.unrepliedCalls-1, 0)
	c.settle(p)
	if len(c.calls) == 0 {
		c.unrepliedBytes, c.unrepliedCalls = 0, 0
	}
	c.mu.Unlock()
}

// endOldest ends the oldest call with BadSequenceID. It is called for a stray reply, one with a
// sequence id that no call was given: the reply must be for one of the calls. It reports whether
// to log the reply. The first stray reply is logged, and each that ends a call; their number is
// bounded. c.mu is held.
func (c *connection) endOldest(h *message.Header) bool {
	var oldest *pending
	for _, p := range c.calls {
		if oldest == nil || c.age(p.seqid) > c.age(oldest.seqid) {
			oldest = p
		}
	}
	if oldest != nil {
		oldest.err = badSequenceID(h.SeqID, oldest.seqid)
		c.settle(oldest)
	}
	first := !c.strayLogged
	c.strayLogged = true
	return first || oldest != nil
}

// close closes the connection because of err, once, and ends all its calls. Calls that the server
// can't have seen end with ErrNotSent, the others with ErrConnLost, or with ErrClosed if
// that is err.
func (c *connection) close(err error) {
	c.mu.Lock()
	if c.err == nil {
		c.failed.Store(true)
		err = c.rootCause(err)
	}
	if c.err != nil { // another goroutine closes it, or has meanwhile
		c.mu.Unlock()
		return
	}
	c.endCalls(err)
	c.mu.Unlock()
	socket.Close(c.nc) // without holding the lock: with TLS it may take seconds
	if err != ErrClosed && err != errServerClosed && err != errRetired {
		c.opt.warn("connection failed", "peer", c.nc.RemoteAddr(), "err", err)
	}
}

// rootCause returns why the connection has failed, which err says, unless writing says more. At
// the end of the stream it waits for a write that is under way. c.mu is held, but released
// meanwhile.
func (c *connection) rootCause(err error) error {
	if !socket.IsEnd(err) {
		return err
	}
	if socket.MayKnow(c.nc) && c.writeErr == nil {
		c.ended, c.writeErr = true, err // no further batch is begun: its calls go elsewhere
		c.failQueue()
		c.awaitWrite()
	}
	if errors.Is(c.writeErr, syscall.ECONNRESET) {
		return c.writeErr // the system says so once; then reading meets an end
	}
	return err
}

// endCalls ends all calls of a connection that has failed because of err. c.mu is held.
func (c *connection) endCalls(err error) {
	c.err = err
	c.reach = min(c.reach, socket.Reached(c.nc, c.begun, c.ackedBefore, err, c.writeErr))
	c.wakeReader() // which ends
	c.failQueue()
	// A write has failed, and how much of it has arrived is known
	known := c.writeErr != nil && !c.ended && socket.IsEnd(err)
	for _, p := range c.batched {
		sent := known && p.method.IsOneway() && p.end <= c.reach // endBatch finishes it
		if p.state == callWriting && !sent {
			p.err = c.failure(p)
			c.settle(p)
		}
	}
	for _, p := range c.calls {
		p.err = c.failure(p)
		c.settle(p)
	}
}

// awaitWrite waits for a write that is under way when the stream has ended, for a tenth of a
// second at most: it does so only if the server, too, does not read. The write's error says how
// many bytes can have arrived. Bytes that the write has not yet given to the system would look as
// if they had arrived. c.mu is held, but released meanwhile.
func (c *connection) awaitWrite() {
	c.await(func() bool { return len(c.batched) == 0 || !c.ended || c.err != nil })
}

// await waits until done returns true, for a tenth of a second at most. c.mu is held, but released
// meanwhile.
func (c *connection) await(done func() bool) {
	for end := time.Now().Add(100 * time.Millisecond); !done() && !time.Now().After(end); {
		c.mu.Unlock()
		time.Sleep(100 * time.Microsecond)
		c.mu.Lock()
	}
}

// lastReplies is how long replies are still read when a write has failed.
const lastReplies = time.Second

// writeFailed ends calls that can't be written because of err. The server has got at most reach
// bytes of all. Replies to the other calls may have arrived, and are read before the connection is
// closed.
func (c *connection) writeFailed(err error, reach int64) {
	c.mu.Lock()
	c.reach, c.writeErr, c.ended = min(c.reach, reach), err, false
	waiting := false
	for _, p := range c.calls {
		waiting = waiting || p.end <= c.reach
	}
	c.failed.Store(true)
	if !waiting && errors.Is(err, syscall.EPIPE) && socket.MayKnow(c.nc) {
		c.wakeReader() // it may meet an end, which says more
		c.await(func() bool { return c.err != nil })
	}
	if c.err != nil || !waiting || errors.Is(err, os.ErrDeadlineExceeded) {
		c.mu.Unlock()
		c.close(err)
		return
	}
	c.failQueue()
	for _, p := range c.batched {
		if p.state == callWriting && p.end > c.reach {
			p.err = c.notSent()
			c.settle(p)
		}
	}
	c.in.EndReadsAt(time.Now().Add(lastReplies))
	c.wakeReader()
	c.mu.Unlock()
}

// failQueue ends the queued calls. None of them was written. c.mu is held.
func (c *connection) failQueue() {
	for i, p := range c.queue {
		c.queue[i] = nil
		p.err = c.notSent()
		thriftimpl.Struct(p.args).Drop()
		p.finish()
	}
	c.queue, c.queuedBytes = c.queue[:0], 0
}

// failure returns the error of a call whose connection was closed during or after its writing.
// c.mu is held.
func (c *connection) failure(p *pending) error {
	switch {
	case c.err == ErrClosed:
		return c.err
	case p.end > c.reach:
		return c.notSent()
	}
	return fmt.Errorf("%w: %w", ErrConnLost, c.advised(c.err))
}

// cause returns why no call can be sent; nil if one can. c.mu is held.
func (c *connection) cause() error {
	if c.err != nil {
		return c.err
	}
	return c.writeErr
}

// reason returns why the connection has failed.
func (c *connection) reason() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.cause(); err != nil {
		return err
	}
	return errServerClosed // it is being closed
}

// notSent returns the error of a call that was not sent since the connection is closed. c.mu is
// held.
func (c *connection) notSent() error {
	return fmt.Errorf("%w: %w", ErrNotSent, c.advised(c.cause()))
}

// connUse has a client's notes on the use of one of its connections. Client.mu guards it.
type connUse struct {
	expires time.Time // zero: never
	calls   int       // the number of calls that use the connection
	total   uint64    // the number of calls that have used it
	seen    uint64    // what total was when sweep looked last
	still   int       // how many times in a row sweep has seen that it was not used
	retired bool      // no further call will use it
}

// begin sets when the connection is old.
func (u *connUse) begin(o *Config) {
	if age := o.MaxConnAge; age > 0 {
		u.expires = time.Now().Add(age + rand.N(age/5+1) - age/10)
	}
}

// end notes that a call does not use the connection any more. It reports whether that was the last
// one.
func (u *connUse) end() bool {
	u.calls--
	return u.retired && u.calls == 0
}

// call makes one call. It returns early when ctx ends or returned is closed.
func (c *connection) call(ctx context.Context, returned <-chan struct{}, call *Call) (reply Reply, err error) {
	args := thriftimpl.Struct(call.Args)
	if !args.Retain() {
		return Reply{}, ErrReturned
	}
	done := ctx.Done()
	mayBlock := done == nil && returned == nil
	p := c.opt.newPending(call)
	if c.opt.Style.IsPlain() {
		p.putHead(c.opt.Transport)
	} else {
		p.encode(c.encoder(), c.takeID())
	}
	if c.link != nil {
		c.place(p)
	}
	reads, err := c.enqueue(p, mayBlock, returned == nil)
	if err != nil {
		args.Drop()
		p.recycle()
		return Reply{}, err
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
				return Reply{}, ctx.Err()
			}
			<-p.done
		case <-returned:
			if c.giveUp(p) {
				return Reply{}, ErrReturned
			}
			<-p.done
		}
	}
	reply, err = p.reply, p.err
	p.recycle()
	return reply, err
}

// settle ends a call whose reply or error has been set. If its bytes are being written, the call
// goes on waiting until that is done: they may be in memory that belongs to the caller again when
// the call returns. c.mu is held.
func (c *connection) settle(p *pending) {
	if c.calls[p.seqid] == p {
		delete(c.calls, p.seqid)
	}
	if p.state == callWriting {
		p.state = callAnswered
		return
	}
	p.finish()
}
