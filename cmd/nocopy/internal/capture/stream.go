package capture

import (
	"bufio"
	"fmt"
	"io"
	"iter"
	"time"
)

// stream decodes the bytes of a side. A function reads them, one message after the other. It is
// suspended in Read while it waits for the next packet.
type stream struct {
	side *side
	r    *bufio.Reader // of what Read returns
	read int64         // bytes that Read has returned, and those that are missing before

	resume func() (struct{}, bool)
	stop   func()
	yield  func(struct{}) bool

	data  []byte // of the packet that is being read
	at    time.Time
	ack   uint32
	lost  int  // bytes that are missing next
	ended bool // nothing more comes
	marks []mark

	unread bool  // there has been an errUnread
	until  int64 // Read fails beyond this position; 0 for no bound
	found  bool  // there has been a message

	login   bool // the side is logging in
	inHTTP  bool // the bytes are the body of a request or response
	interim bool // the response comes after one such as "100 Continue", and belongs to it

	frame   int64  // where the frame ends that is being read; 0 if there is none
	body    []byte // of the message that is being read
	keeping int    // its size, of the table's kept bytes
}

// mark says of the bytes up to an end when they were captured, and which bytes of the other side
// their sender had received.
type mark struct {
	end int64
	at  time.Time
	ack uint32
}

// gapError is the error of Read where bytes are missing. It stays until passGap is called.
type gapError int

func (e gapError) Error() string { return fmt.Sprintf("%d bytes are missing", int(e)) }

func newStream(s *side) *stream {
	st := &stream{side: s, read: s.missed}
	st.r = bufio.NewReaderSize(st, maxPeek)
	st.resume, st.stop = iter.Pull(func(yield func(struct{}) bool) {
		st.yield = yield
		st.run()
	})
	st.resume() // up to the first Read
	return st
}

// feed decodes bytes of a packet.
func (s *stream) feed(b []byte, at time.Time, ack uint32) {
	s.data, s.at, s.ack = b, at, ack
	s.resume()
	s.data = nil // all is read, or nothing more will be
}

// lose notes that n bytes are missing next.
func (s *stream) lose(n int) {
	s.lost = n
	s.resume()
	s.lost = 0
}

// end decodes what is left.
func (s *stream) end() {
	s.ended = true
	s.resume()
	s.stop()
	s.keep(-s.keeping)
	s.body = nil
}

// Read returns bytes of one packet.
func (s *stream) Read(b []byte) (int, error) {
	for len(s.data) == 0 && s.lost == 0 {
		if s.ended || !s.yield(struct{}{}) {
			return 0, io.EOF
		}
	}
	switch {
	case s.lost > 0:
		return 0, gapError(s.lost)
	case s.until > 0 && s.read > s.until:
		return 0, errTooLong
	}
	n := copy(b, s.data)
	s.data = s.data[n:]
	s.read += int64(n)
	i := 0
	for i < len(s.marks) && s.marks[i].end < s.pos()-int64(n) {
		i++
	}
	s.marks = append(s.marks[i:], mark{s.read, s.at, s.ack})
	return n, nil
}

// passGap goes on after missing bytes, and returns how many they are.
func (s *stream) passGap() int {
	s.r.Discard(s.r.Buffered())
	n := s.lost
	s.read += int64(n)
	s.lost = 0
	return n
}

// pos returns the position of the next byte.
func (s *stream) pos() int64 { return s.read - int64(s.r.Buffered()) }

// mark returns what is known of the byte at a position, which is the next one or the one before.
func (s *stream) mark(pos int64) mark {
	for _, m := range s.marks {
		if pos < m.end {
			return m
		}
	}
	return mark{pos, s.at, s.ack}
}

// time returns when the byte at a position was captured, as mark does.
func (s *stream) time(pos int64) time.Time { return s.mark(pos).at }

// keep counts bytes that are kept, and reports whether there is room for them.
func (s *stream) keep(n int) bool {
	t := s.side.conn.table
	if n > 0 && t.kept+n > maxKept {
		return false
	}
	t.kept += n
	s.keeping += n
	return true
}

// room makes room for n more bytes of the body, and reports whether that is allowed.
func (s *stream) room(n int) bool {
	old, need := cap(s.body), len(s.body)+n
	if need <= old {
		return true
	}
	size := max(need, min(old+old/4+64, maxMessage))
	if left := s.frame - s.pos(); left >= int64(n) { // the body ends in the frame
		size = min(size, len(s.body)+int(left))
	}
	if !s.keep(size - old) {
		return false
	}
	s.body = append(make([]byte, 0, size), s.body...)
	return true
}

// grow appends the next n bytes to the body.
func (s *stream) grow(n int) error {
	if s.frame > 0 && int64(n) > s.frame-s.pos() {
		return fmt.Errorf("%w: a value ends after its frame", errMalformed)
	}
	if n > maxMessage-len(s.body) {
		return errTooLong
	}
	for n > 0 {
		if _, err := s.r.Peek(1); err != nil {
			return err
		}
		b, _ := s.r.Peek(min(n, s.r.Buffered()))
		if !s.room(len(b)) {
			return errTooMuch
		}
		s.body = append(s.body, b...)
		s.r.Discard(len(b))
		n -= len(b)
	}
	return nil
}

// take returns the body, which begins anew.
func (s *stream) take() []byte {
	b := s.body
	s.body = nil
	s.keep(-s.keeping)
	return b
}
