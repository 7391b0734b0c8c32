package rpc

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
	"sync/atomic"
	"time"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/internal/gzipped"
	"github.com/nocopythrift/nocopythrift/internal/memory"
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
// are not bound to calls. net/http reads each call once and never sends it again. The client does,
// up to six times, if the server has certainly not handled it: a server of HTTP/2 has refused the
// call, or an idle connection ended before any of the call was read. Replies may be compressed
// with gzip. The client tells servers that it prefers others: a Transport of HTTPClient can set
// the header Accept-Encoding to gzip. A reply whose Content-Type is not Thrift's is accepted if it
// begins as a message does. [HTTPClient] makes it use another http.Client, with tokens for
// example.
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
	c.opt.answered = new(atomic.Bool)
	if c.opt.httpClient != nil {
		c.client = *c.opt.httpClient
		c.client.Transport = &httpTransport{c.client.Transport, true}
	} else {
		c.own = c.opt.newTransport(poolSize)
		c.client.Transport = &httpTransport{c.own, false}
		c.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	}
	c.inFlight = make(chan struct{}, c.opt.maxInFlight)
	c.calls = callsBy(c, c.opt.interceptors)
	return c, nil
}

// HTTPClient makes DialHTTP use a copy of c, with its Transport, redirects, cookies and Timeout.
// Use it for tokens: a Transport adds them to each request. Several callers may share c; closing
// them does not close its connections. c must not be nil.
//
// A request's body can be read once. After its first byte was read, GetBody and other readers
// return an error. A redirect is followed if it has the status 307 or 308 and no byte of the call
// was read. With an [http.Transport] that is so if requests have the header Expect: 100-continue
// and ExpectContinueTimeout is set. Each other redirect is an [HTTPError], and the error of the
// call also wraps ErrConnLost if the call was sent. A call that a server of HTTP/2 has refused
// returns ErrConnLost if the Transport is not an *http.Transport.
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
		DisableCompression:     true, // of net/http's own
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
	client   http.Client
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
	call, response, err := c.post(ctx, cancel, &b, x.list)
	if err != nil {
		return result, x, callError(m, err)
	}
	if !c.opt.answered.Load() {
		c.opt.answered.Store(true)
	}
	defer call.end() // before p is recycled, and args are the caller's again
	defer response.Body.Close()
	call.answering(false)
	response.Body = &watchedBody{response.Body, call}
	var z *gzipped.Body
	if gzipped.Encoding(response.Header) == "gzip" {
		z = new(gzipped.Budget).Open(response.Body, c.opt.receives().Frame)
		defer z.End()
		response.Body = struct {
			io.Reader
			io.Closer
		}{z, response.Body}
		response.ContentLength = -1
	}
	reply, err := c.receive(m, response, z)
	switch {
	case err != nil && context.Cause(ctx) != nil:
		return result, x, callError(m, call.failure(ctx, err))
	case err != nil || m.Oneway():
		return result, x, err
	}
	result, err = c.opt.result(m, reply, len(x.wanted) > 0, &x.got)
	return result, x, err
}

// maxHTTPTries is how often a call is sent at most, if its server has certainly not handled it.
// The pauses between tries are those of net/http for refused streams, but shorter: a new
// connection refuses calls until it has told how many it takes.
const maxHTTPTries = 7

// post sends the call in b and returns the response. It sends a call again that the server has
// certainly not handled, if no code of the program's has seen it. ends ends the call's context.
// The caller must end the httpCall before b's memory is used for something else.
func (c *httpClient) post(ctx context.Context, ends func(error), b *chain.Batch, headers header.List) (call *httpCall, response *http.Response, err error) {
	defer func() {
		if response == nil { // a Transport may have panicked
			call.end()
		}
	}()
	size := b.Len()
	pieces := b.AppendPieces(nil)
	for try := 1; ; try++ {
		call = &httpCall{size: size, stall: c.opt.stallTimeout, ends: ends, pieces: pieces}
		response, err = c.client.Do(c.request(ctx, call, headers))
		if call.sent.Load() {
			c.opt.stats.Sent(memory.Stats{Bytes: call.size, Pieces: 1}) // net/http copies
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
func (c *httpClient) request(ctx context.Context, call *httpCall, headers header.List) *http.Request {
	body, _ := call.open()
	to := *c.url // a RoundTripper may change it
	r := &http.Request{
		Method: http.MethodPost, URL: &to, Host: c.url.Host, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header:        http.Header{"Content-Type": {typeThrift}, "Accept": {typeThrift}, "Accept-Encoding": {"identity, gzip;q=0.5"}},
		ContentLength: int64(call.size), Body: body,
	}
	if c.own == nil {
		r.GetBody = call.open // for redirects, and Transports of the program's
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
func (c *httpClient) receive(m *Method, r *http.Response, z *gzipped.Body) (receivedReply, error) {
	oneway := m.Oneway() && r.StatusCode/100 == 2 // 202 or 204 are as good
	if r.StatusCode != http.StatusOK && !oneway {
		return receivedReply{}, statusError(m, r)
	}
	if oneway {
		io.CopyN(io.Discard, r.Body, maxHTTPText) // for the connection to be used again
		return receivedReply{}, nil
	}
	bad := func(err error) (receivedReply, error) { return receivedReply{}, badReply(m, err) }
	if e := gzipped.Encoding(r.Header); e != "" && z == nil {
		return bad(fmt.Errorf("it is compressed (%q), which was not asked for", e))
	}
	body := io.Reader(r.Body)
	if t := r.Header.Get("Content-Type"); t != "" && !isThrift(mediaType(t)) {
		ahead := bufio.NewReaderSize(r.Body, maxHTTPText)
		if first, _ := ahead.Peek(maxHTTPText); !message.Begins(first) {
			return bad(fmt.Errorf("its Content-Type is %q instead of %s: %s", t, typeThrift, textIn(first)))
		}
		body = ahead
	}
	l := c.opt.receives()
	if n := r.ContentLength; n > int64(l.Frame) {
		return bad(fmt.Errorf("%w: %d bytes, more than %s = %d", nocopy.ErrLimit, n, l.Name, l.Frame))
	}
	chunk, err := receiveBody(body, r.ContentLength, l, c.opt.recycle)
	switch {
	case errors.Is(err, errTooLong):
		return bad(fmt.Errorf("%w: %w", nocopy.ErrLimit, err))
	case z != nil && isBadGzip(err):
		return bad(err)
	case err != nil:
		return receivedReply{}, callError(m, fmt.Errorf("%w: %w", ErrConnLost, err))
	}
	if z != nil {
		c.opt.stats.Received(z.Received())
		c.opt.stats.Converted(len(chunk.Mem))
	} else {
		c.opt.stats.Received(len(chunk.Mem))
	}
	h, rest, err := c.opt.whole(m, chunk, c.opt.stats)
	switch {
	case err != nil:
		return receivedReply{}, err
	case (h.Form == message.Compact) != (c.opt.style.Form == message.Compact):
		rest.Release()
		return bad(fmt.Errorf("%w: it is in another protocol than the call", ErrVersion))
	}
	return receivedReply{h.Type, string(h.Name) == m.Name, headersOfHTTP(r.Header), rest}, nil
}

// isBadGzip reports whether err is of bytes that are not gzip.
func isBadGzip(err error) bool {
	var corrupt flate.CorruptInputError
	return errors.Is(err, gzip.ErrHeader) || errors.Is(err, gzip.ErrChecksum) || errors.As(err, &corrupt)
}

// maxHTTPText is the most bytes of a text that an error has, and that are read for it.
const maxHTTPText = 1 << 10

// httpText returns the beginning of a response's text.
func httpText(r *http.Response) string {
	b, _ := io.ReadAll(io.LimitReader(r.Body, maxHTTPText))
	return textIn(b)
}

// textIn returns a text in UTF-8.
func textIn(b []byte) string { return strings.TrimSpace(strings.ToValidUTF8(string(b), "?")) }

// newHTTPError returns the error of a response of another status than 200.
func newHTTPError(r *http.Response) *HTTPError {
	if to := r.Header.Get("Location"); to != "" {
		return &HTTPError{r.StatusCode, "to " + loggedText(to, maxHTTPText/2)}
	}
	return &HTTPError{r.StatusCode, httpText(r)}
}

// statusError returns the error of a call of m with a response of another status than 200.
func statusError(m *Method, r *http.Response) error {
	e := newHTTPError(r)
	switch r.StatusCode {
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return callError(m, fmt.Errorf("%w: %w", ErrConnLost, e))
	}
	return callError(m, e)
}
