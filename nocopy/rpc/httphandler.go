package rpc

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/internal/gzipped"
	"github.com/nocopythrift/nocopythrift/internal/memory"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/message"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/setting"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/transport"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/web"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// HTTPHandler returns a handler for an [http.ServeMux] or any other router that answers the calls
// of p over HTTP: a POST holds one call, and its response the reply. The functions set fields of
// the [Server] that does so:
//
//	mux.Handle("/shop", rpc.HTTPHandler(p, func(s *rpc.Server) { s.MaxFrame = 1 << 20 }))
//
// See [Server.ServeHTTP]. For a Server that is to be shut down, use the Server itself as the
// handler.
func HTTPHandler(p *Processor, settings ...func(*Server)) http.Handler {
	s := &Server{Processor: p}
	for _, set := range settings {
		if set == nil {
			panic("nocopy: rpc.HTTPHandler with a nil function")
		}
		set(s)
	}
	s.check()
	return s
}

// ServeHTTP answers the call in a request, for routers of the program's. A Server answers calls
// over HTTP on its own connections, too, without any router.
//
// A call is a POST with a message of Thrift as its body, which may be compressed with gzip. Its
// Content-Type is application/x-thrift, for Thrift Binary or the compact protocol, or
// application/vnd.apache.thrift.binary or .compact. Another type, or none, is accepted if the body
// begins as a message does, and no browser sends it for a page of another origin. The response has
// the same type, or application/x-thrift, the status 200, and the reply as its body: also for a
// declared exception or an [ApplicationException]. It is compressed if it has 1 KiB or more, and
// the request has Accept-Encoding: gzip. To a oneway call, the response is empty and comes before
// the handler returns. Anything else is answered with a
// status of 400 or above and a text. [Header] returns the request's headers, except those that
// HTTP has a meaning of its own for, and the User-Agent of Go programs that have set none.
//
// All fields of the Server hold, except those that are about connections: IdleTimeout, KeepAlive,
// MaxConnAge and ConnContext. The router's http.Server has its own. Calls have the context of the
// request, with the values that middleware has put there. A call counts as a connection towards
// MaxConns until its handler returns, even if the client is gone. ReadTimeout is for the body,
// WriteTimeout for the response. A Server with SASL refuses all requests. Shutdown waits for the
// calls under way, and further ones are refused.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.init()
	s.check()
	x := exchange{w: w, r: r, slots: s.slots}
	x.srv, x.peer, x.stats = s, addrOf(r), s.stats
	switch {
	case s.SASL != nil:
		x.refuse(http.StatusForbidden, "this server demands a login by SASL, which HTTP does not have")
	case !s.enterHTTP():
		w.Header().Set("Connection", "close")
		x.refuse(http.StatusServiceUnavailable, "the server is being shut down")
	default:
		defer s.serving.Done()
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		defer context.AfterFunc(s.ctx, cancel)()
		x.ctx = ctx
		x.serve()
	}
}

// enterHTTP makes Shutdown wait for a request, until s.serving.Done is called. It reports false if
// the server is closing.
func (s *Server) enterHTTP() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing.Load() {
		return false
	}
	s.serving.Add(1)
	return true
}

// addrOf returns the address of a request's client.
func addrOf(r *http.Request) net.Addr {
	if a, err := netip.ParseAddrPort(r.RemoteAddr); err == nil {
		return net.TCPAddrFromAddrPort(a)
	}
	return textAddr(r.RemoteAddr)
}

// textAddr is an address that a router has made.
type textAddr string

func (textAddr) Network() string  { return "http" }
func (a textAddr) String() string { return string(a) }

// exchange is a request of HTTP with a call, and its response.
type exchange struct {
	origin
	w     http.ResponseWriter
	r     *http.Request
	slots chan struct{} // holds one value for each call that is being handled

	received bool          // the whole body
	gzip     *gzipped.Body // the body, if it is compressed
}

// serve answers the request.
func (x *exchange) serve() {
	if d := setting.Or(x.srv.ReadTimeout, setting.Timeout); d > 0 { // also for what net/http drops
		http.NewResponseController(x.w).SetReadDeadline(time.Now().Add(d))
	}
	status, text := x.unwanted()
	if status != 0 {
		x.refuse(status, text)
		return
	}
	kept := false
	defer func() { // also if a function of the program's ends the goroutine
		if !kept {
			x.gzip.End()
		}
	}()
	body, err := x.receive()
	var unwanted *notThrift
	switch {
	case errors.As(err, &unwanted):
		x.refuse(unwanted.status, unwanted.text)
		return
	case errors.Is(err, gzipped.ErrBusy):
		x.refuse(http.StatusServiceUnavailable, err.Error()+"; this call was not handled")
		return
	case errors.Is(err, web.ErrTooLong):
		x.refuse(http.StatusRequestEntityTooLarge, err.Error())
		return
	case errors.Is(err, os.ErrDeadlineExceeded):
		x.refuse(http.StatusRequestTimeout, "the body has not arrived in time")
		return
	case err != nil: // its text may have addresses of this host
		x.refuse(http.StatusBadRequest, "the body has not arrived, or is malformed")
		return
	}
	arrived := x.stats.Now()
	select {
	case x.slots <- struct{}{}:
	case <-x.ctx.Done():
		body.Release()
		x.refuse(http.StatusServiceUnavailable, "too many calls are under way")
		return
	}
	defer func() {
		if !kept {
			<-x.slots
		}
	}()
	kept = x.call(body, arrived)
}

// unwanted returns the status and the text for a request whose body need not be read; else 0.
func (x *exchange) unwanted() (status int, text string) {
	if x.r.Method != http.MethodPost {
		x.w.Header().Set("Allow", http.MethodPost)
		return http.StatusMethodNotAllowed, "this is a Thrift service: calls are made by POST"
	}
	if e := gzipped.Encoding(x.r.Header); e != "" && e != "gzip" {
		x.w.Header().Set("Accept-Encoding", "gzip")
		return http.StatusUnsupportedMediaType, "a call can be compressed with gzip only"
	}
	return 0, ""
}

// notThrift is the error of a body that does not begin as a message.
type notThrift struct {
	status int
	text   string
}

func (e *notThrift) Error() string { return e.text }

// checkType returns an error, perhaps a *notThrift, if a body that is not declared as Thrift does
// not begin as a message. Browsers ask before they send what is declared as Thrift for a page of
// another origin, and are refused; the other types they send at once.
func (x *exchange) checkType(body *bufio.Reader) error {
	first, err := body.Peek(web.MaxText)
	switch t := web.MediaType(x.r.Header.Get("Content-Type")); {
	case message.Begins(first):
		if new(http.CrossOriginProtection).Check(x.r) != nil {
			return &notThrift{http.StatusForbidden, "a page of another origin can call this service only with the Content-Type " + web.Thrift}
		}
		return nil
	case err != nil && err != io.EOF:
		return err
	case t == web.JSON:
		return &notThrift{http.StatusUnsupportedMediaType, "Thrift's JSON is not served: use " + web.Thrift + " with the binary or the compact protocol"}
	}
	return &notThrift{http.StatusUnsupportedMediaType, "a call of Thrift has the Content-Type " + web.Thrift + ", or begins as a message does"}
}

func (x *exchange) limits() transport.Limits {
	return transport.LimitsOf(x.srv.MaxFrame, x.srv.Limits, "rpc.Server.MaxFrame")
}

// receive returns the body, which must arrive within ReadTimeout.
func (x *exchange) receive() (memory.Chunk, error) {
	l := x.limits()
	if n := x.r.ContentLength; n > int64(l.Frame) {
		return memory.Chunk{}, fmt.Errorf("%w: %d bytes, more than %s = %d", web.ErrTooLong, n, l.Name, l.Frame)
	}
	in, length := io.Reader(x.r.Body), x.r.ContentLength
	if gzipped.Encoding(x.r.Header) == "gzip" {
		x.gzip = x.srv.gunzips.Open(x.r.Body, l.Frame)
		in, length = x.gzip, -1
	}
	if !web.IsThrift(web.MediaType(x.r.Header.Get("Content-Type"))) {
		ahead := bufio.NewReaderSize(in, web.MaxText)
		if err := x.checkType(ahead); err != nil {
			return memory.Chunk{}, err
		}
		in = ahead
	}
	body, err := web.Receive(in, length, l, x.srv.recycle)
	if err != nil {
		return body, err
	}
	if x.gzip != nil {
		x.stats.Received(x.gzip.Received())
		x.stats.Converted(len(body.Mem))
	} else {
		x.stats.Received(len(body.Mem))
	}
	x.received = true
	http.NewResponseController(x.w).SetReadDeadline(time.Time{}) // from now on the client waits
	return body, nil
}

// call answers the call that was received as the body of the request. It reports whether the call
// has kept its slot, which ends with it.
func (x *exchange) call(body memory.Chunk, arrived time.Time) (kept bool) {
	in := transport.Receiver{Limits: x.limits(), Requests: true, Describe: x.srv.describe, Stats: x.stats}
	in.Reset(x.srv.recycle)
	h, body, err := in.Whole(body)
	switch t := web.MediaType(x.r.Header.Get("Content-Type")); {
	case err != nil && h.Size == 0:
		x.refuse(http.StatusBadRequest, err.Error())
		return false
	case t == web.Binary && h.Form == message.Compact, t == web.Compact && h.Form != message.Compact:
		body.Release()
		x.refuse(http.StatusBadRequest, "the body is not in the protocol of its Content-Type "+t)
		return false
	}
	h.Headers = web.Headers(x.r.Header)
	req := x.newRequest(h)
	m, refusal := x.methodOf(h)
	if refusal != nil {
		x.refuseCall(req, x.bareName(h.Name), refusal)
		body.Release()
		return false
	}
	req.headers = headersIn(h, body, m.Args)
	if err == nil {
		req.args, err = x.parse(m, body)
	}
	switch {
	case err != nil && (h.Type == message.Oneway || m.Oneway()): // there can't be a reply in Thrift
		req.release()
		x.refuse(http.StatusBadRequest, err.Error())
		return false
	case err != nil: // h.Name is not valid any more: it was in body
		x.srv.log(slog.LevelWarn, "call refused", "peer", x.peer, "method", m.Name, "err", err)
		x.refuseCall(req, m.Name, protocolError(err))
		return false
	}
	if req.method = m; m.Oneway() {
		x.oneway = onewayContext{x.srv.ctx, context.WithoutCancel(x.ctx)}
		x.respond(0)         // first: a router's ResponseWriter may panic
		x.srv.serving.Add(1) // it has not ended, since this request counts
		go x.handleOneway(req, arrived)
		return true
	}
	x.handle(req, arrived)
	return false
}

// refuseCall answers a call that is not handled with e. name is the method's name.
func (x *exchange) refuseCall(req *request, name string, e *ApplicationException) {
	defer req.release()
	x.stats.Refused(int32(e.Type))
	x.answer(req, e, name)
	x.reply(req)
}

// parse parses the arguments of a call of m.
func (x *exchange) parse(m *Method, body memory.Chunk) (_ *nocopy.Message, err error) {
	defer x.guard(&err)
	return thriftimpl.ParseHeld(m.Args, body, x.srv.Limits, x.srv.recycle, x.srv.Lazy || m.lazy)
}

// handle calls the handler of a request and writes the reply, also if a function of the program's
// ends the goroutine.
func (x *exchange) handle(req *request, arrived time.Time) {
	returned, failed := false, false
	defer func() {
		defer req.release()
		if !returned && !failed { // a panic on the way out has been answered
			x.answerPanic(req, "the handler has ended its goroutine, as runtime.Goexit does")
		}
		switch {
		case req.oneway(): // the response has been written
		case returned:
			x.reply(req)
		default: // net/http does not complete it
			x.w.Header().Set("Connection", "close")
			x.reply(req)
			http.NewResponseController(x.w).Flush()
		}
	}()
	defer x.stats.InFlight(-1)
	x.stats.Queued(arrived)
	x.stats.InFlight(1)
	x.callHandler(req, &failed)
	returned = true
}

// handleOneway handles a oneway call after its response: the client does not wait for it.
func (x *exchange) handleOneway(req *request, arrived time.Time) {
	defer x.srv.serving.Done()
	defer func() { <-x.slots }()
	defer x.gzip.End()
	x.handle(req, arrived)
}

// reply writes the reply of a request as the response.
func (x *exchange) reply(req *request) {
	defer func() { // handlers' goroutines may change results that they must not touch any more
		if v := recover(); v != nil {
			x.srv.conceal("reply failed", nil, x.peer, v, debug.Stack())
			panic(http.ErrAbortHandler) // the response can't be completed
		}
	}()
	for _, p := range req.sent {
		x.w.Header().Set(p.Key, p.Value)
	}
	var b chain.Batch
	if thriftimpl.AddTo(req.reply, &b, false); req.style.Form == message.Compact {
		req.encoded = transport.Encoder{Transport: transport.Unframed, Style: req.style, Stats: x.stats}.Reply(&b, nil)
		b.AddCopy(req.encoded.Bytes())
	}
	if n := b.Len(); n >= gzipped.Least && gzipped.Prefers(x.r.Header) {
		z := gzipped.NewCompressor()
		defer z.Free()
		b.Write(z)
		x.stats.Converted(n)
		b.AddCopy(z.Bytes())
		x.w.Header().Set("Content-Encoding", "gzip")
	}
	x.respond(b.Len())
	stats, err := b.Write(x.w)
	x.stats.Sent(stats)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		x.srv.log(slog.LevelWarn, "reply not sent", "peer", x.peer, "err", fmt.Errorf("it is not taken: %w", err))
	}
}

// respond begins the response to a call, with a body of n bytes.
func (x *exchange) respond(n int) {
	x.setWriteDeadline()
	header := x.w.Header()
	if t := web.MediaType(x.r.Header.Get("Content-Type")); web.IsThrift(t) {
		header.Set("Content-Type", t)
	} else {
		header.Set("Content-Type", web.Thrift)
	}
	header.Set("Content-Length", strconv.Itoa(n))
	x.w.WriteHeader(http.StatusOK)
}

// setWriteDeadline starts the time that the response may take.
func (x *exchange) setWriteDeadline() {
	if d := setting.Or(x.srv.WriteTimeout, setting.Timeout); d > 0 {
		http.NewResponseController(x.w).SetWriteDeadline(time.Now().Add(d))
	}
}

// refuse answers a request that is not handled with a status and a text.
func (x *exchange) refuse(status int, text string) {
	x.setWriteDeadline()
	x.stats.Refused(int32(ProtocolError))
	x.srv.log(slog.LevelWarn, "request refused", "peer", x.peer, "status", status, "err", text)
	if !x.received && x.r.ContentLength != 0 && x.r.ProtoMajor == 1 {
		x.w.Header().Set("Connection", "close") // else net/http awaits the body before it answers
	}
	http.Error(x.w, text, status)
}
