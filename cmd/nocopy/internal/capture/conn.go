package capture

import (
	"container/list"
	"time"
)

// conn is a connection. It passes segments on in the order in which they were sent, as far as
// sequence numbers tell: each after the bytes that its sender had sent or received before.
type conn struct {
	table  *table
	ends   ends
	sides  [2]side // by the end that sends
	entry  *list.Element
	ended  bool    // nothing more comes
	opaque string  // why its bytes can't be read; else ""
	sasl   bool    // it began with a login
	web    bool    // it speaks HTTP
	spoke  bool    // there have been bytes
	found  bool    // there has been a message
	held   []*Note // from before it
	gaps   bool    // bytes are missing: calls or replies, perhaps
	losses [2]int  // how often those of each side were
	told   bool    // that a reply was not paired because of them

	waiting      int // segments in the queues of both sides
	waitingBytes int // their size, of the table's kept bytes

	calls []*exchange // without replies yet, in order
}

// segment takes a segment that one of the sides has sent.
func (c *conn) segment(from int, g *segment) {
	if g.hasAck {
		c.sides[1-from].acknowledged(g.ack)
	}
	s := &c.sides[from]
	s.segment(g)
	for c.pass() || c.isFull() && c.skip(true) || c.isLate(g.at) && c.skip(false) {
	}
	if g.rst && g.seq-s.next < maxWindow { // others are no part of the connection
		c.end()
	}
	if c.sides[0].over && c.sides[1].over {
		c.end()
	}
}

// waits counts a segment, n times, as one that waits.
func (c *conn) waits(g *segment, n int) {
	c.waiting += n
	c.waitingBytes += n * g.cost()
	c.table.kept += n * g.cost()
}

// isFull reports whether no more segments may wait.
func (c *conn) isFull() bool {
	return c.waiting >= maxQueued || c.waitingBytes >= maxQueuedBytes || c.table.kept >= maxKept
}

// isLate reports whether acknowledged bytes that segments wait for should have been captured by
// now.
func (c *conn) isLate(now time.Time) bool {
	for i := range c.sides {
		if q := c.sides[i].queue; len(q) > 0 && now.Sub(q[0].at) >= maxLateTime {
			return true
		}
	}
	return c.waiting >= maxLate
}

// pass passes on a segment that has waited, and comes next. It reports whether there was one.
func (c *conn) pass() bool {
	for i := range c.sides {
		if s := &c.sides[i]; len(s.queue) > 0 && s.isReady(&s.queue[0]) {
			s.take()
			return true
		}
	}
	return false
}

// skip passes on that bytes are missing before a segment that waits. It reports whether there are
// any. If they were not acknowledged, and may be sent again, it does so only if all is true.
func (c *conn) skip(all bool) bool {
	for i := range c.sides {
		s := &c.sides[i]
		n, at := s.missing()
		if n > 0 && (all || s.hasAck && int32(s.acked-s.next) >= int32(n)) {
			s.gap(n, at)
			return true
		}
	}
	if !all || c.waiting == 0 {
		return false
	}
	s := &c.sides[0] // both wait for each other, which makes no sense
	if len(s.queue) == 0 {
		s = s.other()
	}
	s.take()
	return true
}

// end ends the connection. It stays in the table, so that packets that are sent again are not
// taken for a new one.
func (c *conn) end() {
	if c.ended {
		return
	}
	for c.pass() || c.skip(true) {
	}
	for i := range c.sides {
		c.sides[i].end()
	}
	switch {
	case c.found || !c.spoke:
	case c.web:
		c.hide("HTTP without Thrift messages")
	default:
		c.hide("another protocol")
	}
	c.giveUp(func(*exchange) bool { return true })
	c.ended = true
	c.table.recent.MoveToBack(c.entry)
}

// hide notes that the connection's bytes can't be read, and why.
func (c *conn) hide(why string) {
	if c.opaque == "" {
		c.opaque = why
		l := c.table.sum.leaveOut("connections: " + why)
		if l.N == 1 {
			l.From, l.To = c.ends[0], c.ends[1]
		}
	}
}

// recognize notes that the connection carries Thrift.
func (c *conn) recognize() {
	c.found = true
	for _, n := range c.held {
		c.table.out.Note(n)
	}
	c.held = nil
}

// message takes a message that a side has sent.
func (c *conn) message(from int, m *message) {
	c.recognize()
	switch m.kind {
	case kindCall, kindOneway:
		oneway := m.kind == kindOneway || c.table.opt.Oneway != nil && c.table.opt.Oneway(m.name)
		e := &exchange{conn: c, from: from, seqid: m.seqid, http: m.http, at: c.sides[from].unit, call: &Call{
			Client: c.ends[from], Server: c.ends[1-from], Wire: m.wire, Method: m.name, Oneway: oneway, Args: m.body, Began: m.began,
		}}
		if e.call.Oneway {
			c.table.call(e.call)
			if e.call = nil; !e.http {
				return
			}
		}
		c.await(e)
	case kindReply, kindException:
		c.replied(from)
		c.sides[1-from].caller.numbered(m.seqid) // its call has the same
		e := c.find(from, m)
		if e == nil || e.call == nil {
			c.unpaired(from, m)
			return
		}
		c.answer(e)
		if e.call.Took = took(e.call.Began, m.ended); m.kind == kindException {
			e.call.Err = m.exception()
		} else {
			e.call.Reply = m.body
		}
		c.table.call(e.call)
	}
}
