package capture

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/nocopythrift/nocopythrift/internal/firstbytes"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// http reads a request or a response.
func (s *stream) http() error {
	s.until = s.pos() + maxHead
	defer func() { s.until = 0 }()
	s.side.conn.web = true
	at := s.time(s.pos())
	b, err := s.r.Peek(4)
	switch {
	case err != nil:
		return err
	case string(b) == "PRI ":
		s.side.conn.hide("HTTP/2: not read")
		return errOpaque
	case firstbytes.IsHTTPRequest(b):
		return s.request(at)
	}
	return s.response(at)
}

// malformed returns the error of HTTP that can't be read. Errors of Read stay as they are.
func (s *stream) malformed(err error) error {
	if s.lost > 0 || s.ended && (err == io.EOF || err == io.ErrUnexpectedEOF) || errors.Is(err, errInflated) || errors.Is(err, errTooMuch) {
		return err
	}
	return fmt.Errorf("%w HTTP: %w", errMalformed, err)
}

// request reads a request.
func (s *stream) request(at time.Time) error {
	req, err := http.ReadRequest(s.r)
	if err != nil {
		return s.malformed(err)
	}
	s.until = 0
	content, err := s.content(req.Body, req.Header)
	if err != nil {
		return s.malformed(err)
	}
	c := s.side.conn
	if req.Method == http.MethodPost && s.inner(content, "http", at, s.time(s.pos()-1), 0) == nil {
		return nil
	}
	c.await(&exchange{conn: c, from: s.side.number, http: true, at: s.side.unit, noBody: req.Method == http.MethodHead})
	return nil
}

// response reads a response.
func (s *stream) response(at time.Time) error {
	c := s.side.conn
	m := &message{http: true} // whatever the response has
	req := &http.Request{Method: http.MethodPost}
	if e := c.find(s.side.number, m); e != nil && e.noBody {
		req.Method = http.MethodHead
	}
	resp, err := http.ReadResponse(s.r, req)
	if err != nil {
		return s.malformed(err)
	}
	s.until = 0
	if resp.StatusCode < http.StatusOK { // another one follows, or another protocol
		s.interim = true
		if resp.StatusCode == http.StatusSwitchingProtocols {
			c.hide("HTTP that is upgraded to another protocol")
			return errOpaque
		}
		return nil
	}
	content, err := s.content(resp.Body, resp.Header)
	if err != nil {
		return s.malformed(err)
	}
	c.replied(s.side.number)
	ended := s.time(s.pos() - 1)
	m.ended = ended
	e := c.find(s.side.number, m) // again: it may have been given up
	if e != nil && e.call == nil {
		c.answer(e)
		return nil
	}
	if s.inner(content, "http", at, ended, 0) == nil {
		return nil
	}
	if e == nil {
		c.callless(s.side.number, m)
		return nil
	}
	c.answer(e)
	text := strings.TrimSpace(strings.ToValidUTF8(string(content[:min(len(content), 1<<10)]), "\ufffd"))
	e.call.Err, e.call.Took = &rpc.HTTPError{Status: resp.StatusCode, Text: text}, took(e.call.Began, ended)
	c.table.call(e.call)
	return nil
}

// content returns the bytes of a body, decompressed.
func (s *stream) content(body io.Reader, header http.Header) ([]byte, error) {
	content, err := s.readAll(body)
	if err != nil {
		return nil, err
	}
	var r io.Reader
	switch header.Get("Content-Encoding") {
	case "gzip":
		r, err = gzip.NewReader(bytes.NewReader(content))
	case "deflate":
		r, err = zlib.NewReader(bytes.NewReader(content))
	default:
		return content, nil
	}
	if err != nil {
		return content, nil // not as the header says, which is another's business
	}
	return s.inflate(r)
}

// inner reads the messages in some content, which came from one time to another. Of HTTP there is
// one.
func (s *stream) inner(content []byte, transport string, began, ended time.Time, seqid int32) error {
	if len(content) < 6 || !beginsMessage(content) && !isOldName(content[:6]) {
		return errForeign
	}
	in := &stream{side: s.side, data: content, at: ended, ended: true, frame: int64(len(content)), inHTTP: transport == "http"}
	in.r = bufio.NewReader(in)
	defer in.take()
	if in.inHTTP {
		return in.message(transport, began, seqid)
	}
	return in.messages(transport, began, seqid)
}
