package hive

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// This file makes connections. A Conn has one for its session, and makes another one for a moment
// when it cancels: the server handles the calls of a connection one after the other.

// caller makes calls until it is closed.
type caller interface {
	rpc.Caller
	io.Closer
}

// dial connects to the server, and logs in. It notes in reached that a server was there; over HTTP
// the first call does.
func (c *Config) dial(ctx context.Context, reached *atomic.Bool) (caller, error) {
	if err := checkAddr(c.Addr); err != nil {
		return nil, err
	}
	options := []rpc.Option{
		rpc.Recycle,
		rpc.Logger(c.Logger),
		rpc.MaxFrame(c.MaxReply),
		rpc.Limits(nocopy.Limits{MaxBytes: c.MaxReply, MaxIndex: max(c.MaxReply, 16<<20)}),
	}
	if c.HTTP {
		return c.dialHTTP(options, reached)
	}
	options = append(options, rpc.OneConnection, rpc.DialTimeout(c.Timeout), rpc.StallTimeout(c.stallTimeout()))
	if c.TLS != nil {
		options = append(options, rpc.TLS(c.TLS))
	}
	options = append(options, rpc.Dialer(c.dialer(reached)))
	switch {
	case c.NoSASL:
		options = append(options, rpc.Unframed)
	case c.SASL != nil:
		host, _, err := net.SplitHostPort(c.Addr)
		if err != nil {
			return nil, err
		}
		mechanism, err := c.SASL(ctx, host)
		if err != nil {
			return nil, fmt.Errorf("Config.SASL: %w", err)
		}
		if mechanism == nil {
			return nil, errors.New("Config.SASL returned no mechanism")
		}
		options = append(options, rpc.SASL(mechanism))
	default:
		// A server without passwords still refuses an empty one
		password := c.Password
		set(&password, "x")
		options = append(options, rpc.SASL(plain{c.User, password}))
	}
	return rpc.Dial(ctx, "tcp", c.Addr, options...)
}

// errToken is the error of a Config with a login for HTTP that would not be sent.
var errToken = errors.New("a token or Authorize is sent over HTTP alone: set Config.HTTP (transport=http in a data source name)")

// stallTimeout is the time for receiving the largest reply.
func (c *Config) stallTimeout() time.Duration {
	return 30*time.Second + time.Duration(c.MaxReply>>18)*time.Second
}

// plain is SASL's mechanism PLAIN, RFC 4616.
type plain struct{ user, password string }

func (p plain) Start() (string, []byte, error) {
	if strings.Contains(p.user+p.password, "\x00") {
		return "", nil, errors.New("Config.User or Password has a zero byte")
	}
	return "PLAIN", []byte("\x00" + p.user + "\x00" + p.password), nil
}

func (plain) Next(challenge []byte) ([]byte, error) {
	if len(bytes.TrimSpace(challenge)) > 0 {
		return nil, errors.New("the server asks something after a login by PLAIN")
	}
	return nil, nil
}

// dialHTTP makes a caller over HTTP. It does not connect yet.
func (c *Config) dialHTTP(options []rpc.Option, reached *atomic.Bool) (caller, error) {
	u := url.URL{Scheme: "http", Host: c.Addr, Path: "/" + strings.TrimPrefix(c.HTTPPath, "/")}
	if c.TLS != nil {
		u.Scheme = "https"
	}
	jar, err := cookiejar.New(nil) // balancers and Hive know a session by its cookie
	if err != nil {
		return nil, err
	}
	transport := &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            c.dialer(reached),
		TLSClientConfig:        c.TLS.Clone(), // the Transport changes it
		TLSHandshakeTimeout:    c.Timeout,
		ForceAttemptHTTP2:      true,
		DisableCompression:     true,
		MaxResponseHeaderBytes: 64 << 10,
	}
	client := &http.Client{
		Transport:     &authorized{transport, c},
		Jar:           jar,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	inner, err := rpc.DialHTTP(u.String(), append(options, rpc.HTTPClient(client))...)
	if err != nil {
		return nil, err
	}
	return &httpCaller{inner, transport}, nil
}

// httpCaller closes its connections with itself.
type httpCaller struct {
	rpc.Caller
	transport *http.Transport
}

func (c *httpCaller) Close() error {
	var err error
	if closer, ok := c.Caller.(io.Closer); ok {
		err = closer.Close()
	}
	c.transport.CloseIdleConnections()
	return err
}

// authorized adds to each request what says who makes it.
type authorized struct {
	http.RoundTripper
	cfg *Config
}

func (a *authorized) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context()) // a RoundTripper must not change its request
	switch {
	case a.cfg.Authorize != nil:
		if err := a.cfg.Authorize(r); err != nil {
			r.Body.Close()
			return nil, fmt.Errorf("Config.Authorize: %w", err)
		}
	case a.cfg.Token != "":
		r.Header.Set("Authorization", "Bearer "+a.cfg.Token)
	default:
		r.SetBasicAuth(a.cfg.User, a.cfg.Password)
	}
	// Hive may be told to refuse requests without it, which a browser would not send
	r.Header.Set("X-XSRF-HEADER", "true")
	return a.RoundTripper.RoundTrip(r)
}
