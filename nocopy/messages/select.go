package messages

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/impl"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// Keep removes everything from s that the mask does not select, including unknown fields. Required
// fields get their defaults. Structs on the way to a selected field stay, even if that field is
// unset. A list keeps only the selected elements, a map only the selected keys. Handles of values
// in s behave as after CopyInto. Keep panics if s is absent, or not of the mask's type.
func (m *Mask) Keep(s nocopy.AnyStruct) { m.filter("Keep", s, false) }

// Drop removes everything that the mask selects from s. Required fields get their defaults.
// Otherwise it is like Keep.
func (m *Mask) Drop(s nocopy.AnyStruct) { m.filter("Drop", s, true) }

func (m *Mask) filter(what string, s nocopy.AnyStruct, drop bool) {
	d, to := impl.Parts(s)
	m = m.of(what, d)
	if !to.Valid() {
		panic("nocopy: Mask." + what + " of an absent struct")
	}
	to.CompleteToCopy()
	w := maskWriter{drop: drop}
	v := valueOf(d, to)
	m.replace(d, to, w.value(nil, v, m.start()))
}

// valueOf returns s, of type d, as a value.
func valueOf(d *thriftimpl.Desc, s thriftimpl.Struct) impl.Value {
	return impl.ValueOfStruct(thriftimpl.StructOf(d), s)
}

// of returns m as a mask for messages of type d, which the IDL declares like m's type.
func (m *Mask) of(what string, d *thriftimpl.Desc) *Mask {
	switch {
	case m == nil || m.desc == nil:
		panic("nocopy: Mask." + what + ": a mask that NewMask has not made")
	case m.desc == d:
		return m
	case !impl.SameDescs(m.desc, d):
		panic("nocopy: Mask." + what + ": a mask for " + m.desc.Name() + " and a " + d.Name() + " are not of the same type" +
			impl.Apart(thriftimpl.StructOf(m.desc), thriftimpl.StructOf(d)))
	}
	return MustMask(d, m.String())
}

// start returns the selection of a whole message.
func (m *Mask) start() selection { return m.root.only }

// replace gives s, of type d, the contents with these wire bytes.
func (m *Mask) replace(d *thriftimpl.Desc, s thriftimpl.Struct, wire []byte) {
	made := reparsed(d, wire)
	defer made.Release()
	copyStruct(d, s, made)
}

// selection has the nodes of a mask that apply to one place of a message. It is empty if nothing
// is selected there. It may have several nodes: lines[3] has those of lines[*] and lines[3].
type selection []*node

// all reports whether everything is selected.
func (s selection) all() bool {
	return slices.ContainsFunc(s, func(n *node) bool { return n.all })
}

// field returns the selection in field number i.
func (s selection) field(i int) (in selection) {
	if len(s) == 1 {
		return s[0].fields[i].alone()
	}
	for _, n := range s {
		if c := n.fields[i]; c != nil {
			in = append(in, c)
		}
	}
	return in
}

// alone returns the node as a selection, or an empty one for nil.
func (n *node) alone() selection {
	if n == nil {
		return nil
	}
	return n.only
}

// next returns the number of the first field from i on, of a struct with n fields, in which
// something is selected. If there is none, it returns n.
func (s selection) next(i, n int) int {
	for _, c := range s {
		if k, _ := slices.BinarySearch(c.order, i); k < len(c.order) {
			n = min(n, c.order[k])
		}
	}
	return n
}

// element returns the selection in element i of a list or set.
func (s selection) element(i int) selection {
	if len(s) == 1 && s[0].at == nil {
		return s[0].each.alone()
	}
	var in selection
	for _, n := range s {
		if n.each != nil {
			in = append(in, n.each)
		}
		if c := n.at[i]; c != nil {
			in = append(in, c)
		}
	}
	return in
}

// key returns the selection in the value of map key k.
func (s selection) key(k impl.Value) selection {
	if len(s) == 1 && s[0].keys == nil {
		return s[0].each.alone()
	}
	var mem [64]byte
	encoded, _ := impl.AppendKey(mem[:0], k)
	var in selection
	for _, n := range s {
		if n.each != nil {
			in = append(in, n.each)
		}
		if c := n.keys[string(encoded)]; c != nil {
			in = append(in, &c.node)
		}
	}
	return in
}

// every reports whether the selection has [*].
func (s selection) every() bool {
	return slices.ContainsFunc(s, func(n *node) bool { return n.each != nil })
}

// indexes returns the element indexes that the paths name, in ascending order.
func (s selection) indexes() (all []int) {
	for _, n := range s {
		for i := range n.at {
			all = append(all, i)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// named returns the map keys that the paths name, sorted by their encodings.
func (s selection) named() (keys []*keyNode) {
	seen := map[string]*keyNode{}
	var order []string
	for _, n := range s {
		for text, k := range n.keys {
			if seen[text] == nil {
				order = append(order, text)
			}
			seen[text] = k
		}
	}
	slices.Sort(order)
	for _, text := range order {
		keys = append(keys, seen[text])
	}
	return keys
}

// maskWriter writes the wire bytes of the selected parts of values or, with drop, of all other
// parts.
type maskWriter struct{ drop bool }

// value appends the parts of v that are kept. Part of v is selected.
func (w *maskWriter) value(dst []byte, v impl.Value, sel selection) []byte {
	switch v.Type().Wire() {
	case nocopy.WireStruct:
		return w.structure(dst, v.Type().Struct(), v.Struct(), sel)
	case nocopy.WireList, nocopy.WireSet:
		return w.list(dst, v.Type(), v.Struct(), sel)
	}
	return w.dict(dst, v.Type(), v.Struct(), sel)
}

// part appends lead and the parts of v that are kept, where sel is selected. If no part is kept,
// it appends nothing.
func (w *maskWriter) part(dst, lead []byte, v impl.Value, sel selection) ([]byte, bool) {
	switch {
	case len(sel) == 0 && w.drop, sel.all() && !w.drop:
		return v.AppendWire(append(dst, lead...)), true
	case len(sel) == 0, sel.all():
		return dst, false
	}
	return w.value(append(dst, lead...), v, sel), true
}

// header returns the header of field i of d.
func header(d *thriftimpl.Desc, i int) []byte {
	f := d.FieldDesc(i)
	return []byte{byte(f.Type.Wire()), byte(f.ID >> 8), byte(f.ID)}
}

// nextField returns the number of the first field from i on that is required, or set in s or t,
// which d describes. If there is none, it returns d.NumFields(). It skips unset fields fast: most
// structs with many fields have few of them set, and a list may have an empty struct per byte.
func nextField(d *thriftimpl.Desc, i int, s, t thriftimpl.Struct) int {
	next := d.NextRequired(i)
	for _, s := range [...]thriftimpl.Struct{s, t} {
		if s.Valid() {
			next = min(next, nextSet(d, i, next, s))
		}
	}
	return next
}

// nextSet returns the number of the first field from i to n-1 that is set in s, which d describes.
// If there is none, it returns n.
func nextSet(d *thriftimpl.Desc, i, n int, s thriftimpl.Struct) int {
	for i = s.NextField(d, i); i < n && !s.HasField(d.Field(i)); i = s.NextField(d, i+1) {
	}
	return min(i, n)
}

func (w *maskWriter) structure(dst []byte, d *thriftimpl.Desc, s thriftimpl.Struct, sel selection) []byte {
	none := thriftimpl.Struct{}
	for i := nextField(d, 0, s, none); i < d.NumFields(); i = nextField(d, i+1, s, none) {
		there := false
		if s.Sent(d.Field(i), d) {
			dst, there = w.part(dst, header(d, i), s.Value(d.Field(i), d), sel.field(i))
		}
		if !there {
			dst = appendRequired(dst, d, i)
		}
	}
	if w.drop {
		dst = appendUnknown(dst, d, s)
	}
	return append(dst, byte(nocopy.WireStop))
}

// appendRequired appends the default of field i if it is required.
func appendRequired(dst []byte, d *thriftimpl.Desc, i int) []byte {
	if d.FieldDesc(i).Req != thriftimpl.Required || d.IsUnion() {
		return dst
	}
	return thriftimpl.Struct{}.Value(d.Field(i), d).AppendWire(append(dst, header(d, i)...))
}

// appendUnknown appends the fields of s that d does not have.
func appendUnknown(dst []byte, d *thriftimpl.Desc, s thriftimpl.Struct) []byte {
	for id, v := range s.Unknown(d) {
		dst = append(append(dst, byte(v.Type), byte(uint16(id)>>8), byte(id)), v.Raw()...)
	}
	return dst
}

func (w *maskWriter) list(dst []byte, t *thriftimpl.Type, s thriftimpl.Struct, sel selection) []byte {
	dst, count := beginContainer(dst, t)
	n := 0
	for i := range s.Count() {
		var there bool
		if dst, there = w.part(dst, nil, s.Element(i), sel.element(i)); there {
			n++
		}
	}
	return endContainer(dst, count, n)
}

func (w *maskWriter) dict(dst []byte, t *thriftimpl.Type, s thriftimpl.Struct, sel selection) []byte {
	dst, count := beginContainer(dst, t)
	n := 0
	for k, v := range s.Pairs() {
		var there bool
		if dst, there = w.part(dst, k.AppendWire(nil), v, sel.key(k)); there {
			n++
		}
	}
	return endContainer(dst, count, n)
}

// beginContainer appends the header of a list, set or map, and returns the offset of its count.
func beginContainer(dst []byte, t *thriftimpl.Type) ([]byte, int) {
	if t.Key() != nil {
		dst = append(dst, byte(t.Key().Wire()))
	}
	dst = append(dst, byte(t.Elem().Wire()))
	return append(dst, 0, 0, 0, 0), len(dst)
}

func endContainer(dst []byte, count, n int) []byte {
	binary.BigEndian.PutUint32(dst[count:], uint32(n))
	return dst
}

// ApplyError explains why a mask can't be applied to a message. The message is unchanged.
type ApplyError struct {
	Path   string // of the place in the message; it stops at a redacted field (nocopy.redact)
	Reason string
}

// Error returns where the mask can't be applied, and why.
func (e *ApplyError) Error() string { return "mask: " + e.Path + ": " + e.Reason }

// under returns err with place added before its path, if it is an ApplyError.
func under(place string, err error) error {
	if e, ok := err.(*ApplyError); ok {
		if e.Path != "" && e.Path[0] != '[' {
			e.Path = "." + e.Path
		}
		e.Path = place + e.Path
	}
	return err
}

// underField returns err with field i of d added before its path. The path ends with the field if
// the field is redacted, because keys of maps in it are values.
func underField(d *thriftimpl.Desc, i int, err error) error {
	f := d.FieldDesc(i)
	if e, ok := err.(*ApplyError); ok && (f.Info.Redacted() || d.Info().Redacted()) {
		e.Path = ""
	}
	return under(f.Name, err)
}

// Copy makes the selected parts of dst equal to those of src, as for an update request. Fields
// that are not set in src become unset in dst. Structs on the way are made if needed.
//
// With [*], a list of dst gets as many elements as that of src, and a map the same keys. The
// selected parts of elements are copied one by one. A struct that is new in dst gets only the
// selected parts.
//
// If an index does not exist in src, or is beyond the end of dst's list, Copy returns an
// *ApplyError and changes nothing. Both must have the mask's type. Handles of values in dst behave
// as after CopyInto.
func (m *Mask) Copy(dst, src nocopy.AnyStruct) error {
	p := prepare("Mask.Copy", dst, src)
	defer p.made.Release()
	m = m.of("Copy", p.d)
	var w maskCopier
	wire, err := w.value(nil, valueOf(p.d, p.to), valueOf(p.d, p.from), m.start())
	if err != nil {
		return err
	}
	m.replace(p.d, p.to, wire)
	return nil
}

// maskCopier writes the wire bytes of values whose selected parts are replaced by those of other
// values.
type maskCopier struct{}

var keeper maskWriter

// value appends v with its selected parts taken from u.
func (w maskCopier) value(dst []byte, v, u impl.Value, sel selection) ([]byte, error) {
	switch v.Type().Wire() {
	case nocopy.WireStruct:
		return w.structure(dst, v.Type().Struct(), v.Struct(), u.Struct(), sel)
	case nocopy.WireList, nocopy.WireSet:
		return w.list(dst, v.Type(), v.Struct(), u.Struct(), sel)
	}
	return w.dict(dst, v.Type(), v.Struct(), u.Struct(), sel)
}

// part appends lead and a value: v, which exists if hasV is set, with its selected parts taken
// from u, which exists if hasU is set.
func (w maskCopier) part(dst, lead []byte, v, u impl.Value, hasV, hasU bool, sel selection) (_ []byte, there bool, err error) {
	switch {
	case len(sel) == 0 && hasV:
		return v.AppendWire(append(dst, lead...)), true, nil
	case len(sel) == 0:
		return dst, false, nil
	case sel.all() && hasU:
		return u.AppendWire(append(dst, lead...)), true, nil
	case sel.all():
		return dst, false, nil
	case hasV && hasU:
		dst, err = w.value(append(dst, lead...), v, u, sel)
		return dst, true, err
	case hasU:
		return keeper.value(append(dst, lead...), u, sel), true, nil
	case hasV:
		absent := impl.ValueOfStruct(v.Type(), thriftimpl.Struct{})
		dst, err = w.value(append(dst, lead...), v, absent, sel)
		return dst, true, err
	}
	return dst, false, nil
}

func (w maskCopier) structure(dst []byte, d *thriftimpl.Desc, to, from thriftimpl.Struct, sel selection) ([]byte, error) {
	moves := false // in a union: the arm of from is selected and replaces another arm
	if d.IsUnion() && from.Which() != 0 {
		moves = len(sel.field(d.NumberByID(d.ArmID(from.Which())))) > 0
	}
	for i := nextField(d, 0, to, from); i < d.NumFields(); i = nextField(d, i+1, to, from) {
		f, in := d.Field(i), sel.field(i)
		hasV, hasU := to.Sent(d.Field(i), d), from.Sent(d.Field(i), d)
		hasV = hasV && (!moves || hasU)
		var there bool
		var err error
		if hasV || hasU {
			dst, there, err = w.part(dst, header(d, i), to.Value(f, d), from.Value(f, d), hasV, hasU, in)
		}
		if err != nil {
			return nil, underField(d, i, err)
		}
		if !there {
			dst = appendRequired(dst, d, i)
		}
	}
	return append(appendUnknown(dst, d, to), byte(nocopy.WireStop)), nil
}

func (w maskCopier) list(dst []byte, t *thriftimpl.Type, to, from thriftimpl.Struct, sel selection) ([]byte, error) {
	had, has := to.Count(), from.Count()
	n := had
	if sel.every() && from.Valid() {
		n = has
	}
	for _, i := range sel.indexes() {
		if i >= has && i < n {
			return nil, &ApplyError{fmt.Sprintf("[%d]", i), fmt.Sprintf("what is copied has %d elements", has)}
		}
		if i < has && i >= n {
			if i > n {
				return nil, &ApplyError{fmt.Sprintf("[%d]", i), fmt.Sprintf("there are %d elements", n)}
			}
			n++
		}
	}
	dst, count := beginContainer(dst, t)
	left := 0
	for i := range n {
		var v, u impl.Value
		if i < had {
			v = to.Element(i)
		}
		if i < has {
			u = from.Element(i)
		}
		var there bool
		var err error
		if dst, there, err = w.part(dst, nil, v, u, i < had, i < has, sel.element(i)); err != nil {
			return nil, under(fmt.Sprintf("[%d]", i), err)
		}
		if there {
			left++
		}
	}
	return endContainer(dst, count, left), nil
}

func (w maskCopier) dict(dst []byte, t *thriftimpl.Type, to, from thriftimpl.Struct, sel selection) ([]byte, error) {
	dst, count := beginContainer(dst, t)
	n := 0
	var err error
	put := func(k, v, u impl.Value, hasV, hasU bool) bool {
		var there bool
		if dst, there, err = w.part(dst, k.AppendWire(nil), v, u, hasV, hasU, sel.key(k)); there {
			n++
		}
		if err != nil {
			err = under("["+keyName(k)+"]", err)
		}
		return err == nil
	}
	for k, v := range to.Pairs() {
		u, ok := from.Pair(k)
		if !ok && sel.every() && from.Valid() {
			continue
		}
		if !put(k, v, u, true, ok) {
			return nil, err
		}
	}
	for k, u := range from.Pairs() {
		if _, ok := to.Pair(k); !ok && !put(k, impl.Value{}, u, false, true) {
			return nil, err
		}
	}
	return endContainer(dst, count, n), nil
}

// keyName returns a map's key in the syntax of paths. For a struct, container or double it returns
// only its type.
func keyName(k impl.Value) string {
	if isHandle(k.Type()) || k.Type().Wire() == nocopy.WireDouble {
		return "a " + k.Type().String()
	}
	return keyText(k)
}
