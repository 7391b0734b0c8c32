package nocopy

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/entry"
	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wireindex"
)

// messageMaker makes types and messages at random.
type messageMaker struct {
	rnd   *rand.Rand
	large int // the most elements of a list
}

// desc returns a struct with other structs in it, at most depth levels deep.
func (g messageMaker) desc(depth int) *XDesc {
	d := newStructDesc(fmt.Sprint("Random", depth))
	ids := g.rnd.Perm(200)
	var fields []XFieldDesc
	for i := range 1 + g.rnd.IntN(8) {
		f := XFieldDesc{ID: int16(ids[i] - 50), Name: fmt.Sprint("f", i), Type: g.typ(depth), Req: XRequiredness(g.rnd.IntN(3))}
		fields = append(fields, f)
	}
	d.Define(fields...)
	return d
}

func (g messageMaker) typ(depth int) *XType {
	base := []*XType{typeBool, typeI8, typeI16, typeI32, typeI64, typeDouble, typeUUID, typeString, typeBinary}
	if depth == 0 {
		return base[g.rnd.IntN(len(base))]
	}
	switch g.rnd.IntN(10) {
	case 0, 1, 2:
		return structTypeOf(g.desc(depth - 1))
	case 3, 4, 5:
		return listTypeOf(structTypeOf(g.desc(depth - 1)))
	case 6:
		return listTypeOf(g.typ(depth - 1))
	case 7:
		return setTypeOf(g.typ(depth - 1))
	case 8:
		return mapTypeOf(g.typ(0), g.typ(depth-1))
	}
	if g.rnd.IntN(3) > 0 {
		return base[g.rnd.IntN(len(base))]
	}
	d := newUnionDesc("Union")
	d.Define(XFieldDesc{ID: 1, Name: "a", Type: g.typ(depth - 1), Req: XOptional}, XFieldDesc{ID: 2, Name: "b", Type: typeI32, Req: XOptional})
	return structTypeOf(d)
}

// value appends the wire bytes of a value.
func (g messageMaker) value(dst []byte, t *XType, depth int) []byte {
	count := func() int {
		if n := g.rnd.IntN(8); n > 1 || g.large == 0 || depth > 2 {
			return n % 4
		}
		return g.rnd.IntN(1 + g.large>>(3*depth))
	}
	switch t.kind {
	case fixed:
		for range t.size {
			dst = append(dst, byte(g.rnd.Uint32()))
		}
		if t.wire == WireBool {
			dst[len(dst)-1] &= 1
		}
		return dst
	case text:
		n := g.rnd.IntN(20)
		if g.rnd.IntN(50) == 0 {
			n = g.rnd.IntN(3000)
		}
		return append(wire.AppendBE32(dst, uint32(n)), strings.Repeat("x", n)...)
	case record:
		return g.structure(dst, t.desc, depth)
	case list:
		n := count()
		dst = wire.AppendBE32(append(dst, byte(t.elem.wire)), uint32(n))
		for range n {
			dst = g.value(dst, t.elem, depth+1)
		}
		return dst
	}
	n := count()
	dst = wire.AppendBE32(append(dst, byte(t.key.wire), byte(t.elem.wire)), uint32(n))
	for range n {
		dst = g.value(g.value(dst, t.key, depth+1), t.elem, depth+1)
	}
	return dst
}

// structure appends a struct, its fields in any order: some are absent, and some unknown.
func (g messageMaker) structure(dst []byte, d *XDesc, depth int) []byte {
	for _, i := range g.rnd.Perm(len(d.fields)) {
		f := &d.fields[i]
		if f.Req != XRequired && g.rnd.IntN(6) == 0 || d.union && i == g.rnd.IntN(2) {
			continue
		}
		dst = append(dst, byte(f.header>>16), byte(f.header>>8), byte(f.header))
		dst = g.value(dst, f.typ, depth)
		if g.rnd.IntN(30) == 0 && !d.union {
			t := g.typ(1)
			dst = append(dst, byte(t.wire), 0x33, byte(i))
			dst = g.value(dst, t, depth+3)
		}
	}
	return append(dst, 0)
}

// withIndex returns the message with an index.
func withIndex(t testing.TB, d *XDesc, wire []byte, opts ...Option) []byte {
	t.Helper()
	s, err := parseStruct(d, wire, append(opts, WithIndex)...)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Release()
	return bytes.Clone(s.m.Bytes())
}

// sameReader compares messages by what programs read with handles.
type sameReader struct {
	t   testing.TB
	rnd *rand.Rand
}

func (r sameReader) structs(d *XDesc, a, b XStruct) {
	r.t.Helper()
	for _, i := range r.rnd.Perm(len(d.fields)) {
		f, x := &d.fields[i], d.constant(i)
		switch {
		case a.HasField(x) != b.HasField(x):
			r.t.Fatalf("%s.%s: set %t, %t", d.name, f.Name, a.HasField(x), b.HasField(x))
		case !a.HasField(x):
		case f.kind == fixed:
			if v, w := a.m.fixedValue(a.word(x)), b.m.fixedValue(b.word(x)); !bytes.Equal(v[:f.size], w[:f.size]) {
				r.t.Fatalf("%s.%s: %x, %x", d.name, f.Name, v[:f.size], w[:f.size])
			}
		case f.kind == text:
			if a.Text(x) != b.Text(x) {
				r.t.Fatalf("%s.%s: %q, %q", d.name, f.Name, a.Text(x), b.Text(x))
			}
		default:
			r.containers(f.typ, a.Child(x, d), b.Child(x, d))
		}
	}
}

func (r sameReader) containers(t *XType, a, b XStruct) {
	r.t.Helper()
	switch {
	case t.kind == record:
		r.structs(t.desc, a, b)
		return
	case a.count() != b.count():
		r.t.Fatalf("%d elements, %d", a.count(), b.count())
	case t.kind == list && t.elem.kind == record && a.count() > 0:
		v, w := StructList[XStruct](a), StructList[XStruct](b)
		for range min(10, a.count()) {
			i := r.rnd.IntN(a.count())
			r.structs(t.elem.desc, v.At(i), w.At(i))
			//lint:ignore SA4000 the second call must find the entry that the first has made
			if v.At(i).k != v.At(i).k {
				r.t.Fatal("an element has two handles")
			}
		}
		if r.rnd.IntN(3) == 0 {
			for i, x := range v.All() {
				r.structs(t.elem.desc, x, w.At(i))
			}
		}
	default:
		x, y := a.m.wire(a.entry(), t), b.m.wire(b.entry(), t)
		if !bytes.Equal(x, y) {
			r.t.Fatalf("%x, %x", x, y)
		}
	}
}

// TestByIndex: what is read by an index, in any order, is what a plain parse gives; checking it
// finds nothing; and it goes out as it came.
func TestByIndex(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, testmode.Seed(t)))
	indexed, entries := 0, 0
	for range testmode.Of(50, 500) {
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
		plain, err := parseStruct(d, with)
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
			if rnd.IntN(2) == 0 && s.Format(d) != plain.Format(d) {
				t.Fatalf("%s: reads as\n%s not\n%s", w.name, s.Format(d), plain.Format(d))
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

// TestNoIndex: without an index, or with one that does not fit, ByIndex is as Parse without it,
// and RequireIndex an error.
func TestNoIndex(t *testing.T) {
	wire := largeBusiness(t, 300)
	with := withIndex(t, businessDesc, wire)
	spoil := func(f func(b []byte) []byte) []byte { return f(bytes.Clone(with)) }
	n := len(with)
	cases := map[string][]byte{
		"none":     wire,
		"magic":    spoil(func(b []byte) []byte { b[n-2]++; return b }),
		"version":  spoil(func(b []byte) []byte { b[n-6]++; return b }),
		"length":   spoil(func(b []byte) []byte { b[n-10]++; return b }),
		"message":  spoil(func(b []byte) []byte { b[n-14]++; return b }),
		"count":    spoil(func(b []byte) []byte { b[n-20]++; return b }),
		"id":       spoil(func(b []byte) []byte { b[len(wire)]++; return b }),
		"longer":   append(with[:n-1:n-1], "\x08\x03\xe8\x00\x00\x00\x01\x00"...),
		"unsorted": spoil(func(b []byte) []byte { b[len(wire)+6+3] ^= 0x20; return b }),
	}
	for name, b := range cases {
		_, err := parseStruct(businessDesc, b, RequireIndex)
		if !errors.Is(err, ErrIndex) {
			t.Errorf("%s: RequireIndex: %v", name, err)
		}
		plain, plainErr := parseStruct(businessDesc, b)
		s, err := parseStruct(businessDesc, b, ByIndex)
		if fmt.Sprint(err) != fmt.Sprint(plainErr) {
			t.Fatalf("%s: %v, not %v", name, err, plainErr)
		}
		if err != nil {
			continue
		}
		if s.Format(businessDesc) != plain.Format(businessDesc) {
			t.Errorf("%s: reads otherwise", name)
		}
		s.Release()
		plain.Release()
	}
}

// largeBusiness returns the wire bytes of a message with n items.
func largeBusiness(t testing.TB, n int) []byte {
	s := newStruct(businessDesc)
	defer s.Release()
	buildBusiness(s)
	items := StructList[XStruct](s.NewChild(businessDesc.named("items"), businessDesc, n))
	for i := range n {
		item := items.At(i)
		item.SetText(itemDesc.named("sku"), "item "+itoa(i))
		item.SetInt32(itemDesc.named("count"), int32(i))
	}
	return bytes.Clone(s.m.Bytes())
}

// checkIndex fails if a word of the message's index belongs to two entries.
func checkIndex(t testing.TB, s XStruct) {
	t.Helper()
	if err := wrongIndex(s.m); err != nil {
		t.Fatal(err)
	}
}

// TestIndexEdited: what was edited, copied from or put into another message goes out without the
// index that it had, or with another one.
func TestIndexEdited(t *testing.T) {
	plain := largeBusiness(t, 300)
	with := withIndex(t, businessDesc, plain)
	id, items, tags := businessDesc.named("id"), businessDesc.named("items"), businessDesc.named("tags")
	list := func(s XStruct) StructList[XStruct] { return StructList[XStruct](s.Child(items, businessDesc)) }
	edits := map[string]func(s XStruct){
		"number":   func(s XStruct) { s.SetInt64(id, 2) },
		"item":     func(s XStruct) { list(s).At(100).SetText(itemDesc.named("sku"), "other") },
		"read":     func(s XStruct) { x := list(s).At(7); list(s).At(100); x.SetInt32(itemDesc.named("count"), 9) },
		"append":   func(s XStruct) { list(s).AppendNew().SetInt32(itemDesc.named("count"), 1) },
		"delete":   func(s XStruct) { list(s).Delete(10, 20) },
		"swap":     func(s XStruct) { list(s).Swap(1, 299) },
		"unset":    func(s XStruct) { s.Unset(tags) },
		"child":    func(s XStruct) { s.NewChild(tags, businessDesc, 3) },
		"unknown":  func(s XStruct) { s.AppendUnknown(businessDesc, 999, Value{WireBool, []byte{1}}) },
		"clear":    func(s XStruct) { s.Clear(businessDesc) },
		"two":      func(s XStruct) { s.SetInt64(id, 2); s.m.Finish(); s.SetInt64(id, 3); s.Unset(tags) },
		"compact":  func(s XStruct) { s.m.Compact(); s.Unset(tags) },
		"to other": func(s XStruct) { list(s).Set(3, list(s).At(200)) },
		"gone": func(s XStruct) {
			list(s)
			s.Unset(items)
			s.m.Compact()
			s.NewChild(items, businessDesc, 3)
			s.m.Finish()
		},
		"appended": func(s XStruct) { list(s); s.m.Compact(); list(s).AppendNew(); s.Unset(items); s.m.Compact() },
	}
	for name, edit := range edits {
		want, err := parseStruct(businessDesc, plain)
		if err != nil {
			t.Fatal(err)
		}
		edit(want)
		for how, opts := range map[string][]Option{"plain": nil, "own": {Own}, "lazy": {Lazy}, "by index": {ByIndex}, "recycled": {ByIndex, Recycle}, "compacted": {ByIndex}, "added": {WithIndex}} {
			s, err := parseStruct(businessDesc, bytes.Clone(with), opts...)
			if err != nil {
				t.Fatal(err)
			}
			if how == "compacted" {
				ours.CompactAlways(s.m)
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
			if err := ours.CheckSentIndex(businessDesc, out, false); err != nil {
				t.Errorf("%s, %s: %v", name, how, err)
			}
			if got, want := s.Format(businessDesc), want.Format(businessDesc); got != want {
				t.Errorf("%s, %s: reads as\n%.300s not\n%.300s", name, how, got, want)
			}
			again, err := parseStruct(businessDesc, out)
			if err != nil || again.Format(businessDesc) != want.Format(businessDesc) {
				t.Errorf("%s, %s: what goes out reads otherwise: %v", name, how, err)
			}
			s.Release()
		}
		want.Release()
	}
}

// TestIndexInvalid: what changes a message that turns out not to be valid, or links from it,
// panics with a fixed text; Index returns the error, and reading gives what is there.
func TestIndexInvalid(t *testing.T) {
	with := withIndex(t, businessDesc, largeBusiness(t, 300))
	s, err := parseStruct(businessDesc, with)
	if err != nil {
		t.Fatal(err)
	}
	items := businessDesc.named("items")
	at, _ := s.m.extent(StructList[XStruct](s.Child(items, businessDesc)).At(150).entry(), structTypeOf(itemDesc))
	with[at-s.m.idx[s.m.root]] = 1 // no wire type
	s.Release()
	s, err = parseStruct(businessDesc, with, RequireIndex)
	if err != nil {
		t.Fatal(err)
	}
	l := StructList[XStruct](s.Child(items, businessDesc))
	if l.At(150).Valid() || l.At(149).Int32(itemDesc.named("count")) != 149 {
		t.Error("element 150 is there, or 149 is not")
	}
	for range l.All() {
	}
	if err := s.m.Index(); !errors.Is(err, ErrType) {
		t.Errorf("Index: %v", err)
	}
	other := newStruct(businessDesc)
	for name, f := range map[string]func(){
		"set":   func() { s.SetInt64(businessDesc.named("id"), 1) },
		"link":  func() { StructList[XStruct](other.NewChild(items, businessDesc, 0)).Append(l.At(3)) },
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
