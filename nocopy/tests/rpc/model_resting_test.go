// The checks of TestModel whenever all connections have come to rest.

package rpc_test

import "time"

// checkResting checks what must hold whenever all goroutines wait.
func (w *world) checkResting() {
	slow := map[byte]bool{}
	for _, c := range w.all() {
		slow[c.of] = slow[c.of] || c.end.out.slow()
		w.checkGone(c)
	}
	for _, c := range w.order {
		if c.of != raw && c.ctx.Err() != nil && c.inClient == 0 && !slow[c.of] && !c.isDone() {
			w.failf("%v: its context has ended, and the call goes on", c)
		}
	}
	for _, i := range w.servers {
		open := 0
		for _, c := range w.all() {
			if c.srv == i && c.of != evil && c.peer.served() {
				open++
			}
		}
		most := 2 * w.conf.maxConns // those whose clients seem to be gone count apart
		if most > 0 && open > most {
			w.failf("the server has %d connections, more than %d", open, most)
		}
		if _, slots := serverInUse(i.srv); slots > open+1 {
			w.failf("the server has %d connections, but %d slots are taken", open, slots)
		}
	}
}

// checkGone checks what the server makes of a connection that was reset a while ago, and of one
// that was not.
func (w *world) checkGone(c *modelConn) {
	if c.of == evil {
		return
	}
	soon := time.Second
	if c.end.out.ended() { // the server has nothing to read: it waits for HalfCloseTimeout
		soon += 2 * time.Second
	}
	// It may have been reset while it waited for a slot.
	gone := !c.reset.IsZero() && time.Since(c.reset) >= soon && c.peer.acceptedFor() >= soon
	if gone && c.peer.served() {

		w.failf("connection %d was reset, but the server has it still", c.n)
	}
	calls := map[*modelCall]bool{}
	if c.of == raw {
		for _, u := range c.units {
			calls[u.call] = true
		}
	} else {
		for _, m := range w.requestsOf(c) {
			calls[w.callOf(m)] = true
		}
	}
	for call := range calls {
		if call == nil || call.conduct != conductCtx || call.inClient != 0 {
			continue
		}
		call.mu.Lock()
		waits := call.runs > 0 && !call.opened && len(call.notes) == 0
		call.mu.Unlock()
		switch ended := call.noted("context ended"); {
		case call.method == "notify" && ended && !c.srv.down:
			w.failf("%v: the handler's context has ended, but it is a oneway call", call)
		case call.method == "notify":
		case gone && waits:
			w.failf("%v: its connection %d was reset, but the handler's context goes on", call, c.n)
		case ended && !c.hurt && !c.srv.down && !c.mayHaveIdled():
			w.failf("%v: the handler's context has ended, but nothing has happened to connection %d", call, c.n)
		}
	}
}

// clientIdle is after how long clients close connections without calls.
const clientIdle = 50 * time.Second

// mayHaveIdled reports whether the client may have closed the connection because it made no calls
// on it. A call that it has given up may still be in its handler, or not be read yet.
func (c *modelConn) mayHaveIdled() bool {
	return c.end.isClosed() && time.Since(c.made) >= clientIdle
}
