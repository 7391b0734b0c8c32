// How a run of TestModel ends, and what must hold then.

package rpc_test

import (
	"context"
	"testing/synctest"
	"time"

	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// finish lets all calls end and checks how they did.
func (w *world) finish() {
	w.logf("the end")
	w.findTrouble()
	w.mu.Lock()
	for _, s := range w.sides {
		if s.refuse {
			s.refuse, s.trouble = false, w.epoch
		}
	}
	w.mu.Unlock()
	for _, c := range w.order {
		c.open()
	}
	w.easeOff()
	w.settle()
	if w.server().down {
		w.startServer()
	}
	w.pass(10 * time.Second)
	for _, c := range w.connsOf(raw) {
		c.end.CloseWrite()
	}
	w.settle()
	w.pass(time.Second)
	w.pass(40 * time.Second) // timeouts
	// Each try of a call may need it, and there may be one at a time
	for n := range 10 + 5*len(w.order) {
		if n > 0 && w.allEnded(evil) {
			break
		}
		for _, c := range w.connsOf(evil) {
			if !c.end.isClosed() {
				c.peer.breakDown()
				w.noteBreak(c)
			}
		}
		w.pass(5 * time.Second)
	}
	w.checkCalls()
	w.checkFresh()
	w.checkWires()
	w.end()
}

// allEnded reports whether all calls of a client have ended.
func (w *world) allEnded(of byte) bool {
	for _, c := range w.order {
		if c.of == of && !c.isDone() {
			return false
		}
	}
	return true
}

// easeOff lets all connections carry bytes without hindrance.
func (w *world) easeOff() {
	for _, c := range w.all() {
		for _, s := range []*stream{c.end.in, c.end.out} {
			s.change(func(s *stream) { s.limit, s.room, s.piece = -1, unlimited, unlimited })
		}
	}
}

// checkCalls checks how calls have ended.
func (w *world) checkCalls() {
	for _, c := range w.order {
		if c.of == raw {
			continue
		}
		if !c.isDone() {
			w.failf("%v: the call does not end", c)
			continue
		}
		if may := w.may(c); c.outcome&may == 0 {
			w.failf("%v has ended with %v (%v), but may only with %v", c, c.outcome, c.err, may)
		}
		if c.of == evil && c.answer != 0 {
			w.checkAnswer(c)
		}
	}
	answers := map[int]*modelCall{}
	for _, c := range w.order {
		if before := answers[c.answer]; c.answer != 0 && before != nil {
			w.failf("%v and %v have the same reply <E%04d>", before, c, c.answer)
		}
		answers[c.answer] = c
	}
}

// may returns how a call of one of our clients may end.
func (w *world) may(c *modelCall) outcome {
	s := w.sides[c.of]
	troubled := s.trouble >= c.began
	var o outcome
	switch {
	case c.method == "notify":
		o = own
	case c.of == good:
		o = w.serverMay(c)
	case troubled:
		o = own | missing | internal | noResult | chosen | otherException | complaint
	default:
		o = own | missing
	}
	i := clientInterventions[c.inClient]
	if o = i.after(o); (c.method == "notify" || c.method == "fail") && o&(other|nothing) != 0 {
		o |= own
	}
	if i.before {
		return o
	}
	if c.expired {
		o |= expired
	}
	if c.hopeless {
		o |= otherException | broken
	}
	if s.closed {
		o |= closed
	}
	if troubled {
		o |= broken
	}
	if troubled && c.of == evil {
		o |= complaint // about bytes that are no message
	}
	return o
}

// checkFresh checks that clients that are not closed, and the server, serve as many calls as ever.
func (w *world) checkFresh() {
	for _, of := range []byte{good, evil} {
		s := w.sides[of]
		if s.closed || w.failed() {
			continue
		}
		before := len(w.order)
		for range min(w.conf.inFlight, 5) {
			c := w.addCall(of, "echo", 100)
			go w.run(c, s.cl)
		}
		w.settle()
		w.pass(3 * time.Second) // a connection may have to be made, after a pause
		for range 6 {           // a hostile server that has changed its ways
			if of == good {
				break
			}
			for _, conn := range w.connsOf(evil) {
				if !conn.end.isClosed() {
					w.replyToAll(conn)
				}
			}
			w.settle()
		}
		for _, c := range w.order[before:] {
			if !c.isDone() {
				inFlight, using := clientInUse(s.cl)
				w.failf("a call afterwards (%v) does not end; in flight %d, on connections %d", c, inFlight, using)
			} else if c.outcome != own {
				w.failf("a call afterwards (%v) has ended with %v (%v)", c, c.outcome, c.err)
			}
		}
	}
}

// replyToAll answers all calls on a connection of the hostile server that were not answered.
func (w *world) replyToAll(conn *modelConn) {
	for _, m := range w.requestsOf(conn) {
		if conn.answered[m.seqid] > 0 || m.typ != 1 {
			continue
		}
		if conn.answered == nil {
			conn.answered = map[int32]int{}
		}
		conn.answered[m.seqid]++
		r := &evilReply{id: len(w.replies) + 1, conn: conn, seqid: m.seqid, method: "echo", seen: -1}
		w.replies = append(w.replies, r)
		b := w.message(2, "echo", int(m.seqid), evilResult("echo", r.id, 8))
		if w.conf.framed {
			b = w.frame(int(m.seqid), b)
		}
		conn.peer.out.put(b)
		r.end = len(conn.peer.out.written())
	}
}

// checkWires checks the bytes on all connections, and that no call was sent or handled more often
// than it was made.
func (w *world) checkWires() {
	onWire := map[*modelCall]int{}
	for _, c := range w.all() {
		switch c.of {
		case raw:
			w.checkReplies(c)
			continue
		case good:
			w.checkReplies(c)
		}
		seen := map[int32]bool{}
		for _, m := range w.requestsOf(c) {
			if seen[m.seqid] {
				w.failf("connection %d of %c: the sequence id %d was used twice", c.n, c.of, m.seqid)
			}
			seen[m.seqid] = true
			onWire[w.callOf(m)]++
		}
	}
	for _, c := range w.order {
		times := 1
		if w.conf.intercepted && serverInterventions[c.inServer].name == "calls twice" {
			times = 2
		}
		switch n := onWire[c]; {
		case c.of == raw && c.runs > times:
			w.failf("%v was handled %d times", c, c.runs)
		case c.of == raw:
		case n > c.sends:
			w.failf("%v was sent %d times, though called %d times", c, n, c.sends)
		case c.runs > n*times:
			w.failf("%v was handled %d times, though sent %d times", c, c.runs, n)
		case c.of == good && c.inServer == 0 && c.inClient == 0 && c.outcome == own && c.runs == 0:
			if c.method != "notify" || w.sides[good].trouble < c.began {
				w.failf("%v was never handled", c)
			}
		}
	}
}

// end ends clients and servers and checks that nothing is left.
func (w *world) end() {
	for _, of := range []byte{good, evil} {
		s := w.sides[of]
		inFlight, using := clientInUse(s.cl)
		if inFlight != 0 || using != 0 {
			w.failf("client %c: no call is under way, but %d are in flight, %d are on connections", of, inFlight, using)
		}
		w.closeClient(s)
	}
	for _, c := range w.connsOf(raw) {
		c.end.Close()
	}
	w.settle()
	time.Sleep(time.Second) // servers linger
	synctest.Wait()
	for _, i := range w.servers {
		i.down = true
		if conns, slots := serverInUse(i.srv); conns != 0 || slots > 1 {
			w.failf("there are no connections, but the server has %d, and %d slots are taken", conns, slots)
		}
		if i.ending == nil {
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			if err := i.srv.Shutdown(ctx); err != nil {
				w.failf("Shutdown: %v", err)
			}
			cancel()
		} else {
			select {
			case err := <-i.ending:
				if err != nil {
					w.failf("Shutdown: %v", err)
				}
			default:
				w.failf("Shutdown does not return")
			}
		}
		synctest.Wait()
		select {
		case err := <-i.served:
			if err != rpc.ErrServerClosed {
				w.failf("Serve: %v", err)
			}
		default:
			w.failf("Serve does not return")
		}
	}
	for _, c := range w.all() {
		if c.of != raw && !c.end.isClosed() || c.of != evil && !c.peer.isClosed() {
			w.failf("connection %d of %c is left open", c.n, c.of)
		}
	}
	for _, r := range w.owned {
		func() {
			defer func() { recover() }() // the server may have released it
			r.Release()
		}()
	}
	for _, c := range w.order {
		c.cancel()
	}
}
