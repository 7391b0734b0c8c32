package client

import (
	"errors"
	"fmt"
	"strings"
	"syscall"

	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/message"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/socket"
)

// advice is an error with text on what the user may do about it.
type advice struct {
	error
	text string
}

func (a *advice) Error() string { return a.error.Error() + "; " + a.text }
func (a *advice) Unwrap() error { return a.error }

// isClosed reports whether err is of a connection that the server has closed.
func isClosed(err error) bool {
	return socket.IsEnd(err) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// advised returns the cause of a call's failure with the option that is probably missing. Many
// servers that expect TLS or a login close the connections of other clients without a word. c.mu
// is held.
func (c *connection) advised(err error) error {
	const silent = "the server has never answered: perhaps it expects "
	switch o := c.opt; {
	case errors.Is(err, message.ErrHTTP):
		return &advice{err, "servers of HTTP are called with rpc.DialHTTP"}
	case errors.Is(err, message.ErrTLS) && o.TLS == nil:
		return &advice{err, "see the option rpc.TLS"}
	case errors.Is(err, message.ErrSASL) && o.Login == nil:
		return &advice{err, "see the option rpc.SASL"}
	case c.begun == 0 || o.answered == nil || o.answered.Load() || !isClosed(err) || o.Login != nil:
		return err
	case o.TLS != nil:
		return &advice{err, silent + "a login (rpc.SASL), a certificate, or another transport or protocol"}
	default:
		return &advice{err, silent + "TLS (rpc.TLS), a login (rpc.SASL), or another transport or protocol"}
	}
}

// advised returns the error of net/http for a call with what is probably wrong.
func (c *HTTP) advised(err error) error {
	switch tls := strings.Contains(err.Error(), `malformed HTTP response "\x15\x03`); {
	case c.url.Scheme != "http":
	case tls:
		return fmt.Errorf("%w: %w", message.ErrTLS, &advice{err, "the URL of servers that expect TLS begins with https"})
	case isClosed(err) && !c.opt.answered.Load():
		return &advice{err, "the server has never answered: perhaps it expects TLS (https), or does not speak HTTP"}
	}
	return err
}
