// How messages begin: made new, or received in all the ways in which bytes can be parsed.

package sessions

import (
	"bytes"
	"encoding/binary"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/referee"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// anyDepth is for messages that have been put into each other and themselves again and again.
var anyDepth = nocopy.Limits{MaxDepth: 10_000}

// generated stands for a generated type. It has the descriptor of its last use, for functions that
// get the descriptor from the type.
type generated thriftimpl.Struct

var generatedDesc *thriftimpl.Desc

func (generated) ThriftDesc() *thriftimpl.Desc { return generatedDesc }

// options are the options that New and all ways of receiving accept.
var options = []struct {
	name string
	nocopy.Option
}{
	{"Lazy", nocopy.Lazy}, {"Recycle", nocopy.Recycle}, {"WithIndex", nocopy.WithIndex}, {"ByIndex", nocopy.ByIndex},
	{"Own", nocopy.Own}, {"ValidUTF8", nocopy.ValidUTF8}, {"RequireIndex", nocopy.RequireIndex},
}

// opts chooses options. Those for which allowed reports false are left out.
func (s *session) opts(allowed func(nocopy.Option) bool) (opts []nocopy.Option, names string, recycled bool) {
	opts = []nocopy.Option{anyDepth}
	names = "Limits{MaxDepth: 10_000}"
	for _, o := range options {
		if s.Intn(4) == 3 && allowed(o.Option) {
			opts = append(opts, o.Option)
			names += ", " + o.name
			recycled = recycled || o.Option == nocopy.Recycle
		}
	}
	return opts, names, recycled
}

// newMessage makes a message, in one of the ways in which users do.
func (s *session) newMessage() *message {
	t := s.structs[0]
	if s.Intn(2) == 0 {
		t = s.structs[s.Intn(len(s.structs))]
	}
	if s.Intn(2) == 0 {
		return s.receiveNew(t)
	}
	m := &message{d: s.Desc(t), root: referee.Zero(referee.StructOf(t)).(*referee.Record)}
	opts, names, recycled := s.opts(func(nocopy.Option) bool { return true })
	m.recycled = recycled
	if s.Intn(4) == 0 {
		s.fillOwn(m, func() {
			generatedDesc = m.d
			m.h = thriftimpl.Struct(nocopy.NewInto[generated](m.own, opts...))
		})
		s.add(m)
		s.logf("%s := NewInto[%s](&%s, %s)", m.name, t.Name, s.ownName(m), names)
	} else {
		m.h = thriftimpl.New(m.d, opts...)
		s.add(m)
		s.logf("%s := New%s(%s)", m.name, t.Name, names)
	}
	if s.Intn(2) == 0 {
		rec := s.Record(t, 2)
		s.logf("// %s is filled with %s", m.name, show(rec))
		s.fillStruct(m.h, m.d, rec)
		m.root = rec
	}
	return m
}

// receiveNew receives a random message of type t, with fields and pairs that peers may send
// although they don't count.
func (s *session) receiveNew(t *referee.Struct) *message {
	rec := s.Record(t, 3)
	s.Noise(rec)
	wire := referee.Write(rec, nil)
	referee.Normal(rec)
	return s.receive(t, wire, rec)
}

// ownName returns the name of the message of the session's own that m is in.
func (s *session) ownName(m *message) string {
	if m.own == &s.own[0] {
		return "own0"
	}
	return "own1"
}

// fillOwn puts m into one of the session's own messages by calling fill. The message that was
// there ends.
func (s *session) fillOwn(m *message, fill func()) {
	m.own = &s.own[s.Intn(len(s.own))]
	if s.busy != nil && s.busy.own == m.own {
		m.own = &s.own[0]
		if s.busy.own == m.own {
			m.own = &s.own[1]
		}
	}
	for _, old := range s.msgs {
		if old.own == m.own {
			s.check(old)
			s.forget(old)
			s.logf("// %s ends", old.name)
			break
		}
	}
	fill()
}

// validTexts reports whether all strings in v are UTF-8.
func validTexts(v referee.Value) bool {
	switch v := v.(type) {
	case *referee.Record:
		for _, x := range v.Fields {
			if !validTexts(x) {
				return false
			}
		}
	case *referee.List:
		for _, x := range v.Elems {
			if !validTexts(x) {
				return false
			}
		}
	case *referee.Map:
		for _, p := range v.Pairs {
			if !validTexts(p.Key) || !validTexts(p.Value) {
				return false
			}
		}
	case string:
		return utf8.ValidString(v)
	}
	return true
}

// receive parses wire, the bytes of rec, in one of the ways in which bytes can be parsed.
func (s *session) receive(t *referee.Struct, wire []byte, rec *referee.Record) *message {
	m := &message{d: s.Desc(t), root: rec}
	wire = bytes.Clone(wire)
	if s.Intn(3) == 2 { // it has an index of its own, if it is large enough
		indexed, err := thriftimpl.Parse(m.d, wire, nocopy.WithIndex, anyDepth)
		if err != nil {
			failf("a valid message is refused: %v\n%x", err, wire)
		}
		wire = indexed.Message().AppendTo(nil)
	}
	var own bool
	way := s.Intn(7)
	opts, names, recycled := s.opts(func(o nocopy.Option) bool {
		own = own || o == nocopy.Own
		return o != nocopy.RequireIndex && (o != nocopy.ValidUTF8 || strings.IndexByte(string(wire), 0xff) < 0 && validTexts(rec))
	})
	m.recycled = recycled
	var err error
	var how string
	alias := func() []byte { // the message refers to it
		if !own {
			m.input, m.was = wire, string(wire)
		}
		return wire
	}
	switch way {
	case 0:
		blocks := s.cut(alias())
		how = "ParseBlocks"
		var h nocopy.Struct
		h, err = nocopy.ParseBlocks[nocopy.Struct](m.d, blocks, opts...)
		m.h = thriftimpl.Struct(h)
	case 1:
		how = "Read"
		var h nocopy.Struct
		h, err = nocopy.Read[nocopy.Struct](m.d, &oddReader{s, wire}, len(wire), opts...)
		m.h = thriftimpl.Struct(h)
	case 2:
		how = "a Decoder"
		m.h, err = s.decode(m.d, wire, opts)
	case 3:
		how = "ParseInto"
		s.fillOwn(m, func() {
			how += " " + s.ownName(m)
			generatedDesc = m.d
			var h generated
			h, err = nocopy.ParseInto[generated](m.own, alias(), opts...)
			m.h = thriftimpl.Struct(h)
		})
	case 4:
		how = "OpenIndexed"
		var h nocopy.Struct
		h, err = nocopy.OpenIndexed[nocopy.Struct](m.d, alias(), opts...)
		m.h = thriftimpl.Struct(h)
	default:
		how = "Parse"
		m.h, err = thriftimpl.Parse(m.d, alias(), opts...)
	}
	s.add(m)
	s.logf("%s := %s of %s(%x, %s)", m.name, how, t.Name, wire, names)
	if err != nil {
		failf("a valid message is refused: %v\n%x", err, wire)
	}
	return m
}

// decode receives wire from a stream with messages before and after it.
func (s *session) decode(d *thriftimpl.Desc, wire []byte, opts []nocopy.Option) (thriftimpl.Struct, error) {
	generatedDesc = d
	frame := func(b []byte) []byte { return b }
	newDecoder := nocopy.NewDecoder[generated]
	if s.Intn(2) == 0 {
		frame = func(b []byte) []byte { return append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...) }
		newDecoder = nocopy.NewFrameDecoder[generated]
	}
	before := s.Intn(3)
	var stream []byte
	for range before + 1 + s.Intn(2) {
		stream = append(stream, frame(wire)...)
	}
	dec := newDecoder(&oddReader{s, stream}, opts...)
	for range before {
		h, err := dec.Next()
		if err != nil {
			return thriftimpl.Struct(h), err
		}
		if s.Intn(2) == 0 {
			thriftimpl.Struct(h).Release()
		}
	}
	h, err := dec.Next()
	if s.Intn(2) == 0 { // the Decoder reads on
		_, _ = dec.Next()
	}
	return thriftimpl.Struct(h), err
}

// cut cuts b into blocks, some of them empty.
func (s *session) cut(b []byte) [][]byte {
	var blocks [][]byte
	few := 1 + s.Intn(8)
	for len(b) > 0 && len(blocks) < few {
		n := min(s.Intn(300), len(b))
		blocks = append(blocks, b[:n:n])
		b = b[n:]
	}
	return append(blocks, b)
}

// oddReader gives its bytes in pieces of odd sizes.
type oddReader struct {
	s *session
	b []byte
}

func (r *oddReader) Read(p []byte) (int, error) {
	if len(r.b) == 0 {
		return 0, io.EOF
	}
	n := copy(p, r.b[:min(len(r.b), 1+int(r.s.Bits()%1000))])
	r.b = r.b[n:]
	return n, nil
}

// again makes a message of the bytes of another one.
func (s *session) again(m *message) {
	s.logf("// from the bytes of %s:", m.name)
	wire := m.h.Message().AppendTo(nil)
	s.receive(m.root.Type, wire, referee.Clone(m.root).(*referee.Record))
}

// clone makes a message of a struct in another one.
func (s *session) clone(m *message) {
	t, ok := s.pick(m)
	rec, isRecord := t.node.(*referee.Record)
	if !ok || !isRecord {
		return
	}
	n := &message{d: t.typ.Struct(), root: referee.Clone(rec).(*referee.Record)}
	if s.Intn(3) == 0 {
		s.logf("// from the bytes of %s alone:", t.path)
		s.receive(rec.Type, t.h.AppendStruct(nil, n.d), n.root)
		return
	}
	n.h = t.h.Clone(n.d)
	s.add(n)
	s.logf("%s := %s.Clone()", n.name, t.path)
}
