package engine

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// How a handle of each kind behaves after its value has been replaced or removed. (After Release
// it panics, for all later contents of the message: TestUseAfterRelease.)

// heldKinds are the kinds of handles: how to get one from a message of fullWire, and its type.
var heldKinds = []struct {
	name  string
	field string // of the root that it is in
	get   func(s Struct) Struct
	typ   func(t *schema.Type) *schema.Type // of the field's
	// What else ends it besides replacing the field.
	events map[string]func(s Struct)
}{
	{"struct", "point", fieldHandle("point"), sameType, nil},
	{"union", "shape", fieldHandle("shape"), sameType, nil},
	{"arm of a union that is a list", "shape", func(s Struct) Struct {
		return s.Child(fieldNamed(allDesc, "shape"), allDesc).Child(fieldNamed(shapeDesc, "outline"), shapeDesc)
	}, func(t *schema.Type) *schema.Type { return shapeDesc.FieldOf(fieldNamed(shapeDesc, "outline")).Type }, map[string]func(s Struct){
		"another arm": func(s Struct) {
			shape := s.Child(fieldNamed(allDesc, "shape"), allDesc)
			shape.Arm(fieldNamed(shapeDesc, "radius"), shapeDesc).SetFloat64(fieldNamed(shapeDesc, "radius"), 2)
		},
	}},
	{"list of numbers", "numbers", fieldHandle("numbers"), sameType, nil},
	{"list of bools", "flags", fieldHandle("flags"), sameType, nil},
	{"list of uuids", "keys", fieldHandle("keys"), sameType, nil},
	{"list of strings", "words", fieldHandle("words"), sameType, nil},
	{"list of binaries", "blobs", fieldHandle("blobs"), sameType, nil},
	{"set", "unique", fieldHandle("unique"), sameType, nil},
	{"list of structs", "points", fieldHandle("points"), sameType, nil},
	{"element of a list of structs", "points", func(s Struct) Struct {
		return StructList[Struct](s.Child(fieldNamed(allDesc, "points"), allDesc)).At(1)
	}, elemType, nil},
	{"list of lists", "matrix", fieldHandle("matrix"), sameType, nil},
	{"element of a list of lists", "matrix", func(s Struct) Struct {
		return NestedList[Struct](s.Child(fieldNamed(allDesc, "matrix"), allDesc)).At(1)
	}, elemType, map[string]func(s Struct){
		"Set of the element": func(s Struct) {
			l := NestedList[Struct](s.Child(fieldNamed(allDesc, "matrix"), allDesc))
			l.Set(1, l.At(0))
		},
		"NewAt of the element": func(s Struct) { NestedList[Int32List](s.Child(fieldNamed(allDesc, "matrix"), allDesc)).NewAt(1, 3) },
	}},
	{"map", "counts", fieldHandle("counts"), sameType, nil},
	{"map of structs", "byNumber", fieldHandle("byNumber"), sameType, nil},
	{"value of a map of structs", "byNumber", func(s Struct) Struct {
		v, _ := StructMap[int32, Struct, AsInt32](s.Child(fieldNamed(allDesc, "byNumber"), allDesc)).Get(7)
		return v
	}, elemType, map[string]func(s Struct){
		"Put of the key": func(s Struct) {
			p := StructMap[int32, Struct, AsInt32](s.Child(fieldNamed(allDesc, "byNumber"), allDesc))
			p.Put(7, Absent())
		},
		"PutNew of the key": func(s Struct) {
			StructMap[int32, Struct, AsInt32](s.Child(fieldNamed(allDesc, "byNumber"), allDesc)).PutNew(7)
		},
		"Delete of the key": func(s Struct) {
			StructMap[int32, Struct, AsInt32](s.Child(fieldNamed(allDesc, "byNumber"), allDesc)).Delete(7)
		},
	}},
	{"map of lists", "groups", fieldHandle("groups"), sameType, nil},
	{"value of a map of lists", "groups", func(s Struct) Struct {
		v, _ := NestedMap[string, Struct, AsString](s.Child(fieldNamed(allDesc, "groups"), allDesc)).Get("g")
		return v
	}, elemType, map[string]func(s Struct){
		"PutNew of the key": func(s Struct) {
			NestedMap[string, Struct, AsString](s.Child(fieldNamed(allDesc, "groups"), allDesc)).PutNew("g", 3)
		},
		"Delete of the key": func(s Struct) {
			NestedMap[string, Struct, AsString](s.Child(fieldNamed(allDesc, "groups"), allDesc)).Delete("g")
		},
	}},
	{"key that is a struct", "byPoint", func(s Struct) Struct {
		for k := range (Map[Struct, string, AsView[Struct], AsString](s.Child(fieldNamed(allDesc, "byPoint"), allDesc))).All() {
			return k
		}
		panic("no key")
	}, func(t *schema.Type) *schema.Type { return t.Key() }, map[string]func(s Struct){
		"Delete of the key": func(s Struct) {
			p := Map[Struct, string, AsView[Struct], AsString](s.Child(fieldNamed(allDesc, "byPoint"), allDesc))
			for k := range p.All() {
				p.Delete(k)
			}
		},
	}},
}

func sameType(t *schema.Type) *schema.Type { return t }

func elemType(t *schema.Type) *schema.Type { return t.Elem() }

func fieldHandle(name string) func(s Struct) Struct {
	return func(s Struct) Struct { return s.Child(fieldNamed(allDesc, name), allDesc) }
}

// fieldEvents are the events that may befall the field of a handle.
var fieldEvents = map[string]func(s Struct, f schema.Ref){
	"Unset":    func(s Struct, f schema.Ref) { s.Unset(f) },
	"NewChild": func(s Struct, f schema.Ref) { s.NewChild(f, allDesc, 2) },
	"SetChild": func(s Struct, f schema.Ref) { s.SetChild(f, allDesc, Absent()) },
	"SetChild of a copy": func(s Struct, f schema.Ref) {
		c := s.Clone(allDesc)
		s.SetChild(f, allDesc, c.Child(f, allDesc))
		c.Release()
	},
	"SetChild of itself":        func(s Struct, f schema.Ref) { s.SetChild(f, allDesc, s.Child(f, allDesc)) },
	"Unset, and something else": func(s Struct, f schema.Ref) { s.Unset(f); s.SetText(fieldNamed(allDesc, "text"), longText) },
}

// heldStates are the states that a message may be in when handles are taken.
var heldStates = map[string]func(t *testing.T, wire []byte) Struct{
	"received":           func(t *testing.T, wire []byte) Struct { return mustParse(t, allDesc, wire) },
	"received, own":      func(t *testing.T, wire []byte) Struct { return mustParse(t, allDesc, bytes.Clone(wire), Own) },
	"received, lazy":     func(t *testing.T, wire []byte) Struct { return mustParse(t, allDesc, wire, Lazy) },
	"received in blocks": func(t *testing.T, wire []byte) Struct { return parsedBy(t, cutEvery(7), wire) },
	"recycled":           func(t *testing.T, wire []byte) Struct { return parsedBy(t, recycled, wire) },
	"edited": func(t *testing.T, wire []byte) Struct {
		s := mustParse(t, allDesc, wire)
		changer{t: t, m: s.m}.structure(s, allDesc)
		s.m.Finish()
		return s
	},
	"being built": func(t *testing.T, wire []byte) Struct {
		s := newRoot(allDesc)
		fill(s)
		return s
	},
	"built": func(t *testing.T, wire []byte) Struct {
		s := newRoot(allDesc)
		fill(s)
		s.m.Finish()
		return s
	},
}

func parsedBy(t *testing.T, w way, wire []byte) Struct {
	s, err := w.parse(allDesc, wire)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// newRoot is a new message whose root is open.
func newRoot(d *schema.Struct, opts ...Option) Struct {
	m := newMessage(d, flagsOf(opts), usualLimits)
	m.buf.OpenRoot(headroom)
	m.root = m.ix.Alloc(d.Words())
	m.beginStruct(d, m.root)
	return m.handle(m.root)
}

// fill sets every field that a kind of handle is of; the last is still open afterwards.
func fill(s Struct) {
	f := func(name string) schema.Ref { return fieldNamed(allDesc, name) }
	s.SetInt64s(f("numbers"), allDesc, []int64{1, 2, 3})
	s.SetTexts(f("words"), allDesc, []string{"a", "b"})
	s.SetInt32s(f("unique"), allDesc, []int32{1, 2})
	s.SetBools(f("flags"), allDesc, []bool{true, false})
	s.SetByteSlices(f("blobs"), allDesc, [][]byte{{1}, {2}})
	UUIDs[UUID]([]UUID{{1}}).SetIn(s, f("keys"), allDesc)
	counts := Map[string, int64, AsString, AsInt64](s.NewChild(f("counts"), allDesc, 0))
	for i := range 40 {
		counts.Put("key "+strconv.Itoa(i), int64(i))
	}
	x := fieldNamed(pointDesc, "x")
	s.NewChild(f("point"), allDesc, 0).SetInt32(x, 1)
	points := StructList[Struct](s.NewChild(f("points"), allDesc, 2))
	points.At(1).SetInt32(x, 2)
	NestedList[Int32List](s.NewChild(f("matrix"), allDesc, 2)).NewAt(1, 2).Set(0, 5)
	StructMap[int32, Struct, AsInt32](s.NewChild(f("byNumber"), allDesc, 0)).PutNew(7).SetInt32(x, 3)
	Map[Struct, string, AsView[Struct], AsString](s.NewChild(f("byPoint"), allDesc, 0)).Append("v").SetInt32(x, 4)
	shape := s.NewChild(f("shape"), allDesc, 0).Arm(fieldNamed(shapeDesc, "outline"), shapeDesc)
	StructList[Struct](shape.NewChild(fieldNamed(shapeDesc, "outline"), shapeDesc, 2)).At(1).SetInt32(x, 5)
	NestedMap[string, StructList[Struct], AsString](s.NewChild(f("groups"), allDesc, 0)).PutNew("g", 2).At(1).SetInt32(x, 6)
}

func show(v Struct, t *schema.Type) string {
	if t.Kind() == schema.Record {
		return TextOf(v, t.Struct())
	}
	return ContainerTextOf(v, "")
}

// TestHandleOfWhatIsGone: a handle of a replaced or removed value goes on giving the old value, to
// getters and as wire bytes. Changes through it do not reach the wire.
func TestHandleOfWhatIsGone(t *testing.T) {
	wire := heldWire()
	for _, kind := range heldKinds {
		f := fieldNamed(allDesc, kind.field)
		typ := kind.typ(allDesc.FieldOf(f).Type)
		events := map[string]func(s Struct){}
		for name, event := range fieldEvents {
			events[name] = func(s Struct) { event(s, f) }
		}
		for name, event := range kind.events {
			events[name] = event
		}
		for state, make := range heldStates {
			for event, happen := range events {
				where := fmt.Sprintf("%s, %s, after %s", state, kind.name, event)
				twin := make(t, wire)
				beforeWire := Value{typ: typ, s: kind.get(twin)}.AppendWire(nil)
				twin.Release()
				s := make(t, wire)
				h := kind.get(s)
				before := show(h, typ)
				happen(s)
				if got := show(h, typ); got != before {
					t.Errorf("%s: reads as %s, not %s", where, got, before)
				}
				if got := (Value{typ: typ, s: h}).AppendWire(nil); !bytes.Equal(got, beforeWire) {
					t.Errorf("%s: its bytes are\n%x, not\n%x", where, got, beforeWire)
				}
				want := bytes.Clone(s.m.Bytes())
				if got := show(h, typ); got != before {
					t.Errorf("%s, finished: reads as %s, not %s", where, got, before)
				}
				if got := (Value{typ: typ, s: h}).AppendWire(nil); !bytes.Equal(got, beforeWire) {
					t.Errorf("%s, finished: its bytes are\n%x, not\n%x", where, got, beforeWire)
				}
				changeStale(t, where, h, typ)
				if !bytes.Equal(want, s.m.Bytes()) {
					t.Errorf("%s: a change through it makes of\n%x\n%x", where, want, s.m.Bytes())
				}
				s.Release()
			}
		}
	}
}

// changeStale changes everything through a handle of a removed value. It may panic, but only with
// the prefix "nocopy: ", and not with an internal error.
func changeStale(t *testing.T, where string, h Struct, typ *schema.Type) {
	defer func() {
		if r := recover(); r != nil && (!strings.HasPrefix(fmt.Sprint(r), "nocopy: ") || strings.Contains(fmt.Sprint(r), "internal")) {
			t.Errorf("%s: a change through it panics with %v", where, r)
		}
	}()
	changer{t: t, m: h.m}.value(h, typ)
}

// TestChangeCompactsWhatIsGone: a change of a value that was replaced, and whose entry is freed
// since the change compacts the message first, panics and changes nothing.
func TestChangeCompactsWhatIsGone(t *testing.T) {
	self, text := fieldOf("self"), fieldOf("text")
	for state, make := range heldStates {
		s := make(t, heldWire())
		old := s.NewChild(self, allDesc, 0)
		old.SetText(text, "old")
		s.m.Bytes()
		s.NewChild(self, allDesc, 0).SetText(text, "new")
		want := bytes.Clone(s.m.Bytes())
		CompactAlways(s.m)
		func() {
			defer func() {
				if v := recover(); v != panicGone {
					t.Errorf("%s: the change panics with %v", state, v)
				}
			}()
			old.SetText(text, "changed")
		}()
		if !bytes.Equal(s.m.Bytes(), want) || s.Child(self, allDesc).Text(text) != "new" {
			t.Errorf("%s: afterwards the message is\n%x, not\n%x", state, s.m.Bytes(), want)
		}
		if err := CheckIndex(s.m); err != nil {
			t.Errorf("%s: %v", state, err)
		}
		s.Release()
	}
}

// TestHandleOfElement: a handle of an element of a list of structs is of its place: when the
// element is set, it is the handle of the new one, to be read and changed.
func TestHandleOfElement(t *testing.T) {
	x := fieldNamed(pointDesc, "x")
	for state, make := range heldStates {
		t.Run(state, func(t *testing.T) {
			s := make(t, heldWire())
			l := StructList[Struct](s.Child(fieldNamed(allDesc, "points"), allDesc))
			h := l.At(1)
			l.Set(1, l.At(0))
			if got, want := TextOf(h, pointDesc), TextOf(l.At(0), pointDesc); got != want {
				t.Errorf("%s: reads as %s, not %s", state, got, want)
			}
			h.SetInt32(x, 77)
			if got := l.At(1).Int32(x); got != 77 {
				t.Errorf("%s: the element is %d after a change to 77", state, got)
			}
			again := mustParse(t, allDesc, s.m.Bytes())
			if got := StructList[Struct](again.Child(fieldNamed(allDesc, "points"), allDesc)).At(1).Int32(x); got != 77 {
				t.Errorf("%s: %d is sent", state, got)
			}
			again.Release()
			s.Release()
		})
	}
}

// TestTextsOfWhatIsGone: strings and bytes that were read do not change when the field, the
// message, or the messages after it do.
func TestTextsOfWhatIsGone(t *testing.T) {
	for state, make := range heldStates {
		t.Run(state, func(t *testing.T) {
			if state == "recycled" {
				return // they die with the message: TestFaults
			}
			for _, long := range []bool{false, true} {
				s := make(t, heldWire())
				text, blob := fieldNamed(allDesc, "text"), fieldNamed(allDesc, "blob")
				n := 100
				if long {
					n = 3 * ReferSize
				}
				want := strings.Repeat("t", n)
				s.SetText(text, want)
				copy(s.NewBytes(blob, n), want)
				got, gotBytes := s.Text(text), s.Bytes(blob)
				word := StringList(s.Child(fieldNamed(allDesc, "words"), allDesc)).At(0)
				wantWord := strings.Clone(word)
				for i, happen := range []func(){
					func() { s.SetText(text, strings.Repeat("u", n)); s.SetBytes(blob, []byte(strings.Repeat("u", n))) },
					func() { s.Unset(text); s.Unset(blob); s.Unset(fieldNamed(allDesc, "words")) },
					func() { s.m.Finish() },
					func() { s.Release() },
					func() {
						for range 100 {
							o := make(t, heldWire())
							o.SetText(text, strings.Repeat("x", 1000))
							o.Release()
						}
					},
				} {
					happen()
					if got != want || string(gotBytes) != want || word != wantWord {
						t.Fatalf("%s, %d bytes: after step %d the texts are %.20q, %.20q and %q", state, n, i, got, gotBytes, word)
					}
				}
			}
		})
	}
}

// heldWire is a message in which every kind of handle can be had.
func heldWire() []byte {
	s := newRoot(allDesc)
	defer s.Release()
	fill(s)
	return bytes.Clone(s.m.Bytes())
}
