package engine

import (
	"bytes"
	"fmt"
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
	"parts of others": func(s Struct, i int) {
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
	return 8*int(m.ix.Used) + 44*cap(m.edits) + 16*cap(m.dead.values) + 16*cap(m.dead.fields) + m.buf.Footprint() + m.ix.Footprint()
}

// TestEditedForEver: a message that is edited again and again takes no more memory than at first,
// for all edits, and is right afterwards. Handles got before stay good.
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
	if a, b := TextOf(s, allDesc), TextOf(got, allDesc); a != b {
		t.Errorf("%s: reads as\n%.2000s\nis sent as\n%.2000s", what, a, b)
	}
	got.Release()
}

// TestRoomIsKept: bytes from NewBytes stay the message's until it is finished, under all other
// changes.
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
