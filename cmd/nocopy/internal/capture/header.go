package capture

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/nocopythrift/nocopythrift/internal/firstbytes"
)

// header reads the header of a message.
func (s *stream) header() (m *message, compact bool, err error) {
	for need := 6; ; {
		if s.frame > 0 && int64(need) > s.frame-s.pos() {
			return nil, false, fmt.Errorf("%w: a message's header ends after its frame", errMalformed)
		}
		b, err := s.r.Peek(need)
		if err != nil {
			return nil, false, err
		}
		var size int
		if m, size, err = parseHeader(b); err != nil {
			return nil, false, err
		}
		if size <= need {
			compact = b[0] == 0x82
			if beginsMessage(b) { // old headers are no sure sign
				s.side.conn.recognize()
			}
			s.r.Discard(size)
			return m, compact, nil
		}
		need = size
	}
}

// parseHeader returns the header of a message that begins with b, and its size. If b has fewer
// bytes, it has to be called again with as many.
func parseHeader(b []byte) (m *message, size int, err error) {
	if firstbytes.BeginsCompactCall(b) {
		return parseCompactHeader(b)
	}
	first := binary.BigEndian.Uint32(b)
	at, n, after := 4, first, 5 // of old versions: length of name, name, type, sequence id
	strict := first>>16 == 0x8001
	if strict { // version and type, length of name, name, sequence id
		if len(b) < 8 {
			return nil, 8, nil
		}
		at, n, after = 8, binary.BigEndian.Uint32(b[4:]), 4
	}
	if n > maxName {
		return nil, 0, fmt.Errorf("%w, or one with a name of %d bytes", errForeign, n)
	}
	end := at + int(n)
	if size = end + after; len(b) < size {
		return nil, size, nil
	}
	m = &message{kind: byte(first), name: string(b[at:end]), seqid: int32(binary.BigEndian.Uint32(b[size-4:]))}
	if !strict {
		m.kind = b[end]
	}
	return m, size, m.check()
}

// parseCompactHeader is parseHeader for the compact protocol.
func parseCompactHeader(b []byte) (m *message, size int, err error) {
	const most = 5 // bytes of a number
	seqid, n := binary.Uvarint(b[2:])
	if n == 0 && len(b) < 2+most {
		return nil, len(b) + 1, nil
	}
	at := 2 + n
	length, k := uint64(0), 0
	if n > 0 {
		length, k = binary.Uvarint(b[at:])
	}
	if n > 0 && k == 0 && len(b) < at+most {
		return nil, len(b) + 1, nil
	}
	if n <= 0 || k <= 0 || seqid > math.MaxUint32 || length > maxName {
		return nil, 0, errForeign
	}
	at += k
	if size = at + int(length); len(b) < size {
		return nil, size, nil
	}
	m = &message{kind: b[1] >> 5, name: string(b[at:size]), seqid: int32(uint32(seqid))}
	return m, size, m.check()
}

// check returns an error if the header is not that of a message.
func (m *message) check() error {
	if m.kind < kindCall || m.kind > kindOneway || !isName(m.name) {
		return errForeign
	}
	return nil
}

// wrapperSize is how many bytes a THeader and a TTHeader have at least.
const wrapperSize = 10

// wrapped reads a frame that begins with a header of some kind, which other protocols hardly have.
func (s *stream) wrapped(kind string, at time.Time, read func(time.Time) error) error {
	s.side.conn.recognize()
	err := read(at)
	if errors.Is(err, errMalformed) || errors.Is(err, errUnread) || errors.Is(err, errInflated) {
		err = fmt.Errorf("%s: %w", kind, err)
	}
	return err
}

// theader reads the rest of a frame of Apache's THeaderTransport, which begins with
//
//	0f ff | flags | sequence id | size/4 | protocol | count, transforms | infos | padding | message
//	  2      2        4            2       \____________ varints, size bytes ___________/
func (s *stream) theader(at time.Time) error {
	const zlibTransform, binaryProtocol, compactProtocol = 1, 0, 2
	head, err := s.fixed(wrapperSize)
	if err != nil {
		return err
	}
	seqid := int32(binary.BigEndian.Uint32(head[4:]))
	infos, err := s.fixed(4 * int(binary.BigEndian.Uint16(head[8:])))
	if err != nil {
		return err
	}
	number := func() uint64 {
		v, n := binary.Uvarint(infos)
		if n <= 0 {
			err = fmt.Errorf("%w: it ends in a number", errMalformed)
			return 0
		}
		infos = infos[n:]
		return v
	}
	protocol, packed := number(), false
	for n := number(); n > 0 && err == nil; n-- {
		switch id := number(); {
		case err != nil || id == 0:
		case id == zlibTransform && !packed:
			packed = true
		default:
			err = fmt.Errorf("transform %d: %w", id, errUnread)
		}
	}
	switch {
	case err != nil:
		return err
	case protocol != binaryProtocol && protocol != compactProtocol:
		return fmt.Errorf("protocol %d: %w", protocol, errUnread)
	case !packed:
		return s.messages("theader", at, seqid)
	}
	if err := s.grow(int(s.frame - s.pos())); err != nil {
		return err
	}
	ended := s.time(s.pos() - 1)
	z, err := zlib.NewReader(bytes.NewReader(s.take()))
	if err != nil {
		return fmt.Errorf("%w: %w", errMalformed, err)
	}
	content, err := s.inflate(z)
	if err != nil {
		return err
	}
	return s.inner(content, "theader", at, ended, seqid)
}

// ttheader reads the rest of a frame of Kitex's TTHeader, which begins with
//
//	10 00 | flags | sequence id | size/4 | protocol, transforms, infos, padding | message
//	  2      2        4            2       \____________ size bytes __________/
//
// The message may be in a frame of its own.
func (s *stream) ttheader(at time.Time) error {
	head, err := s.fixed(wrapperSize)
	if err == nil {
		_, err = s.fixed(4 * int(binary.BigEndian.Uint16(head[8:])))
	}
	if err != nil || s.pos() == s.frame { // heartbeats are empty
		return err
	}
	b, err := s.r.Peek(int(min(6, s.frame-s.pos())))
	if err != nil {
		return err
	}
	if len(b) == 6 && b[0] < 0x80 && beginsMessage(b[4:]) {
		s.r.Discard(4)
	} else if len(b) < 2 || !beginsMessage(b) {
		s.side.conn.hide("Kitex's TTHeader without Thrift messages, such as its streams")
		return errOpaque
	}
	return s.messages("ttheader", at, 0)
}

// fixed returns the next n bytes.
func (s *stream) fixed(n int) ([]byte, error) {
	err := s.grow(n)
	return s.take(), err
}

// inflate returns all bytes of r, which decompresses them.
func (s *stream) inflate(r io.Reader) ([]byte, error) {
	t := s.side.conn.table
	most := max(min(maxInflated, maxInflatedOfAll+maxRatio*t.bytes-t.inflated), 0)
	content, err := s.readAll(io.LimitReader(r, most+1))
	t.inflated += int64(len(content))
	switch {
	case err != nil && !errors.Is(err, errTooMuch):
		return nil, fmt.Errorf("%w: %w", errMalformed, err)
	case int64(len(content)) > most:
		return nil, errInflated
	}
	return content, err
}

// readAll returns all bytes of r, which reads them from the stream, perhaps.
func (s *stream) readAll(r io.Reader) ([]byte, error) {
	for {
		if len(s.body) > maxMessage {
			return nil, errTooLong
		}
		const some = 512
		if len(s.body) == cap(s.body) && !s.room(some) {
			return nil, errTooMuch
		}
		n, err := r.Read(s.body[len(s.body):cap(s.body)])
		s.body = s.body[:len(s.body)+n]
		if err == io.EOF {
			return s.take(), nil
		}
		if err != nil {
			return nil, err
		}
	}
}
