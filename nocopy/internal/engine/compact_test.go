package engine

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
)

// edits are things that may be done to one message again and again.
var againAndAgain = map[string]func(s Struct, i int){
	"a text of 3000 bytes": func(s Struct, i int) { s.SetText(fieldNamed(allDesc, "text"), longText[:3000-i%2]) },
	"texts of 1 byte to 64 KiB": func(s Struct, i int) {
		s.SetText(fieldNamed(allDesc, "text"), strings.Repeat("x", 1+(i*7919)%(64<<10)))
	},
	"binaries":         func(s Struct, i int) { s.SetBytes(fieldNamed(allDesc, "blob"), make([]byte, (i*7919)%5000)) },
	"room in binaries": func(s Struct, i int) { s.NewBytes(fieldNamed(allDesc, "blob"), 3000); s.m.Finish() },
	"an element": func(s Struct, i int) {
		StringList(s.Child(fieldNamed(allDesc, "words"), allDesc)).Set(0, longText[:i%3000])
	},
	"a map's value": func(s Struct, i int) {
		NestedMap[string, StructList[Struct], AsString](s.Child(fieldNamed(allDesc, "groups"), allDesc)).PutNew("g", 3).At(1).SetInt32(fieldNamed(pointDesc, "x"), 5)
	},
	"a map's struct": func(s Struct, i int) {
		StructMap[int32, Struct, AsInt32](s.Child(fieldNamed(allDesc, "byNumber"), allDesc)).PutNew(7).SetInt32(fieldNamed(pointDesc, "x"), int32(i))
	},
	"a map's pair, deleted and put": func(s Struct, i int) {
		counts := Map[string, int64, AsString, AsInt64](s.Child(fieldNamed(allDesc, "counts"), allDesc))
		counts.Delete("key 1")
		counts.Put("key 1", 5)
	},
	"room in binaries that are not finished": func(s Struct, i int) {
		copy(s.NewBytes(fieldNamed(allDesc, "blob"), 3000), longText)
	},
	"room in structs that are replaced": func(s Struct, i int) {
		copy(s.NewChild(fieldNamed(allDesc, "self"), allDesc, 0).NewBytes(fieldNamed(allDesc, "blob"), 3000), longText)
	},
	"another struct": func(s Struct, i int) {
		s.NewChild(fieldNamed(allDesc, "self"), allDesc, 0).NewChild(fieldNamed(allDesc, "point"), allDesc, 0).SetInt32(fieldNamed(pointDesc, "x"), 5)
	},
	"a struct, unset and set": func(s Struct, i int) {
		s.Unset(fieldNamed(allDesc, "point"))
		s.NewChild(fieldNamed(allDesc, "point"), allDesc, 0)
	},
	"another list": func(s Struct, i int) {
		words := StringList(s.NewChild(fieldNamed(allDesc, "words"), allDesc, i%100))
		words.Append("x")
		NestedList[Int32List](s.NewChild(fieldNamed(allDesc, "matrix"), allDesc, 3)).NewAt(1, i%50)
	},
	"whole lists": func(s Struct, i int) {
		s.SetTexts(fieldNamed(allDesc, "words"), allDesc, []string{"a", "b"})
		s.SetInt64s(fieldNamed(allDesc, "numbers"), allDesc, make([]int64, i%100))
	},
	"a copy of a part of itself": func(s Struct, i int) {
		s.SetChild(fieldNamed(allDesc, "point"), allDesc, StructList[Struct](s.Child(fieldNamed(allDesc, "points"), allDesc)).At(0))
		StructList[Struct](s.Child(fieldNamed(allDesc, "points"), allDesc)).Set(1, s.Child(fieldNamed(allDesc, "point"), allDesc))
	},
	"grafts": func(s Struct, i int) {
		v := New(allDesc)
		v.SetText(fieldNamed(allDesc, "text"), longText)
		points := StructList[Struct](v.NewChild(fieldNamed(allDesc, "points"), allDesc, 5))
		points.At(3).SetInt32(fieldNamed(pointDesc, "x"), 1)
		s.SetChild(fieldNamed(allDesc, "self"), allDesc, v)
		s.SetChild(fieldNamed(allDesc, "points"), allDesc, Struct(points))
		StructList[Struct](s.Child(fieldNamed(allDesc, "points"), allDesc)).AppendNew()
		v.Release()
	},
	"elements appended and removed": func(s Struct, i int) {
		points := StructList[Struct](s.Child(fieldNamed(allDesc, "points"), allDesc))
		points.AppendNew().SetInt32(fieldNamed(pointDesc, "x"), 3)
		points.Delete(0, 1)
		words := StringList(s.Child(fieldNamed(allDesc, "words"), allDesc))
		words.Append(longText[:100])
		words.Truncate(words.Len() - 1)
	},
	"numbers appended and removed": func(s Struct, i int) {
		numbers := Int64List(s.Child(fieldNamed(allDesc, "numbers"), allDesc))
		for k := range 10 {
			numbers.Append(int64(k))
		}
		numbers.Truncate(numbers.Len() - 10)
	},
	"an arm": func(s Struct, i int) {
		u := s.Child(fieldNamed(allDesc, "shape"), allDesc)
		u.Arm(fieldNamed(shapeDesc, "corner"), shapeDesc).NewChild(fieldNamed(shapeDesc, "corner"), shapeDesc, 0)
		u.Arm(fieldNamed(shapeDesc, "label"), shapeDesc).SetText(fieldNamed(shapeDesc, "label"), longText[:2000])
	},
	"numbers after Bytes": func(s Struct, i int) { s.m.Bytes(); s.SetInt64(fieldNamed(allDesc, "large"), int64(i)) },
}

// footprint is about how much memory the message holds on to.
func footprint(m *Message) int {
	n := 8*int(m.words) + 44*cap(m.edits) + 16*cap(m.dead.values) + 16*cap(m.dead.fields) + 4*cap(m.keyTables().viewKeys.owner) + 8*cap(m.keyTables().viewKeys.elements) + m.buf.Footprint()
	for _, blocks := range m.dead.free.All() {
		n += 8 * cap(blocks)
	}
	for _, raw := range m.dead.rawWords.All() {
		n += 4 * cap(raw)
	}
	return n + 16*m.dead.blockWords.Len()
}

// TestEditedForEver: a message that is edited again and again takes no more memory than at first,
// whatever is done, and is right afterwards. Handles got before stay good.
func TestEditedForEver(t *testing.T) {
	rounds := testmode.Of(1000, 8_000)
	for name, do := range againAndAgain {
		t.Run(name, func(t *testing.T) {
			for _, state := range []string{"received", "received, recycled", "built", "built, recycled", "cloned"} {
				s := stateOf(t, state)
				words, points := StringList(s.Child(fieldNamed(allDesc, "words"), allDesc)), StructList[Struct](s.Child(fieldNamed(allDesc, "points"), allDesc))
				flag := s.Child(fieldNamed(allDesc, "shape"), allDesc)
				kept := s.Text(fieldNamed(allDesc, "text"))
				want := strings.Clone(kept)
				most := 0
				for i := range rounds {
					do(s, i)
					if i == rounds/4 {
						most = 2*footprint(s.m) + 4<<20
					}
					if most > 0 && i%100 == 0 && footprint(s.m) > most {
						t.Fatalf("%s, %s: %d bytes after %d rounds, more than %d", name, state, footprint(s.m), i, most)
					}
				}
				if kept != want {
					t.Errorf("%s, %s: a text that was read has changed", name, state)
				}
				_, _, _ = words, points, flag
				checkSent(t, fmt.Sprintf("%s, %s", name, state), s)
				s.Release()
			}
		})
	}
}

func stateOf(t *testing.T, state string) Struct {
	t.Helper()
	var opts []Option
	if strings.HasSuffix(state, "recycled") {
		opts = append(opts, Recycle)
	}
	wire := fullWire(t)
	if strings.HasPrefix(state, "received") {
		return mustParse(t, allDesc, wire, opts...)
	}
	s := New(allDesc, opts...)
	fill(s)
	if state == "cloned" {
		return s.Clone(allDesc)
	}
	return s
}

// checkSent checks that a message is sent as it reads.
func checkSent(t *testing.T, what string, s Struct) {
	t.Helper()
	s.m.Finish()
	got := mustParse(t, allDesc, s.m.AppendTo(nil))
	if a, b := s.Format(allDesc), got.Format(allDesc); a != b {
		t.Errorf("%s: reads as\n%.2000s\nis sent as\n%.2000s", what, a, b)
	}
	got.Release()
}

// TestCompact: handles of what is in the message stay good, others read as absent.
func TestCompact(t *testing.T) {
	for _, state := range []string{"received", "received, recycled", "built", "built, recycled", "cloned"} {
		t.Run(state, func(t *testing.T) {
			s := stateOf(t, state)
			point := s.Child(fieldNamed(allDesc, "point"), allDesc)
			points := StructList[Struct](s.Child(fieldNamed(allDesc, "points"), allDesc))
			counts := Map[string, int64, AsString, AsInt64](s.Child(fieldNamed(allDesc, "counts"), allDesc))
			words := StringList(s.Child(fieldNamed(allDesc, "words"), allDesc))
			gone := s.Child(fieldNamed(allDesc, "self"), allDesc)
			if !gone.Valid() {
				gone = s.NewChild(fieldNamed(allDesc, "self"), allDesc, 0)
			}
			goneList := StringList(gone.NewChild(fieldNamed(allDesc, "words"), allDesc, 3))
			goneList.Set(1, "x")
			s.NewChild(fieldNamed(allDesc, "self"), allDesc, 0).SetText(fieldNamed(allDesc, "text"), "new")
			if goneList.At(1) != "x" {
				t.Errorf("%s: what was replaced reads %q", state, goneList.At(1))
			}
			before := s.Format(allDesc)
			s.m.Compact()
			if got := s.Format(allDesc); got != before {
				t.Errorf("%s: was\n%s, is\n%s", state, before, got)
			}
			checkSent(t, state, s)
			if s.m.Nodes() != 0 {
				t.Errorf("%s: %d nodes", state, s.m.Nodes())
			}
			point.SetInt32(fieldNamed(pointDesc, "x"), 77)
			points.AppendNew().SetInt32(fieldNamed(pointDesc, "x"), 78)
			counts.Put("new", 79)
			words.Append("80")
			for _, want := range []string{"x: 77", "x: 78", `"new": 79`, `"80"`} {
				if got := s.Format(allDesc); !strings.Contains(got, want) {
					t.Errorf("%s: %s is not in %s", state, want, got)
				}
			}
			checkSent(t, state+", changed", s)
			if gone.Valid() || gone.Text(fieldNamed(allDesc, "text")) != "" || goneList.Len() != 0 || gone.Format(allDesc) != "{}" || goneList.String() != "[]" {
				t.Errorf("%s: what is gone reads as %v, %s, %s", state, gone.Valid(), gone.Format(allDesc), goneList)
			}
			panics(t, "setting in what is gone", panicGone, func() { gone.SetText(fieldNamed(allDesc, "text"), "x") })
			panics(t, "setting a number in what is gone", panicGone, func() { gone.SetInt64(fieldNamed(allDesc, "large"), 1) })
			panics(t, "appending to what is gone", panicGone, func() { goneList.Append("x") })
			if c := gone.Clone(allDesc); c.Format(allDesc) != "{}" {
				t.Errorf("%s: a clone of what is gone: %s", state, c.Format(allDesc))
			}
			s.SetChild(fieldNamed(allDesc, "self"), allDesc, gone)
			checkSent(t, state+", with a copy of what is gone", s)
			s.m.Compact()
			checkSent(t, state+", compacted again", s)
			s.Release()
		})
	}
	panics(t, "of an absent message", panicAbsent, func() { Struct{}.Message().Compact() })
}

// TestEntryUsedAgain: a map that gets the entry of one that was being filled has keys of its own.
func TestEntryUsedAgain(t *testing.T) {
	counts := fieldNamed(allDesc, "counts")
	from := New(allDesc)
	Map[string, int64, AsString, AsInt64](from.NewChild(counts, allDesc, 0)).Put("a", 1)
	s := New(allDesc)
	Map[string, int64, AsString, AsInt64](s.NewChild(counts, allDesc, 4)).Put("b", 2)
	s.Unset(counts)
	s.m.Compact()
	s.SetChild(counts, allDesc, from.Child(counts, allDesc))
	c := Map[string, int64, AsString, AsInt64](s.Child(counts, allDesc))
	c.Put("a", 3)
	if got := s.AppendStruct(nil, allDesc); c.Len() != 1 || bytes.Count(got, []byte("\x01a")) != 1 {
		t.Errorf("a key that was put twice is there twice: %s", s.Format(allDesc))
	}
}

// TestRoomIsKept: what was got from NewBytes is the message's until it is finished, whatever else
// is changed.
func TestRoomIsKept(t *testing.T) {
	s := New(allDesc)
	room := s.NewBytes(fieldNamed(allDesc, "blob"), 3000)
	for i := range 100_000 {
		s.SetText(fieldNamed(allDesc, "text"), longText[:2000+i%100])
	}
	copy(room, bytes.Repeat([]byte("x"), 3000))
	if got := s.Bytes(fieldNamed(allDesc, "blob")); string(got) != strings.Repeat("x", 3000) {
		t.Error("what was filled in is not in the message")
	}
	checkSent(t, "room", s)
	s.Release()
	s = New(allDesc)
	const n = fewHandouts
	var rooms [n][]byte
	l := StructList[Struct](s.NewChild(fieldNamed(allDesc, "children"), allDesc, n))
	for i := range rooms {
		rooms[i] = l.At(i).NewBytes(fieldNamed(allDesc, "blob"), 10+1000*i)
	}
	gone := s.NewChild(fieldNamed(allDesc, "self"), allDesc, 0).NewBytes(fieldNamed(allDesc, "blob"), 20)
	s.Unset(fieldNamed(allDesc, "self"))
	for range 3 {
		s.m.Compact()
		s.SetText(fieldNamed(allDesc, "text"), longText[:3000])
	}
	copy(gone, "not in the message")
	for i, r := range rooms {
		if i%2 == 0 {
			copy(r, fmt.Sprint("binary ", i))
		} else {
			l.At(i).SetBytes(fieldNamed(allDesc, "blob"), []byte(fmt.Sprint("other ", i)))
		}
	}
	for i := range rooms {
		want := fmt.Sprint("binary ", i)
		if i%2 != 0 {
			want = fmt.Sprint("other ", i)
		}
		if got := l.At(i).Bytes(fieldNamed(allDesc, "blob")); !bytes.HasPrefix(got, []byte(want)) {
			t.Errorf("binary %d is %.20q, want %q", i, got, want)
		}
	}
	checkSent(t, "many rooms", s)
	s.m.Compact()
	if s.m.Finish(); s.m.Nodes() != 0 || len(s.m.handouts) != 0 {
		t.Errorf("%d nodes, %d rooms once it is finished and compacted", s.m.Nodes(), len(s.m.handouts))
	}
	checkSent(t, "many rooms, compacted", s)
}

// TestMillionEdits: the same field of a small message set a million times.
func TestMillionEdits(t *testing.T) {
	rounds := testmode.Of(50_000, 250_000)
	for _, opts := range [][]Option{nil, {Recycle}} {
		s := New(allDesc, opts...)
		s.SetText(fieldNamed(allDesc, "text"), longText[:3000])
		s.m.Finish()
		first := s.Text(fieldNamed(allDesc, "text"))
		for i := range rounds {
			s.SetText(fieldNamed(allDesc, "text"), longText[:3000])
			if i%1000 == 0 && footprint(s.m) > 6<<20 {
				t.Fatalf("%d bytes after %d edits", footprint(s.m), i)
			}
		}
		if first != longText[:3000] {
			t.Error("what was read has changed")
		}
		checkSent(t, "a text", s)
		s.Release()
	}
}

// TestReferredMemoryIsGivenUp: texts that are referred to and replaced are not kept alive.
func TestReferredMemoryIsGivenUp(t *testing.T) {
	const size = 1 << 20
	for name, set := range map[string]func(s Struct, v string){
		"a field": func(s Struct, v string) { s.SetText(fieldNamed(allDesc, "text"), v) },
		"set and unset": func(s Struct, v string) {
			s.SetText(fieldNamed(allDesc, "text"), v)
			s.Unset(fieldNamed(allDesc, "text"))
		},
		"a list": func(s Struct, v string) { StringList(s.Child(fieldNamed(allDesc, "words"), allDesc)).Set(0, v) },
		"another struct": func(s Struct, v string) {
			s.NewChild(fieldNamed(allDesc, "self"), allDesc, 0).SetText(fieldNamed(allDesc, "text"), v)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := New(allDesc)
			s.NewChild(fieldNamed(allDesc, "words"), allDesc, 1)
			for i := range testmode.Of(50, 200) {
				set(s, strings.Repeat("x", size+i))
				if got := footprint(s.m); got > 16*size {
					t.Fatalf("%s: %d bytes after %d", name, got, i)
				}
			}
			checkSent(t, name, s)
			s.Release()
		})
	}
}

// TestPositionsSuffice: values of many MiB that are referred to use up positions, but what fits
// finds some.
func TestPositionsSuffice(t *testing.T) {
	block := make([]byte, 64<<20)
	s := New(allDesc)
	s.SetText(fieldNamed(allDesc, "text"), "kept")
	for i := range 50 {
		s.SetBytes(fieldNamed(allDesc, "blob"), block[:len(block)-i])
	}
	blobs := BytesList(s.NewChild(fieldNamed(allDesc, "blobs"), allDesc, 2))
	for i := range 50 {
		blobs.Set(i%2, block[:2<<20+i])
		blobs.Append(block[:1<<20])
		blobs.Truncate(2)
	}
	if s.Text(fieldNamed(allDesc, "text")) != "kept" || len(s.Bytes(fieldNamed(allDesc, "blob"))) != len(block)-49 || len(blobs.At(1)) != 2<<20+49 {
		t.Error("not what was set")
	}
	if want := 64<<20 + 4<<20; s.m.Len() < want || s.m.Len() > want+1000 {
		t.Errorf("%d bytes", s.m.Len())
	}
}

// TestLargeEdits: a value of many MiB takes the place of another, again and again; in the long
// form they are GiBs in all, more than an int32 counts.
func TestLargeEdits(t *testing.T) {
	if raceEnabled || math.MaxInt == math.MaxInt32 {
		t.Skip("takes GiBs")
	}
	block, times := make([]byte, testmode.Of(32<<20, 700<<20)), 4
	s := New(allDesc)
	s.SetText(fieldNamed(allDesc, "text"), "kept")
	blobs := BytesList(s.NewChild(fieldNamed(allDesc, "blobs"), allDesc, 1))
	for i := range times {
		s.SetBytes(fieldNamed(allDesc, "blob"), block[:len(block)-i])
	}
	s.SetBytes(fieldNamed(allDesc, "blob"), nil)
	for i := range times {
		blobs.Set(0, block[:len(block)-i])
	}
	if s.Text(fieldNamed(allDesc, "text")) != "kept" || len(blobs.At(0)) != len(block)-times+1 {
		t.Error("not what was set")
	}
}

// TestShadowsWhenCompacted: of fields that came twice the last one is left, in unions with what is
// unknown, too.
func TestShadowsWhenCompacted(t *testing.T) {
	wire := "\x0b\x00\x07" + one + "a" + "\x0c\x00\x0b\x08\x00\x01" + one + "\x00" + "\x0b\x00\x07" + one + "b" + unkText + one + "u" +
		"\x0c\x00\x0c" + unkText + one + "v" + "\x0b\x00\x03" + one + "x" + unkText + one + "w" + "\x0b\x00\x03" + one + "y" + "\x00" +
		"\x0c\x00\x0b\x08\x00\x01" + two + "\x00" + "\x0f\x00\x0d\x08" + one + one + stop
	for _, w := range manyWays {
		t.Run(w.name, func(t *testing.T) {
			s, err := w.parse(allDesc, []byte(wire))
			if err != nil {
				t.Fatal(err)
			}
			before := s.Format(allDesc)
			unknown := func() (n int) {
				for range s.Unknown(allDesc) {
					n++
				}
				return n
			}
			n := unknown()
			s.m.Compact()
			u := s.Child(fieldNamed(allDesc, "shape"), allDesc)
			if got := s.Format(allDesc); got != before || unknown() != n || u.Which() != int32(fieldNamed(shapeDesc, "label").Word()) {
				t.Errorf("%s: was\n%s with %d unknown, is\n%s with %d, %d", w.name, before, n, got, unknown(), u.Which())
			}
			checkSent(t, w.name, s)
			s.m.Compact()
			u.Arm(fieldNamed(shapeDesc, "radius"), shapeDesc).SetFloat64(fieldNamed(shapeDesc, "radius"), 1)
			u.SetFloat64(fieldNamed(shapeDesc, "radius"), 2)
			if got := u.AppendStruct(nil, shapeDesc); string(got) != "\x04\x00\x01\x40\x00\x00\x00\x00\x00\x00\x00\x00" {
				t.Errorf("%s: the union goes out as %x", w.name, got)
			}
			s.Unset(fieldNamed(allDesc, "text"))
			if got := mustParse(t, allDesc, s.m.Bytes()); got.Has(fieldNamed(allDesc, "text")) {
				t.Errorf("%s: a field that was removed is there again", w.name)
			}
			s.Release()
		})
	}
}
