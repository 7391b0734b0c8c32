package transport

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/internal/compressed"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/message"
)

// TestInterrupted receives messages of all kinds, some of them malformed or too large, with reads
// that end anywhere and interruptions between them. The messages and the errors are the same as if
// all had arrived at once.
func TestInterrupted(t *testing.T) {
	for seed := range uint64(1000) {
		r := rand.New(rand.NewPCG(seed, 1))
		transport, limit := []Transport{Framed, Unframed, THeader}[r.IntN(3)], []int{0, 0, 300, 5000}[r.IntN(4)]
		s := &streamOf{Rand: r, malformed: limit == 0} // else either error may be found first
		s.build(transport)
		requests, recycle := r.IntN(2) == 0, r.IntN(2) == 0
		limits := LimitsOf(limit, nocopy.Limits{}, "limit")
		run := func(src io.Reader, interrupted func() bool) []string {
			near, far := net.Pipe()
			defer near.Close()
			defer far.Close()
			in := &Receiver{
				Conn: near, Src: src, Transport: transport, Requests: requests, Interrupted: interrupted,
				Limits: limits, MessageTimeout: time.Hour, Budget: compressed.NewBudget(limits.Frame, nil),
			}
			if requests && interrupted != nil { // as servers do
				in.Failed = func(err error, inMessage bool) (bool, error) {
					return interrupted() && errors.Is(err, os.ErrDeadlineExceeded), Meaning(err, inMessage)
				}
			}
			in.Reset(recycle)
			defer in.Free()
			return in.all()
		}
		want := run(&parts{b: s.b, r: nil}, nil)
		src := &parts{b: s.b, r: r, most: []int{1 + len(s.b)/500, 7 + len(s.b)/100, 300, 70 << 10}[r.IntN(4)]}
		if got := run(src, func() bool { return src.stopped }); !slices.Equal(got, want) {
			t.Fatalf("seed %d: %d bytes, limit %d, requests %t, recycle %t, %T:\ninterrupted %q\nat once     %q", seed, len(s.b), limit, requests, recycle, transport, got, want)
		}
	}
}

// all returns what Next returns, up to an error that ends the stream.
func (r *Receiver) all() (all []string) {
	for {
		var h message.Header
		c, err := r.Next(&h)
		if r.Interrupted != nil && r.Interrupted() && errors.Is(err, os.ErrDeadlineExceeded) {
			continue
		}
		sum := fnv.New64()
		for p := &c; p != nil; p = p.Next() {
			sum.Write(p.Mem)
		}
		name := string(h.Name)
		all = append(all, fmt.Sprint(h.Type, h.Form, h.SeqID, name[:min(len(name), 9)], h.Size, sum.Sum64(), strings.Replace(fmt.Sprint(err), " in Thrift Binary", " bytes", 1)))
		switch {
		case err == nil:
			if r.Requests {
				if m, err := r.ParseStruct(c, nil, nocopy.Limits{}, false, false); err != nil || m != nil {
					all = append(all, fmt.Sprint(m, err))
				}
			}
			c.Release()
			charge := r.TakeCharge()
			charge.End()
		case h.Size == 0 || !EndKnown(err):
			if h.Size > 0 && r.Transport == Unframed { // in the struct: it is still wrong
				if _, again := r.Next(new(message.Header)); again == nil || errors.Is(err, nocopy.ErrType) && !errors.Is(again, nocopy.ErrType) {
					all = append(all, fmt.Sprint(err, ", and then ", again))
				}
			}
			return all
		}
	}
}

// parts is a Reader of b in parts of random sizes, with interruptions. If r is nil, it is of all
// of b.
type parts struct {
	b       []byte
	r       *rand.Rand
	most    int
	stopped bool
}

func (p *parts) Read(b []byte) (int, error) {
	switch {
	case p.r == nil:
	case p.r.IntN(3) == 0:
		p.stopped = true
		return 0, os.ErrDeadlineExceeded
	default:
		p.stopped = false
		b = b[:min(len(b), 1+p.r.IntN(p.most))]
	}
	if len(p.b) == 0 {
		return 0, io.EOF
	}
	n := copy(b, p.b)
	p.b = p.b[n:]
	return n, nil
}

// streamOf is a stream of random messages. Some are malformed.
type streamOf struct {
	*rand.Rand
	malformed bool
	b         []byte
}

// build makes a stream of a few messages.
func (s *streamOf) build(t Transport) {
	for id := range 1 + s.IntN(4) {
		wire := s.fields(nil, 3)
		typ := message.Type(1 + s.IntN(4))
		name := string(make([]byte, s.IntN(3)*s.IntN(20))) + "name"
		style := message.Style{Form: []message.Form{message.Strict, message.Compact}[s.IntN(2)]}
		if t == THeader && s.IntN(2) == 0 {
			style.THeader = &message.THeader{Zlib: true}
		}
		var m []byte
		if style.IsPlain() {
			m = appendHeader(t.AppendFront(nil, message.HeaderSize(true, len(name))+len(wire)), typ, name, id)
			m = append(m, wire...)
		} else {
			e := Encoder{Transport: t, Style: style}
			head := message.AppendCompact(nil, typ, "", name, int32(id))
			if style.Form != message.Compact {
				head = appendHeader(nil, typ, name, id)
			}
			made := e.encode(head, wire, int32(id), nil)
			m = slices.Clone(made.Bytes())
			made.Free()
		}
		if s.malformed && s.IntN(5) == 0 {
			m[s.IntN(len(m))] ^= 1 << s.IntN(8)
		}
		s.b = append(s.b, m...)
	}
	if s.IntN(4) == 0 {
		s.b = s.b[:s.IntN(len(s.b))]
	}
}

func (s *streamOf) fields(b []byte, depth int) []byte {
	for id := range s.IntN(5) {
		at := len(b)
		b = append(b, 0, 0, byte(id+1))
		var t byte
		b, t = s.value(b, depth)
		b[at] = t
	}
	return append(b, 0)
}

func (s *streamOf) value(b []byte, depth int) ([]byte, byte) {
	t := []byte{2, 3, 6, 8, 10, 4, 11, 11, 12, 15, 15, 13}[s.IntN(12)]
	if depth == 0 {
		t = 11
	}
	return s.of(b, t, depth), t
}

func (s *streamOf) of(b []byte, t byte, depth int) []byte {
	switch t {
	case 2:
		return append(b, byte(s.IntN(2)))
	case 3:
		return append(b, byte(s.Uint32()))
	case 6:
		return binary.BigEndian.AppendUint16(b, uint16(s.Uint32()))
	case 8:
		return binary.BigEndian.AppendUint32(b, s.Uint32())
	case 10, 4:
		return binary.BigEndian.AppendUint64(b, s.Uint64())
	case 11:
		n := s.IntN([]int{5, 40, 600, 20 << 10}[s.IntN(4)])
		return append(binary.BigEndian.AppendUint32(b, uint32(n)), make([]byte, n)...)
	case 12:
		return s.fields(b, depth-1)
	}
	elem := []byte{2, 8, 11, 11, 12}[s.IntN(5)]
	if depth == 1 {
		elem = 8
	}
	n := s.IntN([]int{3, 20, 200}[s.IntN(3)])
	if elem == 11 || elem == 12 {
		n = min(n, 30)
	}
	b = append(b, elem)
	if t == 13 {
		b = append(b, elem)
		b = binary.BigEndian.AppendUint32(b, uint32(n))
		n *= 2
	} else {
		b = binary.BigEndian.AppendUint32(b, uint32(n))
	}
	for range n {
		b = s.of(b, elem, depth-1)
	}
	return b
}

func appendHeader(b []byte, typ message.Type, name string, id int) []byte {
	at := len(b)
	b = append(b, make([]byte, message.HeaderSize(true, len(name)))...)
	message.PutHeader(b[at:], true, typ, "", name, int32(id))
	return b
}

// TestCompactSize: a message in the compact protocol that is larger than the limit is refused
// however it arrives, also if its Thrift Binary would be smaller.
func TestCompactSize(t *testing.T) {
	const n = 40
	b := append(message.AppendCompact(nil, message.Call, "", "echo", 1), 0x19, 0xf5, n)
	for range n {
		b = append(b, 0xff, 0xff, 0xff, 0xff, 0x0f)
	}
	b = append(b, 0)
	for limit, fits := range map[int]bool{len(b) - 1: false, len(b): true} {
		for _, dripping := range []bool{false, true} {
			r := receiver(t, b, dripping)
			r.Transport, r.Limits = Unframed, LimitsOf(limit, nocopy.Limits{}, "limit")
			c, err := r.Next(new(message.Header))
			if c.Release(); (err == nil) != fits || err != nil && !errors.Is(err, nocopy.ErrLimit) {
				t.Errorf("%d bytes, limit %d, one by one %t: %v", len(b), limit, dripping, err)
			}
		}
	}
}
