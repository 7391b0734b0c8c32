// TestModelHTTP's hostile server and hostile clients, which the goroutine of the program plays,
// and how a program ends.

package rpc_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing/synctest"
	"time"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
)

// httpEvilConn is a connection of the hostile server.
type httpEvilConn struct {
	at      int            // here the next request begins
	asked   *httpModelCall // the call in it; nil: its token has not arrived
	whole   bool           // the request has arrived
	ends    int            // where it ends
	method  string         // without the service's name, as replies name it
	spoiled bool           // no proper reply can follow
	stalled bool           // a reply has begun that does not go on
}

// readRequests reads what has arrived at the hostile server.
func (w *httpWorld) readRequests() {
	for _, c := range w.all() {
		if c.of != evilSide || c.peer.isClosed() {
			continue
		}
		var in []byte
		c.end.out.change(func(s *stream) {
			s.consumed = s.visible()
			in = s.log[c.at:s.consumed:s.consumed]
		})
		if len(in) == 0 || c.whole || c.spoiled {
			continue
		}
		c.asked = w.lookup(in)
		rest := bytes.NewReader(in)
		r := bufio.NewReader(rest)
		req, err := http.ReadRequest(r)
		if err != nil {
			continue
		}
		body, err := io.ReadAll(req.Body)
		if err != nil || c.asked == nil {
			continue
		}
		c.whole, c.ends = true, c.at+len(in)-rest.Len()-r.Buffered()
		from := 8 // after the length
		if w.conf.compact {
			from = 4
		}
		c.method = strings.TrimPrefix(string(body[from:from+int(body[from-1])]), "Nobody:")
	}
}

// otherReply is the text of a reply that nobody has asked for.
const otherReply = "stray!"

// evilMessage returns a message to a call of the hostile server, with a payload.
func (w *httpWorld) evilMessage(c *httpModelConn, compact bool, typ byte, method string, seqid int, payload []byte) []byte {
	if typ == exception {
		if compact {
			return compactly(typ, method, seqid, []byte{0x18, 1, 'x', 0x15, 4, 0})
		}
		return strict(typ, method, seqid, failure("x", 2))
	}
	var m *nocopy.Message
	if c.method == "put" {
		result := echo.NewEchoPutResult()
		result.NewSuccess().SetData(payload)
		m = result.Message()
	} else {
		result := echo.NewEchoEchoResult()
		result.SetSuccess(payload)
		m = result.Message()
	}
	defer m.Release()
	if compact {
		return compactly(typ, method, seqid, m.AppendCompact(nil))
	}
	return strict(typ, method, seqid, m.Bytes())
}

// httpResponse returns the bytes of a response.
func httpResponse(status int, body []byte, headers ...string) []byte {
	return bytes.Replace(rawRequest("x", "x", body, headers...), []byte("x x HTTP/1.1\r\nHost: x"), fmt.Appendf(nil, "HTTP/1.1 %d Text", status), 1)
}

// httpEvilKinds are the answers of the hostile server. proper is the message that it should send.
var httpEvilKinds = []struct {
	name  string
	gives httpOutcome
	does  string // to the connection: close, stall, or spoil (no more replies)
	early bool   // the request may be incomplete
	bytes func(w *httpWorld, c *httpModelConn, proper []byte) []byte
}{
	{name: "proper", gives: hOwn, bytes: func(_ *httpWorld, _ *httpModelConn, proper []byte) []byte { return httpResponse(200, proper) }},
	{name: "chunked", gives: hOwn, bytes: func(_ *httpWorld, _ *httpModelConn, proper []byte) []byte {
		body := fmt.Appendf(nil, "1\r\n%s\r\n%x\r\n%s\r\n0\r\nLate: x\r\n\r\n", proper[:1], len(proper)-1, proper[1:])
		return httpResponse(200, body, "Content-Length: -", "Transfer-Encoding: chunked")
	}},
	{name: "until the end", gives: hOwn, does: "close", bytes: func(_ *httpWorld, _ *httpModelConn, proper []byte) []byte {
		return httpResponse(200, proper, "Content-Length: -")
	}},
	{name: "continue first", gives: hOwn, bytes: func(_ *httpWorld, _ *httpModelConn, proper []byte) []byte {
		return join([]byte("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n"), httpResponse(200, proper))
	}},
	{name: "cut", gives: hLost, does: "close", bytes: func(_ *httpWorld, _ *httpModelConn, proper []byte) []byte {
		return httpResponse(200, proper[:len(proper)/2], fmt.Sprintf("Content-Length: %d", len(proper)))
	}},
	{name: "cut chunks", gives: hLost, does: "close", bytes: func(_ *httpWorld, _ *httpModelConn, proper []byte) []byte {
		return httpResponse(200, fmt.Appendf(nil, "%x\r\n%s\r\n", len(proper), proper), "Content-Length: -", "Transfer-Encoding: chunked")
	}},
	{name: "cut header", gives: hLost, does: "close", bytes: func(_ *httpWorld, _ *httpModelConn, proper []byte) []byte {
		return httpResponse(200, proper)[:30]
	}},
	{name: "nothing", gives: hLost, does: "close", bytes: func(*httpWorld, *httpModelConn, []byte) []byte { return nil }},
	{name: "half, and no more", gives: hLost, does: "stall", bytes: func(_ *httpWorld, _ *httpModelConn, proper []byte) []byte {
		return httpResponse(200, proper[:len(proper)/2], fmt.Sprintf("Content-Length: %d", len(proper)))
	}},
	{name: "half a header, and no more", gives: hLost, does: "stall", bytes: func(_ *httpWorld, _ *httpModelConn, proper []byte) []byte {
		return httpResponse(200, proper)[:30]
	}},
	{name: "no HTTP", gives: hLost, does: "spoil", bytes: func(_ *httpWorld, _ *httpModelConn, proper []byte) []byte { return proper }},
	{name: "endless headers", gives: hLost, does: "spoil", bytes: func(*httpWorld, *httpModelConn, []byte) []byte {
		return httpResponse(200, nil, "Long: "+strings.Repeat("x", 300_000))
	}},
	{name: "a page", gives: hBad, bytes: func(_ *httpWorld, _ *httpModelConn, proper []byte) []byte {
		return httpResponse(200, []byte("<html>log in</html>"), "Content-Type: text/html")
	}},
	{name: "compressed", gives: hBad, bytes: func(_ *httpWorld, _ *httpModelConn, proper []byte) []byte {
		return httpResponse(200, proper, "Content-Encoding: gzip")
	}},
	{name: "empty", gives: hBad, bytes: func(*httpWorld, *httpModelConn, []byte) []byte { return httpResponse(200, nil) }},
	{name: "half a message", gives: hBad, bytes: func(_ *httpWorld, _ *httpModelConn, proper []byte) []byte {
		return httpResponse(200, proper[:len(proper)/2])
	}},
	{name: "too long", gives: hBad, does: "spoil", bytes: func(*httpWorld, *httpModelConn, []byte) []byte {
		return httpResponse(200, nil, "Content-Length: 1099511627776")
	}},
	{name: "another protocol", gives: hBad, bytes: func(w *httpWorld, c *httpModelConn, _ []byte) []byte {
		return httpResponse(200, w.evilMessage(c, !w.conf.compact, reply, c.method, 1, c.asked.payload()))
	}},
	{name: "another sequence id", gives: hException, bytes: func(w *httpWorld, c *httpModelConn, _ []byte) []byte {
		return httpResponse(200, w.evilMessage(c, w.conf.compact, reply, c.method, 2, c.asked.payload()))
	}},
	{name: "another method", gives: hException, bytes: func(w *httpWorld, c *httpModelConn, _ []byte) []byte {
		return httpResponse(200, w.evilMessage(c, w.conf.compact, reply, "ping", 1, c.asked.payload()))
	}},
	{name: "a call", gives: hException, bytes: func(w *httpWorld, c *httpModelConn, _ []byte) []byte {
		return httpResponse(200, w.evilMessage(c, w.conf.compact, call, c.method, 1, c.asked.payload()))
	}},
	{name: "an exception", gives: hException, bytes: func(w *httpWorld, c *httpModelConn, _ []byte) []byte {
		return httpResponse(200, w.evilMessage(c, w.conf.compact, exception, c.method, 1, nil))
	}},
	{name: "500", gives: hStatus, bytes: func(*httpWorld, *httpModelConn, []byte) []byte { return httpResponse(500, []byte("oh")) }},
	{name: "a long 500", gives: hStatus, bytes: func(*httpWorld, *httpModelConn, []byte) []byte {
		return httpResponse(500, make([]byte, 100_000))
	}},
	{name: "503", gives: hLost, bytes: func(*httpWorld, *httpModelConn, []byte) []byte { return httpResponse(503, []byte("later")) }},
	{name: "a redirect", gives: hStatus, bytes: func(*httpWorld, *httpModelConn, []byte) []byte {
		return httpResponse(307, nil, "Location: http://elsewhere/")
	}},
	{name: "early", gives: hStatus | hNotSent | hLost, does: "spoil", early: true, bytes: func(*httpWorld, *httpModelConn, []byte) []byte {
		return httpResponse(413, []byte("enough"), "Connection: close")
	}},
	{name: "two", gives: hOwn, does: "spoil", bytes: func(w *httpWorld, c *httpModelConn, proper []byte) []byte {
		return join(httpResponse(200, proper), httpResponse(200, w.evilMessage(c, w.conf.compact, reply, c.method, 1, []byte(otherReply))))
	}},
}

// evilReply answers the oldest request that has arrived at the hostile server.
func (w *httpWorld) evilReply(kind int) {
	synctest.Wait()
	w.readRequests()
	for _, c := range w.all() {
		if k := httpEvilKinds[kind]; c.of == evilSide && !c.spoiled && c.asked != nil && (c.whole || k.early) && !c.peer.isClosed() && !c.end.isClosed() {
			w.answer(c, kind)
			return
		}
	}
}

func (w *httpWorld) answer(c *httpModelConn, kind int) {
	k := httpEvilKinds[kind]
	w.logf("connection %d: the hostile server answers %s: %s", c.n, c.asked.token, k.name)
	var proper []byte
	if c.asked.way != "notify" {
		proper = w.evilMessage(c, w.conf.compact, reply, c.method, 1, c.asked.payload())
	} else if proper = []byte("12"); kind == 0 {
		proper = nil
	}
	c.asked.replied = kind
	c.peer.out.put(k.bytes(w, c, proper))
	c.asked, c.at, c.whole = nil, c.ends, false
	switch k.does {
	case "close":
		c.spoiled = true
		w.hurt(c)
		c.peer.Close()
	case "stall":
		c.spoiled, c.stalled = true, true
	case "spoil":
		c.spoiled = true
		w.hurt(c)
		w.strayed = w.epoch
	}
}

// httpRawConn is a connection of a hostile client.
type httpRawConn struct {
	sent  []httpRawUnit
	rest  []byte // of a request that has not been sent whole
	last  bool   // nothing can follow it
	ended bool   // nothing more is sent
}

// httpRawUnit is a request of a hostile client.
type httpRawUnit struct {
	call    *httpModelCall
	name    string
	status  []int // that it may be answered with
	handled bool  // with the status 200, it was handled
}

// httpRawKinds are the requests of hostile clients. body is a call.
var httpRawKinds = []struct {
	httpRawUnit
	ends  bool // nothing can follow
	bytes func(body []byte) []byte
}{
	{httpRawUnit{name: "a call", status: []int{200}, handled: true}, false, func(body []byte) []byte { return rawRequest("POST", "/", body) }},
	{httpRawUnit{name: "chunks", status: []int{200}, handled: true}, false, func(body []byte) []byte {
		b := fmt.Appendf(nil, "1\r\n%s\r\n%x\r\n%s\r\n0\r\n\r\n", body[:1], len(body)-1, body[1:])
		return rawRequest("POST", "/", b, "Content-Length: -", "Transfer-Encoding: chunked")
	}},
	{httpRawUnit{name: "asks first", status: []int{200}, handled: true}, false, func(body []byte) []byte {
		return rawRequest("POST", "/", body, "Expect: 100-continue")
	}},
	{httpRawUnit{name: "two lengths", status: []int{200, 400}, handled: true}, false, func(body []byte) []byte {
		return rawRequest("POST", "/", fmt.Appendf(nil, "%x\r\n%s\r\n0\r\n\r\n", len(body), body), "Transfer-Encoding: chunked")
	}},
	{httpRawUnit{name: "HTTP/1.0", status: []int{200}, handled: true}, true, func(body []byte) []byte {
		return bytes.Replace(rawRequest("POST", "/", body), []byte("HTTP/1.1"), []byte("HTTP/1.0"), 1)
	}},
	{httpRawUnit{name: "GET", status: []int{405}}, false, func([]byte) []byte { return rawRequest("GET", "/", nil, "Content-Length: -") }},
	{httpRawUnit{name: "a text", status: []int{415}}, true, func(body []byte) []byte {
		return rawRequest("POST", "/", []byte("text"), "Content-Type: text/plain")
	}},
	{httpRawUnit{name: "empty", status: []int{400}}, false, func([]byte) []byte { return rawRequest("POST", "/", nil) }},
	{httpRawUnit{name: "half a call", status: []int{200}}, false, func(body []byte) []byte { return rawRequest("POST", "/", body[:len(body)-10]) }},
	{httpRawUnit{name: "too long", status: []int{413}}, true, func(body []byte) []byte {
		return rawRequest("POST", "/", body, "Content-Length: 1099511627776")
	}},
	{httpRawUnit{name: "a bad header", status: []int{400}}, true, func(body []byte) []byte { return rawRequest("POST", "/", body, "bad header") }},
	{httpRawUnit{name: "endless headers", status: []int{431}}, true, func(body []byte) []byte {
		return rawRequest("POST", "/", body, "Long: "+strings.Repeat("x", 100_000))
	}},
	{httpRawUnit{name: "cut", status: []int{400, 408}}, true, func(body []byte) []byte {
		return rawRequest("POST", "/", body, fmt.Sprintf("Content-Length: %d", len(body)+100))
	}},
}

func (w *httpWorld) rawConnect() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if c := w.newConn(rawSide); c.srv.l.connect(c.peer) {
		w.conns = append(w.conns, c)
	}
}

// rawSend sends a request, or the rest of one.
func (w *httpWorld) rawSend(kind int) {
	c, slowly, compact := w.pick(rawSide), w.n(4) == 1, w.n(2) == 1
	conduct := httpConducts[w.n(len(httpConducts))]
	switch {
	case c == nil || c.ended:
		return
	case c.rest != nil:
		w.logf("connection %d: the rest", c.n)
		c.end.out.put(c.rest)
		c.rest, c.ended = nil, c.last
		return
	}
	k := httpRawKinds[kind]
	u := k.httpRawUnit
	u.call = w.addCall(rawSide)
	u.call.conduct = conduct
	args := echo.NewEchoEchoArgs()
	defer args.Message().Release()
	args.SetPayload([]byte(u.call.token + strings.Repeat("x", 200)))
	body := strict(call, "echo", 7, args.Message().Bytes())
	if compact {
		body = compactly(call, "echo", 7, args.Message().AppendCompact(nil))
	}
	b := k.bytes(body)
	if slowly {
		c.rest = b[len(b)/2:]
		b = b[:len(b)/2]
	}
	w.logf("connection %d: a hostile client sends %s: %s, slowly: %v", c.n, u.call.token, u.name, slowly)
	c.sent = append(c.sent, u)
	c.last = k.ends
	c.ended = k.ends && c.rest == nil
	c.end.out.put(b)
}

// rawEnd ends a hostile client's connection in one of several ways.
func (w *httpWorld) rawEnd() {
	c, how := w.pick(rawSide), w.n(3)
	if c == nil {
		return
	}
	w.logf("connection %d: a hostile client ends it: %d", c.n, how)
	c.ended, c.rest = true, nil
	w.hurt(c)
	switch how {
	case 0:
		c.end.CloseWrite()
	case 1:
		c.end.Close()
	case 2:
		c.end.breakDown()
	}
}

// checkRaw checks the answers to a hostile client.
func (w *httpWorld) checkRaw(c *httpModelConn) {
	r := bufio.NewReader(bytes.NewReader(c.end.in.written()))
	over := c.hurt || c.srv.down()
	for _, u := range c.sent {
		status := 0
		var resp *http.Response
		for err := error(nil); status/100 < 2; status = resp.StatusCode {
			if resp, err = http.ReadResponse(r, &http.Request{Method: "POST"}); err != nil {
				break
			}
			if _, err = io.ReadAll(resp.Body); err != nil && !over {
				w.failf("connection %d: the answer to %s is cut: %v", c.n, u.call.token, err)
			}
		}
		runs := u.call.runs.Load()
		switch {
		case resp == nil && !over:
			w.failf("connection %d: %s (%s) is not answered", c.n, u.call.token, u.name)
		case resp == nil && runs > 0 && !u.handled, status != 200 && resp != nil && runs > 0, status == 200 && u.handled != (runs > 0):
			w.failf("connection %d: %s (%s) is answered with %d, and was handled %d times", c.n, u.call.token, u.name, status, runs)
		case resp == nil:
		case status == 200 && u.handled && resp.Header.Get("X-Token") != u.call.token:
			w.failf("connection %d: %s (%s) has the reply to %q", c.n, u.call.token, u.name, resp.Header.Get("X-Token"))
		case !slices.Contains(u.status, status) && !(over && (status == 400 || status == 408 || status == 503)):
			w.failf("connection %d: %s (%s) is answered with %d", c.n, u.call.token, u.name, status)
		}
		over = over || resp == nil || resp.Close
	}
	if rest, _ := io.ReadAll(r); len(rest) > 0 && !c.hurt {
		w.failf("connection %d: after all answers there is %.100q", c.n, rest)
	}
}

// finish lets all calls end and checks how they did.
func (w *httpWorld) finish() {
	w.logf("the end")
	w.findTrouble()
	w.mu.Lock()
	for _, s := range w.sides {
		s.refuse = false
	}
	w.mu.Unlock()
	for _, c := range w.order {
		c.open()
	}
	for _, c := range w.all() {
		for _, s := range []*stream{c.end.in, c.end.out} {
			s.change(func(s *stream) { s.limit, s.room, s.piece = -1, unlimited, unlimited })
		}
	}
	w.settle()
	if w.server().down() {
		w.startServer()
	}
	w.pass(10 * time.Second)
	for _, c := range w.all() {
		if c.of == rawSide {
			w.hurt(c)
			c.end.CloseWrite()
		}
	}
	w.pass(100 * time.Second) // timeouts, and idle connections that hold the places of others
	w.serveEvil()
	w.checkFresh()
	w.checkCalls()
	for _, c := range w.all() {
		if c.of == rawSide {
			w.checkRaw(c)
		}
	}
	w.end()
}

// serveEvil makes the hostile server answer all calls as it should.
func (w *httpWorld) serveEvil() {
	for _, c := range w.all() {
		if c.of == evilSide && c.spoiled && !c.peer.isClosed() {
			w.hurt(c)
			c.peer.Close()
		}
	}
	for range 2 + len(w.order) {
		w.settle()
		some := false
		for _, c := range w.all() {
			if c.of == evilSide && c.whole && !c.spoiled && !c.end.isClosed() && !c.peer.isClosed() {
				w.answer(c, 0)
				some = true
			}
		}
		if !some {
			return
		}
	}
}

// checkFresh checks that clients that are not closed serve as many calls as ever.
func (w *httpWorld) checkFresh() {
	before := len(w.order)
	for _, s := range w.sides {
		for range min(w.conf.inFlight, 5) {
			if s.closed || w.failure() != nil {
				break
			}
			c := w.addCall(s.of)
			c.size = 100
			c.open()
			go w.run(c)
		}
		w.settle()
		w.serveEvil()
		w.pass(60 * time.Second) // other clients' idle connections may hold places
	}
	for _, c := range w.order[before:] {
		if !c.done.Load() || c.outcome != hOwn {
			w.failf("a call afterwards, %v, ends: %v, with %v (%v)", c, c.done.Load(), c.outcome, c.err)
		}
	}
}

// end ends clients and servers and checks that nothing is left.
func (w *httpWorld) end() {
	for _, s := range w.sides {
		w.closeClient(s)
	}
	for _, c := range w.all() {
		if c.of == rawSide {
			c.end.Close()
		}
	}
	w.settle()
	time.Sleep(time.Second) // servers linger
	synctest.Wait()
	for _, i := range w.servers {
		if conns, slots := serverInUse(i.srv); conns != 0 || slots > 1 {
			w.failf("there are no connections, but the server has %d, and %d slots are taken", conns, slots)
		}
		if i.ending == nil {
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			if err := i.srv.Shutdown(ctx); err != nil {
				w.failf("Shutdown: %v", err)
			}
			if i.router != nil {
				i.router.Close()
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
			if err != rpc.ErrServerClosed && err != http.ErrServerClosed {
				w.failf("Serve: %v", err)
			}
		default:
			w.failf("Serve does not return")
		}
	}
	for _, c := range w.all() {
		if c.of != rawSide && !c.end.isClosed() || c.of != evilSide && !c.peer.isClosed() {
			w.failf("connection %d of client %d is left open", c.n, c.of)
		}
	}
	w.checkCounts()
	for _, e := range w.owned {
		e.Release()
	}
	for _, c := range w.order {
		c.cancel()
	}
}

// checkCounts checks that Stats add up.
func (w *httpWorld) checkCounts() {
	handled := 0
	for _, c := range w.order {
		handled += int(c.runs.Load())
	}
	for name, n := range w.counts {
		if (strings.HasSuffix(name, " conns") || strings.HasSuffix(name, " in flight")) && n != 0 {
			w.failf("at the end, %q is %d", name, n)
		}
	}
	if n := w.counts["server queued"]; n != handled {
		w.failf("%d calls were handled, but the server has counted %d", handled, n)
	}
	for of := range w.sides {
		made, answered := 0, 0
		for _, c := range w.order {
			if c.of == of {
				made++
				if c.outcome&(hOwn|hMissing|hInternal|hUnknown|hStatus|hLost) != 0 {
					answered++
				}
			}
		}
		if n := w.counts[fmt.Sprintf("client %d queued", of)]; n < answered || n > made {
			w.failf("client %d has made %d calls and sent %d of them, but has counted %d", of, made, answered, n)
		}
	}
}
