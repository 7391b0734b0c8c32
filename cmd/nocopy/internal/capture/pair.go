package capture

import (
	"cmp"
	"container/list"
	"slices"
	"strings"
	"time"
)

// This file pairs calls with their replies, by the first of three rules that applies:
//
//   - No bytes are missing: a reply is for the first call with its sequence id. HTTP has no ids;
//     responses have the order of the requests.
//   - Sequence ids tell the calls of a client apart: a reply is for the latest call with its id.
//   - Else a reply is for the call that was sent when its client had received exactly all bytes
//     before the reply. That is right for clients that wait for each reply before the next call,
//     and is only assumed of others, which look alike if bytes are missing. Such pairs are marked.
//
// The third rule ends for the rest of the connection when a client is seen not to wait. After
// bytes that may have a call it pauses until the client is seen to wait.

// exchange is a request, and the reply that it waits for.
type exchange struct {
	call   *Call // nil for an HTTP request without a call
	conn   *conn
	from   int   // the side that has sent it
	at     place // of the request
	seqid  int32
	http   bool // replies come in the order of the requests
	noBody bool // the response to it has no body

	losses   [2]int // conn.losses when it was sent
	unproved bool   // its caller has not been seen to wait for replies
	entry    *list.Element
}

// caller is what is known of the calls of a side that have replies.
type caller struct {
	// Do sequence ids tell them apart?
	n      int      // calls so far
	seqids [8]int32 // of the latest ones
	shared bool     // calls have had the same
	any    bool     // there was a sequence id, also of a reply
	seqid  int32    // the latest one
	differ bool     // there were two

	// Does the client wait for each reply?
	overlaps   bool   // no: it has sent a call before the reply to an earlier one had come
	ack        uint32 // place.ack of the latest call
	replied    bool   // there was a reply
	begin, end uint32 // of the latest reply, in sequence numbers
	lost       bool   // bytes are missing before the next call
	unproved   bool   // it has not been seen to wait since bytes were missing

	assumed bool // a pair rests on that
}

// numbered notes a sequence id.
func (k *caller) numbered(seqid int32) {
	k.differ = k.differ || k.any && seqid != k.seqid
	k.any, k.seqid = true, seqid
}

// numbers reports whether sequence ids tell calls apart.
func (k *caller) numbers() bool { return k.differ && !k.shared }

// isSure reports whether sequence ids, or the order of replies, tell which reply is for which call
// of a side.
func (c *conn) isSure(from int, http bool) bool {
	return !c.gaps || !http && c.sides[from].caller.numbers()
}

// sent notes a call.
func (c *conn) sent(e *exchange) {
	k := &c.sides[e.from].caller
	k.numbered(e.seqid)
	k.shared = k.shared || slices.Contains(k.seqids[:min(k.n, len(k.seqids))], e.seqid)
	k.seqids[k.n%len(k.seqids)] = e.seqid
	k.n++
	if c.isEarly(e) {
		c.overlap(e.from, e.http, c.sides[e.from].stream.at)
	}
	if !k.lost && k.begin == k.ack && k.end == e.at.ack {
		k.unproved = false
	}
	k.ack, k.lost = e.at.ack, false
	e.unproved, e.losses = k.unproved, c.losses
}

// isEarly reports whether a call was surely sent before the reply to an earlier one had come.
func (c *conn) isEarly(e *exchange) bool {
	if k := &c.sides[e.from].caller; k.replied && int32(k.end-e.at.ack) > 0 {
		return true
	}
	if len(c.calls) == 0 {
		return false
	}
	last := c.calls[len(c.calls)-1]
	return last.from == e.from && last.losses[1-e.from] == c.losses[1-e.from] // its reply is not lost
}

// overlap notes that a client does not wait for replies, as was seen at some time.
func (c *conn) overlap(from int, http bool, at time.Time) {
	k := &c.sides[from].caller
	if !k.overlaps && k.assumed && !c.isSure(from, http) {
		c.told = true
		c.sides[from].note(at, "the client does not wait for each reply: the pairs above that are marked assumed may be wrong, and no more are made so")
	}
	k.overlaps = true
}

// find returns the request that a reply is for; nil if there is none, or that is not known. The
// reply names a method. If no bytes are missing, and no call has that name, it is for the first
// call.
func (c *conn) find(from int, m *message) (found *exchange) {
	k, reply, sure := &c.sides[1-from].caller, c.sides[from].unit, c.isSure(1-from, m.http)
	for _, e := range c.calls {
		if e.from == from || e.http != m.http || !m.http && e.seqid != m.seqid {
			continue
		}
		switch {
		case !c.gaps && (m.http || e.isOf(m.name)):
			return e
		case !c.gaps:
			found = cmp.Or(found, e)
		case sure:
			found = e
		case !k.overlaps && !e.unproved && e.at.ack == reply.seq:
			found = e
		}
	}
	if c.gaps && found != nil && (!found.isOf(m.name) || sure && found.isOld()) {
		return nil
	}
	return found
}

// isOld reports whether calls and replies are missing after a request, perhaps: its own reply, and
// another call with its sequence id.
func (e *exchange) isOld() bool {
	return e.losses[0] != e.conn.losses[0] && e.losses[1] != e.conn.losses[1]
}

// isOf reports whether the request may be a call of the method that a reply names. The call may
// also name a service.
func (e *exchange) isOf(name string) bool {
	return e.call == nil || name == "" || strings.HasSuffix(":"+e.call.Method, ":"+name)
}

// lostOne notes that the message that is being read can't be read.
func (c *conn) lostOne(from int) {
	c.gaps, c.told = true, false
	c.losses[from]++
	s := &c.sides[from]
	s.caller.ack, s.caller.unproved = s.unit.ack, true
}

// lost notes that bytes of a side are missing, with any number of messages.
func (c *conn) lost(from int) {
	c.gaps, c.told = true, false
	c.losses[from]++
	k := &c.sides[from].caller
	k.lost, k.unproved = true, true
}

// replied notes that a side has sent a reply.
func (c *conn) replied(from int) {
	s, k := &c.sides[from], &c.sides[1-from].caller
	k.replied, k.begin, k.end = true, s.unit.seq, s.seq(s.stream.pos())
}

// unpaired notes a reply that is paired with no call.
func (c *conn) unpaired(from int, m *message) {
	c.table.sum.Replies++
	c.callless(from, m)
	if !c.told && !c.isSure(1-from, m.http) {
		c.told = true
		c.sides[from].note(m.ended, "a reply to %s is paired with no call: bytes are missing, and sequence ids do not tell which one it is for", m.name)
	}
}

// callless ends the calls that a reply without a known call may be for. If it can't be for any of
// them, nor for one that is missing, the client does not wait for replies.
func (c *conn) callless(from int, m *message) {
	if c.isSure(1-from, m.http) {
		return
	}
	k, reply := &c.sides[1-from].caller, c.sides[from].unit
	if !k.lost && k.ack != reply.seq {
		c.overlap(1-from, m.http, m.ended)
	}
	c.giveUp(func(e *exchange) bool {
		return e.from != from && (k.overlaps || int32(e.at.ack-reply.seq) <= 0)
	})
}

// giveUp ends requests without a reply.
func (c *conn) giveUp(which func(*exchange) bool) {
	for _, e := range slices.Clone(c.calls) {
		if which(e) {
			c.unanswered(e)
		}
	}
}

// await notes a request that waits for its reply. If too many wait, the oldest one is given up.
func (c *conn) await(e *exchange) {
	t := c.table
	c.sent(e)
	c.calls = append(c.calls, e)
	e.entry = t.pending.PushBack(e)
	t.pendingBytes += e.size()
	if c.sides[e.from].caller.overlaps && !c.isSure(e.from, e.http) {
		c.unanswered(e)
	}
	if len(c.calls) > maxPendingOfConn {
		c.calls[0].evict()
	}
	for t.pending.Len() > maxPending || t.pendingBytes > maxPendingBytes && t.pending.Len() > 1 {
		t.pending.Front().Value.(*exchange).evict()
	}
}

// evict ends a request because too many wait. Its reply must not be taken for another's: what
// follows is paired as if the request were missing.
func (e *exchange) evict() {
	e.conn.lost(e.from)
	e.conn.finish(e, ErrTooMany)
}

func (e *exchange) size() int {
	const around = 500 // what is kept besides the message
	if e.call == nil {
		return around
	}
	return around + cap(e.call.Args) + len(e.call.Method)
}

// forget removes a request from those that wait.
func (c *conn) forget(e *exchange) {
	if i := slices.Index(c.calls, e); i == 0 {
		c.calls[0], c.calls = nil, c.calls[1:]
	} else {
		c.calls = slices.Delete(c.calls, i, i+1)
	}
	c.table.pending.Remove(e.entry)
	c.table.pendingBytes -= e.size()
}

// answer ends a request whose reply has come. Without missing bytes, others still wait for theirs.
func (c *conn) answer(e *exchange) {
	c.forget(e)
	switch sure := c.isSure(e.from, e.http); {
	case !c.gaps:
	case sure:
		c.giveUp(func(o *exchange) bool { return o.from == e.from && o.http == e.http && o.seqid == e.seqid })
	default:
		c.assume(e)
		c.giveUp(func(o *exchange) bool { return o.from == e.from && int32(o.at.ack-e.at.ack) < 0 })
	}
}

// assume marks a call whose pair rests on a client that waits for each reply.
func (c *conn) assume(e *exchange) {
	k := &c.sides[e.from].caller
	if e.call == nil {
		return
	}
	e.call.Assumed = true
	if !k.assumed {
		k.assumed = true
		c.sides[e.from].note(e.call.Began, "bytes are missing, or the beginning is, and sequence ids do not tell calls apart: pairs that are marked assumed rest on a client that waits for each reply")
	}
}

// unanswered ends a request without a reply.
func (c *conn) unanswered(e *exchange) {
	err := ErrNoReply
	if !c.isSure(e.from, e.http) {
		err = ErrUnsure
	}
	c.finish(e, err)
}

// finish ends a request with an error.
func (c *conn) finish(e *exchange, err error) {
	c.forget(e)
	if e.call != nil {
		e.call.Err = err
		c.table.call(e.call)
	}
}

// took returns the time from a call's beginning to its reply's end, or unknown.
func took(began, ended time.Time) time.Duration {
	d := ended.Sub(began)
	if began.IsZero() || ended.IsZero() || d < 0 || d == 1<<63-1 {
		return Unknown
	}
	return d
}
