package nocopy

import "strings"

// absent returns what an unset struct or container field reads as: its IDL default or an empty
// value.
func (f *field) absent() XStruct {
	if f.Default == "" {
		m := f.unset.Load()
		if m == nil {
			m = makeEmpty(f)
			f.unset.Store(m)
		}
		return XStruct{m: m}
	}
	f.defaultOnce.Do(func() {
		f.defaultView = frozen(f.typ, f.Default)
		m := f.defaultView.m
		m.absent, m.absentIn = true, f
	})
	return f.defaultView
}

// notThere is the text of the panic of a setter that was called on a struct or container of m,
// which is frozen.
func (m *Message) notThere() string {
	f := m.absentIn
	if f == nil {
		return panicAbsent
	}
	var name strings.Builder // as nocopyc writes it, without its initialisms
	for part := range strings.SplitSeq(f.Name, "_") {
		if part != "" {
			name.WriteString(strings.ToUpper(part[:1]) + part[1:])
		}
	}
	return "nocopy: " + f.of.name + "." + f.Name + setterOnAbsent + "New" + name.String() + " first"
}

// frozen returns the handle of a struct or container, given as its wire bytes, that can't be
// changed.
func frozen(t *XType, wire string) XStruct {
	t.mustBeDefined()
	m := newMessage(nil, 0, usualLimits)
	b := []byte(wire)
	p := m.buf.AddForeign(b, false)
	m.buf.AddRoot(p, p+uint32(len(b)))
	m.root = m.indexAt(t, p)
	m.buf.Seal()
	m.frozen, m.guarded = true, true
	m.untrack()
	return m.handle(m.root)
}

// For generated code. XConst is an IDL constant whose value is a struct or container.
type XConst struct{ view XStruct }

// newConst returns the constant of type t with these wire bytes.
func newConst(t *XType, wire string) *XConst { return &XConst{frozen(t, wire)} }

// View returns the constant's handle, for conversion to its type. Any number of goroutines may
// read it; it can't be changed.
func (c *XConst) View() XStruct { return c.view }

// BoolOr returns a bool field, or def, its IDL default, if it is not set.
func (s XStruct) BoolOr(f XField, def bool) bool {
	if !s.Has(f) {
		return def
	}
	return s.Bool(f)
}

// Int8Or returns an i8 field, or def if it is not set.
func (s XStruct) Int8Or(f XField, def int8) int8 {
	if !s.Has(f) {
		return def
	}
	return s.Int8(f)
}

// Int16Or returns an i16 field, or def if it is not set.
func (s XStruct) Int16Or(f XField, def int16) int16 {
	if !s.Has(f) {
		return def
	}
	return s.Int16(f)
}

// Int32Or returns an i32 or enum field, or def if it is not set.
func (s XStruct) Int32Or(f XField, def int32) int32 {
	if !s.Has(f) {
		return def
	}
	return s.Int32(f)
}

// Int64Or returns an i64 field, or def if it is not set.
func (s XStruct) Int64Or(f XField, def int64) int64 {
	if !s.Has(f) {
		return def
	}
	return s.Int64(f)
}

// Float64Or returns a double field, or def if it is not set.
func (s XStruct) Float64Or(f XField, def float64) float64 {
	if !s.Has(f) {
		return def
	}
	return s.Float64(f)
}

// UUIDOr returns a uuid field, or def if it is not set.
func (s XStruct) UUIDOr(f XField, def UUID) UUID {
	if !s.Has(f) {
		return def
	}
	return s.UUID(f)
}

// TextOr returns a string field as Text does, or def if it is not set.
func (s XStruct) TextOr(f XField, def string) string {
	if !s.Has(f) {
		return def
	}
	return s.Text(f)
}

// BytesOr returns a binary field as Bytes does, or a copy of def if it is not set.
func (s XStruct) BytesOr(f XField, def string) []byte {
	if !s.Has(f) {
		return []byte(def)
	}
	return s.Bytes(f)
}
