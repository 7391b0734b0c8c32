package rpc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/header"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/message"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/socket"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/stats"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/transport"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// DialHTTP returns a client that makes calls over HTTP, each with a POST to url, as Apache's
// THttpClient does. It does not connect before the first call: an error is about the url, which
// begins with http:// or https://. The Caller is an io.Closer, too. Close ends calls under way
// with ErrClientClosed.
//
// The client speaks HTTP/1.1, and HTTP/2 over TLS if the server does. It uses the proxy that the
// environment names, as [http.ProxyFromEnvironment] does, and follows no redirects. Connections
// are not bound to calls. A call is not sent again unless net/http knows that nothing of it was
// sent. Replies must not be compressed. [HTTPClient] makes it use another http.Client, with tokens
// for example.
//
// These options hold: Interceptors, Deadlines, MaxInFlight, MaxFrame, Limits, Recycle, Lazy,
// LazyMethods, Logger, *Stats, and StallTimeout, which limits how long a part of the call or of
// the reply takes. Without HTTPClient also TLS, Dialer, DialTimeout, KeepAlive, IdleTimeout, and
// PoolSize, where 0 means no limit: over HTTP/1.1, a connection has one call at a time. Other
// options panic.
//
// Calls return the same errors as a Client's. If the status is not 200, there is an [HTTPError].
func DialHTTP(url string, opts ...Option) (Caller, error) {
	c := &httpClient{opt: settingsOf(opts)}
	c.opt.checkHTTP()
	if err := c.setURL(url); err != nil {
		return nil, err
	}
	c.ctx, c.cancel = context.WithCancelCause(context.Background())
	poolSize := max(c.opt.poolSize, 0)
	c.opt.setDefaults()
	if c.client = c.opt.httpClient; c.client == nil {
		c.own = c.opt.newTransport(poolSize)
		c.client = &http.Client{Transport: c.own, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	}
	c.inFlight = make(chan struct{}, c.opt.maxInFlight)
	c.calls = callsBy(c, c.opt.interceptors)
	return c, nil
}

// HTTPClient makes DialHTTP use c, with its Transport, redirects, cookies and Timeout. Use it for
// tokens: a Transport adds them to each request. Several callers may share c; closing them does
// not close its connections. c must not be nil.
func HTTPClient(c *http.Client) Option {
	if c == nil {
		panic("nocopy: rpc.HTTPClient without a Client")
	}
	return optionFunc(func(o *options) { o.httpClient = c })
}

// HTTPError is the error of a call over HTTP that was answered with another status than 200. With
// the statuses 502, 503 and 504, which are a gateway's, the error of the call also wraps
// ErrConnLost: the server may have handled the call.
type HTTPError struct {
	Status int    // such as 404
	Text   string // the first bytes of the answer's text, at most 1 KiB
}

// Error returns the status and the text.
func (e *HTTPError) Error() string {
	text := fmt.Sprintf("HTTP status %d %s", e.Status, http.StatusText(e.Status))
	if e.Text != "" {
		text += ": " + e.Text
	}
	return text
}

// checkHTTP panics if there are settings that mean nothing over HTTP.
func (o *options) checkHTTP() {
	refuse := func(is bool, option, why string) {
		if is {
			panic("nocopy: rpc.DialHTTP with rpc." + option + ": " + why)
		}
	}
	refuse(o.transport != transport.Framed, "Unframed", "a request of HTTP holds one message")
	refuse(o.style.THeader != nil, "THeader", "HTTP has headers of its own")
	refuse(o.login != nil, "SASL", "HTTP has logins of its own")
	refuse(o.shared != 0, "SharedMemory", "it needs a unix socket of its own")
	refuse(o.maxShared != 0, "MaxShared", "there is no shared memory")
	refuse(o.one, "OneConnection", "net/http decides which connection is used")
	refuse(o.maxConnAge != 0, "MaxConnAge", "net/http decides how long a connection is used")
	if o.httpClient != nil {
		const why = "the http.Client makes the connections"
		refuse(o.tls != nil, "TLS", why)
		refuse(o.dial != nil, "Dialer", why)
		refuse(o.dialTimeout != 0, "DialTimeout", why)
		refuse(o.keepAlive != net.KeepAliveConfig{}, "KeepAlive", why)
		refuse(o.idleTimeout != 0, "IdleTimeout", why)
		refuse(o.poolSize != 0, "PoolSize", why)
	}
}

// newTransport returns the http.Transport for calls. It makes at most poolSize connections; 0 is
// no limit.
func (o *options) newTransport(poolSize int) *http.Transport {
	t := &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            o.dialHTTP,
		TLSHandshakeTimeout:    o.dialTimeout,
		ForceAttemptHTTP2:      true,
		DisableCompression:     true,
		MaxConnsPerHost:        poolSize,
		MaxIdleConnsPerHost:    o.maxInFlight,
		IdleConnTimeout:        o.idleTimeout,
		MaxResponseHeaderBytes: maxHTTPHeader,
	}
	if o.tls != nil {
		t.TLSClientConfig = o.tls.Clone()
	}
	return t
}

// dialHTTP makes a connection for net/http, in whose goroutines nothing must panic.
func (o *options) dialHTTP(ctx context.Context, network, addr string) (net.Conn, error) {
	ctx, cancel := withTimeout(ctx, o.dialTimeout, nil)
	defer cancel()
	var nc net.Conn
	err := errDialEnded
	socket.Survive(func() {
		defer o.recoverDial(&err)
		nc, err = (&Client{opt: *o, network: network, addr: addr}).connect(ctx)
	})
	if err != nil {
		return nil, err
	}
	if nc = socket.Guarded(nc); o.stats != nil {
		socket.Survive(func() { o.stats.Conns(1) })
		nc = &countedConn{Conn: nc, stats: o.stats}
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

// httpClient is a Caller over HTTP.
type httpClient struct {
	calls
	opt      options
	url      *url.URL
	client   *http.Client
	own      *http.Transport // nil: it is the program's
	inFlight chan struct{}   // holds one value for each call under way
	ctx      context.Context
	cancel   context.CancelCauseFunc
}

func (c *httpClient) setURL(s string) (err error) {
	if c.url, err = url.Parse(s); err != nil {
		return fmt.Errorf("rpc.DialHTTP: %w", err)
	}
	if c.url.Scheme != "http" && c.url.Scheme != "https" || c.url.Host == "" {
		return fmt.Errorf("rpc.DialHTTP: %q is not a URL of http or https", s)
	}
	return nil
}

// Close makes calls fail with ErrClientClosed, and closes idle connections.
func (c *httpClient) Close() error {
	c.cancel(ErrClientClosed)
	if c.own != nil {
		c.own.CloseIdleConnections()
	}
	return nil
}

// enter waits until there are fewer calls in flight than allowed, and counts one more.
func (c *httpClient) enter(ctx context.Context) error {
	if c.ctx.Err() != nil { // ctx may not know yet
		return ErrClientClosed
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	select {
	case c.inFlight <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (c *httpClient) send(ctx context.Context, returned <-chan struct{}, m *Method, args nocopy.Struct, fields []sentField) (result nocopy.Struct, x extras, err error) {
	result = thriftimpl.Absent()
	began := c.opt.stats.Now()
	if x, err = extrasOf(ctx, m, fields, true); err != nil {
		return result, x, callError(m, err)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(c.ctx, func() { cancel(ErrClientClosed) })()
	if returned != nil {
		go func() {
			select {
			case <-returned:
				cancel(errReturned)
			case <-ctx.Done():
			}
		}()
	}
	if err := c.enter(ctx); err != nil {
		return result, x, callError(m, err)
	}
	defer func() { <-c.inFlight }()
	defer c.opt.stats.InFlight(-1) // first: the next call counts when it has the place
	c.opt.stats.InFlight(1)
	c.opt.stats.Queued(began)

	p := newPending(m, args, &x)
	defer p.recycle()
	var b chain.Batch
	p.encodeAlone(&b, c.opt.style.Form, c.opt.stats)
	call := &httpCall{size: b.Len(), stall: c.opt.stallTimeout, ends: cancel, pieces: b.AppendPieces(nil)}
	defer call.end() // before p is recycled, and args are the caller's again
	response, err := c.client.Do(c.request(ctx, call, x.list))
	if call.sent.Load() {
		c.opt.stats.Sent(chain.Stats{Bytes: call.size, Pieces: 1}) // net/http copies
	}
	if err != nil {
		return result, x, callError(m, call.failure(ctx, err))
	}
	defer response.Body.Close()
	call.answering(false)
	response.Body = &watchedBody{response.Body, call}
	reply, err := c.receive(m, response)
	switch {
	case err != nil && context.Cause(ctx) != nil:
		return result, x, callError(m, call.failure(ctx, err))
	case err != nil || m.Oneway():
		return result, x, err
	}
	result, err = c.opt.result(m, reply, len(x.wanted) > 0, &x.got)
	return result, x, err
}

// request returns the request with a call and its headers.
func (c *httpClient) request(ctx context.Context, call *httpCall, headers header.List) *http.Request {
	body, _ := call.open()
	to := *c.url // a RoundTripper may change it
	r := &http.Request{
		Method: http.MethodPost, URL: &to, Host: c.url.Host, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header:        http.Header{"Content-Type": {typeThrift}, "Accept": {typeThrift}},
		ContentLength: int64(call.size), Body: body, GetBody: call.open,
	}
	if c.own == nil {
		r.Header["Accept-Encoding"] = []string{"identity"} // else net/http might ask for another one
	}
	for _, p := range headers {
		r.Header[requestKey(p.Key)] = []string{p.Value}
	}
	return r.WithContext(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotFirstResponseByte: func() { call.answering(true) },
		Got1xxResponse: func(int, textproto.MIMEHeader) error { // the server may take its time again
			call.answering(false)
			return nil
		},
	}))
}

// requestKey returns the key of a header in a request. net/http sends a POST again if it finds one
// of two keys, even if the server may have handled it. It looks for them only in their canonical
// form; to servers, the case makes no difference.
func requestKey(key string) string {
	switch key = textproto.CanonicalMIMEHeaderKey(key); key {
	case "Idempotency-Key", "X-Idempotency-Key":
		return strings.ToLower(key)
	}
	return key
}

// receive returns the reply in a response. Its error is the call's.
func (c *httpClient) receive(m *Method, r *http.Response) (receivedReply, error) {
	oneway := m.Oneway() && r.StatusCode/100 == 2 // 202 or 204 are as good
	if r.StatusCode != http.StatusOK && !oneway {
		return receivedReply{}, statusError(m, r)
	}
	if oneway {
		io.CopyN(io.Discard, r.Body, maxHTTPText) // for the connection to be used again
		return receivedReply{}, nil
	}
	bad := func(err error) (receivedReply, error) { return receivedReply{}, badReply(m, err) }
	if e := r.Header.Get("Content-Encoding"); e != "" && e != "identity" {
		return bad(fmt.Errorf("it is compressed (%q), which was not asked for", e))
	}
	if t := r.Header.Get("Content-Type"); t != "" && !isThrift(mediaType(t)) {
		return bad(fmt.Errorf("its Content-Type is %q instead of %s: %s", t, typeThrift, httpText(r)))
	}
	l := c.opt.receives()
	if n := r.ContentLength; n > int64(l.Frame) {
		return bad(fmt.Errorf("%w: %d bytes, more than %s = %d", nocopy.ErrLimit, n, l.Name, l.Frame))
	}
	chunk, err := receiveBody(r.Body, r.ContentLength, l, c.opt.recycle)
	switch {
	case errors.Is(err, errTooLong):
		return bad(fmt.Errorf("%w: %w", nocopy.ErrLimit, err))
	case err != nil:
		return receivedReply{}, callError(m, fmt.Errorf("%w: %w", ErrConnLost, err))
	}
	c.opt.stats.Received(len(chunk.Mem))
	h, body, err := c.opt.whole(m, chunk, c.opt.stats)
	switch {
	case err != nil:
		return receivedReply{}, err
	case (h.Form == message.Compact) != (c.opt.style.Form == message.Compact):
		body.Release()
		return bad(fmt.Errorf("%w: it is in another protocol than the call", ErrVersion))
	}
	return receivedReply{h.Type, string(h.Name) == m.Name, headersOfHTTP(r.Header), body}, nil
}

// maxHTTPText is the most bytes of a text that an error has, and that are read for it.
const maxHTTPText = 1 << 10

// httpText returns the beginning of a response's text.
func httpText(r *http.Response) string {
	b, _ := io.ReadAll(io.LimitReader(r.Body, maxHTTPText))
	return strings.TrimSpace(strings.ToValidUTF8(string(b), "?"))
}

// statusError returns the error of a call of m with a response of another status than 200.
func statusError(m *Method, r *http.Response) error {
	e := &HTTPError{r.StatusCode, httpText(r)}
	if to := r.Header.Get("Location"); to != "" {
		e.Text = "to " + loggedText(to, maxHTTPText/2)
	}
	switch r.StatusCode {
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return callError(m, fmt.Errorf("%w: %w", ErrConnLost, e))
	}
	return callError(m, e)
}

// httpCall is a call whose bytes net/http reads, perhaps several times, and perhaps after the call
// has returned.
type httpCall struct {
	size  int
	stall time.Duration // 0: no limit
	timer *time.Timer   // ends the call; nil if it has never been needed
	ends  func(error)
	sent  atomic.Bool // the latest reader was read to its end

	mu     sync.Mutex
	pieces [][]byte // nil when the call has returned: they may be used for something else
	header bool     // the response's header has begun to arrive
}

// errStalled is why a call has ended whose bytes were not taken, or whose reply did not go on.
var errStalled = fmt.Errorf("the server has stalled: %w", os.ErrDeadlineExceeded)

// end makes readers fail.
func (c *httpCall) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pieces = nil
	c.expect(false)
}

// answering notes whether a response has begun whose header is not complete.
func (c *httpCall) answering(is bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pieces != nil {
		c.header = is
		c.expect(is)
	}
}

// expect starts the time of StallTimeout, or ends it. c.mu is held.
func (c *httpCall) expect(more bool) {
	switch {
	case c.timer != nil && !more:
		c.timer.Stop()
	case c.timer != nil:
		c.timer.Reset(c.stall)
	case more && c.stall > 0:
		c.timer = time.AfterFunc(c.stall, func() { c.ends(errStalled) })
	}
}

// failure returns the error of a call that has failed with err, without a reply that can be used.
func (c *httpCall) failure(ctx context.Context, err error) error {
	switch cause := context.Cause(ctx); {
	case cause == nil:
	case cause == errStalled:
		err = cause
	default:
		return cause
	}
	var op *net.OpError
	if !c.sent.Load() || errors.As(err, &op) && op.Op == "dial" {
		return fmt.Errorf("%w: %w", ErrNotSent, err)
	}
	return fmt.Errorf("%w: %w", ErrConnLost, err)
}

// open returns a reader of the call's bytes. If net/http opens a second one, the server has
// handled none of the bytes that the first has read.
func (c *httpCall) open() (io.ReadCloser, error) {
	c.sent.Store(false)
	return &httpCallReader{of: c}, nil
}

// httpCallReader reads a call's bytes. It is for one goroutine at a time.
type httpCallReader struct {
	of        *httpCall
	piece, at int // the next byte to read
}

func (r *httpCallReader) Read(b []byte) (n int, err error) {
	r.of.mu.Lock()
	defer r.of.mu.Unlock()
	if r.of.pieces == nil {
		return 0, errReturned
	}
	if r.piece == len(r.of.pieces) { // asked again, perhaps while the reply is being read
		return 0, io.EOF
	}
	for r.piece < len(r.of.pieces) && n < len(b) {
		mem := r.of.pieces[r.piece][r.at:]
		copied := copy(b[n:], mem)
		n += copied
		if r.at += copied; copied == len(mem) {
			r.piece, r.at = r.piece+1, 0
		}
	}
	more := r.piece < len(r.of.pieces)
	r.of.expect(more || r.of.header)
	if !more {
		r.of.sent.Store(true)
		return n, io.EOF
	}
	return n, nil
}

func (*httpCallReader) Close() error { return nil }

// watchedBody is a response's body. Reading it ends the call when the server stalls.
type watchedBody struct {
	io.ReadCloser
	of *httpCall
}

func (r *watchedBody) Read(b []byte) (int, error) {
	r.of.mu.Lock()
	r.of.expect(true)
	r.of.mu.Unlock()
	n, err := r.ReadCloser.Read(b)
	r.of.mu.Lock()
	r.of.expect(false)
	r.of.mu.Unlock()
	return n, err
}
