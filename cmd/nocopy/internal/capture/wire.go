package capture

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/nocopythrift/nocopythrift/internal/firstbytes"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// The kinds of messages, as their headers have them.
const (
	kindCall      = 1
	kindReply     = 2
	kindException = 3
	kindOneway    = 4
)

// message is a message that a side has sent.
type message struct {
	wire         string
	kind         byte
	name         string
	seqid        int32
	body         []byte // a struct in Thrift Binary
	http         bool
	began, ended time.Time
}

// exception returns the TApplicationException that the message has.
func (m *message) exception() error {
	text, _ := nocopy.Peek(m.body, 1)
	kind, _ := nocopy.Peek(m.body, 2)
	return &rpc.ApplicationException{Type: rpc.ExceptionType(kind.Int32()), Message: string(text.Bytes())}
}

// Errors of bytes. Those of Read, and of malformed HTTP, are others.
var (
	errForeign   = errors.New("not a Thrift message")
	errMalformed = errors.New("malformed")
	errTooLong   = fmt.Errorf("too long: more than %d bytes", maxMessage)
	errInflated  = errors.New("it is compressed, and becomes too large")
	errTooMuch   = errors.New("too many large messages at the same time")
	errUnread    = errors.New("only zlib (1), Binary (0) and Compact (2) can be read")
	errOpaque    = errors.New("nothing more can be read") // conn.opaque says why
)

// run reads messages to the end.
func (s *stream) run() {
	defer func() { s.frame = 0 }()
	if !s.side.whole && !s.search() {
		return
	}
	for {
		first, err := s.r.Peek(1)
		if len(first) == 0 && err == io.EOF || s.side.conn.opaque != "" {
			return
		}
		began, m := s.pos(), s.mark(s.pos())
		if !s.interim {
			s.side.unit = place{s.side.seq(began), m.ack}
		}
		s.interim = false
		if err == nil {
			err = s.unit()
		}
		if err == nil {
			s.found, s.frame = true, 0
			continue
		}
		if !s.goOn(err, began, m.at) {
			return
		}
	}
}

// goOn finds the next message after an error in the one that began at a position and time. It
// reports whether there is one.
func (s *stream) goOn(err error, began int64, at time.Time) bool {
	s.take()
	switch {
	case errors.Is(err, errOpaque):
		return false
	case s.lost > 0:
		return s.pastGap(at)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF) && s.ended:
		if s.read > began {
			s.side.note(at, "the capture has only %d bytes of a message", s.read-began)
		}
		return false
	}
	switch { // it was a call or a reply, perhaps
	case s.frame > 0:
		s.side.conn.lostOne(s.side.number)
	case s.found || !errors.Is(err, errForeign):
		s.side.conn.lost(s.side.number)
	}
	if isUnread := errors.Is(err, errUnread); !isUnread || !s.unread {
		s.side.note(at, "byte %d: %v", began, err)
		s.unread = isUnread
	}
	if s.frame > 0 && (s.skipFrame() || s.lost > 0) {
		return s.lost == 0 || s.pastGap(at)
	}
	s.frame = 0
	if s.pos() == began { // not to find the same again
		s.r.Discard(1)
	}
	return s.search()
}

// pastGap goes on after missing bytes. It reports whether there is another message.
func (s *stream) pastGap(at time.Time) bool {
	where := s.read
	s.side.note(at, "%d bytes are missing at byte %d", s.passGap(), where)
	if end := s.frame; end > 0 && s.pos() <= end {
		s.side.conn.lostOne(s.side.number)
		if s.skipFrame() {
			return true
		}
	}
	s.frame = 0
	s.side.conn.lost(s.side.number)
	return s.search()
}

// skipFrame skips the rest of a frame. It reports whether all of it is there.
func (s *stream) skipFrame() bool {
	for s.pos() < s.frame {
		if _, err := s.r.Peek(1); err != nil {
			return false
		}
		s.r.Discard(int(min(s.frame-s.pos(), int64(s.r.Buffered()))))
	}
	s.frame = 0
	return true
}

// search skips bytes up to the beginning of a message, and reports whether there is one. A
// connection that does not begin with one is searched up to maxPreamble.
func (s *stream) search() bool {
	from := s.pos()
	_, err := s.r.Peek(1)
	for {
		if s.lost > 0 {
			s.passGap()
			s.side.conn.lost(s.side.number)
			_, err = s.r.Peek(1)
			continue
		}
		if err != nil || s.side.conn.opaque != "" {
			return false
		}
		b, _ := s.r.Peek(s.r.Buffered())
		if s.pos() == from && isTLSRecord(b) {
			s.side.conn.hide(isTLS)
			return false
		}
		i, more := findMessage(b)
		s.r.Discard(i)
		if more == 0 {
			if i < len(b) {
				return true
			}
			more = 1
		}
		if !s.found && s.side.whole && s.pos()-from > maxPreamble {
			return false
		}
		_, err = s.r.Peek(more)
	}
}

// unit reads a message, or a frame with messages.
func (s *stream) unit() error {
	const least = 6 // bytes of a message
	b, err := s.r.Peek(saslHeader)
	switch {
	case err != nil:
		return err
	case firstbytes.IsTLS(b):
		s.side.conn.hide(isTLS)
		return errOpaque
	case s.isLogin(b):
		return s.loginMessage()
	case firstbytes.IsHTTP(b):
		return s.http()
	}
	if b, err = s.r.Peek(least); err != nil {
		return err
	}
	switch at := s.time(s.pos()); {
	case beginsMessage(b), isOldName(b):
		return s.message("unframed", at, 0)
	case b[0] < 0x80 && isInFrame(b[4:]):
		return s.framed(at)
	case s.side.conn.sasl:
		s.side.conn.hide("SASL with a security layer: can't be read")
		return errOpaque
	}
	return errForeign
}

const isTLS = "TLS: can't be read"

// isTLSRecord reports whether b begins as a record in the middle of a TLS connection.
func isTLSRecord(b []byte) bool {
	return len(b) > 2 && b[0] >= 0x14 && b[0] <= 0x17 && b[1] == 3 && b[2] <= 4
}

// beginsMessage reports whether the first two bytes are those of a message without a frame.
func beginsMessage(b []byte) bool {
	return b[0] == 0x80 && b[1] == 1 || firstbytes.BeginsCompactCall(b)
}

// isOldName reports whether b, of six bytes, is the length of a name and its beginning: a message
// with the header of old versions.
func isOldName(b []byte) bool {
	n := binary.BigEndian.Uint32(b)
	return n > 0 && n <= maxName && b[4] > ' ' && utf8.RuneStart(b[4]) && (n == 1 || b[5] > ' ')
}

// isName reports whether a method may have a name.
func isName(name string) bool {
	return utf8.ValidString(name) && !strings.ContainsFunc(name, unicode.IsControl)
}

// The first two bytes in frames of these transports.
const (
	theaderMagic  = 0x0fff
	ttheaderMagic = 0x1000
)

// isInFrame reports whether a frame may begin with two bytes.
func isInFrame(b []byte) bool {
	const oldHeader = 0 // the length of a name
	magic := binary.BigEndian.Uint16(b)
	return beginsMessage(b) || magic == theaderMagic || magic == ttheaderMagic || magic == oldHeader
}

// framed reads a frame.
func (s *stream) framed(at time.Time) error {
	b, err := s.r.Peek(6)
	if err != nil {
		return err
	}
	n := binary.BigEndian.Uint32(b)
	magic := binary.BigEndian.Uint16(b[4:])
	if n < 2 || n > maxMessage && !s.found && !beginsMessage(b[4:]) {
		return errForeign
	}
	s.r.Discard(4)
	s.frame = s.pos() + int64(n)
	if n > maxMessage {
		return errTooLong
	}
	switch {
	case n < wrapperSize:
	case magic == theaderMagic:
		return s.wrapped("THeader", at, s.theader)
	case magic == ttheaderMagic:
		return s.wrapped("TTHeader", at, s.ttheader)
	}
	return s.messages("framed", at, 0)
}

// messages reads the messages up to the end of the frame. seqid counts instead of theirs, unless
// it is 0.
func (s *stream) messages(transport string, at time.Time, seqid int32) error {
	for s.pos() < s.frame {
		if err := s.message(transport, at, seqid); err != nil {
			return err
		}
	}
	return nil
}

// message reads a message. seqid counts instead of its own, unless it is 0.
func (s *stream) message(transport string, at time.Time, seqid int32) error {
	m, compact, err := s.header()
	if err != nil {
		return err
	}
	m.began = at
	if seqid != 0 {
		m.seqid = seqid
	}
	m.wire = transport + " binary"
	if compact {
		m.wire = transport + " compact"
		err = s.compactStruct(0)
	} else {
		err = s.binaryStruct(0)
	}
	if err != nil {
		return err
	}
	m.ended = s.time(s.pos() - 1)
	if m.body = s.take(); compact {
		if m.body, err = toBinary(m.body); err != nil {
			return err
		}
	}
	m.http, s.found = s.inHTTP, true
	s.side.conn.message(s.side.number, m)
	return nil
}

// toBinary returns a struct in the compact protocol in Thrift Binary.
func toBinary(b []byte) ([]byte, error) {
	v, err := thriftimpl.Parse(rpc.RawMethod("any", false).Args, b, nocopy.Compact)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errMalformed, err)
	}
	return nocopy.Struct(v).Message().AppendTo(nil), nil
}
