package capture

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// side has the bytes that one end of a connection sends.
type side struct {
	conn   *conn
	number int

	started bool
	whole   bool   // the capture has its first byte
	over    bool   // nothing more comes, or is looked at
	first   uint32 // the number of the first byte
	next    uint32 // the number of the byte that comes next
	acked   uint32 // the other end has all bytes before this one
	hasAck  bool

	queue []segment // those that wait, in the order of their sequence numbers

	missed int64   // bytes that are missing before the first one
	stream *stream // nil before the first byte
	unit   place   // where the message or frame begins that is being read

	caller caller // what is known of its calls
}

// place is where a message begins, in sequence numbers.
type place struct {
	seq uint32 // of its first byte
	ack uint32 // of the first byte of the other side that its sender had not received
}

func (s *side) from() netip.AddrPort { return s.conn.ends[s.number] }
func (s *side) to() netip.AddrPort   { return s.conn.ends[1-s.number] }

// isOther reports whether a SYN begins another connection than the one that is known.
func (s *side) isOther(g *segment) bool { return s.started && g.seq+1 != s.first }

func (s *side) other() *side { return &s.conn.sides[1-s.number] }

// acknowledged notes that the other end has all bytes before ack.
func (s *side) acknowledged(ack uint32) {
	if !s.hasAck || int32(ack-s.acked) > 0 {
		s.acked, s.hasAck = ack, true
	}
}

// segment takes a segment. It is passed on, or waits.
func (s *side) segment(g *segment) {
	if s.over {
		return
	}
	if g.syn {
		g.seq++
	}
	if g.size() == 0 && !g.syn && !g.fin {
		return
	}
	if !s.started {
		s.start(g)
	}
	if len(s.queue) == 0 && s.isReady(g) { // as usual
		s.pass(*g)
		return
	}
	s.insert(*g)
}

// start notes the first segment.
func (s *side) start(g *segment) {
	s.started, s.whole, s.first, s.next = true, g.syn, g.seq, g.seq
	if s.caller.lost, s.caller.unproved = false, false; !g.syn {
		s.conn.lost(s.number)
	}
}

// isReady reports whether a segment comes next: all bytes before it have been passed on, and so
// have all bytes of the other side that its sender had received.
func (s *side) isReady(g *segment) bool {
	if int32(g.seq-s.next) > 0 {
		return false
	}
	return int32(g.seq+g.size()-s.next) <= 0 || s.unseen(g) == 0
}

// unseen returns how many bytes of the other side come before a segment, and have not been passed
// on.
func (s *side) unseen(g *segment) int {
	o := s.other()
	n := int32(g.ack - o.next)
	if n < 0 || n > maxWindow || !g.hasAck || g.size() == 0 || !o.started || o.over {
		return 0
	}
	return int(n)
}

// missing returns how many bytes are missing before segments that wait for them, and when the
// first of these was captured. n is 0 if the next bytes are there, or none wait.
func (s *side) missing() (n int, at time.Time) {
	if len(s.queue) > 0 {
		g := &s.queue[0]
		return max(int(int32(g.seq-s.next)), 0), g.at
	}
	if o := s.other(); len(o.queue) > 0 && !s.over {
		return o.unseen(&o.queue[0]), o.queue[0].at
	}
	return 0, at
}

// cost is what a waiting segment takes, in bytes.
func (g *segment) cost() int { return cap(g.data) + 200 }

// insert adds a segment to the queue.
func (s *side) insert(g segment) {
	i := len(s.queue)
	for i > 0 && int32(s.queue[i-1].seq-g.seq) > 0 {
		i--
	}
	s.queue = slices.Insert(s.queue, i, g)
	s.conn.waits(&g, 1)
}

// take takes the first segment of the queue, and passes it on.
func (s *side) take() {
	g := s.queue[0]
	s.queue[0] = segment{}
	if s.queue = s.queue[1:]; len(s.queue) == 0 {
		s.queue = nil
	}
	s.conn.waits(&g, -1)
	s.pass(g)
}

// pass passes a segment on, without what has been passed on before.
func (s *side) pass(g segment) {
	if again := int(int32(s.next - g.seq)); again <= len(g.data) {
		g.data = g.data[again:]
	} else {
		g.data, g.missing = nil, max(g.missing-(again-len(g.data)), 0)
	}
	s.data(&g)
	if g.missing > 0 {
		s.gap(g.missing, g.at)
	}
	if g.fin && len(s.queue) == 0 {
		s.end()
	}
}

// data passes the bytes of a segment on.
func (s *side) data(g *segment) {
	if len(g.data) == 0 || s.over {
		return
	}
	s.conn.spoke = true
	s.next += uint32(len(g.data))
	if s.stream == nil {
		s.stream = newStream(s)
	}
	s.stream.feed(g.data, g.at, g.ack)
}

// seq returns the sequence number of a position of the stream.
func (s *side) seq(pos int64) uint32 { return s.first + uint32(pos) }

// gap passes on that n bytes are missing after what was sent at some time.
func (s *side) gap(n int, at time.Time) {
	s.next += uint32(n)
	if s.stream == nil { // nothing has been read that they belong to
		s.note(at, "%d bytes are missing at byte %d", n, s.missed)
		s.whole = false
		s.missed += int64(n)
		s.conn.lost(s.number)
		return
	}
	s.stream.lose(n)
}

// end ends the side.
func (s *side) end() {
	s.over = true
	if s.stream != nil {
		s.stream.end()
		s.stream = nil
	}
	for i := range s.queue {
		s.conn.waits(&s.queue[i], -1)
	}
	s.queue = nil
}

// note tells something about the side's bytes, once the connection is known to carry Thrift.
func (s *side) note(at time.Time, text string, args ...any) {
	n := &Note{at, s.from(), s.to(), fmt.Sprintf(text, args...)}
	switch c := s.conn; {
	case c.found || c.sasl:
		c.table.out.Note(n)
	case len(c.held) < maxHeld:
		n.Text = strings.Clone(n.Text[:min(len(n.Text), maxHeldText)])
		c.held = append(c.held, n)
	}
}
