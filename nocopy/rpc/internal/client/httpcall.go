package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// This file lets net/http read each call once. net/http, redirects and Transports of programs can
// ask for a request's body again, also after the server has handled the call: net/http does so for
// a stream of HTTP/2 that has ended with PROTOCOL_ERROR.

// httpTransport is the RoundTripper of a client's http.Client, around net/http's or the program's.
type httpTransport struct {
	of      http.RoundTripper // nil: http.DefaultTransport
	program bool              // it belongs to the program's http.Client
	status  func(*http.Response) error
}

// RoundTrip sends a request with a call. net/http itself gets no GetBody: its errors then say why
// it would have called it. RoundTrip returns an error for a redirect that the program's
// http.Client would follow, unless it is a 307 or 308 that came before the call was read.
func (t *httpTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	call := r.Body.(*httpCallReader).of
	of := t.of
	if of == nil {
		of = http.DefaultTransport
	}
	if _, call.plain = of.(*http.Transport); call.plain {
		own := *r
		own.GetBody = nil
		r = &own
	}
	response, err := of.RoundTrip(r)
	if err != nil || !t.program || response.Header.Get("Location") == "" {
		return response, err
	}
	switch response.StatusCode {
	case http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		if !call.begun() {
			return response, nil
		}
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther: // to a GET
	default:
		return response, nil
	}
	defer response.Body.Close()
	return nil, t.status(response)
}

// httpCall is one try of a call. net/http reads its bytes, at most once, perhaps after the call
// has returned.
type httpCall struct {
	size   int
	stall  time.Duration // 0: no limit
	timer  *time.Timer   // ends the call; nil if it has never been needed
	ends   func(error)
	sent   atomic.Bool // the bytes were read to their end
	reused atomic.Bool // by a connection that had been used before
	plain  bool        // the Transport is net/http's own
	again  bool        // it has failed, and can be sent again by another httpCall

	mu     sync.Mutex
	pieces [][]byte        // nil when the call has returned: they may be used for something else
	reader *httpCallReader // the only one that may read them; nil before the first byte was read
	header bool            // the response's header has begun to arrive
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

// failure returns the error of a call that has ended and has failed with err, without a reply that
// can be used.
func (c *httpCall) failure(ctx context.Context, err error) error {
	refused := false
	switch cause := context.Cause(ctx); {
	case cause == nil && c.plain:
		err, refused = unrepeated(err)
		c.again = refused || c.reused.Load() && !c.begun()
	case cause == nil:
	case cause == errStalled:
		err = cause
	default:
		return cause
	}
	if !c.sent.Load() || refused {
		return fmt.Errorf("%w: %w", ErrNotSent, err)
	}
	return fmt.Errorf("%w: %w", ErrConnLost, err)
}

// unrepeated returns the cause of an error that net/http returns since it can't read a call again.
// refused reports whether the cause means that the server has not handled the call and will not.
// A PROTOCOL_ERROR does not mean that, although net/http repeats requests after it.
func unrepeated(err error) (cause error, refused bool) {
	var e *url.Error
	if !errors.As(err, &e) {
		return err, false
	}
	text, ok := strings.CutPrefix(e.Err.Error(), "http2: Transport: cannot retry err [")
	if !ok {
		return err, false
	}
	text, _, _ = strings.Cut(text, "] after Request.Body was written")
	refused = strings.Contains(text, "; REFUSED_STREAM") || strings.HasSuffix(text, "graceful shutdown GOAWAY")
	return &url.Error{Op: e.Op, URL: e.URL, Err: errors.New(text)}, refused
}

// errBegun is the error of reading a call a second time.
var errBegun = errors.New("the call may have been sent before, and is not sent twice")

// begun reports whether any bytes of the call were read.
func (c *httpCall) begun() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.reader != nil
}

// open returns a reader of the call's bytes, unless any were read.
func (c *httpCall) open() (io.ReadCloser, error) {
	if c.begun() {
		return nil, errBegun
	}
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
	switch {
	case r.of.pieces == nil:
		return 0, ErrReturned
	case r.of.reader != nil && r.of.reader != r:
		return 0, errBegun
	case r.piece == len(r.of.pieces): // asked again, perhaps while the reply is being read
		return 0, io.EOF
	}
	r.of.reader = r
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
