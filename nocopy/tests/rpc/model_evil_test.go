// TestModel's hostile server, and the outcomes that its replies may have for clients.

package rpc_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"strings"
)

// evilConn is the state of the hostile server on a connection.
type evilConn struct {
	mayBreak bool // the sent bytes have broken it, or may have
	answered map[int32]int
}

// evilReply is a reply of the hostile server.
type evilReply struct {
	id     int
	conn   *modelConn
	seqid  int32
	method string
	proper bool // as a reply should be
	end    int  // where it ends in the sent bytes
	epoch  int  // in which it had been read
	seen   int  // how much the client had written, at most, when it had read it; -1: it has not yet
	to     *modelCall
}

// requestsOf returns the messages that a client of ours has written to a connection, and checks
// them.
func (w *world) requestsOf(c *modelConn) []message {
	list, err := messages(c.end.out.written(), w.conf.framed)
	if err != nil {
		w.failf("connection %d of %c: what the client has sent: %v", c.n, c.of, err)
	}
	for _, m := range list {
		w.checkRequest(c, m)
	}
	return list
}

// callOf returns the call that a request belongs to.
func (w *world) callOf(m message) *modelCall {
	var token string
	switch m.name[strings.Index(m.name, ":")+1:] {
	case "put":
		token = textOf(m.fields, 1, 1)
	case "add":
		a, _ := m.fields[1].(int64)
		b, _ := m.fields[2].(int64)
		token = fmt.Sprintf("<%c%04d>", rune(b), a)
	default:
		token = textOf(m.fields, 1)
	}
	return w.lookup([]byte(token))
}

// checkRequest checks that a message is the request of one of the client's calls.
func (w *world) checkRequest(c *modelConn, m message) {
	call := w.callOf(m)
	if call == nil || call.of != c.of {
		w.failf("connection %d of %c: the client has sent %s with %.60q", c.n, c.of, m.name, textOf(m.fields, 1))
		return
	}
	name, typ := call.method, byte(1)
	if call.prefixed {
		name = "Echo:" + name
	}
	content := ""
	switch call.method {
	case "notify":
		typ = 4
		content = textOf(m.fields, 1)
	case "put":
		content = textOf(m.fields, 1, 2)
	case "echo", "fail":
		content = textOf(m.fields, 1)
	}
	if m.name != name || m.typ != typ {
		w.failf("%v was sent as %q, type %d", call, m.name, m.typ)
	}
	if call.method != "add" && content != string(call.payload()) {
		w.failf("%v was sent with %d bytes %.40q", call, len(content), content)
	}
}

// evilReplyTo sends a reply of some kind, if the requests that were received allow it.
func (w *world) evilReplyTo(kind int) {
	c := w.pick(evil)
	if c == nil {
		return
	}
	requests := w.requestsOf(c)
	var open []message
	last := int32(0)
	for _, m := range requests {
		last = max(last, m.seqid)
		if m.typ == 1 && c.answered[m.seqid] == 0 {
			open = append(open, m)
		}
	}
	k := w.n(256)
	var to message
	switch {
	case len(open) > 0:
		to = open[k%len(open)]
	case len(requests) > 0:
		to = requests[k%len(requests)] // once more
	default:
		to = message{name: "echo", seqid: 1}
	}
	r := &evilReply{id: len(w.replies) + 1, conn: c, seqid: to.seqid, method: to.name[strings.Index(to.name, ":")+1:], seen: -1}
	typ, name := byte(2), r.method
	var second []byte
	body := evilResult(r.method, r.id, modelSizes[k%4])
	r.proper = len(open) > 0 && r.method != "notify"
	if m := w.conf.maxFrame; m > 0 && len(body)+60 > m {
		w.noteBreak(c)
	}
	switch evilKinds[kind] {
	case "a reply":
	case "a reply to the next call":
		r.seqid, r.proper = last+1+int32(k%2), false
	case "a reply to a call as it has not been made":
		r.seqid, r.proper = []int32{0, -1, 1 << 30, -1 << 31}[k%4], false
	case "a reply of another method":
		name, r.proper = "nothing", false
	case "a call":
		typ, r.proper = []byte{1, 4, 0, 77}[k%4], false
	case "an exception":
		typ, r.proper = 3, false
		body = failure(evilText(r.id, tokenSize), k%12)
	case "an exception that is none":
		typ, r.proper = 3, false
		body = []byte{11, 0, 1, 0, 0}
		c.mayBreak = c.mayBreak || !w.conf.framed
	case "a declared exception":
		if r.method == "put" || r.method == "fail" {
			text := evilText(r.id, tokenSize)
			body = bytes.Join([][]byte{{12, 0, 1, 11, 0, 1}, be32(len(text)), []byte(text), {0, 0}}, nil)
		}
	case "nothing":
		body = []byte{0}
		r.proper = false
	case "half a result":
		body = body[:len(body)/2]
		r.proper = false
		if !w.conf.framed { // the next bytes complete it
			name, c.mayBreak = "nothing", true
		}
	case "two replies":
		second = w.message(2, name, int(r.seqid), body)
		r.proper = false
	}
	whole := append(w.message(typ, name, int(r.seqid), body), second...)
	if w.conf.framed {
		whole = w.frame(int(r.seqid), whole)
	}
	w.logf("the hostile server sends %s on connection %d: %s, seqid %d, <E%04d>", evilKinds[kind], c.n, r.method, r.seqid, r.id)
	if r.proper {
		for _, m := range requests {
			if m.seqid == r.seqid {
				r.to = w.callOf(m)
			}
		}
	} else {
		w.sides[evil].trouble = w.epoch
	}
	if c.answered == nil {
		c.answered = map[int32]int{}
	}
	c.answered[r.seqid]++
	if c.answered[r.seqid] > 1 {
		r.proper = false
		w.sides[evil].trouble = w.epoch
	}
	c.peer.out.put(whole)
	r.end = len(c.peer.out.written())
	if c.mayBreak {
		w.noteBreak(c)
	}
	w.replies = append(w.replies, r)
}

var evilKinds = []string{"a reply", "a reply to the next call", "a reply to a call as it has not been made", "a reply of another method", "a call",
	"an exception", "an exception that is none", "a declared exception", "nothing", "half a result", "two replies"}

func evilText(id, size int) string { return string(fillWith(fmt.Sprintf("<E%04d>", id), size)) }

// evilResult returns the bytes of a result of the hostile server.
func evilResult(method string, id, size int) []byte {
	text := evilText(id, size)
	switch method {
	case "echo":
		return bytes.Join([][]byte{{11, 0, 0}, be32(len(text)), []byte(text), {0}}, nil)
	case "put":
		return bytes.Join([][]byte{{12, 0, 0, 11, 0, 1}, be32(len(text)), []byte(text), {0, 0}}, nil)
	case "add":
		return append(binary.BigEndian.AppendUint64([]byte{10, 0, 0}, uint64(id)), 0)
	}
	return []byte{0}
}

// noteBreak notes that a connection of the hostile server may break.
func (w *world) noteBreak(c *modelConn) {
	c.mayBreak = true
	w.hurt(c)
}

// evilAct does something else on a connection.
func (w *world) evilAct() {
	c := w.pick(evil)
	what := w.n(7)
	if c == nil {
		return
	}
	w.logf("the hostile server, connection %d: %s", c.n, []string{"takes 100 bytes", "takes all", "sends garbage", "sends a part", "ends writing", "closes", "resets"}[what])
	switch what {
	case 0:
		c.peer.in.take(100)
	case 1:
		c.peer.in.take(unlimited)
	case 2:
		c.peer.out.put([][]byte{[]byte("HTTP/1.1 400 Bad Request\r\n\r\n"), {0xff, 0xff, 0xff, 0}, {0, 0, 0, 0}, {0, 0, 0, 5, 0x80, 2, 0, 0, 0}}[w.n(4)])
		w.noteBreak(c)
	case 3:
		part := w.frame(1, w.message(2, "nothing", 1, evilResult("add", 1, 8)))
		c.peer.out.put(part[:min(1+w.n(30), len(part)-1)])
		w.noteBreak(c)
	case 4:
		c.peer.CloseWrite()
		w.noteBreak(c)
	case 5:
		c.peer.Close()
		w.noteBreak(c)
	case 6:
		c.peer.breakDown()
		w.noteBreak(c)
	}
}

// checkReplied checks that the replies which the client has read have ended their calls.
func (w *world) checkReplied() {
	for _, r := range w.replies {
		if r.seen >= 0 {
			continue
		}
		r.conn.end.in.mu.Lock()
		taken := r.conn.end.in.consumed
		r.conn.end.in.mu.Unlock()
		if taken < r.end {
			continue
		}
		r.seen, r.epoch = len(r.conn.end.out.written()), w.epoch
		if r.conn.end.out.slow() {
			r.seen = math.MaxInt // a call whose write blocks is sent, if none of its bytes came through
		}
		if r.proper && !r.conn.mayBreak && !r.conn.end.out.slow() && r.to != nil && r.to.inClient == 0 && !r.to.isDone() {
			w.failf("%v: the reply <E%04d> has come, and the call goes on", r.to, r.id)
		}
	}
}

// checkAnswer checks that the reply with which a call to the hostile server has ended was a reply
// to that call.
func (w *world) checkAnswer(c *modelCall) {
	if c.answer <= 0 || c.answer > len(w.replies) {
		w.failf("%v: the result is <E%04d>, which was never sent", c, c.answer)
		return
	}
	r := w.replies[c.answer-1]
	requests := w.requestsOf(r.conn)
	for _, m := range requests {
		switch call := w.callOf(m); {
		case m.seqid != r.seqid:
		case call != c:
			w.failf("%v has the reply <E%04d> to %v", c, c.answer, call)
			return
		case r.seen >= 0 && m.start >= r.seen:
			w.failf("%v was not sent yet when its reply <E%04d> came", c, c.answer)
			return
		default:
			return
		}
	}
	if start, may := tail(r.conn.end.out.written(), w.conf.framed, requests, r.seqid); may && (r.seen < 0 || start < r.seen) {
		return // a part of it was
	}
	if r.conn.hurt && (r.seen < 0 || r.epoch >= c.began) {
		return // it was about to be, and then the connection broke
	}
	w.failf("%v has the reply <E%04d> to sequence id %d of connection %d, on which it was not sent", c, c.answer, r.seqid, r.conn.n)
}
