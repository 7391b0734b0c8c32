package capture

import (
	"container/list"
	"slices"
	"strings"
	"time"
)

// This file pairs calls with their replies. As long as no bytes are missing, a reply is for the
// first call with its sequence id. After missing bytes that holds only if sequence ids tell the
// calls of a client apart. Many clients have one for all calls, and HTTP has none. Then a reply is
// for the call that was sent when its client had received exactly all bytes before the reply.
//
// That is right for clients that wait for each reply before the next call. The calls of others are
// not paired: such a client has sent two calls when it had received the same bytes. If a call may
// be missing, nothing is paired until the client has waited for a reply again.

// exchange is a request, and the reply that it waits for.
type exchange struct {
	call   *Call // nil for an HTTP request without a call
	conn   *conn
	from   int   // the side that has sent it
	at     place // of the request
	seqid  int32
	http   bool // replies come in the order of the requests
	noBody bool // the response to it has no body

	unsure bool // its caller overlaps, or is unproved
	entry  *list.Element
}

// caller is what is known of the calls of a side that have replies.
type caller struct {
	n        int      // calls so far
	seqids   [8]int32 // of the latest ones
	shared   bool     // calls have had the same sequence id
	overlaps bool     // calls were sent before the reply to an earlier one had come

	any        bool   // there was a call
	ack        uint32 // place.ack of the latest one
	begin, end uint32 // of the latest reply, in sequence numbers
	lost       bool   // bytes are missing before the next call
	unproved   bool   // they were missing, and it has not waited for a reply since then
}

// asks notes where a call begins.
func (k *caller) asks(ack uint32) {
	k.overlaps = k.overlaps || k.any && k.ack == ack
	k.any, k.ack = true, ack
}

// sent notes a call.
func (k *caller) sent(e *exchange) {
	k.shared = k.shared || slices.Contains(k.seqids[:min(k.n, len(k.seqids))], e.seqid)
	if !k.lost && k.begin == k.ack && k.end == e.at.ack {
		k.unproved = false
	}
	k.asks(e.at.ack)
	k.seqids[k.n%len(k.seqids)] = e.seqid
	k.n++
	k.lost, e.unsure = false, k.unproved || k.overlaps
}

// numbers reports whether sequence ids tell calls apart. One for all calls is 0 or 1.
func (k *caller) numbers() bool {
	return !k.shared && (k.n > 1 || k.n == 1 && k.seqids[0]>>1 != 0)
}

// isSure reports whether sequence ids, or the order of replies, tell which reply is for which call
// of a side.
func (c *conn) isSure(from int, http bool) bool {
	return !c.gaps || !http && c.sides[from].caller.numbers()
}

// find returns the request that a reply is for; nil if there is none, or that is not sure. If no
// bytes are missing, it is the first call of the method or, if no name fits, the first call.
func (c *conn) find(from int, m *message) (found *exchange) {
	sure, reply := c.isSure(1-from, m.http), c.sides[from].unit
	for _, e := range c.calls {
		switch {
		case e.from == from || e.http != m.http || !m.http && e.seqid != m.seqid:
		case !sure && (e.unsure || e.at.ack != reply.seq):
		case m.http && !c.gaps || e.isOf(m.name):
			return e
		case found == nil && !c.gaps:
			found = e
		}
	}
	return found
}

// isOf reports whether the request may be a call of the method that a reply names. The call may
// also name a service.
func (e *exchange) isOf(name string) bool {
	return e.call == nil || name == "" || strings.HasSuffix(":"+e.call.Method, ":"+name)
}

// lostOne notes that the message that is being read can't be read.
func (c *conn) lostOne(from int) {
	c.gaps, c.told = true, false
	s := &c.sides[from]
	s.caller.asks(s.unit.ack)
}

// lost notes that bytes of a side are missing, with any number of messages.
func (c *conn) lost(from int) {
	c.gaps, c.told = true, false
	k := &c.sides[from].caller
	k.lost, k.unproved = true, true
}

// replied notes that a side has sent a reply.
func (c *conn) replied(from int) {
	s, k := &c.sides[from], &c.sides[1-from].caller
	k.begin, k.end = s.unit.seq, s.seq(s.stream.pos())
}

// unpaired notes a reply that is paired with no call.
func (c *conn) unpaired(from int, m *message) {
	c.table.sum.Replies++
	if !c.told && !c.isSure(1-from, m.http) {
		c.told = true
		c.sides[from].note(m.ended, "a reply to %s is paired with no call: bytes are missing, and sequence ids do not tell which one it is for", m.name)
	}
}

// giveUp ends requests without a reply.
func (c *conn) giveUp(which func(*exchange) bool) {
	for i := 0; i < len(c.calls); {
		if which(c.calls[i]) {
			c.unanswered(c.calls[i])
		} else {
			i++
		}
	}
}

// await notes a request that waits for its reply. If too many wait, the oldest one is given up.
func (c *conn) await(e *exchange) {
	t := c.table
	c.sides[e.from].caller.sent(e)
	c.calls = append(c.calls, e)
	e.entry = t.pending.PushBack(e)
	t.pendingBytes += e.size()
	if e.unsure && !c.isSure(e.from, e.http) {
		c.unanswered(e)
	}
	if len(c.calls) > maxPendingOfConn {
		c.unanswered(c.calls[0])
	}
	for t.pending.Len() > maxPending || t.pendingBytes > maxPendingBytes {
		old := t.pending.Front().Value.(*exchange)
		old.conn.unanswered(old)
	}
}

func (e *exchange) size() int {
	const around = 500 // what is kept besides the message
	if e.call == nil {
		return around
	}
	return around + len(e.call.Args) + len(e.call.Method)
}

// forget removes a request from those that wait.
func (c *conn) forget(e *exchange) {
	i := slices.Index(c.calls, e)
	c.calls = slices.Delete(c.calls, i, i+1)
	c.table.pending.Remove(e.entry)
	c.table.pendingBytes -= e.size()
}

// answer ends a request whose reply has come.
func (c *conn) answer(e *exchange) {
	c.forget(e)
	if !c.isSure(e.from, e.http) { // the replies to earlier ones are missing
		c.giveUp(func(o *exchange) bool { return o.from == e.from && int32(o.at.ack-e.at.ack) < 0 })
	}
}

// unanswered ends a request without a reply.
func (c *conn) unanswered(e *exchange) {
	c.forget(e)
	if e.call == nil {
		return
	}
	if e.call.Err = ErrNoReply; !c.isSure(e.from, e.http) {
		e.call.Err = ErrUnsure
	}
	c.table.call(e.call)
}

// took returns the time from a call's beginning to its reply's end, or unknown.
func took(began, ended time.Time) time.Duration {
	d := ended.Sub(began)
	if began.IsZero() || ended.IsZero() || d < 0 || d == 1<<63-1 {
		return Unknown
	}
	return d
}
