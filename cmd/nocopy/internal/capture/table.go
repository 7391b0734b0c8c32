package capture

import (
	"cmp"
	"container/list"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"time"
)

// Options says which packets count.
type Options struct {
	Port uint16 // only connections with this port, at either end; 0 for all

	// Oneway reports whether a method is oneway, though its calls may say otherwise, as those of
	// Apache's library for Go do. nil is no method.
	Oneway func(method string) bool
}

// Output takes what is found.
type Output interface {
	Call(*Call)
	Note(*Note)
	Err() error // ends the search, if it is not nil
}

// A Call is a call and what came of it.
type Call struct {
	Client, Server netip.AddrPort
	Wire           string // the transport and the protocol, as "framed binary"
	Method         string // as on the wire: "service:method" of a multiplexed call
	Oneway         bool
	Args           []byte        // a struct in Thrift Binary; so is Reply
	Reply          []byte        // nil if there was none, and with Err
	Assumed        bool          // Reply or Err is assumed to be of the call (pair.go says when)
	Err            error         // an *rpc.ApplicationException, an *rpc.HTTPError, or ErrNoReply
	Began          time.Time     // of the call's first packet; zero if it is not known
	Took           time.Duration // until the reply's last packet; 0 without reply, or Unknown
}

// Unknown is how long a call took if the capture does not have the times of its packets, or if its
// reply is older than the call.
const Unknown = time.Duration(-1)

// ErrNoReply is the error of a call whose reply the capture does not have. ErrTooMany and
// ErrUnsure wrap it.
var ErrNoReply = errors.New("the capture has no reply")

// ErrTooMany is ErrNoReply for a call that was given up because too many were waiting.
var ErrTooMany = fmt.Errorf("%w among those that were looked at: too many calls were waiting", ErrNoReply)

// ErrUnsure is ErrNoReply for a call whose reply may be one that was paired with no call.
var ErrUnsure = fmt.Errorf("%w that is surely its own", ErrNoReply)

// A Note is about a connection: bytes that could not be read.
type Note struct {
	At       time.Time
	From, To netip.AddrPort
	Text     string
}

// Summary is what a capture has besides its calls.
type Summary struct {
	Packets     int
	Connections int
	Calls       int
	Replies     int // to calls that the capture does not have
	LeftOut     []LeftOut
	leftOut     map[string]*LeftOut
}

// LeftOut is a kind of packets or connections that could not be read, or not whole.
type LeftOut struct {
	What     string
	N        int
	From, To netip.AddrPort // of the first one, if it is a connection
}

func (s *Summary) leaveOut(what string) *LeftOut {
	if s.leftOut == nil {
		s.leftOut = map[string]*LeftOut{}
	}
	l := s.leftOut[what]
	if l == nil {
		l = &LeftOut{What: what}
		s.leftOut[what] = l
	}
	l.N++
	return l
}

// table has the connections of a capture.
type table struct {
	opt  Options
	out  Output
	sum  Summary
	kept int // bytes of incomplete messages and waiting segments

	bytes    int64 // of all connections
	inflated int64 // bytes that compressed messages have become

	conns  map[ends]*conn
	recent list.List // of *conn: the latest one is first, ended ones are last

	pending      list.List // of *exchange: calls that wait for a reply, the oldest first
	pendingBytes int
}

// ends are the ends of a connection, the smaller one first.
type ends [2]netip.AddrPort

func newTable(opt Options, out Output) *table {
	return &table{opt: opt, out: out, conns: map[ends]*conn{}}
}

// segment takes a segment.
func (t *table) segment(g *segment) {
	if p := t.opt.Port; p > 0 && g.from.Port() != p && g.to.Port() != p {
		t.sum.leaveOut(otherPorts)
		return
	}
	key, from := ends{g.from, g.to}, 0
	if g.from.Compare(g.to) > 0 {
		key, from = ends{g.to, g.from}, 1
	}
	c := t.conns[key]
	if c != nil && g.syn && c.sides[from].isOther(g) {
		t.remove(c)
		c = nil
	}
	if c == nil {
		if !g.syn && g.size() == 0 {
			return
		}
		c = t.add(key)
	}
	if c.ended {
		if g.size() > 0 && int32(g.seq-c.sides[from].next) >= 0 { // not sent again
			t.sum.leaveOut(afterEnd)
		}
		return
	}
	t.recent.MoveToFront(c.entry)
	t.bytes += int64(len(g.data))
	c.segment(from, g)
}

func (t *table) add(key ends) *conn {
	if len(t.conns) == maxConns {
		last := t.recent.Back().Value.(*conn)
		if !last.ended {
			t.sum.leaveOut(tooManyConns)
		}
		t.remove(last)
	}
	c := &conn{table: t, ends: key}
	for i := range c.sides {
		c.sides[i] = side{conn: c, number: i, caller: caller{lost: true, unproved: true}}
	}
	c.entry = t.recent.PushFront(c)
	t.conns[key] = c
	t.sum.Connections++
	return c
}

// remove forgets a connection.
func (t *table) remove(c *conn) {
	c.end()
	t.recent.Remove(c.entry)
	delete(t.conns, c.ends)
}

// end ends all connections, and completes the summary.
func (t *table) end() {
	for t.recent.Len() > 0 { // in the order of their latest packets
		t.remove(t.recent.Back().Value.(*conn))
	}
	for _, name := range slices.Sorted(maps.Keys(t.sum.leftOut)) {
		t.sum.LeftOut = append(t.sum.LeftOut, *t.sum.leftOut[name])
	}
	slices.SortStableFunc(t.sum.LeftOut, func(a, b LeftOut) int { return cmp.Compare(b.N, a.N) })
}

func (t *table) call(c *Call) {
	t.sum.Calls++
	t.out.Call(c)
}
