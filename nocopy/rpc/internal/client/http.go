package client

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/internal/compressed"
	"github.com/nocopythrift/nocopythrift/internal/memory"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/foreign"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/header"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/message"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/setting"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/socket"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/stats"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/transport"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/web"
)

// newTransport returns the http.Transport for calls.
func (o *Config) newTransport() *http.Transport {
	t := &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            o.dialHTTP,
		TLSHandshakeTimeout:    o.DialTimeout,
		ForceAttemptHTTP2:      true,
		DisableCompression:     true, // of net/http's own
		MaxConnsPerHost:        o.PoolSize,
		MaxIdleConnsPerHost:    o.MaxInFlight,
		IdleConnTimeout:        o.IdleTimeout,
		MaxResponseHeaderBytes: web.MaxHeader,
	}
	if o.TLS != nil {
		t.TLSClientConfig = o.TLS.Clone()
	}
	return t
}

// dialHTTP makes a connection for net/http, in whose goroutines nothing must panic.
func (o *Config) dialHTTP(ctx context.Context, network, addr string) (net.Conn, error) {
	ctx, cancel := setting.WithTimeout(ctx, o.DialTimeout, nil)
	defer cancel()
	var nc net.Conn
	err := errDialEnded
	socket.Survive(func() {
		defer o.recoverDial(&err)
		nc, err = o.connect(ctx, network, addr)
	})
	if err != nil {
		return nil, err
	}
	if nc = socket.Guarded(nc); o.Stats != nil {
		socket.Survive(func() { o.Stats.Conns(1) })
		nc = &countedConn{Conn: nc, stats: o.Stats}
	}
	return nc, nil
}

// countedConn tells Stats of its end.
type countedConn struct {
	net.Conn
	stats *stats.Hook
	once  sync.Once
}

func (c *countedConn) Close() error {
	c.once.Do(func() { socket.Survive(func() { c.stats.Conns(-1) }) })
	return c.Conn.Close()
}

// HTTP is a Carrier by HTTP, each call in a POST.
type HTTP struct {
	opt      Config
	url      *url.URL
	client   http.Client
	own      *http.Transport // nil: it is the program's
	inFlight chan struct{}   // holds one value for each call under way
	ctx      context.Context
	cancel   context.CancelCauseFunc
}

// NewHTTP returns an HTTP that makes calls at a URL of http or https. A PoolSize of 0 is no limit.
// Its Shared, Login and One must not be set.
func NewHTTP(to *url.URL, o Config) *HTTP {
	c := &HTTP{opt: o, url: to, inFlight: make(chan struct{}, o.MaxInFlight)}
	c.ctx, c.cancel = context.WithCancelCause(context.Background())
	c.opt.begin()
	c.opt.inflated = compressed.NewBudget(c.opt.receives().Frame, nil) // calls end their waits
	if o.HTTPClient != nil {
		c.client = *o.HTTPClient
		c.client.Transport = &httpTransport{c.client.Transport, true, c.opt.statusError}
	} else {
		c.own = c.opt.newTransport()
		c.client.Transport = &httpTransport{c.own, false, c.opt.statusError}
		c.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	}
	return c
}

// Close makes calls fail with ErrClosed, and closes idle connections.
func (c *HTTP) Close() error {
	c.cancel(ErrClosed)
	if c.own != nil {
		c.own.CloseIdleConnections()
	}
	return nil
}

// HasHeaders reports that HTTP has a place for headers.
func (c *HTTP) HasHeaders() bool { return true }

// Enter waits until there are fewer calls in flight than allowed, and counts one more.
func (c *HTTP) Enter(ctx context.Context, returned <-chan struct{}) error {
	if c.ctx.Err() != nil {
		return ErrClosed
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	select {
	case c.inFlight <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-returned:
		return ErrReturned
	case <-c.ctx.Done():
		return ErrClosed
	}
}

// Leave ends the count of a call that has entered.
func (c *HTTP) Leave() { <-c.inFlight }

// Carry sends a call in a request and returns the reply in the response.
func (c *HTTP) Carry(ctx context.Context, returned <-chan struct{}, call Call) (Reply, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(c.ctx, func() { cancel(ErrClosed) })()
	if returned != nil {
		go func() {
			select {
			case <-returned:
				cancel(ErrReturned)
			case <-ctx.Done():
			}
		}()
	}
	c.opt.Stats.Queued(call.Began)
	p := c.opt.newPending(&call)
	defer p.recycle()
	var b chain.Batch
	p.encodeAlone(&b, c.opt.Style.Form, c.opt.Stats)
	sent, response, err := c.post(ctx, cancel, &b, call.Headers)
	if err != nil {
		return Reply{}, err
	}
	if !c.opt.answered.Load() {
		c.opt.answered.Store(true)
	}
	defer sent.end() // before p is recycled, and args are the caller's again
	defer response.Body.Close()
	sent.answering(false)
	response.Body = &watchedBody{response.Body, sent}
	var z *compressed.Body
	if compressed.Encoding(response.Header) == "gzip" {
		z = compressed.Room{
			Budget: c.opt.inflated, Most: c.opt.receives().Frame, Wait: max(c.opt.StallTimeout, 0),
			Stop: func() bool { return ctx.Err() != nil }, Growth: transport.Growth,
		}.Open(response.Body, response.ContentLength)
		defer z.End()
		response.Body = struct {
			io.Reader
			io.Closer
		}{z, response.Body}
		response.ContentLength = -1
	}
	reply, err := c.receive(&call.Method, response, z)
	if err != nil && context.Cause(ctx) != nil {
		err = sent.failure(ctx, err)
	}
	return reply, err
}

// maxHTTPTries is how often a call is sent at most, if its server has certainly not handled it.
// The pauses between tries are those of net/http for refused streams, but shorter: a new
// connection refuses calls until it has told how many it takes.
const maxHTTPTries = 7

// post sends the call in b and returns the response. It sends a call again that the server has
// certainly not handled, if no code of the program has seen it. ends ends the call's context.
// The caller must end the httpCall before b's memory is used for something else.
func (c *HTTP) post(ctx context.Context, ends func(error), b *chain.Batch, headers header.List) (call *httpCall, response *http.Response, err error) {
	defer func() {
		if response == nil { // a Transport may have panicked
			call.end()
		}
	}()
	size := b.Len()
	pieces := b.AppendPieces(nil)
	for try := 1; ; try++ {
		call = &httpCall{size: size, stall: c.opt.StallTimeout, ends: ends, pieces: pieces}
		response, err = c.client.Do(c.request(ctx, call, headers))
		if call.sent.Load() {
			c.opt.Stats.Sent(memory.Stats{Bytes: call.size, Pieces: 1}) // net/http copies
		}
		if err == nil {
			return call, response, nil
		}
		call.end() // first: net/http may be about to read it
		if err = call.failure(ctx, c.advised(err)); try == maxHTTPTries || !call.again || !pauseHTTP(ctx, try) {
			return call, nil, err
		}
	}
}

// pauseHTTP waits before the next try. It reports false if ctx ends first.
func pauseHTTP(ctx context.Context, tries int) bool {
	if tries == 1 {
		return true
	}
	d := 20 * time.Millisecond << (tries - 2)
	timer := time.NewTimer(d/2 + rand.N(d/2))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// request returns the request with a call and its headers.
func (c *HTTP) request(ctx context.Context, call *httpCall, headers header.List) *http.Request {
	body, _ := call.open()
	to := *c.url // a RoundTripper may change it
	r := &http.Request{
		Method: http.MethodPost, URL: &to, Host: c.url.Host, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header:        http.Header{"Content-Type": {web.Thrift}, "Accept": {web.Thrift}, "Accept-Encoding": {"identity, gzip;q=0.5"}},
		ContentLength: int64(call.size), Body: body,
	}
	if c.own == nil {
		r.GetBody = call.open // for redirects, and Transports of the program
	}
	for _, p := range headers {
		r.Header.Set(p.Key, p.Value)
	}
	return r.WithContext(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn:              func(info httptrace.GotConnInfo) { call.reused.Store(info.Reused) },
		GotFirstResponseByte: func() { call.answering(true) },
		Got1xxResponse: func(int, textproto.MIMEHeader) error { // the server may take its time again
			call.answering(false)
			return nil
		},
	}))
}

// receive returns the reply in a response. z is its body, nil if it is not compressed. The error
// is the call's.
func (c *HTTP) receive(m *Method, r *http.Response, z *compressed.Body) (Reply, error) {
	oneway := m.IsOneway() && r.StatusCode/100 == 2 // 202 or 204 are as good
	if r.StatusCode != http.StatusOK && !oneway {
		return Reply{}, c.opt.failedStatus(r)
	}
	if oneway {
		io.CopyN(io.Discard, r.Body, web.MaxText) // for the connection to be used again
		return Reply{}, nil
	}
	bad := func(err error) (Reply, error) { return Reply{}, BadReply(err) }
	if e := compressed.Encoding(r.Header); e != "" && z == nil {
		return bad(fmt.Errorf("it is compressed (%q), which was not asked for", e))
	}
	body := io.Reader(r.Body)
	if t := r.Header.Get("Content-Type"); t != "" && !web.IsThrift(web.MediaType(t)) {
		ahead := bufio.NewReaderSize(r.Body, web.MaxText)
		if first, _ := ahead.Peek(web.MaxText); !message.Begins(first) {
			return bad(fmt.Errorf("its Content-Type is %q instead of %s: %s", t, web.Thrift, textIn(first)))
		}
		body = ahead
	}
	l := c.opt.receives()
	if n := r.ContentLength; n > int64(l.Frame) {
		return bad(fmt.Errorf("%w: %d bytes, more than %s = %d", nocopy.ErrLimit, n, l.Name, l.Frame))
	}
	chunk, err := web.Receive(body, r.ContentLength, l, c.opt.Recycle)
	switch {
	case errors.Is(err, web.ErrTooLong):
		return bad(fmt.Errorf("%w: %w", nocopy.ErrLimit, err))
	case errors.Is(err, compressed.ErrBusy), z != nil && isBadGzip(err):
		return bad(err)
	case err != nil:
		return Reply{}, fmt.Errorf("%w: %w", ErrConnLost, err)
	}
	if z != nil {
		c.opt.Stats.Received(z.Received())
		c.opt.Stats.Converted(len(chunk.Mem))
	} else {
		c.opt.Stats.Received(len(chunk.Mem))
	}
	h, rest, err := c.opt.whole(m, chunk, c.opt.Stats)
	z.Settle(int64(len(rest.Mem)))
	switch {
	case err != nil:
		return Reply{}, err
	case (h.Form == message.Compact) != (c.opt.Style.Form == message.Compact):
		rest.Release()
		return bad(fmt.Errorf("%w: it is in another protocol than the call", message.ErrVersion))
	}
	return Reply{h.Type, string(h.Name) == m.Name, web.Headers(r.Header), rest}, nil
}

// isBadGzip reports whether err is of bytes that are not gzip.
func isBadGzip(err error) bool {
	var corrupt flate.CorruptInputError
	return errors.Is(err, gzip.ErrHeader) || errors.Is(err, gzip.ErrChecksum) || errors.As(err, &corrupt)
}

// httpText returns the beginning of a response's text. A 101 has none: its Body is the connection,
// from which reading does not end with the call's context.
func httpText(r *http.Response) string {
	if r.StatusCode == http.StatusSwitchingProtocols {
		return ""
	}
	b, _ := io.ReadAll(io.LimitReader(r.Body, web.MaxText))
	return textIn(b)
}

// textIn returns a text in UTF-8.
func textIn(b []byte) string { return strings.TrimSpace(strings.ToValidUTF8(string(b), "?")) }

// statusError returns the error of a response of another status than 200.
func (o *Config) statusError(r *http.Response) error {
	if to := r.Header.Get("Location"); to != "" {
		return o.StatusError(r.StatusCode, "to "+foreign.Shortened(to, web.MaxText/2))
	}
	return o.StatusError(r.StatusCode, httpText(r))
}

// failedStatus returns the error of a call with a response of another status than 200.
func (o *Config) failedStatus(r *http.Response) error {
	err := o.statusError(r)
	switch {
	case r.StatusCode == http.StatusServiceUnavailable && r.Header.Get(web.NotHandled) == "1":
		return fmt.Errorf("%w: %w", ErrNotHandled, err)
	case r.StatusCode == http.StatusBadGateway, r.StatusCode == http.StatusServiceUnavailable, r.StatusCode == http.StatusGatewayTimeout:
		return fmt.Errorf("%w: %w", ErrConnLost, err)
	}
	return err
}
