package server

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"time"

	"github.com/nocopythrift/nocopythrift/internal/shm"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/sasl"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/setting"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/transport"
)

// This file has the steps before the first request of a connection.

// newConnection returns a connection, for which there is a slot.
func newConnection(s *Server, nc net.Conn) *connection {
	c := &connection{Origin: Origin{srv: s, Peer: nc.RemoteAddr()}, nc: nc, raw: nc, out: nc, limit: max(setting.Or(s.Concurrency, defaultConcurrency), 1), refs: 1}
	if t, ok := nc.(*tls.Conn); ok {
		c.raw = t.NetConn()
	}
	c.in.Receiver = transport.Receiver{
		Conn: nc, Accept: transport.Wire(s.Wires), Limits: transport.LimitsOf(s.MaxFrame, s.Limits, "rpc.Server.MaxFrame"), Requests: true,
		IdleTimeout: max(s.IdleTimeout, 0), MessageTimeout: setting.Or(s.ReadTimeout, setting.Timeout),
		Waits: c.flushHeld,
	}
	c.settingUp.Store(true)
	c.in.closing, c.in.leave = &s.closing, c.leave
	c.in.begin()
	c.Stats = s.Stats.Of(c.giveUp)
	c.in.Stats = c.Stats
	c.in.Describe = s.Calls.Descriptor
	c.in.Budget = s.inflated
	if socket, ok := nc.(*net.UnixConn); ok && s.Shared != 0 && s.SASL == nil {
		c.passed = shm.NewReader(socket)
		c.in.Src = c.passed
	} else {
		c.in.Src = shm.ReaderOf(nc)
	}
	c.in.Reset(s.Recycle)
	c.Ctx, c.cancel = context.WithCancel(s.ctx)
	c.Oneway = s.ctx
	c.wake = make(chan struct{}, 1)
	c.timer = time.AfterFunc(time.Hour, c.relieveReader)
	c.timer.Stop()
	return c
}

// serve serves the connection until it ends or another goroutine has become the reader.
func (c *connection) serve() {
	defer c.survive() // what answerPlain does
	ready := false
	defer func() {
		if !ready { // it has failed, or functions of the program have ended the goroutine
			c.giveUp()
			c.release()
		}
	}()
	c.Stats.Conns(1)
	if err := c.setUp(); err != nil {
		c.logEnd(err)
		c.answerPlain(err)
		if errors.Is(err, sasl.ErrRefused) {
			c.linger() // the client may not have read the refusal
		}
		return
	}
	ready = true
	c.startAging()
	c.settingUp.Store(false)
	if c.in.isClosing() {
		c.in.Interrupt()
	}
	c.read()
}

// setUp takes the steps before the first request: the handshake of TLS, the context, and a login.
func (c *connection) setUp() error {
	if t, ok := c.nc.(*tls.Conn); ok {
		if err := c.handshake(t); err != nil {
			return err
		}
	}
	if c.srv.ConnContext != nil {
		if err := c.makeContext(); err != nil {
			return err
		}
	}
	if c.srv.SASL != nil {
		return c.acceptLogin()
	}
	return nil
}

// makeContext calls ConnContext.
func (c *connection) makeContext() (err error) {
	defer c.guard(&err)
	ctx := c.srv.ConnContext(c.Ctx, c.nc)
	if ctx == nil {
		panic("nocopy: rpc.Server.ConnContext returned a nil Context")
	}
	c.Ctx, c.Oneway = ctx, onewayContext{c.srv.ctx, context.WithoutCancel(ctx)}
	return nil
}

// onewayContext ends with the server, and has the values of a connection's context.
type onewayContext struct {
	context.Context
	values context.Context
}

func (c onewayContext) Value(key any) any { return c.values.Value(key) }

// handshake shakes hands by TLS, within ReadTimeout.
func (c *connection) handshake(t *tls.Conn) (err error) {
	defer c.guard(&err) // the Config may have functions, which may panic
	ctx, cancel := setting.WithTimeout(c.Ctx, c.in.MessageTimeout, nil)
	defer cancel()
	return t.HandshakeContext(ctx)
}

// acceptLogin lets the client log in by SASL, within ReadTimeout. ctx is the connection's.
func (c *connection) acceptLogin() (err error) {
	defer c.guard(&err)
	ctx, cancel := setting.WithTimeout(c.Ctx, c.in.MessageTimeout, transport.ErrTimeout)
	defer cancel()
	c.in.Transport = transport.Framed
	c.setWriteDeadline()
	var login sasl.Server
	// giveUp also ends the context that SASL was given
	err = sasl.During(ctx, c.giveUp, func() error {
		return sasl.Accept(sasl.Halves{In: c.in.Src, Writer: c.nc}, func(mechanism string) sasl.Server {
			login = c.srv.SASL(c.Ctx, mechanism)
			return login
		})
	})
	if err != nil {
		return err
	}
	on, err := login.Secure(c.nc, c.in.Limits.Frame)
	if err == nil && on != nil {
		c.in.Src, c.out = on, on
	}
	return err
}
