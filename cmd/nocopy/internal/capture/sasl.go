package capture

import (
	"encoding/binary"
	"slices"
)

// A login of Apache's TSaslTransport consists of messages:
//
//	status, 1 byte | length of payload, 4 bytes | payload
//
// The client begins with START and the name of a mechanism. Frames follow the server's COMPLETE.
const (
	saslHeader   = 5
	saslStart    = 1
	saslComplete = 5

	maxSASL     = 64 << 10 // of a payload
	maxSASLName = 20
)

// isLogin reports whether b, of saslHeader bytes, begins a message of a login.
func (s *stream) isLogin(b []byte) bool {
	n := int(binary.BigEndian.Uint32(b[1:]))
	switch {
	case s.found && !s.login:
		return false
	case b[0] == saslStart && n > 0 && n <= maxSASLName:
		name, _ := s.r.Peek(saslHeader + n)
		return len(name) > saslHeader && !slices.ContainsFunc(name[saslHeader:], func(c byte) bool {
			return (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' && c != '_'
		})
	}
	return s.side.conn.sasl && b[0] > saslStart && b[0] <= saslComplete && n <= maxSASL
}

// loginMessage passes a message of a login.
func (s *stream) loginMessage() error {
	head, err := s.fixed(saslHeader)
	if err != nil {
		return err
	}
	payload, err := s.fixed(int(binary.BigEndian.Uint32(head[1:])))
	if err != nil {
		return err
	}
	s.login = true
	if c := s.side.conn; !c.sasl {
		c.sasl = true
		s.side.note(s.time(s.pos()-1), "a login by SASL %s", payload)
	}
	return nil
}
