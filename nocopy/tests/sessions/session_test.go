// A session: a few messages with their models, and the operations on them.

package sessions

import (
	"fmt"
	"strings"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/referee"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// session is a few messages, each with its model, and random operations on them.
type session struct {
	universe
	*referee.Gen
	data    *choices
	msgs    []*message
	own     [2]nocopy.Message // the session's, filled again and again
	current *message
	busy    *message // is being changed, and must not end
	made    int      // messages so far
	held    []target // handles to be used later
	kept    []kept
	ops     int
	marks   []int            // where in data each step begins
	log     *strings.Builder // nil: not wanted
}

// message is a message with its model: its contents once it is finished.
type message struct {
	name     string
	d        *thriftimpl.Desc
	h        thriftimpl.Struct
	root     *referee.Record
	recycled bool
	own      *nocopy.Message // which of the session's it is in; nil: none
	sent     []byte          // its bytes when it was last finished; nil if it has changed since
	input    []byte          // what it was parsed from and must not change
	was      string          // the contents of input
}

// ThriftDesc and ThriftStruct make a message a nocopy.AnyStruct.
func (m *message) ThriftDesc() *thriftimpl.Desc    { return m.d }
func (m *message) ThriftStruct() thriftimpl.Struct { return m.h }
func (t target) ThriftDesc() *thriftimpl.Desc      { return t.typ.Struct() }
func (t target) ThriftStruct() thriftimpl.Struct   { return t.h }
func (s *session) target(m *message) target {
	return target{m: m, t: referee.StructOf(m.root.Type), typ: thriftimpl.StructOf(m.d), node: m.root, h: m.h, path: m.name}
}

// kept is a string that was read from a message that is not recycled.
type kept struct{ got, want string }

// choices are the bytes that a session is made of.
type choices struct {
	b  []byte
	at int
}

// Intn returns a number below n, 0 when the bytes have come to an end.
func (c *choices) Intn(n int) int {
	if n <= 1 {
		return 0
	}
	x := int(c.next())
	if n > 256 {
		x = x<<8 | int(c.next())
	}
	return x % n
}

func (c *choices) next() byte {
	if c.at++; c.at > len(c.b) {
		return 0
	}
	return c.b[c.at-1]
}

// failure is the value with which a session panics when message and model differ.
type failure string

func failf(format string, args ...any) { panic(failure(fmt.Sprintf(format, args...))) }

// logf writes a line of the session as a program.
func (s *session) logf(format string, args ...any) {
	if s.log == nil {
		return
	}
	text := fmt.Sprintf(format, args...)
	if len(text) > 600 {
		text = text[:600] + "…"
	}
	s.log.WriteString(strings.ToValidUTF8(text, "?") + "\n")
}

// show returns a value as short text.
func show(v referee.Value) string {
	text := fmt.Sprintf("%v", referee.Plain(v))
	if len(text) > 200 {
		text = fmt.Sprintf("%.200s… (%d bytes)", text, len(text))
	}
	return text
}

// run does operations until there are no more choices.
func (s *session) run(limit int) {
	for s.data.at < len(s.data.b) && s.ops < limit {
		s.step()
	}
	for _, m := range s.msgs {
		s.check(m)
	}
	s.checkOthers()
	for len(s.msgs) > 0 {
		s.release(s.msgs[0])
	}
	s.checkOthers()
}

func (s *session) step() {
	s.marks = append(s.marks, s.data.at)
	s.ops++
	s.busy = nil
	if len(s.msgs) == 0 {
		s.newMessage()
		return
	}
	m := s.msgs[s.Intn(len(s.msgs))]
	switch class := s.Intn(64); {
	case class < 3 && len(s.msgs) < 4:
		s.newMessage()
	case class < 5 && len(s.msgs) < 5:
		s.again(m)
	case class < 7 && len(s.msgs) < 5:
		s.clone(m)
	case class < 9 && len(s.msgs) > 1:
		s.release(m)
	case class < 12:
		s.check(m)
		s.checkOthers()
	case class < 15:
		s.checkOpen(m)
	case class < 17:
		s.logf("%s.Message().Compact()", m.name)
		m.h.Message().Compact()
		m.sent = nil // fields that came twice come once now
	case class < 18:
		s.logf("%s.Message().Index()", m.name)
		if err := m.h.Message().Index(); err != nil {
			failf("%s: Index: %v", m.name, err)
		}
	case class < 28:
		s.wholeOp(m)
	default:
		s.edit(m)
	}
	if s.Intn(8) == 0 {
		s.checkOthers()
	}
}

// release releases a message. Its handles become stale, strings that were read stay valid.
func (s *session) release(m *message) {
	s.check(m)
	switch how := s.Intn(3); {
	case m.own == nil || how == 0:
		s.logf("%s.Release()", m.name)
		m.h.Release()
	default:
		s.logf("%s's Message.Reset()", m.name)
		m.own.Reset()
	}
	s.forget(m)
}

// forget removes a message that has ended, with all handles of it.
func (s *session) forget(m *message) {
	for i := range s.msgs {
		if s.msgs[i] == m {
			s.msgs = append(s.msgs[:i], s.msgs[i+1:]...)
			break
		}
	}
	rest := s.held[:0]
	for _, t := range s.held {
		if t.m != m {
			rest = append(rest, t)
		}
	}
	s.held = rest
	if s.current == m {
		s.current = nil
	}
}

// add adds a message to the session.
func (s *session) add(m *message) *message {
	s.made++
	m.name = fmt.Sprintf("m%d", s.made)
	s.msgs = append(s.msgs, m)
	s.current = m
	return m
}
