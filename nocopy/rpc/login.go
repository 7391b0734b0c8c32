package rpc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/nocopythrift/nocopythrift/internal/shm"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/sasl"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/socket"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/transport"
)

// SASLClient is the client's side of an SASL mechanism such as PLAIN. The Client of package
// github.com/emersion/go-sasl is one. Its methods must return soon: nothing interrupts them, also
// not DialTimeout.
type SASLClient interface {
	// Start begins a login. response is what the mechanism sends at once: nil if it waits for a
	// challenge.
	Start() (mechanism string, response []byte, err error)
	// Next answers a challenge of the server's. It is not called for a server that ends the login
	// without one: a mechanism can't insist that the server proves who it is, as TLS does.
	Next(challenge []byte) (response []byte, err error)
}

// SASLServer is the server's side of an SASL mechanism, for one login. The Server of package
// github.com/emersion/go-sasl is one.
type SASLServer interface {
	// Next judges a response of the client's, which is nil if the client waits for a challenge.
	// done reports that the login has succeeded; challenge is then the last thing that the client
	// gets to see. The client does not get to see err.
	Next(response []byte) (challenge []byte, done bool, err error)
}

// ErrLogin is the error of a login by SASL that one side has refused.
var ErrLogin = sasl.ErrRefused

// SASL makes a client log in with a mechanism on every connection, as Apache's
// TSaslClientTransport does. Servers of Hive and Impala demand that. With TLS, the login comes
// after the handshake.
//
// Logins with m are made one after the other, even if several clients were given the same Option.
// Messages are in frames. Mechanisms' layers for integrity and encryption are not supported: use
// TLS. There is no shared memory. m must not be nil, and not be used with Unframed. DialTimeout
// includes the login. If it fails, Dial returns ErrLogin, and calls whose connection is replaced
// return ErrNotSent, which then wraps ErrLogin.
func SASL(m SASLClient) Option {
	if m == nil {
		panic("nocopy: rpc.SASL without a mechanism")
	}
	turn := make(chan struct{}, 1)
	return optionFunc(func(o *options) {
		o.login = func(ctx context.Context, nc net.Conn) error {
			select {
			case turn <- struct{}{}:
				defer func() { <-turn }()
			case <-ctx.Done():
				return ctx.Err()
			}
			err := during(ctx, func() { socket.Close(nc) }, func() error { return sasl.Login(halves{shm.ReaderOf(nc), nc}, m) })
			if err != nil && !errors.Is(err, ErrLogin) {
				err = fmt.Errorf("login by SASL: %w", err)
			}
			return err
		}
	})
}

// halves is a connection whose bytes are read by in.
type halves struct {
	in io.Reader
	io.Writer
}

func (h halves) Read(b []byte) (int, error) { return h.in.Read(b) }

// during calls login. It calls end, which closes the connection, when ctx ends meanwhile; ctx's
// error is the result then.
func during(ctx context.Context, end func(), login func() error) error {
	stop := context.AfterFunc(ctx, end)
	err := login()
	if !stop() {
		err = context.Cause(ctx)
	}
	return err
}

// acceptLogin lets the client log in by SASL, within ReadTimeout. ctx is the connection's.
func (c *serverConn) acceptLogin() (err error) {
	defer c.guard(&err)
	ctx := c.ctx
	if d := c.in.MessageTimeout; d > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, d, transport.ErrTimeout)
		defer cancel()
	}
	c.in.Transport = transport.Framed
	c.setWriteDeadline()
	return during(ctx, c.giveUp, func() error { // which also ends the context that SASL was given
		return sasl.Accept(halves{c.in.Src, c.nc}, func(mechanism string) sasl.Server {
			if s := c.srv.SASL(c.ctx, mechanism); s != nil {
				return s
			}
			return nil
		})
	})
}
