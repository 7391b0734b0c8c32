// The messages of a run of TestModel with their models, and how the two are compared.

package model_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nocopythrift/nocopythrift/internal/entry"
	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/render"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/referee"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// session has a few messages, each with its model, and applies random operations to them.
type session struct {
	*schema
	*referee.Gen
	data    *choices
	until   time.Time // when to stop; zero: never
	msgs    []*message
	own     [2]nocopy.Message // message variables, filled again and again
	current *message
	made    int      // messages so far
	held    []target // handles to be used later
	kept    []kept
	ops     int
	marks   []int            // offset in data at which each step begins
	log     *strings.Builder // nil if it is not needed
}

// message is a message with its model.
type message struct {
	name     string
	b        *bound
	h        handle
	root     *referee.Record
	recycled bool
	indexed  bool            // it was made WithIndex
	own      *nocopy.Message // the session's variable that it is in, or nil
	always   bool            // it is compacted before every change
	sent     []byte          // its bytes when it was last finished; nil after a change
	inputs   []input
	parsed   []byte // the bytes that it was parsed from; nil if it may be sent with others
}

// input is memory that a message was made from and must leave alone.
type input struct {
	mem  []byte
	want string
}

// kept is a string that was read from a message that is not recycled.
type kept struct{ got, want string }

// fromFinish, in a model, is an unset field that finishing the message will set. The message may
// set it earlier: it may complete a struct that is no longer touched at any time.
type fromFinish struct{}

// choices has the bytes that determine a session.
type choices struct {
	b  []byte
	at int
}

// Intn returns a number below n, or 0 after the end of the bytes.
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
	if c.at >= len(c.b) {
		c.at++
		return 0
	}
	c.at++
	return c.b[c.at-1]
}

func (c *choices) done() bool { return c.at >= len(c.b) }

// failure is the value of a session's panic when message and model differ.
type failure string

func failf(format string, args ...any) { panic(failure(fmt.Sprintf(format, args...))) }

func (s *session) logf(format string, args ...any) {
	if s.log == nil {
		return
	}
	text := fmt.Sprintf(format, args...)
	if len(text) > 400 {
		text = text[:400] + "…"
	}
	s.log.WriteString(strings.ToValidUTF8(text, "?") + "\n")
}

// newRecord returns the model of a new struct.
func newRecord(t *referee.Struct) *referee.Record {
	r := referee.NewRecord(t)
	for i := range t.Fields {
		if f := &t.Fields[i]; f.AddedIfUnset(t) {
			if r.Fields[i] = (fromFinish{}); f.Type.IsFixed() {
				r.Fields[i] = f.Initial()
			}
		}
	}
	return r
}

// settle sets all fromFinish fields of a model, in place, after the message was finished.
func settle(v referee.Value) {
	each(v, func(rec *referee.Record) {
		for i, x := range rec.Fields {
			if x == (fromFinish{}) {
				rec.Fields[i] = rec.Type.Fields[i].Initial()
			}
		}
	})
}

// align makes a model's copy agree with got about fromFinish fields, set or not. Whether an
// unfinished message already has such a field cannot be known.
func align(want, got referee.Value) {
	switch w := want.(type) {
	case *referee.Record:
		g := got.(*referee.Record)
		w.Unknown = nil // reading them would finish the message
		for i, x := range w.Fields {
			f := &w.Type.Fields[i]
			switch {
			case x == nil:
			case g.Fields[i] == nil && f.AddedIfUnset(w.Type) && (x == (fromFinish{}) || sameSettled(x, f.Initial())):
				w.Fields[i] = nil
			case g.Fields[i] == nil:
				settle(x)
			case x == (fromFinish{}):
				w.Fields[i] = f.Initial()
			default:
				align(x, g.Fields[i])
			}
		}
	case *referee.List:
		for i, x := range w.Elems {
			if g := got.(*referee.List); i < len(g.Elems) {
				align(x, g.Elems[i])
			}
		}
	case *referee.Map:
		for i, p := range w.Pairs {
			g, k := got.(*referee.Map), i
			if !w.Type.Key.IsContainer() {
				k = g.Find(p.Key)
			}
			if k >= 0 && k < len(g.Pairs) {
				align(p.Key, g.Pairs[k].Key)
				align(p.Value, g.Pairs[k].Value)
			}
		}
	}
}

func sameSettled(x, y referee.Value) bool {
	x = referee.Clone(x)
	settle(x)
	return referee.Equal(x, y)
}

// each calls f with every struct in a value, inner ones first.
func each(v referee.Value, f func(*referee.Record)) {
	switch v := v.(type) {
	case *referee.Record:
		for _, x := range v.Fields {
			each(x, f)
		}
		f(v)
	case *referee.List:
		if v.Type.Elem.IsContainer() {
			for _, x := range v.Elems {
				each(x, f)
			}
		}
	case *referee.Map:
		for _, p := range v.Pairs {
			each(p.Key, f)
			each(p.Value, f)
		}
	}
}

func (s *session) keep(m *message) func(string) {
	if m.recycled {
		return nil
	}
	return func(text string) {
		if k := (kept{text, strings.Clone(text)}); len(s.kept) < 32 {
			s.kept = append(s.kept, k)
		} else if s.Bits()%16 == 0 {
			s.kept[s.Bits()%32] = k
		}
	}
}

// checkOpen compares a message with its model without finishing it.
func (s *session) checkOpen(m *message) {
	s.logf("// %s is read", m.name)
	r := &reader{schema: s.schema, keep: s.keep(m)}
	got := r.record(m.b.Struct, m.h)
	want := referee.Clone(m.root)
	align(want, got)
	settle(want)
	s.compare(m, "the getters of the unfinished message", want, got, r.wrong)
}

func (s *session) compare(m *message, what string, want, got referee.Value, wrong []string) {
	if !referee.Equal(want, got) {
		failf("%s: %s give (-want +got):\n%s", m.name, what, cmp.Diff(referee.Plain(want), referee.Plain(got)))
	}
	if len(wrong) > 0 {
		failf("%s: %s: %s", m.name, what, strings.Join(wrong, "\n"))
	}
}

// check finishes a message and compares it with its model in every way.
func (s *session) check(m *message) {
	s.logf("%s.Message().Finish() // and it is checked", m.name)
	n := m.h.Message().Len()
	settle(m.root)
	wire := m.h.Message().AppendTo([]byte("dst"))
	if string(wire[:3]) != "dst" {
		failf("%s: AppendTo changes what is there already", m.name)
	}
	wire = wire[3:]
	var written bytes.Buffer
	if k, err := m.h.Message().WriteTo(&written); err != nil || int(k) != len(wire) {
		failf("%s: WriteTo gives %d, %v for %d bytes", m.name, k, err, len(wire))
	}
	if n != len(wire) || !bytes.Equal(wire, m.h.Message().Bytes()) || !bytes.Equal(wire, written.Bytes()) {
		failf("%s: Len %d, AppendTo %x, Bytes %x, WriteTo %x", m.name, n, wire, m.h.Message().Bytes(), written.Bytes())
	}
	written.Reset()
	if _, err := m.h.Message().WriteFrame(&written); err != nil || !bytes.Equal(written.Bytes(), append(binary.BigEndian.AppendUint32(nil, uint32(n)), wire...)) {
		failf("%s: WriteFrame gives %v, %x for %x", m.name, err, written.Bytes(), wire)
	}
	if err := engine.CheckSentIndex(m.b.desc, wire, m.indexed, anyDepth); err != nil {
		failf("%s: its index: %v\n%x", m.name, err, wire)
	}
	rec, err := referee.Read(m.b.Struct, wire)
	if err != nil {
		failf("%s: Apache's library refuses %x: %v", m.name, wire, err)
	}
	referee.Normal(rec)
	rec.Unknown = slices.DeleteFunc(rec.Unknown, func(r referee.Raw) bool { return r.ID == entry.IndexID })
	s.compare(m, "its bytes by Apache's library", m.root, rec, nil)
	r := &reader{schema: s.schema, finished: true, keep: s.keep(m)}
	s.compare(m, "the getters", m.root, r.record(m.b.Struct, m.h), r.wrong)
	m.sent = wire
	if s.Bits()%4 == 0 {
		s.checkParsed(m)
	}
}

// checkParsed compares a message that has been checked with one parsed from its bytes.
func (s *session) checkParsed(m *message) {
	h, err := thriftimpl.Parse(m.b.desc, m.sent, anyDepth)
	if err != nil {
		failf("%s: its own bytes are refused: %v\n%x", m.name, err, m.sent)
	}
	if got, want := render.Text(h, m.b.desc), render.Text(m.h, m.b.desc); got != want {
		failf("%s prints as\n%s\nwhat is parsed from its bytes as\n%s", m.name, want, got)
	}
	r := &reader{schema: s.schema, finished: true}
	s.compare(m, "the getters of what is parsed from its bytes", m.root, r.record(m.b.Struct, h), r.wrong)
	h.Release()
}

// checkOthers checks that everything else is unchanged.
func (s *session) checkOthers() {
	for _, m := range s.msgs {
		if m.sent != nil && !bytes.Equal(m.h.Message().Bytes(), m.sent) {
			failf("%s has changed from\n%x to\n%x", m.name, m.sent, m.h.Message().Bytes())
		}
		for _, in := range m.inputs {
			if string(in.mem) != in.want {
				failf("%s has changed the bytes that it was parsed from", m.name)
			}
		}
	}
	for _, k := range s.kept {
		if k.got != k.want {
			failf("a string that was read as %.40q is %.40q now", k.want, k.got)
		}
	}
}

// finish has the effect of using a message as a source for another one.
func (s *session) finish(m *message) {
	m.h.Message().Finish()
	settle(m.root)
	if m.sent == nil {
		m.sent = bytes.Clone(m.h.Message().Bytes())
	}
}

// run applies operations until the choices have ended.
func (s *session) run(limit int) {
	for !s.data.done() && s.ops < limit && (s.until.IsZero() || time.Now().Before(s.until)) {
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
	for _, m := range s.msgs {
		if m.always && len(s.marks)%8 == 0 {
			if err := engine.CheckIndex(m.h.Message()); err != nil {
				failf("%s: %v", m.name, err)
			}
		}
	}
	if len(s.msgs) == 0 {
		s.newMessage()
		return
	}
	m := s.msgs[s.Intn(len(s.msgs))]
	switch class := s.Intn(64); {
	case class < 2 && len(s.msgs) < 4:
		s.newMessage()
	case class < 4 && len(s.msgs) < 5:
		s.again(m)
	case class < 5 && len(s.msgs) < 5:
		s.clone(m)
	case class < 6 && len(s.msgs) > 1:
		s.release(m)
	case class < 9:
		s.check(m)
		s.checkOthers()
		return
	case class < 12:
		s.checkOpen(m)
		return
	case class < 15:
		s.logf("%s.Message().Compact()", m.name)
		m.h.Message().Compact()
		m.sent = nil // fields that came twice are sent once now
		return
	case class < 17:
		if err := m.h.Message().Index(); err != nil {
			failf("%s: Index: %v", m.name, err)
		}
		return
	default:
		s.edit(m)
	}
	if class := s.Intn(8); class == 0 {
		s.checkOthers()
	}
}

// release ends a message: its handles end, strings stay valid.
func (s *session) release(m *message) {
	s.check(m)
	s.logf("%s.Release()", m.name)
	s.ops++
	if m.own == nil {
		m.h.Release()
	} else {
		s.endOwn(m)
	}
	s.forget(m)
	s.stale(m)
}

// forget removes an ended message and all its handles.
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

// stale checks that using a message after Release panics. It must not run while another goroutine
// may have taken the message from the pool: the race detector would report that.
func (s *session) stale(m *message) {
	if testmode.Race && m.own == nil || len(m.b.fields) == 0 {
		return
	}
	defer func() {
		if r := recover(); !strings.Contains(fmt.Sprint(r), " used after Release") {
			failf("%s: used after Release, panics with %v", m.name, r)
		}
	}()
	m.h.HasField(m.b.fields[0])
}

// newMessage makes a message, in one of the ways for users.
func (s *session) newMessage() {
	b := s.structs[0]
	if s.Intn(3) == 0 {
		b = s.structs[s.Intn(len(s.structs))]
	}
	if s.Intn(2) == 0 {
		rec := s.Record(b.Struct, 3)
		s.Noise(rec)
		wire := referee.Write(rec, nil)
		referee.Normal(rec)
		s.add(s.parse(b, wire, rec, true))
		return
	}
	opts := []nocopy.Option{anyDepth}
	recycled, indexed := s.Intn(3) == 0, s.Intn(6) == 0
	if recycled {
		opts = append(opts, nocopy.Recycle)
	}
	if !b.Union && s.Intn(4) == 0 {
		rec := plainPart(s.Record(b.Struct, 3)).(*referee.Record)
		s.add(&message{b: b, h: rower{s.schema}.message(rec, opts...), root: rec, recycled: recycled})
		s.logf("%s := New%sOf(%s, %v)", s.current.name, b.Name, show(rec), opts)
		return
	}
	if indexed {
		opts = append(opts, nocopy.WithIndex, anySize)
	}
	m := &message{b: b, root: newRecord(b.Struct), recycled: recycled, indexed: indexed}
	if s.Intn(3) == 0 {
		s.fillOwn(m, func() { m.h = newInto(m.own, b.desc, opts...) })
	} else {
		m.h = thriftimpl.New(b.desc, opts...)
	}
	s.add(m)
	s.logf("%s := New%s(%v)", m.name, b.Name, opts)
	if s.Intn(2) == 0 {
		rec := s.Record(b.Struct, 2)
		s.logf("// fields of %s are set to %v", m.name, referee.Plain(rec))
		filler{s.schema, s.Gen}.record(m.h, rec)
		m.root = rec
	}
}

func (s *session) add(m *message) {
	s.ops++
	s.made++
	m.name = fmt.Sprintf("m%d", s.made)
	if m.always = s.Intn(4) == 0; m.always {
		engine.CompactAlways(m.h.Message())
	}
	s.msgs = append(s.msgs, m)
	s.current = m
}

// again makes a message of the bytes of another one.
func (s *session) again(m *message) {
	s.finish(m)
	rec := referee.Clone(m.root).(*referee.Record)
	wire := bytes.Clone(m.sent)
	s.logf("// from the bytes of %s:", m.name)
	n := s.parse(m.b, wire, rec, true)
	s.add(n)
}

func (s *session) clone(m *message) {
	t, ok := s.pick(m)
	rec, isRecord := t.node.(*referee.Record)
	if !ok || !isRecord {
		return
	}
	b := s.of[rec.Type]
	s.finish(t.m)
	n := &message{b: b, root: referee.Clone(rec).(*referee.Record)}
	if rec == t.m.root && s.Intn(2) == 0 {
		var err error
		if n.h, err = t.m.h.ClaimCopy(b.desc); err != nil {
			failf("%s: ClaimCopy: %v", t.m.name, err)
		}
		n.recycled = t.m.recycled // it may link its memory
		s.add(n)
		s.logf("%s := %s.ClaimCopy()", n.name, t.m.name)
		return
	}
	n.h = t.h.Clone(b.desc)
	s.add(n)
	s.logf("%s := %s.Clone()", n.name, t.path)
}
