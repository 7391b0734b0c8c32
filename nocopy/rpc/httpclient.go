package rpc

import (
	"fmt"
	"net/url"

	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/client"
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
