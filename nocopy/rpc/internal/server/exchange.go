package server

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
	"github.com/nocopythrift/nocopythrift/internal/compressed"
	"github.com/nocopythrift/nocopythrift/internal/memory"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/impl"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/message"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/setting"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/transport"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/web"
)

// ServeHTTP answers the call in a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := exchange{w: w, r: r, slots: s.slots}
	x.srv, x.Peer, x.Stats = s, addrOf(r), s.Stats
	switch {
	case s.SASL != nil:
		x.refuse(http.StatusForbidden, "this server demands a login by SASL, which HTTP does not have")
	case !s.enter():
		w.Header().Set("Connection", "close")
		x.refuse(http.StatusServiceUnavailable, "the server is being shut down")
	default:
		defer s.serving.Done()
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		defer context.AfterFunc(s.ctx, cancel)()
		x.Ctx = ctx
		x.serve()
	}
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
	Origin
	w     http.ResponseWriter
	r     *http.Request
	slots chan struct{} // holds one value for each call that is being handled

	received bool             // the whole body
	gzip     *compressed.Body // the body, if it is compressed
}

// serve answers the request.
func (x *exchange) serve() {
	if d := setting.Or(x.srv.ReadTimeout, setting.Timeout); d > 0 { // also for what net/http drops
		http.NewResponseController(x.w).SetReadDeadline(time.Now().Add(d))
	}
	if status, text := x.unwanted(); status != 0 {
		x.refuse(status, text)
		return
	}
	kept := false
	defer func() { // also if a function of the program ends the goroutine
		if !kept {
			x.gzip.End()
		}
	}()
	body, err := x.receive()
	if err != nil {
		x.refuse(refusalOf(err))
		return
	}
	arrived := x.Stats.Now()
	select {
	case x.slots <- struct{}{}:
	case <-x.Ctx.Done():
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

// refusalOf returns the status and the text for a request whose body can't be received.
func refusalOf(err error) (status int, text string) {
	var unwanted *notThrift
	switch {
	case errors.As(err, &unwanted):
		return unwanted.status, unwanted.text
	case errors.Is(err, compressed.ErrBusy):
		return http.StatusServiceUnavailable, err.Error() + message.NotHandled
	case errors.Is(err, web.ErrTooLong):
		return http.StatusRequestEntityTooLarge, err.Error()
	case errors.Is(err, os.ErrDeadlineExceeded):
		return http.StatusRequestTimeout, "the body has not arrived in time"
	}
	// The text of err may have addresses of this host
	return http.StatusBadRequest, "the body has not arrived, or is malformed"
}

// unwanted returns the status and the text for a request whose body need not be read; else 0.
func (x *exchange) unwanted() (status int, text string) {
	if x.r.Method != http.MethodPost {
		x.w.Header().Set("Allow", http.MethodPost)
		return http.StatusMethodNotAllowed, "this is a Thrift service: calls are made by POST"
	}
	if e := compressed.Encoding(x.r.Header); e != "" && e != "gzip" {
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
	if compressed.Encoding(x.r.Header) == "gzip" {
		x.gzip = compressed.Room{
			Budget: x.srv.inflated, Most: l.Frame, Wait: max(setting.Or(x.srv.ReadTimeout, setting.Timeout), 0),
			Stop: func() bool { return x.r.Context().Err() != nil }, Growth: transport.Growth,
		}.Open(x.r.Body, length)
		in, length = x.gzip, -1
	}
	if !web.IsThrift(web.MediaType(x.r.Header.Get("Content-Type"))) {
		ahead := bufio.NewReaderSize(in, web.MaxText)
		if err := x.checkType(ahead); err != nil {
			return memory.Chunk{}, err
		}
		in = ahead
	}
	body, err := web.Receive(in, length, l, x.srv.Recycle)
	if err != nil {
		return body, err
	}
	if x.gzip != nil {
		x.Stats.Received(x.gzip.Received())
		x.Stats.Converted(len(body.Mem))
	} else {
		x.Stats.Received(len(body.Mem))
	}
	x.received = true
	http.NewResponseController(x.w).SetReadDeadline(time.Time{}) // from now on the client waits
	return body, nil
}

// call answers the call that was received as the body of the request. It reports whether the call
// has kept its slot, which ends with it.
func (x *exchange) call(body memory.Chunk, arrived time.Time) (kept bool) {
	in := transport.Receiver{Limits: x.limits(), Requests: true, Describe: x.srv.Calls.Descriptor, Stats: x.Stats}
	in.Reset(x.srv.Recycle)
	h, body, err := in.Whole(body)
	x.gzip.Settle(int64(len(body.Mem)))
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
	req, refusal := x.srv.Calls.Begin(&x.Origin, h)
	if refusal != nil {
		if !h.IsRequest() {
			x.logRefused(req.Name, refusal)
		}
		body.Release()
		x.refuseCall(req, refusal)
		return false
	}
	req.Call.Head(h.Headers, body)
	if err == nil {
		n := len(body.Mem)
		var args *nocopy.Message
		if args, err = x.parse(req, body); err == nil {
			x.gzip.Settle(int64(n + impl.IndexSize(args)))
		}
	}
	switch {
	case err != nil && req.isOneway(h.Type): // there can't be a reply in Thrift
		req.release()
		x.refuse(http.StatusBadRequest, err.Error())
		return false
	case err != nil:
		x.logRefused(req.Name, err)
		x.refuseCall(req, err)
		return false
	}
	if !x.admitted(req) {
		return false
	}
	if req.Oneway {
		x.Oneway = onewayContext{x.srv.ctx, context.WithoutCancel(x.Ctx)}
		defer func() { // a router's ResponseWriter may panic
			if !kept {
				req.release()
			}
		}()
		x.respond(0)
		x.srv.serving.Add(1) // it has not ended, since this request counts
		go x.handleOneway(req, arrived)
		return true
	}
	x.handle(req, arrived)
	return false
}

// admitted gives a call a place among those that are handled, for which it may have to wait. If it
// must not be handled, admitted answers it, releases it and reports false.
func (x *exchange) admitted(req *Request) (is bool) {
	defer func() { // also if a function of Stats ends the goroutine
		if !is {
			req.release()
		}
	}()
	if err := x.admit(x.Ctx, req); err != nil {
		req.Call.Refused(err)
		x.answer(http.StatusServiceUnavailable, err.Error())
		return false
	}
	return true
}

// refuseCall answers a call that is not handled because of err.
func (x *exchange) refuseCall(req *Request, err error) {
	defer req.release()
	req.Call.Refused(err)
	req.Call.Answer(err)
	x.reply(req)
}

// handle calls the handler of a request and writes the reply, also if a function of the program
// ends the goroutine.
func (x *exchange) handle(req *Request, arrived time.Time) {
	returned := false
	defer func() {
		defer req.release()
		if !returned && !req.Failed { // a panic on the way out has been answered
			req.Call.Panicked("the handler has ended its goroutine, as runtime.Goexit does")
		}
		switch {
		case req.Oneway: // the response has been written
		case returned:
			x.reply(req)
		default: // net/http does not complete it
			x.w.Header().Set("Connection", "close")
			x.reply(req)
			http.NewResponseController(x.w).Flush()
		}
	}()
	defer req.leave()
	defer x.Stats.InFlight(-1)
	x.Stats.Queued(arrived)
	x.Stats.InFlight(1)
	req.Call.Handle()
	returned = true
}

// handleOneway handles a oneway call after its response: the client does not wait for it.
func (x *exchange) handleOneway(req *Request, arrived time.Time) {
	defer x.srv.serving.Done()
	defer func() { <-x.slots }()
	defer x.gzip.End()
	x.handle(req, arrived)
}

// reply writes the reply of a request as the response.
func (x *exchange) reply(req *Request) {
	defer func() { // handlers' goroutines may change results that they must not touch any more
		if v := recover(); v != nil {
			x.srv.Conceal("reply failed", x.Peer, v, debug.Stack())
			panic(http.ErrAbortHandler) // the response can't be completed
		}
	}()
	for _, p := range req.Sent {
		x.w.Header().Set(p.Key, p.Value)
	}
	var b chain.Batch
	if impl.AddTo(req.Reply, &b, false); req.Style.Form == message.Compact {
		req.encoded = transport.Encoder{Transport: transport.Unframed, Style: req.Style, Stats: x.Stats}.Reply(&b, nil)
		b.AddCopy(req.encoded.Bytes())
	}
	if n := b.Len(); n >= compressed.Least && compressed.Prefers(x.r.Header) {
		z := compressed.NewCompressor()
		defer z.Free()
		b.Write(z)
		x.Stats.Converted(n)
		b.AddCopy(z.Bytes())
		x.w.Header().Set("Content-Encoding", "gzip")
	}
	x.respond(b.Len())
	stats, err := b.Write(x.w)
	x.Stats.Sent(stats)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		x.srv.Log(slog.LevelWarn, "reply not sent", "peer", x.Peer, "err", fmt.Errorf("it is not taken: %w", err))
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
	x.Stats.Refused(message.ProtocolError)
	x.srv.Log(slog.LevelWarn, "request refused", "peer", x.Peer, "status", status, "err", text)
	x.answer(status, text)
}

// answer answers a request that is not handled with a status and a text.
func (x *exchange) answer(status int, text string) {
	x.setWriteDeadline()
	if status == http.StatusServiceUnavailable {
		x.w.Header().Set(web.NotHandled, "1")
	}
	if !x.received && x.r.ContentLength != 0 && x.r.ProtoMajor == 1 {
		x.w.Header().Set("Connection", "close") // else net/http awaits the body before it answers
	}
	http.Error(x.w, text, status)
}
