package client

import (
	"context"
	"syscall"
	"time"
)

// This file decides which goroutine reads a client's connection. A connection has a goroutine for
// that. But if each call has been alone on the connection, calls read their own replies.
// This saves waking the goroutine, which would then wake the call's.

// noteCall notes a call that is about to be queued, and reports whether it may read its own reply.
// It may if ready is true, if it is alone and small (its own goroutine then writes it before it
// reads), and if calls before it were alone too. c.mu is held.
func (c *connection) noteCall(p *pending, ready bool) bool {
	if p.method.IsOneway() {
		return false
	}
	if !ready || c.peek == nil || c.isBusy() || p.size > inlineBytes {
		c.alone = 0
		return false
	}
	if c.alone < AloneBefore {
		c.alone++
	}
	return c.alone == AloneBefore
}

// isBusy reports whether there is any call on the connection. c.mu is held.
func (c *connection) isBusy() bool { return len(c.calls) > 0 || len(c.queue) > 0 || c.writing }

// isExpecting reports whether anything is to be read, if only that the connection has failed. c.mu
// is held, and it is the caller's turn.
func (c *connection) isExpecting() bool {
	return c.isBusy() || c.in.HasBegun() || c.givenUp.Load() > 0 || c.err != nil
}

// wakeReader gives the turn to the connection's goroutine unless a call has it. c.mu is held.
func (c *connection) wakeReader() {
	if c.turn == ofNobody {
		c.turn = ofReader
		select {
		case c.wake <- struct{}{}:
		default: // a wake-up that was not needed is left
		}
	}
}

// readOwn reads replies until the reply to p has come, the connection fails or ctx ends.
func (c *connection) readOwn(ctx context.Context, p *pending) {
	defer c.endTurn() // also when a function of Stats ends the goroutine
	if ctx.Done() != nil {
		turns := c.turns
		defer context.AfterFunc(ctx, func() { c.interrupt(turns) })()
	}
	for len(p.done) == 0 && c.receive() {
	}
}

// interrupt makes readOwn return, unless the turn with this number is over.
func (c *connection) interrupt(turns uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.turn == ofCall && c.turns == turns {
		c.interrupted.Store(true)
		c.in.Interrupt()
	}
}

// endTurn ends the turn of a call. If anything is under way, the goroutine reads on.
func (c *connection) endTurn() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.interrupted.Load() {
		c.interrupted.Store(false)
		c.in.Resume()
	}
	c.turn = ofNobody
	c.turns++
	if c.isExpecting() {
		c.wakeReader()
	}
}

// awaitTurn is called by the connection's goroutine when it has delivered a reply. If no other
// call is under way and the last ones were alone, it leaves reading to the next calls, until it is
// woken or there are no calls for a while.
func (c *connection) awaitTurn() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.alone < AloneBefore || c.isExpecting() {
		return
	}
	c.turn = ofNobody
	turns := c.turns
	timer := time.NewTimer(lookAfter)
	defer timer.Stop()
	for c.turn != ofReader {
		c.mu.Unlock()
		idle := false
		select {
		case <-c.wake:
		case <-timer.C:
			idle = true
			timer.Reset(lookAfter)
		}
		c.mu.Lock()
		if idle && c.turn == ofNobody && c.turns == turns {
			c.turn = ofReader
		}
		turns = c.turns
	}
}

// A call looks at a connection that is being read only if nothing has been written on it for
// lookQuiet. The reader does notice that the server has closed it, but may be only about to.
const lookQuiet = 5 * time.Millisecond

// look closes the connection if the server has closed it unnoticed: because nobody reads, or
// because it happened just now, after a pause. It is called before a call is sent: the call can
// then go to another connection. c.mu is held, but released for closing.
func (c *connection) look() {
	peek := c.peek
	switch {
	case c.turn == ofNobody:
	case c.isBusy():
		return
	default:
		c.now = time.Now()
		if peek = c.peekBeneath; peek == nil || c.now.Sub(c.lastWrite) < lookQuiet {
			return
		}
	}
	n, err := peek()
	switch {
	case n > 0 && c.turn == ofNobody:
		c.alone = 0
		c.wakeReader()
		return
	case n > 0: // the reader is about to read it
		c.mu.Unlock()
		time.Sleep(lookQuiet / 50)
		c.mu.Lock()
		return
	case err == syscall.EAGAIN:
		return
	case err == nil:
		err = errServerClosed
	}
	c.mu.Unlock()
	c.close(err)
	c.mu.Lock()
}
