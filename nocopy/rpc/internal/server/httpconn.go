package server

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/nocopythrift/nocopythrift/internal/firstbytes"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/message"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/setting"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/socket"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/transport"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/web"
)

// This file gives connections that begin with a request of HTTP to net/http, which parses all of
// it. Everything else about them stays with connection: their place among MaxConns, their age,
// and their end.

// leastHTTP2Frame is the least size of frames that HTTP/2 lets a server demand. net/http takes
// memory for a whole frame when its length has arrived.
const leastHTTP2Frame = 16 << 10

// newHTTPServer returns the server of net/http for all connections that speak HTTP.
func (s *Server) newHTTPServer() *http.Server {
	h := &http.Server{
		Handler:                      http.HandlerFunc(s.serveOwnHTTP),
		DisableGeneralOptionsHandler: true,
		ReadHeaderTimeout:            setting.Or(s.ReadTimeout, setting.Timeout),
		IdleTimeout:                  max(s.IdleTimeout, 0),
		MaxHeaderBytes:               web.MaxHeader,
		ErrorLog:                     log.New(httpLog{s}, "", 0),
		BaseContext:                  func(l net.Listener) context.Context { return l.(*httpTaken).ctx },
		ConnState:                    func(nc net.Conn, state http.ConnState) { nc.(*httpConn).enter(state) },
		Protocols:                    new(http.Protocols),
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams: max(setting.Or(s.Concurrency, defaultConcurrency), 1),
			WriteByteTimeout:     setting.Or(s.WriteTimeout, setting.Timeout),
			MaxReadFrameSize:     leastHTTP2Frame,
		},
	}
	h.Protocols.SetHTTP1(true)
	h.Protocols.SetUnencryptedHTTP2(true) // also within TLS, which has been taken off
	return h
}

// httpConn is a connection as net/http has it.
type httpConn struct {
	net.Conn
	of     *connection
	first  []byte        // read already
	slots  chan struct{} // holds one value for each call under way
	closed chan struct{}

	mu      sync.Mutex
	state   http.ConnState
	reading time.Time // the read deadline that net/http wants
	writing bool      // within a deadline that was set
	once    sync.Once
}

// httpTurn is the part of a connection that changes when net/http takes over.
type httpTurn struct {
	mu   sync.Mutex
	conn *httpConn // nil as long as the connection does not speak HTTP
}

// httpLog is where net/http logs.
type httpLog struct{ srv *Server }

func (l httpLog) Write(b []byte) (int, error) {
	l.srv.Log(slog.LevelWarn, "HTTP", "err", strings.TrimSpace(string(b)))
	return len(b), nil
}

// httpKey is the key of a request's httpConn in its context.
type httpKey struct{}

// httpTaken is a connection as a Listener, from which net/http accepts it. Its Accept fails when
// the connection has been closed.
type httpTaken struct {
	conn *httpConn
	ctx  context.Context
	took bool
}

func (l *httpTaken) Accept() (net.Conn, error) {
	if !l.took {
		l.took = true
		return l.conn, nil
	}
	<-l.conn.closed
	return nil, io.EOF
}

func (l *httpTaken) Addr() net.Addr { return l.conn.LocalAddr() }
func (l *httpTaken) Close() error   { return nil }

// speaksHTTP reports whether err, of receiving, means that the connection begins with a request of
// HTTP, and that such requests are accepted.
func (c *connection) speaksHTTP(err error) bool {
	accepted := c.in.Accept == 0 || c.in.Accept&transport.HTTP != 0
	return accepted && errors.Is(err, message.ErrHTTP) && c.in.Transport == nil && firstbytes.IsHTTPRequest(c.in.Unread())
}

// serveHTTP lets net/http serve the connection until it is closed and its calls have ended.
func (c *connection) serveHTTP() {
	h := &httpConn{
		Conn: socket.Guarded(c.nc), of: c, first: bytes.Clone(c.in.Unread()),
		slots: make(chan struct{}, c.limit), closed: make(chan struct{}),
	}
	c.in.Free()
	c.http.mu.Lock()
	c.http.conn = h
	c.in.ClearDeadline()
	c.http.mu.Unlock()
	if c.passed != nil {
		c.passed.Close()
		c.passed = nil
	}
	c.srv.http.Serve(&httpTaken{conn: h, ctx: context.WithValue(c.Ctx, httpKey{}, h)})
	for range cap(h.slots) { // until the oneway calls have ended, too
		h.slots <- struct{}{}
	}
	c.mu.Lock()
	c.eof = true
	c.mu.Unlock()
}

// serveOwnHTTP answers a request on a connection of the server itself.
func (s *Server) serveOwnHTTP(w http.ResponseWriter, r *http.Request) {
	h := r.Context().Value(httpKey{}).(*httpConn)
	x := exchange{Origin: h.of.Origin, w: w, r: r, slots: h.slots}
	x.Ctx = r.Context()
	if h.leaves() {
		w.Header().Set("Connection", "close")
	}
	x.serve()
}

// interruptReader makes the goroutine that reads check whether the connection is to end.
func (c *connection) interruptReader() {
	c.http.mu.Lock()
	defer c.http.mu.Unlock()
	if h := c.http.conn; h != nil {
		h.interrupt()
		return
	}
	c.in.Interrupt()
}

// leaves reports whether the connection is to end when it is idle: it is old, or the server is
// closing.
func (h *httpConn) leaves() bool { return h.of.srv.closing.Load() || h.of.in.old.Load() }

// interrupt ends a connection that waits for a request, unless one has just arrived.
func (h *httpConn) interrupt() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if t, ok := h.lastDeadline(); ok {
		h.Conn.SetReadDeadline(t)
	}
}

// mostDraining is how long a connection that is to end and can't be sealed goes on reading,
// whatever comes, and how long a handshake of TLS may take when the server is closing.
const mostDraining = 500 * time.Millisecond

// lastDeadline returns the read deadline of a connection that is to end, if it has no request to
// answer. h.mu is held.
func (h *httpConn) lastDeadline() (time.Time, bool) {
	switch {
	case !h.leaves():
	case h.state == http.StateIdle:
		return time.Now().Add(lastWait), true
	case h.state == http.StateNew: // the rest of its first request may be on the way
		return time.Now().Add(mostDraining), true
	}
	return time.Time{}, false
}

// enter notes in which state net/http has the connection. One that was to end, and has got a
// request just then, answers it first.
func (h *httpConn) enter(state http.ConnState) {
	h.mu.Lock()
	h.state = state
	if state == http.StateActive && h.leaves() {
		h.Conn.SetReadDeadline(h.reading)
	}
	h.mu.Unlock()
	h.interrupt()
}

// SetReadDeadline sets the deadline that net/http wants, or the last one.
func (h *httpConn) SetReadDeadline(t time.Time) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.reading = t
	if last, ok := h.lastDeadline(); ok && (t.IsZero() || last.Before(t)) {
		t = last
	}
	return h.Conn.SetReadDeadline(t)
}

// SetWriteDeadline sets the deadline of a response, or none.
func (h *httpConn) SetWriteDeadline(t time.Time) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.writing = !t.IsZero()
	return h.Conn.SetWriteDeadline(t)
}

// Write also limits the time for what net/http answers by itself, such as a malformed request.
func (h *httpConn) Write(b []byte) (int, error) {
	h.mu.Lock()
	if d := setting.Or(h.of.srv.WriteTimeout, setting.Timeout); d > 0 && !h.writing {
		h.Conn.SetWriteDeadline(time.Now().Add(d))
	}
	h.mu.Unlock()
	return h.Conn.Write(b)
}

func (h *httpConn) Read(b []byte) (n int, err error) {
	if len(h.first) > 0 {
		n = copy(b, h.first)
		h.first = h.first[n:]
		return n, nil
	}
	n, err = h.Conn.Read(b)
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) { // the client is gone
		h.of.giveUpSlot()
	}
	return n, err
}

// CloseWrite closes the connection for sending, if it has such a thing.
func (h *httpConn) CloseWrite() error {
	if half, ok := h.of.nc.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}

func (h *httpConn) Close() error {
	h.once.Do(func() {
		socket.Close(h.of.nc)
		h.of.giveUpSlot()
		close(h.closed)
	})
	return nil
}
