// Functions that compare messages with their models.

package sessions

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/impl"
	"github.com/nocopythrift/nocopythrift/nocopy/messages"
	"github.com/nocopythrift/nocopythrift/nocopy/nocopyjson"
	"github.com/nocopythrift/nocopythrift/nocopy/reflection"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/referee"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// indexID is the id of the field in which a message carries an index of its own.
const indexID = -32000

// readApache reads wire bytes by Apache's library.
func readApache(t *referee.Struct, wire []byte) (*referee.Record, error) {
	rec, err := referee.Read(t, wire)
	if err == nil {
		referee.Normal(rec)
		rec.Unknown = slices.DeleteFunc(rec.Unknown, func(r referee.Raw) bool { return r.ID == indexID })
	}
	return rec, err
}

// check finishes a message and compares it with its model in every way.
func (s *session) check(m *message) {
	s.logf("%s.Message().Finish() // and it is checked", m.name)
	msg := m.h.Message()
	n := msg.Len()
	wire := msg.AppendTo([]byte("dst"))[3:]
	var written, frame bytes.Buffer
	if k, err := msg.WriteTo(&written); err != nil || int(k) != len(wire) {
		failf("%s: WriteTo gives %d, %v for %d bytes", m.name, k, err, len(wire))
	}
	if n != len(wire) || !bytes.Equal(wire, msg.Bytes()) || !bytes.Equal(wire, written.Bytes()) {
		failf("%s: Len %d, AppendTo %x, Bytes %x, WriteTo %x", m.name, n, wire, msg.Bytes(), written.Bytes())
	}
	if _, err := msg.WriteFrame(&frame); err != nil || !bytes.Equal(frame.Bytes(), append(binary.BigEndian.AppendUint32(nil, uint32(n)), wire...)) {
		failf("%s: WriteFrame gives %v, %x for %x", m.name, err, frame.Bytes(), wire)
	}
	rec, err := readApache(m.root.Type, wire)
	if err != nil {
		failf("%s: Apache's library refuses %x: %v", m.name, wire, err)
	}
	if !referee.Equal(m.root, rec) {
		failf("%s: its bytes by Apache's library (-want +got):\n%s", m.name, cmp.Diff(referee.Plain(m.root), referee.Plain(rec)))
	}
	m.sent = wire
	s.compare(m, true)
	if s.Intn(4) == 0 {
		s.checkAgain(m)
	}
}

// checkAgain compares a message that has been checked with a message parsed from its bytes.
func (s *session) checkAgain(m *message) {
	h, err := thriftimpl.Parse(m.d, m.sent, anyDepth)
	if err != nil {
		failf("%s: its own bytes are refused: %v\n%x", m.name, err, m.sent)
	}
	o := &message{name: "what is parsed from the bytes of " + m.name, d: m.d, h: h, root: m.root}
	s.compare(o, true)
	if got, want := impl.StringOf(h, m.d), impl.StringOf(m.h, m.d); got != want {
		failf("%s prints as\n%s\n%s as\n%s", m.name, want, o.name, got)
	}
	if !messages.Equal(m, o, messages.EquateNaNs) || !messages.Equal(o, m, messages.EquateNaNs, messages.EquateDefaults) {
		failf("%s does not equal %s", m.name, o.name)
	}
	a, errA := nocopyjson.Marshal(m)
	b, errB := nocopyjson.Marshal(o)
	if (errA == nil) != (errB == nil) || !bytes.Equal(a, b) {
		failf("%s is JSON %s (%v), %s %s (%v)", m.name, a, errA, o.name, b, errB)
	}
	h.Release()
}

// checkOpen compares a message with its model without finishing it.
func (s *session) checkOpen(m *message) {
	s.logf("// %s is read", m.name)
	s.compare(m, false)
}

func (s *session) compare(m *message, finished bool) {
	c := comparer{s, m, finished}
	c.structure(m.name, m.root, m.h, m.d)
	if finished {
		n := 0
		for f, v := range reflection.Of(m).All() {
			n++
			if !m.h.HasField(m.d.Field(m.d.NumberByName(f.Name()))) || !v.IsSet() {
				failf("%s: Range gives %s, which is not set", m.name, f.Name())
			}
		}
		want := len(slices.DeleteFunc(slices.Clone(m.root.Fields), func(v referee.Value) bool { return v == nil }))
		if n != want {
			failf("%s: Range gives %d fields, not %d", m.name, n, want)
		}
	}
}

// comparer compares what getters return with a model.
type comparer struct {
	s        *session
	m        *message
	finished bool // else values that finishing adds may be missing
}

func (c comparer) structure(path string, want *referee.Record, h thriftimpl.Struct, d *thriftimpl.Desc) {
	if !h.Valid() {
		if c.finished || !referee.Equal(want, referee.Zero(referee.StructOf(want.Type))) {
			failf("%s is absent, not %s", path, show(want))
		}
		return
	}
	for i, x := range want.Fields {
		f := &want.Type.Fields[i]
		at := path + "." + f.Name
		has, v := h.HasField(d.Field(i)), h.Value(d.Field(i), d)
		switch {
		case has && x == nil:
			failf("%s is set", at)
		case !has && x != nil && (c.finished || !f.AddedIfUnset(want.Type) || !referee.Equal(x, f.Initial())):
			failf("%s is not set, but should be %s", at, show(x))
		case has:
			c.value(at, f.Type, x, v)
		case x != nil || f.Type.IsContainer():
		case f.Default != nil:
			c.value(at, f.Type, f.Default, v)
		default:
			c.value(at, f.Type, referee.Zero(f.Type), v)
		}
	}
	if want.Type.Union {
		which := 0
		if w := h.Which(); w != 0 {
			which = d.NumberByID(d.ArmID(w)) + 1
		}
		if which != want.Last {
			failf("%s has arm %d, not %d", path, which, want.Last)
		}
	}
}

func (c comparer) value(path string, t *referee.Type, want referee.Value, got impl.Value) {
	switch want := want.(type) {
	case *referee.Record:
		c.structure(path, want, got.Struct(), got.Type().Struct())
	case *referee.List:
		h := got.Struct()
		if h.Count() != len(want.Elems) {
			failf("%s has %d elements, not %d", path, h.Count(), len(want.Elems))
		}
		for i, x := range want.Elems {
			if !c.finished && t.Elem.IsContainer() && !h.Element(i).Struct().Valid() {
				if !referee.Equal(x, referee.Zero(t.Elem)) {
					failf("%s[%d] is absent, not %s", path, i, show(x))
				}
				continue
			}
			c.value(fmt.Sprintf("%s[%d]", path, i), t.Elem, x, h.Element(i))
		}
		if t.Elem.IsStruct() {
			c.columns(path, h)
		}
	case *referee.Map:
		c.dict(path, t, want, got.Struct())
	default:
		if wire := referee.WriteValue(t, want, nil); !bytes.Equal(got.AppendWire(nil), wire) {
			if t == referee.Bool && len(wire) == 1 && got.Bool() == (wire[0] != 0) {
				break // any other byte than 0 is true
			}
			failf("%s is %x, not %s", path, got.AppendWire(nil), show(want))
		}
		if text, ok := want.(string); ok {
			c.s.keep(c.m, got.Text(), text)
		}
	}
}

func (c comparer) dict(path string, t *referee.Type, want *referee.Map, h thriftimpl.Struct) {
	if h.Count() != len(want.Pairs) {
		failf("%s has %d pairs, not %d", path, h.Count(), len(want.Pairs))
	}
	n := 0
	for range h.Pairs() {
		n++
	}
	if n != len(want.Pairs) {
		failf("%s: All gives %d pairs, not %d", path, n, len(want.Pairs))
	}
	if t.Key.IsContainer() {
		return // by their bytes alone
	}
	for _, p := range want.Pairs {
		x, ok := h.Pair(leaf(h.ContainerType().Key(), t.Key, p.Key))
		if !ok {
			failf("%s[%s] is not found", path, show(p.Key))
		}
		if !c.finished && t.Elem.IsContainer() && !x.Struct().Valid() {
			continue
		}
		c.value(fmt.Sprintf("%s[%s]", path, show(p.Key)), t.Elem, p.Value, x)
	}
}

// keep remembers a string, which must stay as it is when its message is gone.
func (s *session) keep(m *message, text, want string) {
	switch {
	case m.recycled || text == "":
	case len(s.kept) < 32:
		s.kept = append(s.kept, kept{text, strings.Clone(want)})
	case s.Bits()%16 == 0:
		s.kept[s.Bits()%32] = kept{text, strings.Clone(want)}
	}
}

// checkOthers checks that messages, strings and inputs that no step has changed are still the
// same.
func (s *session) checkOthers() {
	for _, m := range s.msgs {
		if m.sent != nil && !bytes.Equal(m.h.Message().Bytes(), m.sent) {
			failf("%s has changed from\n%x to\n%x", m.name, m.sent, m.h.Message().Bytes())
		}
		if string(m.input) != m.was {
			failf("%s has changed the bytes that it was parsed from", m.name)
		}
	}
	for _, k := range s.kept {
		if k.got != k.want {
			failf("a string that was read as %.40q is %.40q now", k.want, k.got)
		}
	}
}
