// TestModel's hostile clients, and the answers that servers may give them.

package rpc_test

import (
	"bytes"
	"encoding/binary"
	"strings"
)

// rawConn is the state of a hostile client on its connection.
type rawConn struct {
	framed bool
	units  []unit
	ended  bool // nothing more can be sent that makes sense
	fatal  bool // something was sent that ends the connection, perhaps with an answer
}

// unit is a message of a hostile client that has a reply.
type unit struct {
	seqid int32
	name  string     // in the reply
	call  *modelCall // nil: there is no such call
	typ   int        // the ApplicationException that it is answered with; 0: none
}

// rawArgs returns the bytes of a call's arguments.
func rawArgs(c *modelCall) []byte {
	text := func(b []byte) []byte { return append(be32(len(b)), b...) }
	switch c.method {
	case "put":
		return bytes.Join([][]byte{{12, 0, 1, 11, 0, 1}, text([]byte(c.token)), {11, 0, 2}, text(c.payload()), {0, 11, 0, 2}, text([]byte("raw")), {0}}, nil)
	case "add":
		b := binary.BigEndian.AppendUint64([]byte{10, 0, 1}, uint64(c.id))
		b = append(b, 10, 0, 2)
		return append(binary.BigEndian.AppendUint64(b, uint64(c.of)), 0)
	}
	return bytes.Join([][]byte{{11, 0, 1}, text(c.payload()), {0}}, nil)
}

// rawConnect opens a connection of a hostile client.
func (w *world) rawConnect() {
	framed := w.n(2) == 0
	w.mu.Lock()
	c := w.newConn(raw)
	c.framed = framed
	accepted := c.srv.l.connect(c.peer)
	if accepted {
		w.conns = append(w.conns, c)
	}
	w.mu.Unlock()
	w.logf("a hostile client connects, framed: %v; accepted: %v", framed, accepted)
}

var rawKinds = []string{"a call", "a call with a loose header", "two calls", "a call of nothing", "a reply", "bad arguments", "the other type of call",
	"a part of a call", "garbage", "a huge frame", "junk after a call"}

// rawSend sends something from a hostile client.
func (w *world) rawSend(kind int) {
	c := w.pick(raw)
	if c == nil || c.ended {
		return
	}
	call := w.newCall(raw)
	seqid := int32([]int{len(c.units) + 1, 0, -5, 7}[w.n(4)])
	name := call.method
	if w.n(4) == 1 {
		name = "Echo:" + name
	}
	w.logf("the hostile client of connection %d sends %s, named %s, seqid %d: %v", c.n, rawKinds[kind], name, seqid, call)
	typ := byte(1)
	u := unit{seqid, call.method, call, 0}
	if call.method == "notify" {
		typ = 4
	}
	args := rawArgs(call)
	wrap := func(parts ...[]byte) []byte {
		if c.framed {
			return w.frame(int(seqid), parts...)
		}
		return bytes.Join(parts, nil)
	}
	whole := w.message(typ, name, int(seqid), args)
	if call.hopeless {
		c.fatal, c.ended = true, true
		c.end.out.put(wrap(whole))
		return
	}
	switch rawKinds[kind] {
	case "a call with a loose header":
		if !w.conf.compact {
			whole = nonStrict(typ, name, int(seqid), args)
		}
	case "two calls":
		second := w.addCall(raw, "echo", 50)
		whole = append(whole, w.message(1, "echo", 1000, rawArgs(second))...)
		defer func() { c.units = append(c.units, unit{1000, "echo", second, 0}) }()
	case "a call of nothing":
		whole = w.message(typ, "nothing", int(seqid), args)
		u = unit{seqid, "nothing", nil, 1}
	case "a reply":
		whole = w.message([]byte{2, 3, 0, 99}[w.n(4)], name, int(seqid), args)
		u = unit{seqid, call.method, nil, 2}
	case "bad arguments":
		args = []byte{11, 0, 1, 0xff, 0xff, 0xff, 0xff, 0}
		whole = w.message(typ, name, int(seqid), args)
		u, c.ended = unit{seqid, call.method, nil, 7}, true
		if call.method == "notify" { // answered or not
			u.typ, c.fatal = 0, true
		}
	case "the other type of call":
		whole = w.message(5-typ, name, int(seqid), args)
	case "a part of a call":
		whole = wrap(whole)
		c.end.out.put(whole[:1+w.n(255)*(len(whole)-2)/255])
		c.ended = true
		return
	case "garbage":
		c.end.out.put([][]byte{[]byte("GET / HTTP/1.1\r\n\r\n"), {0x16, 3, 1, 0, 200}, {0x80, 2, 0, 1, 0, 0, 0, 0}, {0xff, 0xff, 0xff, 0xff, 0}}[w.n(4)])
		c.ended, c.fatal = true, true
		return
	case "a huge frame":
		c.end.out.put(append(be32(1<<30), whole...))
		c.ended, c.fatal = true, true
		return
	case "junk after a call":
		whole = append(whole, "junk after a call"...)
		c.ended, c.fatal = true, true
	}
	c.end.out.put(wrap(whole))
	if call.method != "notify" || u.typ != 0 {
		c.units = append(c.units, u)
	}
}

// rawAct does something else on the connection of a hostile client.
func (w *world) rawAct() {
	c := w.pick(raw)
	what := w.n(5)
	if c == nil {
		return
	}
	w.logf("the hostile client of connection %d: %s", c.n, []string{"takes 100 bytes", "takes all", "ends writing", "closes", "resets"}[what])
	switch what {
	case 0:
		c.end.in.take(100)
	case 1:
		c.end.in.take(unlimited)
	case 2:
		c.end.CloseWrite()
		c.ended = true
	case 3:
		c.end.Close()
		c.ended, c.hurt = true, true
	case 4:
		w.breakDown(c)
		c.ended = true
	}
}

// checkReplies checks what our server has sent on a connection.
func (w *world) checkReplies(c *modelConn) {
	framed, units := w.conf.framed, c.units
	if c.of == raw {
		framed = c.framed
	} else {
		for _, m := range w.requestsOf(c) {
			if call := w.callOf(m); call != nil && m.typ == 1 {
				units = append(units, unit{m.seqid, call.method, call, 0})
			}
		}
	}
	sent := c.peer.out.written()
	replies, err := messages(sent, framed)
	if err != nil {
		w.failf("connection %d: what the server has sent: %v", c.n, err)
		return
	}
	for _, m := range replies {
		at := 0
		if w.conf.unordered {
			for at < len(units) && (units[at].seqid != m.seqid || units[at].name != m.name || !w.fits(units[at], m)) {
				at++
			}
		}
		matches := at < len(units) && m.seqid == units[at].seqid && m.name == units[at].name && w.fits(units[at], m)
		if !matches && c.fatal && m.typ == 3 {
			c.fatal = false
			continue
		}
		if at == len(units) {
			w.failf("connection %d: the server has sent a reply %d, %s, seqid %d, that nobody waits for", c.n, m.typ, m.name, m.seqid)
			return
		}
		u := units[at]
		units = append(units[:at:at], units[at+1:]...)
		if !matches {
			w.failf("connection %d: a reply of type %d to %q, seqid %d, %.60q; expected %q, seqid %d, of %v", c.n, m.typ, m.name, m.seqid, textOf(m.fields, 1), u.name, u.seqid, u.call)
			return
		}
	}
	if len(units) > 0 && !c.hurt && !c.mayHaveIdled() {
		w.failf("connection %d: no reply to %s, seqid %d, of %v", c.n, units[0].name, units[0].seqid, units[0].call)
	}
}

// fits reports whether a message may be the reply to a unit.
func (w *world) fits(u unit, m message) bool {
	if u.call == nil {
		typ, _ := m.fields[2].(int64)
		return m.typ == 3 && int(typ) == u.typ
	}
	c := u.call
	if c.hopeless && m.typ == 3 {
		return true
	}
	o := nothing
	number, isNumber := m.fields[0].(int64)
	switch {
	case m.typ == 3:
		typ, _ := m.fields[2].(int64)
		if o = w.application(c, int(typ), textOf(m.fields, 1)); o == otherException {
			return false
		}
	case m.typ != 2:
	case m.fields[1] != nil:
		o = missing
		if key := textOf(m.fields, 1, 1); key == "" {
			o = emptied
		} else if key != c.token {
			return false
		}
	case m.fields[2] != nil:
		if o = conflicted; textOf(m.fields, 2, 1) != c.token {
			return false
		}
	case c.method == "fail":
		o = own
	case m.fields[0] == nil:
		o = noResult
	case isNumber:
		if o = own; number == otherSum {
			o = other
		} else if number != int64(c.id)+int64(c.of) {
			return false
		}
	default:
		text, want := textOf(m.fields, 0), string(c.payload())
		if c.method == "put" {
			text, want = textOf(m.fields, 0, 1)+textOf(m.fields, 0, 2), c.token+want
		}
		switch {
		case text == otherText:
			o = other
		case text == want:
			o = own
		case strings.HasPrefix(text, c.token):
			return false
		default:
			return false
		}
	}
	return o&w.serverMay(c) != 0
}

// serverMay returns the outcomes that a call of our server may have.
func (w *world) serverMay(c *modelCall) outcome {
	o := conducts[c.conduct].gives(c.method)
	if c.noted("context ended") {
		o |= internal
	}
	if w.conf.intercepted {
		o = serverInterventions[c.inServer].after(o)
	}
	if c.method == "fail" && o&other != 0 {
		o |= own
	}
	return o
}
