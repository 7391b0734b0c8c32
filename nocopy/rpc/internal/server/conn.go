package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/internal/shm"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/impl"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/setting"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/shared"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/socket"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/transport"
)

// connection is one connection of a server. states.md has its states as a table.
//
// One goroutine at a time is the reader: it receives requests and calls their handlers itself.
// When a handler takes longer than patience, another goroutine becomes the reader; if the
// method's handler took that long last time, or the call waits for its place, this happens at
// once. While no request may be handled, the reader reads ahead: it receives bytes only to notice
// when the client goes away. There is a reader until the connection is closed.
//
// The goroutine that has a reply ready writes it, with all others that are ready, unless another
// goroutine is writing: then that one writes it.
type connection struct {
	Origin // its contexts are set before the first call is read
	nc     net.Conn
	raw    net.Conn  // nc, or the connection beneath its TLS
	out    io.Writer // nc, or what wraps replies after a login by SASL
	in     reader    // used by the goroutine that reads only
	// Keeps descriptors that are passed until the first message has come; nil afterwards, and if
	// there can't be shared memory
	passed  *shm.Reader
	http    httpTurn
	cancel  context.CancelFunc // of origin.ctx
	limit   int                // the most calls under way at a time
	timer   *time.Timer        // calls relieveReader; set in state handling
	wake    chan struct{}
	batch   chain.Batch
	batched []*Request // the requests whose replies batch holds
	// Used by the goroutine that writes, for replies that are encoded or in shared memory
	placing   chain.Batch
	positions []byte // those in batch
	placed    int    // bytes at those positions
	pipelined bool   // several calls are under way

	mu    sync.Mutex
	refs  int // the number of goroutines that use the connection
	state readState
	// Changes when the reader calls a handler and when another goroutine becomes the reader
	readerID uint64
	handling *atomic.Bool // Slow of the request whose handler the reader is in
	// No more requests are handled: the next one can't be found, or nothing more can be read
	noMore     bool
	eof        bool   // the client sends nothing more
	underway   int    // the number of calls that were read and have not ended, but those turned away
	unanswered int    // the number of calls that were read and whose reply is not written
	nextOrder  uint64 // order of the next request that needs a reply
	firstOrder uint64 // order of the request that ready[0] stands for
	// Requests whose replies wait to be written; nil: the reply is not ready
	ready         []*Request
	held          time.Time   // since when replies are held back; zero: none are
	writing       bool        // a goroutine is writing replies
	aborted       bool        // the client can receive nothing more; raw is closed
	ageTimer      *time.Timer // calls retire, then expire; nil if MaxConnAge is not set
	lastEnded     time.Time   // when a call did, if MaxConnAge is set
	graceTimer    *time.Timer // calls endGrace; set when the client sends nothing more
	slotFreed     bool        // it counts towards Server.orphans, else towards Server.slots
	settingUp     atomic.Bool // setUp has not returned
	left          time.Time   // when the reader began to read only arrived bytes; used by it only
	sealed        bool        // the system drops new bytes; used by the reader only
	drained       bool        // all arrived bytes were read; used by the reader only
	writeDeadline socket.WriteDeadline
}

// readState is the state of a connection's reader.
type readState uint8

const (
	receiving readState = iota // it waits for a request, or receives one
	handling                   // it is in a handler, and timer is set
	ahead                      // it reads ahead
	parked                     // as ahead, but it has read all it may, and waits for wake
	stopped                    // there is no reader any more
)

// defaultConcurrency is the value of a Server.Concurrency of 0.
const defaultConcurrency = 64

// patience is how long the reader may be in a handler before another goroutine becomes the reader.
const patience = time.Millisecond

// release ends a goroutine's use of the connection. Releasing the last use frees the connection's
// resources.
func (c *connection) release() {
	defer c.drop() // also when a function of Stats ends the goroutine
	c.flushHeld()  // for the reply of a call that got none
}

// drop gives up a reference to the connection without writing replies. Giving up the last one
// closes it.
func (c *connection) drop() {
	c.mu.Lock()
	c.refs--
	last := c.refs == 0
	if last && c.state != stopped { // a function of Stats has ended the reader
		c.abort()
		c.state = stopped // also for a relieveReader that has begun and waits for c.mu
		c.stopTimers()
	}
	c.mu.Unlock()
	if last {
		defer func() {
			c.cancel()
			c.in.Free()
			if c.passed != nil {
				c.passed.Close()
			}
			if c.Shared != nil {
				c.Shared.Close()
			}
			c.srv.forget(c)
		}()
		c.Stats.Conns(-1)
	}
}

// giveUp aborts a connection after a function of Stats has ended one of its goroutines, or when
// its login takes too long.
func (c *connection) giveUp() {
	c.mu.Lock()
	c.abort()
	c.mu.Unlock()
}

// count counts a call that was read and is not handled. The result reports to complete that the
// caller is still the reader.
func (c *connection) count(req *Request) (readerID uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.add(req)
	return c.readerID
}

// add counts a call that was read. c.mu is held.
func (c *connection) add(req *Request) {
	if !req.Oneway {
		req.order = c.nextOrder
		c.nextOrder++
		c.unanswered++
	}
	c.underway++
}

// begin counts a call that was read and is about to be handled, or, if waits is true, to wait for
// its place. A timer starts for the reader's relief. If the call waits, or the method's handler is
// slow, another goroutine becomes the reader at once. The result reports to complete whether the
// caller is still the reader.
func (c *connection) begin(req *Request, waits bool) (readerID uint64) {
	c.mu.Lock()
	c.add(req)
	c.readerID++
	readerID = c.readerID
	switch {
	case waits:
		c.startReader()
	case req.Slow.Load():
		req.began = time.Now()
		c.startReader()
	default:
		c.state, c.handling = handling, req.Slow
		c.timer.Reset(patience)
	}
	c.mu.Unlock()
	return readerID
}

// complete sends the reply of a request whose handler has returned, or that is refused. readerID
// is the result of begin or count. complete reports whether the calling goroutine is the reader
// and may receive another request.
func (c *connection) complete(req *Request, readerID uint64) bool {
	c.mu.Lock()
	isReader := c.readerID == readerID
	switch {
	case isReader:
		c.timer.Stop()
		c.state = receiving
	case !req.began.IsZero() && time.Since(req.began) < patience/2:
		req.Slow.Store(false)
	}
	c.addReply(req)
	// If the next request has arrived already, this reply is held back to be written with the next
	// one. Should that handler take long, the next reader writes it.
	if hold := isReader && c.in.HasMessage() && len(c.ready) < c.limit/2 && c.mayHandle() && c.mayHold(); !hold {
		c.flush()
	}
	may := c.mayHandle()
	c.mu.Unlock()
	return isReader && (may || c.readAhead())
}

// mayHold reports whether a reply may be held back: not if one has been for as long as patience.
// Many quick calls would otherwise delay the first reply by the time that all of them take, and
// oneway calls do not even fill the connection's places. c.mu is held.
func (c *connection) mayHold() bool {
	now := time.Now()
	if c.held.IsZero() {
		c.held = now
	}
	return now.Sub(c.held) < patience
}

// handOver starts another goroutine as the reader if the calling one, which is about to end, is
// the reader. readerID is begin's result.
func (c *connection) handOver(readerID uint64) {
	c.mu.Lock()
	if c.readerID == readerID {
		c.timer.Stop()
		c.startReader()
	}
	c.mu.Unlock()
}

// relieveReader is called by timer, in a goroutine of its own. If the reader is still in a
// handler, the method is marked as slow, and this goroutine becomes the reader.
func (c *connection) relieveReader() {
	c.mu.Lock()
	if c.state != handling {
		c.mu.Unlock()
		return
	}
	c.handling.Store(true)
	c.changeReader()
	c.mu.Unlock()
	c.read()
}

// changeReader makes another goroutine the reader, one that has not been using the connection.
// c.mu is held.
func (c *connection) changeReader() {
	c.readerID++
	c.state = receiving
	c.refs++
}

// startReader starts a goroutine as the reader, in place of the present one. c.mu is held.
func (c *connection) startReader() {
	c.changeReader()
	go c.read()
}

// addReply adds a request whose reply is ready to those that flush writes. One that was turned
// away has ended then: else the replies that it waits for would keep the next request from being
// refused. c.mu is held.
func (c *connection) addReply(req *Request) {
	if req.turnedAway != nil {
		c.countEnded(1, 0)
	}
	switch i := int(req.order - c.firstOrder); {
	case req.Oneway: // there is no reply, and no other reply waits for it
		calls := ending(req)
		req.release()
		c.countEnded(calls, 0)
	case c.aborted:
		calls := ending(req)
		req.release()
		c.countEnded(calls, 1)
	case c.srv.Unordered:
		c.ready = append(c.ready, req)
	default:
		for i >= len(c.ready) {
			c.ready = append(c.ready, nil)
		}
		c.ready[i] = req
	}
}

// flush writes the replies that are ready, in order unless the server is Unordered. If another
// goroutine is writing, that one writes them. c.mu is held, but released while writing.
func (c *connection) flush() {
	c.held = time.Time{}
	if c.writing {
		return
	}
	c.writing = true
	for !c.aborted {
		n := 0
		for n < min(len(c.ready), c.limit) && c.ready[n] != nil {
			n++
		}
		if n == 0 {
			break
		}
		c.batched = append(c.batched[:0], c.ready[:n]...)
		left := copy(c.ready, c.ready[n:])
		clear(c.ready[left:])
		c.ready = c.ready[:left]
		c.firstOrder += uint64(n)
		c.pipelined = c.unanswered > 1
		calls := ending(c.batched...)
		c.mu.Unlock()
		err := c.send()
		c.mu.Lock()
		switch {
		case err != nil:
			c.abort()
		case c.graceTimer != nil && c.state != stopped:
			c.graceTimer.Reset(c.halfCloseTimeout())
		}
		c.countEnded(calls, n)
	}
	if c.aborted {
		c.dropReplies()
	}
	c.writing = false
}

// flushHeld writes the replies that are held back, since the next one may take long or never come.
func (c *connection) flushHeld() {
	c.mu.Lock()
	c.flush()
	c.mu.Unlock()
}

// dropReplies drops the replies that are ready: nobody can receive them. c.mu is held.
func (c *connection) dropReplies() {
	calls, n := ending(c.ready...), 0
	for _, r := range c.ready {
		if r != nil {
			r.release()
			n++
		}
	}
	c.ready = nil
	c.countEnded(calls, n)
}

// ending returns how many calls end when the replies to these requests are written or dropped: all
// but those that were turned away, which have ended.
func ending(requests ...*Request) (calls int) {
	for _, r := range requests {
		if r != nil && r.turnedAway == nil {
			calls++
		}
	}
	return calls
}

// countEnded notes that as many calls have ended, and as many of them needed a reply. c.mu is
// held.
func (c *connection) countEnded(calls, replies int) {
	if c.ageTimer != nil && calls+replies > 0 {
		c.lastEnded = time.Now()
	}
	c.underway -= calls
	c.unanswered -= replies
	if c.isAhead() && (c.mayHandle() || c.mayClose()) {
		c.wakeReader()
	}
}

// send writes the replies of c.batched and releases the requests.
func (c *connection) send() (err error) {
	returned, n, calls := false, len(c.batched), ending(c.batched...)
	defer func() { // handlers' goroutines may change results that they must not touch any more
		if v := recover(); v != nil {
			c.srv.Conceal("reply failed", c.Peer, v, debug.Stack())
			err = errors.New("reply failed")
			c.releaseBatched(&err)
		} else if !returned { // a function of Stats, or nc, has ended the goroutine, and flush with it
			c.releaseBatched(&err)
			c.mu.Lock()
			c.writing = false
			c.countEnded(calls, n)
			c.abort()
			c.dropReplies() // if it was aborted before
			c.mu.Unlock()
		}
	}()
	for _, r := range c.batched {
		if r.turnedAway != nil && r.Reply == nil {
			r.Call.Answer(r.turnedAway)
		}
		switch {
		case r.Reply == nil:
		case !r.Style.IsPlain():
			c.encode(r)
		case c.Shared == nil || !c.place(r):
			c.in.Transport.Add(&c.batch, r.Reply)
		}
	}
	if c.batch.Len() > 0 {
		c.setWriteDeadline()
		stats, err1 := c.batch.Write(c.out)
		if c.placed > 0 {
			stats.Bytes += c.placed
			c.placed, c.positions = 0, c.positions[:0]
		}
		c.Stats.Sent(stats)
		if err = err1; err != nil {
			if errors.Is(err, os.ErrDeadlineExceeded) {
				c.srv.Log(slog.LevelWarn, "reply not sent", "peer", c.Peer, "err", fmt.Errorf("replies are not taken: %w", err))
			} else {
				c.logEnd(err)
			}
		}
	}
	c.releaseBatched(&err)
	returned = true
	return err
}

// releaseBatched releases the requests of c.batched.
func (c *connection) releaseBatched(err *error) {
	defer c.guard(err)
	for i, r := range c.batched {
		if r != nil {
			c.batched[i] = nil
			r.release()
		}
	}
}

// encode adds a reply whose style is not plain to the batch.
func (c *connection) encode(r *Request) {
	e := transport.Encoder{Transport: c.in.Transport, Style: r.Style, Stats: c.Stats}
	if r.Style.IsInPlace() {
		r.encoded = e.Front(r.Sent, r.SeqID, r.Reply.Len())
		c.batch.AddCopy(r.encoded.Bytes())
		impl.AddTo(r.Reply, &c.batch, false)
		return
	}
	impl.AddTo(r.Reply, &c.placing, false)
	r.encoded = e.Reply(&c.placing, r.Sent)
	c.batch.AddCopy(r.encoded.Bytes())
}

// place puts a reply into shared memory, unless it was built there, if it has that many bytes and
// there is room, and adds its position to the batch. It reports whether it has.
func (c *connection) place(r *Request) bool {
	n := r.Reply.Len()
	if c.Trusts && r.Result != nil {
		c.srv.Sizes.Note(r.Result, n)
	}
	if n < shared.Pipelined || n < shared.Alone && !c.pipelined {
		return false
	}
	if slot, at, n := shared.Own(r.Reply, c.Shared); slot.Placed() && slot.Claim() {
		c.addPosition(slot, at, n)
		return true
	}
	slot, ok := c.Shared.Place(n)
	if !ok {
		return false
	}
	defer slot.Return()
	impl.AddTo(r.Reply, &c.placing, false)
	c.placing.MoveTo(slot.Bytes())
	c.addPosition(slot, 0, n)
	return true
}

// addPosition adds the position of n bytes of a slot to the batch.
func (c *connection) addPosition(slot shm.Slot, at, n int) {
	from := len(c.positions)
	c.positions = slot.AppendPosition(c.positions, at, n)
	c.batch.AddBytes(c.positions[from:len(c.positions):len(c.positions)])
	slot.Sent()
	c.placed += n
}

// setWriteDeadline sets the deadline for a write that begins now.
func (c *connection) setWriteDeadline() {
	c.writeDeadline.Extend(c.nc, time.Now(), setting.Or(c.srv.WriteTimeout, setting.Timeout))
}

// keepReading is called by the reader. It waits until another request may be handled, and returns
// true; or until the connection has nothing more to do, closes it, and returns false.
func (c *connection) keepReading() bool {
	c.mu.Lock()
	may := c.mayHandle()
	if may {
		c.state = receiving
	}
	c.mu.Unlock()
	return may || c.readAhead()
}
