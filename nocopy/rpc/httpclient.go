package rpc

import (
	"fmt"
	"net"
	"net/http"
	"net/url"

	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/client"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/transport"
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
	o := settingsOf(opts)
	o.checkHTTP()
	to, err := parseURL(url)
	if err != nil {
		return nil, err
	}
	poolSize := max(o.PoolSize, 0)
	o.setDefaults()
	o.PoolSize = poolSize
	by := client.NewHTTP(to, o.Config)
	return &httpClient{callsBy(by, &o), by}, nil
}

// httpClient is a Caller over HTTP.
type httpClient struct {
	calls
	http *client.HTTP
}

// Close makes calls fail with ErrClientClosed, and closes idle connections.
func (c *httpClient) Close() error { return c.http.Close() }

// parseURL returns the URL that s is.
func parseURL(s string) (*url.URL, error) {
	to, err := url.Parse(s)
	if err != nil {
		return nil, fmt.Errorf("rpc.DialHTTP: %w", err)
	}
	if to.Scheme != "http" && to.Scheme != "https" || to.Host == "" {
		return nil, fmt.Errorf("rpc.DialHTTP: %q is not a URL of http or https", s)
	}
	return to, nil
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
	return optionFunc(func(o *options) { o.HTTPClient = c })
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
	refuse(o.Transport != transport.Framed, "Unframed", "a request of HTTP holds one message")
	refuse(o.Style.THeader != nil, "THeader", "HTTP has headers of its own")
	refuse(o.Login != nil, "SASL", "HTTP has logins of its own")
	refuse(o.Shared != 0, "SharedMemory", "it needs a unix socket of its own")
	refuse(o.MaxShared != 0, "MaxShared", "there is no shared memory")
	refuse(o.One, "OneConnection", "net/http decides which connection is used")
	refuse(o.MaxConnAge != 0, "MaxConnAge", "net/http decides how long a connection is used")
	if o.HTTPClient != nil {
		const why = "the http.Client makes the connections"
		refuse(o.TLS != nil, "TLS", why)
		refuse(o.Dial != nil, "Dialer", why)
		refuse(o.DialTimeout != 0, "DialTimeout", why)
		refuse(o.KeepAlive != net.KeepAliveConfig{}, "KeepAlive", why)
		refuse(o.IdleTimeout != 0, "IdleTimeout", why)
		refuse(o.PoolSize != 0, "PoolSize", why)
	}
}

// newHTTPError returns the error of a response of another status than 200.
func newHTTPError(status int, text string) error { return &HTTPError{status, text} }
