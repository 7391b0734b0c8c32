package client

import (
	"encoding/binary"
	"errors"
	"runtime"
	"slices"
	"time"

	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/shared"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/socket"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// place puts the bytes of a call into shared memory, unless they were built there. It does so only
// if there are enough of them and there is room. Their position is then sent instead of them.
func (c *connection) place(p *pending) {
	const length = 4 // of the frame
	if c.in.Trusts {
		c.opt.Sizes.Note(p.method.Args, p.size)
	}
	if p.size < shared.Alone {
		if p.size < shared.Pipelined {
			return
		}
		c.mu.Lock()
		alone := len(c.calls)+len(c.queue) == 0
		c.mu.Unlock()
		if alone {
			return
		}
	}
	head := p.head[length:]
	if slot, at, n := shared.Own(p.args.Message(), c.link); slot.Placed() && at >= len(head) && p.tail == nil && slot.Claim() {
		p.slot, p.placed, p.inPlace = slot, len(head)+n, true
		p.setHead(head, at-len(head))
		return
	}
	slot, ok := c.link.Place(p.size - length)
	if !ok {
		return
	}
	defer func() {
		if !p.slot.Placed() {
			slot.Return()
		}
	}()
	p.placing.AddBytes(head)
	p.addArgs(&p.placing)
	p.placing.MoveTo(slot.Bytes())
	p.slot, p.placed = slot, p.size-length
	p.setHead(head, 0)
}

// enqueue adds p to the queue and writes the queue's first batch if no other goroutine is writing,
// and if that will not block or mayBlock is true; else it leaves writing to another goroutine. If
// mayRead is true it reports whether the caller is to read the reply: it is its turn. On error,
// which wraps ErrNotSent, p is still the caller's.
func (c *connection) enqueue(p *pending, mayBlock, mayRead bool) (reads bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.look()
	if c.cause() != nil {
		return false, c.notSent()
	}
	if mayRead = c.noteCall(p, mayRead); !mayRead && !p.method.IsOneway() {
		c.wakeReader()
	}
	c.queue = append(c.queue, p)
	c.queuedBytes += p.size
	if c.writing {
		return false, nil
	}
	c.writing = true
	if len(c.calls) > 0 || c.joined { // let other goroutines that are about to call join the batch
		c.mu.Unlock()
		runtime.Gosched()
		c.mu.Lock()
	}
	few := c.unrepliedCalls+len(c.queue) <= inlineCalls
	if mayBlock || few && c.unrepliedBytes+c.queuedBytes <= inlineBytes {
		c.writeBatch()
	}
	c.flushQueue()
	switch {
	case !mayRead || c.turn != ofNobody:
	case p.state == callWritten:
		c.turn = ofCall
		return true, nil
	default:
		c.wakeReader()
	}
	return false, nil
}

// flushQueue starts a goroutine that writes the calls that are still queued. The calling
// goroutine, whose own call has been written, need not wait for them. c.mu is held.
func (c *connection) flushQueue() {
	if len(c.queue) == 0 {
		c.writing = false
		return
	}
	c.goroutines.Add(1)
	go func() {
		defer c.goroutines.Done()
		returned := false
		defer c.endGoroutine(&returned)
		c.mu.Lock()
		defer c.mu.Unlock()
		for len(c.queue) > 0 {
			c.writeBatch()
		}
		c.writing = false
		returned = true
	}()
}

// writeBatch writes a batch of the queue. c.mu is held, but released while writing. Meanwhile
// other goroutines may change the states of calls in batched, but do not remove them.
func (c *connection) writeBatch() {
	before := c.begun
	c.fillBatch()
	after := c.begun
	if len(c.batched) == 0 {
		return
	}
	c.mu.Unlock()
	returned := false
	defer func() {
		if !returned { // a function of Stats or a method of nc has panicked, or has ended the goroutine
			c.close(errBroken)
		}
		c.endBatch()
	}()
	if c.in.Stats != nil {
		for _, p := range c.batched {
			c.in.Stats.Queued(p.began)
		}
	}
	c.setWriteDeadline()
	stats, err := c.batch.Write(c.nc)
	if err != nil {
		c.writeFailed(err, before+int64(stats.Bytes))
	} else {
		socket.Wrote(c.nc, after)
	}
	if c.placed > 0 {
		stats.Bytes += c.placed
		c.placed = 0
	}
	c.in.Stats.Sent(stats)
	returned = true
}

// endBatch is called when a batch was written, or could not be. It locks c.mu.
func (c *connection) endBatch() {
	for _, p := range c.batched {
		thriftimpl.Struct(p.args).Drop()
	}
	c.mu.Lock()
	for i, p := range c.batched {
		c.batched[i] = nil
		switch {
		case p.state == callDropped:
			p.recycle()
		case p.state == callAnswered || p.method.IsOneway():
			if errors.Is(p.err, ErrConnLost) && p.end > c.reach { // the write has failed since
				p.err = c.notSent()
			}
			p.finish()
		default:
			p.state = callWritten
		}
	}
	c.joined = len(c.batched) > 1
	c.batched = c.batched[:0]
}

// fillBatch moves calls from queue to batched, gives them sequence ids and adds their bytes to
// batch. Their arguments are not looked at again: batch refers to the bytes. c.mu is held.
func (c *connection) fillBatch() {
	n, size := 0, 0
	for ; n < len(c.queue) && size < batchBytes; n++ {
		p := c.queue[n]
		p.state = callWriting
		switch {
		case p.seqid == 0:
			p.seqid = c.nextID()
			binary.BigEndian.PutUint32(p.id, uint32(p.seqid))
		case c.calls[p.seqid] != nil: // all ids have been given since
			c.queuedBytes -= p.size
			p.encoded.Free()
			e := c.encoder()
			e.Stats = nil // they may not be told now
			p.encode(e, c.nextID())
			c.queuedBytes += p.size
		}
		if !p.method.IsOneway() {
			c.calls[p.seqid] = p
		}
		switch {
		case !c.opt.Style.IsInPlace():
			c.batch.AddCopy(p.encoded.Bytes())
		case p.slot.Placed():
			c.batch.AddBytes(p.head)
			p.slot.Sent()
			if p.inPlace {
				thriftimpl.Struct(p.args).Freeze() // it is the peer's to read
			}
			c.placed += p.placed
		default:
			c.batch.AddBytes(p.head)
			p.addArgs(&c.batch)
		}
		size += p.size
		p.end = c.begun + int64(size)
	}
	c.begun += int64(size)
	c.batched = append(c.batched, c.queue[:n]...)
	c.queue = slices.Delete(c.queue, 0, n)
	c.queuedBytes -= size
	c.unrepliedBytes += size
	c.unrepliedCalls += n
}

// setWriteDeadline sets the deadline for a write that begins now.
func (c *connection) setWriteDeadline() {
	now := c.now
	if c.now = (time.Time{}); now.IsZero() {
		now = time.Now()
	}
	c.lastWrite = now
	c.writeDeadline.Extend(c.nc, now, c.opt.StallTimeout)
}

// giveUp ends a call that is no longer waited for; the caller must not use p any more. It reports
// false if the call has ended in another way at the same time: then the caller must receive from
// p.done.
func (c *connection) giveUp(p *pending) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch p.state {
	case callQueued:
		i := slices.Index(c.queue, p)
		c.queue = slices.Delete(c.queue, i, i+1)
		c.queuedBytes -= p.size
		thriftimpl.Struct(p.args).Drop()
		p.recycle()
	case callWritten:
		delete(c.calls, p.seqid)
		c.givenUp.Add(1)
		p.recycle()
	case callWriting:
		if c.calls[p.seqid] == p {
			delete(c.calls, p.seqid)
			c.givenUp.Add(1)
		}
		p.state = callDropped
		thriftimpl.Struct(p.args).Freeze() // an interceptor may change them for the next try
	case callAnswered:
		p.reply.Body.Release()
		p.state = callDropped
		thriftimpl.Struct(p.args).Freeze()
	default:
		return false
	}
	return true
}
