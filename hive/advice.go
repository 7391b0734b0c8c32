package hive

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// This file says what to try if a server does not understand a client. Servers that expect
// another login, TLS or HTTP end the connection or wait for more bytes, without a word.

// dialer returns the function that connects. It sets reached once a server was there.
func (c *Config) dialer(reached *atomic.Bool) func(ctx context.Context, network, addr string) (net.Conn, error) {
	dial := c.Dial
	if dial == nil {
		dial = (&net.Dialer{Timeout: c.Timeout}).DialContext
	}
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		nc, err := dial(ctx, network, addr)
		if err == nil {
			reached.Store(true)
		}
		return nc, err
	}
}

// What to try, with the parameter of ParseDSN.
const (
	tryPlain       = "leave out Config.TLS (tls=true in a data source name)"
	tryTLS         = "set Config.TLS (tls=true in a data source name)"
	tryLogin       = "leave out Config.NoSASL (auth=NOSASL in a data source name)"
	tryNoSASL      = "set Config.NoSASL (auth=NOSASL in a data source name)"
	tryBinary      = "leave out Config.HTTP (transport=http in a data source name)"
	tryHTTP        = "set Config.HTTP (transport=http in a data source name)"
	tryCertificate = "set Config.TLS.Certificates (tlsCert and tlsKey in a data source name)"
	tryKerberos    = "for Kerberos there is Config.SASL"
)

// advised returns err with an advice, if it may come from a Config that does not fit the server.
func (c *Config) advised(err error) error {
	advice := c.advice(err)
	if advice == "" {
		return err
	}
	text := err.Error()
	for _, other := range []string{"; see the option rpc.", "; servers of HTTP are called with rpc.", "; the server has never answered: "} {
		text, _, _ = strings.Cut(text, other) // advice of package rpc, which names its own options
	}
	return &advisedError{err, text + ": " + advice}
}

// advisedError is an error with an advice in its text.
type advisedError struct {
	error
	text string
}

// Error returns the text.
func (e *advisedError) Error() string { return e.text }

// Unwrap returns the error.
func (e *advisedError) Unwrap() error { return e.error }

// advice returns what is probable, and what to try; "" if err has other reasons.
func (c *Config) advice(err error) string {
	var (
		server      *Error
		exception   *rpc.ApplicationException
		malformed   *nocopy.Error
		certificate *tls.CertificateVerificationError
		noTLS       tls.RecordHeaderError
		status      *rpc.HTTPError
	)
	text := err.Error()
	has := func(part string) bool { return strings.Contains(text, part) }
	switch {
	case errors.As(err, &server), errors.As(err, &exception), errors.As(err, &malformed), errors.As(err, &certificate), errors.Is(err, context.Canceled):
		return ""
	case errors.As(err, &status):
		return c.adviceHTTP(status)
	case errors.As(err, &noTLS), has("HTTP response to HTTPS client"):
		return "the server does not use TLS: " + tryPlain
	case has("not a Thrift message: TLS"):
		return "the server uses TLS: " + tryTLS
	case has("not a Thrift message: HTTP"):
		return "the server uses HTTP: " + tryHTTP
	case has("not a Thrift message: a login by SASL"):
		return "the server expects a login by SASL: " + tryLogin
	case has("tls: bad certificate"), has("tls: certificate required"):
		return "the server asks for a certificate that it trusts: " + tryCertificate
	case errors.Is(err, rpc.ErrLogin):
		return adviceLogin(text)
	case c.TLS != nil && c.HTTP:
		return "the server probably does not use TLS: " + tryPlain + "; or not HTTP: " + tryBinary
	case c.TLS != nil && !c.NoSASL && !has("login by SASL"), c.TLS != nil && has("hive: connecting:") && !has("login by SASL"):
		return "the server probably does not use TLS: " + tryPlain
	case c.HTTP:
		return "the server probably does not use HTTP: " + tryBinary + "; or it uses TLS: " + tryTLS
	}
	probable := "the server probably needs no login: " + tryNoSASL
	if c.NoSASL {
		probable = "the server probably expects a login: " + tryLogin
	}
	if c.TLS == nil {
		probable += "; or it uses TLS: " + tryTLS
	}
	return probable + "; or HTTP: " + tryHTTP
}

// adviceLogin is advice for a login that failed, with this text.
func adviceLogin(text string) string {
	switch {
	case strings.Contains(text, "no login by SASL"):
		return "the server needs no login: " + tryNoSASL
	case strings.Contains(strings.ToLower(text), "mechanism"):
		return "the server expects another login than PLAIN: " + tryKerberos
	}
	return "" // the server says why
}

// adviceHTTP is advice for a server's answer over HTTP.
func (c *Config) adviceHTTP(e *rpc.HTTPError) string {
	switch {
	case c.TLS == nil && strings.Contains(e.Text, "HTTPS"):
		return "the server uses TLS: " + tryTLS
	case e.Status == http.StatusUnauthorized:
		return "check Config.User and Password, or Token; for Kerberos there is Config.Authorize"
	case e.Status == http.StatusNotFound:
		return fmt.Sprintf("check Config.HTTPPath (httpPath in a data source name), which is %q", c.HTTPPath)
	case e.Status == http.StatusBadRequest:
		return "the server may not be for HTTP: " + tryBinary
	}
	return ""
}
