package engine

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/entry"
	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/index"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wireindex"
)

// messageMaker makes types and messages at random.
type messageMaker struct {
	rnd   *rand.Rand
	large int // bounds the elements of a list
}

// desc returns a struct with other structs in it, at most depth levels deep.
func (g messageMaker) desc(depth int) *schema.Struct {
	d := schema.NewStruct(fmt.Sprint("Random", depth))
	ids := g.rnd.Perm(200)
	var fields []schema.FieldDesc
	for i := range 1 + g.rnd.IntN(8) {
		f := schema.FieldDesc{ID: int16(ids[i] - 50), Name: fmt.Sprint("f", i), Type: g.typ(depth), Req: schema.Requiredness(g.rnd.IntN(3))}
		fields = append(fields, f)
	}
	d.Define(fields...)
	return d
}

func (g messageMaker) typ(depth int) *schema.Type {
	base := []*schema.Type{schema.TypeBool, schema.TypeI8, schema.TypeI16, schema.TypeI32, schema.TypeI64, schema.TypeDouble, schema.TypeUUID, schema.TypeString, schema.TypeBinary}
	if depth == 0 {
		return base[g.rnd.IntN(len(base))]
	}
	switch g.rnd.IntN(10) {
	case 0, 1, 2:
		return schema.StructOf(g.desc(depth - 1))
	case 3, 4, 5:
		return schema.ListOf(schema.StructOf(g.desc(depth - 1)))
	case 6:
		return schema.ListOf(g.typ(depth - 1))
	case 7:
		return schema.SetOf(g.typ(depth - 1))
	case 8:
		return schema.MapOf(g.typ(0), g.typ(depth-1))
	}
	if g.rnd.IntN(3) > 0 {
		return base[g.rnd.IntN(len(base))]
	}
	d := schema.NewUnion("Union")
	d.Define(schema.FieldDesc{ID: 1, Name: "a", Type: g.typ(depth - 1), Req: schema.Optional}, schema.FieldDesc{ID: 2, Name: "b", Type: schema.TypeI32, Req: schema.Optional})
	return schema.StructOf(d)
}

// value appends the wire bytes of a value.
func (g messageMaker) value(dst []byte, t *schema.Type, depth int) []byte {
	count := func() int {
		if n := g.rnd.IntN(8); n > 1 || g.large == 0 || depth > 2 {
			return n % 4
		}
		return g.rnd.IntN(1 + g.large>>(3*depth))
	}
	switch t.Kind() {
	case schema.Fixed:
		for range t.Size() {
			dst = append(dst, byte(g.rnd.Uint32()))
		}
		if t.Wire() == wire.Bool {
			dst[len(dst)-1] &= 1
		}
		return dst
	case schema.Text:
		n := g.rnd.IntN(20)
		if g.rnd.IntN(50) == 0 {
			n = g.rnd.IntN(3000)
		}
		return append(wire.AppendBE32(dst, uint32(n)), strings.Repeat("x", n)...)
	case schema.Record:
		return g.structure(dst, t.Struct(), depth)
	case schema.List:
		n := count()
		dst = wire.AppendBE32(append(dst, byte(t.Elem().Wire())), uint32(n))
		for range n {
			dst = g.value(dst, t.Elem(), depth+1)
		}
		return dst
	}
	n := count()
	dst = wire.AppendBE32(append(dst, byte(t.Key().Wire()), byte(t.Elem().Wire())), uint32(n))
	for range n {
		dst = g.value(g.value(dst, t.Key(), depth+1), t.Elem(), depth+1)
	}
	return dst
}

// structure appends a struct, its fields in any order: some are absent, and some unknown.
func (g messageMaker) structure(dst []byte, d *schema.Struct, depth int) []byte {
	for _, i := range g.rnd.Perm(len(d.Fields())) {
		f := &d.Fields()[i]
		if f.Req != schema.Required && g.rnd.IntN(6) == 0 || d.IsUnion() && i == g.rnd.IntN(2) {
			continue
		}
		dst = append(dst, byte(f.Header()>>16), byte(f.Header()>>8), byte(f.Header()))
		dst = g.value(dst, f.Type, depth)
		if g.rnd.IntN(30) == 0 && !d.IsUnion() {
			t := g.typ(1)
			dst = append(dst, byte(t.Wire()), 0x33, byte(i))
			dst = g.value(dst, t, depth+3)
		}
	}
	return append(dst, 0)
}

// withIndex returns the message with an index.
func withIndex(t testing.TB, d *schema.Struct, wire []byte, opts ...Option) []byte {
	t.Helper()
	s, err := Parse(d, wire, append(opts, WithIndex)...)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Release()
	return bytes.Clone(s.m.Bytes())
}

// sameReader compares messages by the values that programs read with handles.
type sameReader struct {
	t   testing.TB
	rnd *rand.Rand
}

func (r sameReader) structs(d *schema.Struct, a, b Struct) {
	r.t.Helper()
	for _, i := range r.rnd.Perm(len(d.Fields())) {
		f, x := &d.Fields()[i], d.Field(i)
		switch {
		case a.HasField(x) != b.HasField(x):
			r.t.Fatalf("%s.%s: set %t, %t", d.Name(), f.Name, a.HasField(x), b.HasField(x))
		case !a.HasField(x):
		case f.Kind() == schema.Fixed:
			if v, w := a.m.fixedValue(index.Word(a.word(x))), b.m.fixedValue(index.Word(b.word(x))); !bytes.Equal(v[:f.Size()], w[:f.Size()]) {
				r.t.Fatalf("%s.%s: %x, %x", d.Name(), f.Name, v[:f.Size()], w[:f.Size()])
			}
		case f.Kind() == schema.Text:
			if a.Text(x) != b.Text(x) {
				r.t.Fatalf("%s.%s: %q, %q", d.Name(), f.Name, a.Text(x), b.Text(x))
			}
		default:
			r.containers(f.Type, a.Child(x, d), b.Child(x, d))
		}
	}
}

func (r sameReader) containers(t *schema.Type, a, b Struct) {
	r.t.Helper()
	switch {
	case t.Kind() == schema.Record:
		r.structs(t.Struct(), a, b)
		return
	case a.ListLen() != b.ListLen():
		r.t.Fatalf("%d elements, %d", a.ListLen(), b.ListLen())
	case t.Kind() == schema.List && t.Elem().Kind() == schema.Record && a.ListLen() > 0:
		v, w := StructList[Struct](a), StructList[Struct](b)
		for range min(10, a.ListLen()) {
			i := r.rnd.IntN(a.ListLen())
			r.structs(t.Elem().Struct(), v.At(i), w.At(i))
			//lint:ignore SA4000 the second call must find the entry that the first has made
			if v.At(i).k != v.At(i).k {
				r.t.Fatal("an element has two handles")
			}
		}
		if r.rnd.IntN(3) == 0 {
			for i, x := range v.All() {
				r.structs(t.Elem().Struct(), x, w.At(i))
			}
		}
	default:
		x, y := a.m.wire(a.entry(), t), b.m.wire(b.entry(), t)
		if !bytes.Equal(x, y) {
			r.t.Fatalf("%x, %x", x, y)
		}
	}
}

// TestByIndex: values that are read by an index, in any order, are the same as after a plain
// parse. Checking the message finds nothing, and it is sent as it came.
func TestByIndex(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, testmode.Seed(t)))
	indexed, entries := 0, 0
	for range testmode.Of(50, 100) {
		g := messageMaker{rnd, 1 << rnd.IntN(10)}
		d := g.desc(3)
		wire := g.structure(nil, d, 0)
		with := withIndex(t, d, wire)
		if bytes.Equal(with, wire) {
			if len(wire) >= wireindex.MinIndexed {
				t.Fatalf("%d bytes without an index", len(wire))
			}
			continue
		}
		indexed++
		x, ok := wireindex.Find(with)
		if !ok {
			t.Fatal("no index is found")
		}
		entries += x.N
		if bytes.ContainsFunc(x.Bytes, func(r rune) bool { return r > 0x7f }) {
			t.Fatal("an index that is not ASCII")
		}
		if grown := len(with) - len(wire); len(wire) < wireindex.MinIndexed || grown > max(len(wire)/40, 27) || len(wire) >= 20<<10 && grown > len(wire)/80 {
			t.Fatalf("%d bytes of index for %d", grown, len(wire))
		}
		plain, err := Parse(d, with)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range indexedWays(len(with)) {
			s, err := w.parse(d, with, RequireIndex)
			if err != nil {
				t.Fatalf("%s: %v", w.name, err)
			}
			r := sameReader{t, rnd}
			r.structs(d, s, plain)
			if s.m.pending&byIndex == 0 {
				t.Fatalf("%s: not read by the index", w.name)
			}
			if rnd.IntN(2) == 0 && TextOf(s, d) != TextOf(plain, d) {
				t.Fatalf("%s: reads as\n%s not\n%s", w.name, TextOf(s, d), TextOf(plain, d))
			}
			if err := s.m.landing.err; err != nil {
				t.Fatalf("%s: %v", w.name, err)
			}
			if err := s.m.Index(); err != nil || s.m.pending&byIndex != 0 {
				t.Fatalf("%s: Index: %v", w.name, err)
			}
			r.structs(d, s, plain)
			checkIndex(t, s)
			if !bytes.Equal(s.m.Bytes(), with) {
				t.Fatalf("%s: goes out otherwise than it came", w.name)
			}
			s.Release()
		}
		plain.Release()
	}
	t.Log(indexed, "messages with", entries, "entries")
	if indexed < 20 || entries < 20 {
		t.Error("too few to tell")
	}
}

// indexedWays are the ways in which messages of n bytes come in.
func indexedWays(n int) []way {
	return []way{inOnePiece, owned, fromReader, recycled, cutAt(n / 2), cutEvery(n/3 + 1),
		with(cutEvery(n/50+1), Recycle, "recycled"), with(inOnePiece, ValidUTF8, "valid")}
}

// largeBusiness returns the wire bytes of a message with n items.
func largeBusiness(t testing.TB, n int) []byte {
	s := New(businessDesc)
	defer s.Release()
	buildBusiness(s)
	items := StructList[Struct](s.NewChild(fieldNamed(businessDesc, "items"), businessDesc, n))
	for i := range n {
		item := items.At(i)
		item.SetText(fieldNamed(itemDesc, "sku"), "item "+strconv.Itoa(i))
		item.SetInt32(fieldNamed(itemDesc, "count"), int32(i))
	}
	return bytes.Clone(s.m.Bytes())
}

// checkIndex fails if a word of the message's index belongs to two entries.
func checkIndex(t testing.TB, s Struct) {
	t.Helper()
	if err := CheckIndex(s.m); err != nil {
		t.Fatal(err)
	}
}

// TestIndexEdited: a message that was edited, copied from or put into another one is sent without
// its old index: with a new one or none.
func TestIndexEdited(t *testing.T) {
	plain := largeBusiness(t, 300)
	with := withIndex(t, businessDesc, plain)
	id, items, tags := fieldNamed(businessDesc, "id"), fieldNamed(businessDesc, "items"), fieldNamed(businessDesc, "tags")
	list := func(s Struct) StructList[Struct] { return StructList[Struct](s.Child(items, businessDesc)) }
	edits := map[string]func(s Struct){
		"number":   func(s Struct) { s.SetInt64(id, 2) },
		"item":     func(s Struct) { list(s).At(100).SetText(fieldNamed(itemDesc, "sku"), "other") },
		"read":     func(s Struct) { x := list(s).At(7); list(s).At(100); x.SetInt32(fieldNamed(itemDesc, "count"), 9) },
		"append":   func(s Struct) { list(s).AppendNew().SetInt32(fieldNamed(itemDesc, "count"), 1) },
		"delete":   func(s Struct) { list(s).Delete(10, 20) },
		"swap":     func(s Struct) { list(s).Swap(1, 299) },
		"unset":    func(s Struct) { s.Unset(tags) },
		"child":    func(s Struct) { s.NewChild(tags, businessDesc, 3) },
		"unknown":  func(s Struct) { s.AppendUnknown(businessDesc, 999, WireValue{wire.Bool, []byte{1}}) },
		"clear":    func(s Struct) { s.Clear(businessDesc) },
		"two":      func(s Struct) { s.SetInt64(id, 2); s.m.Finish(); s.SetInt64(id, 3); s.Unset(tags) },
		"compact":  func(s Struct) { s.m.Compact(); s.Unset(tags) },
		"to other": func(s Struct) { list(s).Set(3, list(s).At(200)) },
		"gone": func(s Struct) {
			list(s)
			s.Unset(items)
			s.m.Compact()
			s.NewChild(items, businessDesc, 3)
			s.m.Finish()
		},
		"appended": func(s Struct) { list(s); s.m.Compact(); list(s).AppendNew(); s.Unset(items); s.m.Compact() },
	}
	for name, edit := range edits {
		want, err := Parse(businessDesc, plain)
		if err != nil {
			t.Fatal(err)
		}
		edit(want)
		for how, opts := range map[string][]Option{"plain": nil, "own": {Own}, "lazy": {Lazy}, "by index": {ByIndex}, "recycled": {ByIndex, Recycle}, "compacted": {ByIndex}, "added": {WithIndex}} {
			s, err := Parse(businessDesc, bytes.Clone(with), opts...)
			if err != nil {
				t.Fatal(err)
			}
			if how == "compacted" {
				CompactAlways(s.m)
			}
			edit(s)
			checkIndex(t, s)
			out := bytes.Clone(s.m.Bytes())
			x, ok := wireindex.Find(out)
			_, cuts := s.FindFields(entry.IndexID)
			if how != "added" && len(cuts) > 0 || ok != (len(cuts) == 1) {
				t.Errorf("%s, %s: goes out with an index", name, how)
			}
			if how == "added" && len(out) >= wireindex.MinIndexed+1000 && (!ok || x.N == 0) {
				t.Errorf("%s: goes out without an index", name)
			}
			if err := CheckSentIndex(businessDesc, out, false); err != nil {
				t.Errorf("%s, %s: %v", name, how, err)
			}
			if got, want := TextOf(s, businessDesc), TextOf(want, businessDesc); got != want {
				t.Errorf("%s, %s: reads as\n%.300s not\n%.300s", name, how, got, want)
			}
			again, err := Parse(businessDesc, out)
			if err != nil || TextOf(again, businessDesc) != TextOf(want, businessDesc) {
				t.Errorf("%s, %s: what goes out reads otherwise: %v", name, how, err)
			}
			s.Release()
		}
		want.Release()
	}
}

// TestIndexInvalid: when a message turns out to be invalid, changing it or linking from it panics
// with a fixed text. Index returns the error, and reading gives the values that are there.
func TestIndexInvalid(t *testing.T) {
	with := withIndex(t, businessDesc, largeBusiness(t, 300))
	s, err := Parse(businessDesc, with)
	if err != nil {
		t.Fatal(err)
	}
	items := fieldNamed(businessDesc, "items")
	at, _ := s.m.extent(StructList[Struct](s.Child(items, businessDesc)).At(150).entry(), schema.StructOf(itemDesc))
	with[at-s.m.ix.StartOf(s.m.root)] = 1 // no wire type
	s.Release()
	s, err = Parse(businessDesc, with, RequireIndex)
	if err != nil {
		t.Fatal(err)
	}
	l := StructList[Struct](s.Child(items, businessDesc))
	if l.At(150).Valid() || l.At(149).Int32(fieldNamed(itemDesc, "count")) != 149 {
		t.Error("element 150 is there, or 149 is not")
	}
	for range l.All() {
	}
	if err := s.m.Index(); !errors.Is(err, wire.ErrType) {
		t.Errorf("Index: %v", err)
	}
	other := New(businessDesc)
	for name, f := range map[string]func(){
		"set":   func() { s.SetInt64(fieldNamed(businessDesc, "id"), 1) },
		"link":  func() { StructList[Struct](other.NewChild(items, businessDesc, 0)).Append(l.At(3)) },
		"clone": func() { s.Clone(businessDesc) },
	} {
		func() {
			defer func() {
				if text, _ := recover().(string); !strings.HasPrefix(text, "nocopy: message can't be changed or copied from: ") {
					t.Errorf("%s: %q", name, text)
				}
			}()
			f()
		}()
	}
	if !bytes.Equal(s.m.Bytes(), with) {
		t.Error("it has changed")
	}
}
