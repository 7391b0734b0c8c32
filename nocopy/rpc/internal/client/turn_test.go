package client

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/message"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// fed is a net.Conn that accepts writes, and from which the test's bytes are read.
type fed struct {
	net.Conn
	mu       sync.Mutex
	changed  *sync.Cond
	in       []byte
	ended    bool // EOF follows in
	closed   bool
	deadline time.Time
	sent     []int32 // the sequence ids of the calls that were written
}

func newFed() *fed {
	c := &fed{}
	c.changed = sync.NewCond(&c.mu)
	return c
}

func (c *fed) Read(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		switch {
		case c.closed:
			return 0, net.ErrClosed
		case !c.deadline.IsZero() && !time.Now().Before(c.deadline):
			return 0, os.ErrDeadlineExceeded
		case len(c.in) > 0:
			n := copy(b, c.in)
			c.in = c.in[n:]
			return n, nil
		case c.ended:
			return 0, io.EOF
		}
		c.changed.Wait()
	}
}

// peek acts like a socket's.
func (c *fed) peek() (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closed:
		return 0, net.ErrClosed
	case len(c.in) > 0:
		return 1, nil
	case c.ended:
		return 0, nil
	}
	return 0, syscall.EAGAIN
}

func (c *fed) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return 0, net.ErrClosed
	}
	for rest := b; len(rest) > 0; rest = rest[4+binary.BigEndian.Uint32(rest):] {
		if h, _, err := message.Parse(rest[4:]); err == nil && h.Type == message.Call {
			c.sent = append(c.sent, h.SeqID)
		}
	}
	return len(b), nil
}

// set changes c and wakes those who wait for that.
func (c *fed) set(f func()) {
	c.mu.Lock()
	f()
	c.mu.Unlock()
	c.changed.Broadcast()
}

// change is set, after which it waits until nothing more happens.
func (c *fed) change(f func()) {
	c.set(f)
	synctest.Wait()
}

// arrive makes bytes arrive.
func (c *fed) arrive(b []byte) { c.change(func() { c.in = append(c.in, b...) }) }

func (c *fed) Close() error { c.set(func() { c.closed = true }); return nil }

func (c *fed) SetReadDeadline(t time.Time) error {
	c.set(func() { c.deadline = t })
	return nil
}

func (c *fed) SetWriteDeadline(time.Time) error { return nil }
func (c *fed) RemoteAddr() net.Addr             { return &net.TCPAddr{} }

// replyBytes returns the bytes of a reply to call id.
func replyBytes(m Method, id int32) []byte {
	body := thriftimpl.New(m.Result).Message().Bytes()
	b := make([]byte, 4+message.HeaderSize(true, len(m.Name)), 100)
	message.PutHeader(b[4:], true, message.Reply, "", m.Name, id)
	b = append(b, body...)
	binary.BigEndian.PutUint32(b, uint32(len(b)-4))
	return b
}

// turnWalk is a connection, and the calls on it that the events have made.
type turnWalk struct {
	t        *testing.T
	c        *connection
	nc       *fed
	twoWay   Method
	oneway   Method
	calls    []*walkedCall // under way, the oldest first
	late     []int32       // given up, without a reply yet
	half     []byte        // the rest of a reply that has begun to arrive
	halfLate bool          // it is for a call that was given up since
	returned chan *walkedCall
}

type walkedCall struct {
	id      int32
	give    context.CancelFunc
	outcome string
}

// TestTurns walks a connection that nobody reads through all sequences of events. It is read
// whenever a reply is expected, replies arrive at once, also in parts, calls that are given up
// return at once, and when the connection fails, all calls have its error.
func TestTurns(t *testing.T) {
	events := []string{"call", "call for ever", "call in an interceptor", "oneway", "reply", "half a reply", "given up", "silence"}
	last := []string{"the server closes", "garbage", "Close"}
	length := testmode.Of(4, 5)
	seen := map[readTurn]bool{}
	walk := make([]string, length)
	for i := 0; ; i++ {
		rest := i
		for j := range walk {
			walk[j] = events[rest%len(events)]
			rest /= len(events)
		}
		if rest > 0 || t.Failed() {
			break
		}
		synctest.Test(t, func(t *testing.T) { walkTurns(t, walk, last[i%len(last)], seen) })
	}
	for _, of := range []readTurn{ofReader, ofCall, ofNobody} {
		if !seen[of] {
			t.Errorf("turn %d was never seen", of)
		}
	}
}

func walkTurns(t *testing.T, events []string, last string, seen map[readTurn]bool) {
	opts := testConfig(slog.DiscardHandler)
	w := &turnWalk{t: t, nc: newFed(), returned: make(chan *walkedCall, 100)}
	w.twoWay, w.oneway = testMethods()
	w.c = newConnection(w.nc, &opts, nil)
	w.c.mu.Lock()
	w.c.peek = w.nc.peek
	w.c.mu.Unlock()
	synctest.Wait()
	for _, event := range []string{"call", "reply"} {
		w.happen(event)
	}
	for i, event := range events {
		w.happen(event)
		w.c.mu.Lock()
		of, calls := w.c.turn, len(w.c.calls)
		w.c.mu.Unlock()
		seen[of] = true
		switch {
		case calls != len(w.calls):
			t.Fatalf("%q: after %d: %d calls are under way, not %d", events, i+1, calls, len(w.calls))
		case of == ofNobody && calls > 0:
			t.Fatalf("%q: after %d nobody reads", events, i+1)
		case of == ofCall && calls == 0:
			t.Fatalf("%q: after %d a call reads that is not under way", events, i+1)
		case event == "silence" && calls == 0 && of != ofReader:
			t.Fatalf("%q: after %d nobody reads for long", events, i+1)
		}
		select {
		case r := <-w.returned:
			t.Fatalf("%q: after %d a call has returned: %s", events, i+1, r.outcome)
		default:
		}
	}
	// The connection fails: calls under way have its error, one that follows is not sent.
	switch last {
	case "the server closes":
		w.nc.change(func() { w.nc.ended = true })
	case "garbage":
		w.nc.arrive(append(w.half, "\xff\xff\xff\xff garbage"...))
	case "Close":
		w.c.close(ErrClosed)
		synctest.Wait()
	}
	for range w.calls {
		if r := <-w.returned; r.outcome != "failed" && (w.half == nil || r.outcome != "reply") {
			t.Fatalf("%q, %s: a call under way ends: %s", events, last, r.outcome)
		}
	}
	_, err := w.c.call(context.Background(), nil, &Call{Method: w.twoWay, Args: claimed(w.twoWay)})
	// Garbage may be read afterwards
	if !errors.Is(err, ErrNotSent) && (last != "garbage" || !errors.Is(err, ErrConnLost)) {
		t.Fatalf("%q, %s: a call afterwards: %v", events, last, err)
	}
	w.c.close(ErrClosed)
	w.c.wait()
	if len(w.c.calls)+len(w.c.queue)+len(w.c.batched) != 0 {
		t.Fatalf("%q, %s: calls are left", events, last)
	}
}

// claimed returns arguments that belong to a call.
func claimed(m Method) nocopy.Struct {
	args := thriftimpl.New(m.Args)
	args.Offer()
	args.Claim(m.Args)
	return nocopy.Struct(args)
}

// happen lets an event happen, if it can.
func (w *turnWalk) happen(event string) {
	switch event {
	case "call", "call for ever", "call in an interceptor":
		ctx, over := context.Background(), (chan struct{})(nil)
		var give context.CancelFunc
		switch event {
		case "call":
			ctx, give = context.WithCancel(ctx)
		case "call in an interceptor":
			over = make(chan struct{})
			give = sync.OnceFunc(func() { close(over) })
		}
		w.call(ctx, over, w.twoWay, give)
	case "oneway":
		w.call(context.Background(), nil, w.oneway, nil)
		w.ends("sent")
	case "reply", "half a reply":
		if w.half == nil && !w.beginReply() {
			return
		}
		n := len(w.half)
		if event == "half a reply" && n > 1 {
			n /= 2
		}
		arrives := w.half[:n]
		if w.half = w.half[n:]; len(w.half) > 0 {
			w.nc.arrive(arrives)
			return
		}
		w.half = nil
		late := w.halfLate
		w.halfLate = false
		if !late {
			w.calls = w.calls[1:]
		}
		w.nc.arrive(arrives)
		if !late {
			w.ends("reply")
		}
	case "given up":
		if len(w.calls) == 0 || w.calls[0].give == nil {
			return
		}
		w.calls[0].give()
		if w.half != nil && !w.halfLate {
			w.halfLate = true
		} else {
			w.late = append(w.late, w.calls[0].id)
		}
		w.calls = w.calls[1:]
		w.ends("given up")
	case "silence":
		time.Sleep(3 * lookAfter)
		synctest.Wait()
	}
}

// beginReply chooses the call that is replied to: one that was given up, or the oldest. It reports
// whether there is one.
func (w *turnWalk) beginReply() bool {
	var id int32
	switch {
	case len(w.late) > 0:
		id, w.halfLate = w.late[0], true
		w.late = w.late[1:]
	case len(w.calls) > 0:
		id = w.calls[0].id
	default:
		return false
	}
	w.half = replyBytes(w.twoWay, id)
	return true
}

func (w *turnWalk) call(ctx context.Context, over chan struct{}, m Method, give context.CancelFunc) {
	r := &walkedCall{give: give}
	args := claimed(m)
	go func() {
		reply, err := w.c.call(ctx, over, &Call{Method: m, Args: args})
		reply.Body.Release()
		thriftimpl.Struct(args).End()
		r.outcome = outcomeOf(m, err)
		w.returned <- r
	}()
	synctest.Wait()
	if !m.IsOneway() {
		w.nc.mu.Lock()
		r.id = w.nc.sent[len(w.nc.sent)-1]
		w.nc.mu.Unlock()
		w.calls = append(w.calls, r)
	}
}

// ends checks that one call has returned.
func (w *turnWalk) ends(outcome string) {
	synctest.Wait()
	select {
	case r := <-w.returned:
		if r.outcome != outcome {
			w.t.Fatalf("a call ends: %s, not %s", r.outcome, outcome)
		}
	default:
		w.t.Fatalf("no call has returned: %s", outcome)
	}
}

// TestOwnReply: a call reads its own reply only if it is small: a large one may have to be written
// for a while, and somebody must read meanwhile.
func TestOwnReply(t *testing.T) {
	opts := testConfig(slog.DiscardHandler)
	nc := newFed()
	c := &connection{nc: nc, opt: &opts, calls: map[int32]*pending{}, alone: AloneBefore, peek: nc.peek}
	m, _ := testMethods()
	for size, want := range map[int]bool{100: true, inlineBytes: true, inlineBytes + 1: false} {
		c.alone = AloneBefore
		if got := c.noteCall(&pending{method: m, size: size}, true); got != want {
			t.Errorf("a call of %d bytes reads its own reply: %t", size, got)
		}
	}
}

// TestInterruptTooLate: the end of a call's context does not interrupt a call that reads after it.
func TestInterruptTooLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := testConfig(slog.DiscardHandler)
		w := &turnWalk{t: t, nc: newFed(), returned: make(chan *walkedCall, 100)}
		w.twoWay, w.oneway = testMethods()
		w.c = newConnection(w.nc, &opts, nil)
		w.c.mu.Lock()
		w.c.peek = w.nc.peek
		w.c.mu.Unlock()
		synctest.Wait()
		for _, event := range []string{"call", "reply", "call", "reply", "call"} {
			w.happen(event)
		}
		w.c.mu.Lock()
		of, turns := w.c.turn, w.c.turns
		w.c.mu.Unlock()
		if of != ofCall || turns == 0 {
			t.Fatalf("turn %d after %d of calls", of, turns)
		}
		w.c.interrupt(turns - 1)
		synctest.Wait()
		w.c.mu.Lock()
		if w.c.turn != ofCall || w.c.interrupted.Load() {
			t.Error("a call was interrupted whose turn it is")
		}
		w.c.mu.Unlock()
		w.happen("reply")
		w.c.close(ErrClosed)
		w.c.wait()
	})
}
