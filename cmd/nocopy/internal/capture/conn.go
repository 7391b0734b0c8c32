package capture

import (
	"container/list"
	"slices"
	"strings"
)

// conn is a connection.
type conn struct {
	table  *table
	ends   ends
	sides  [2]side // by the end that sends
	entry  *list.Element
	ended  bool   // nothing more comes
	opaque string // why its bytes can't be read; else ""
	sasl   bool   // it began with a login
	web    bool   // it speaks HTTP
	spoke  bool   // there have been bytes
	found  bool   // there has been a message
	gaps   bool   // bytes are missing: replies, perhaps

	calls []*exchange // without replies yet, in order
}

// exchange is a request, and the reply that it waits for.
type exchange struct {
	call   *Call // nil for an HTTP request without a call
	conn   *conn
	from   int // the side that has sent it
	seqid  int32
	http   bool // replies come in the order of the requests
	noBody bool // the response to it has no body
	entry  *list.Element
}

// segment takes a segment that one of the sides has sent.
func (c *conn) segment(from int, g *segment) {
	if g.hasAck {
		c.sides[1-from].acknowledged(g.ack)
	}
	c.sides[from].segment(g)
	if g.rst {
		c.end()
	}
	if c.sides[0].over && c.sides[1].over {
		c.end()
	}
}

// end ends the connection. It stays in the table, so that packets that are sent again are not
// taken for a new one.
func (c *conn) end() {
	if c.ended {
		return
	}
	for i := range c.sides {
		c.sides[i].skipAll()
		c.sides[i].end()
	}
	switch {
	case c.found || !c.spoke:
	case c.web:
		c.hide("HTTP without Thrift messages")
	default:
		c.hide("another protocol")
	}
	for len(c.calls) > 0 {
		c.unanswered(c.calls[0])
	}
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

// message takes a message that a side has sent.
func (c *conn) message(from int, m *message) {
	c.found = true
	switch m.kind {
	case kindCall, kindOneway:
		if c.gaps { // the reply to an earlier one may be among the missing bytes
			c.giveUp(func(e *exchange) bool { return e.from == from && !e.http && e.seqid == m.seqid })
		}
		e := &exchange{conn: c, from: from, seqid: m.seqid, http: m.http, call: &Call{
			Client: c.ends[from], Server: c.ends[1-from], Wire: m.wire, Method: m.name, Oneway: m.kind == kindOneway, Args: m.body, Began: m.began,
		}}
		if e.call.Oneway {
			c.table.call(e.call)
			if e.call = nil; !e.http {
				return
			}
		}
		c.await(e)
	case kindReply, kindException:
		e := c.find(from, m)
		if e == nil || e.call == nil {
			c.table.sum.Replies++
			return
		}
		c.forget(e)
		if e.call.Took = max(m.ended.Sub(e.call.Began), 0); m.kind == kindException {
			e.call.Err = m.exception()
		} else {
			e.call.Reply = m.body
		}
		c.table.call(e.call)
	}
}

// find returns the request that a reply is for; nil if there is none. Many clients have one
// sequence id for all calls: then it is the first call of the method or, if no name fits, the
// first one.
func (c *conn) find(from int, m *message) (found *exchange) {
	for _, e := range c.calls {
		if e.from == from || e.http != m.http || !m.http && e.seqid != m.seqid {
			continue
		}
		if m.http || strings.HasSuffix(":"+e.call.Method, ":"+m.name) {
			return e
		}
		if found == nil {
			found = e
		}
	}
	return found
}

// lost notes that bytes are missing. In HTTP it is then unknown which response is for which
// request.
func (c *conn) lost() {
	c.gaps = true
	c.giveUp(func(e *exchange) bool { return e.http })
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
	c.calls = append(c.calls, e)
	e.entry = t.pending.PushBack(e)
	t.pendingBytes += e.size()
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

// unanswered ends a request without a reply.
func (c *conn) unanswered(e *exchange) {
	c.forget(e)
	if e.call != nil {
		e.call.Err = ErrNoReply
		c.table.call(e.call)
	}
}
