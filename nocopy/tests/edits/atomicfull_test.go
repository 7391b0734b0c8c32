//go:build !nounsafe && !race

// Messages that use all positions take memory without touching it. This is not so in the twin
// without unsafe and with the race detector.

package edits_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/internal/memory"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// fillPositions sets the fields b and t of s to so many bytes that there are only positions left
// for the given number of segments.
func fillPositions(s engine.Struct, long []byte, left int) {
	s.SetBytes(atomicField("b"), long[:chain.MaxSize])
	rest := 900 << 20
	for engine.Buffer(s.Message()).RoomAfter(50, rest+1<<20) {
		rest += 1 << 20
	}
	s.SetText(atomicField("t"), memory.String(long[:rest]))
	for engine.Buffer(s.Message()).RoomAfter(left, 0) { // Segments(0) is 1
		engine.Buffer(s.Message()).AddForeign(nil, false)
	}
}

// TestSettersWhenFull: when positions run out, a setter takes full effect or none, however many
// are left. Setters that need no positions work, and make room.
func TestSettersWhenFull(t *testing.T) {
	holdsGigabytes(t)
	if uint64(^uint(0)) < 1<<32 {
		return // the message would not fit into memory
	}
	long := make([]byte, chain.MaxSize) // no page of it is touched
	other := newAtomic()
	ud := atomicDesc.FieldOf(atomicField("u")).Type.Struct()
	many := make([]string, 1200)
	for i := range many {
		many[i] = strings.Repeat("m", 1000)
	}
	large := strings.Repeat("large", 1<<18)
	var setters []atomicSetter
	add := func(name string, set func(s engine.Struct, c func(string) engine.Struct)) {
		setters = append(setters, atomicSetter{name, set})
	}
	for _, f := range atomicFields {
		if f.Name == "b" || f.Name == "t" {
			continue
		}
		c := atomicField(f.Name)
		add("SetValue "+f.Name, func(s engine.Struct, _ func(string) engine.Struct) {
			s.SetValue(c, atomicDesc, other.Value(c, atomicDesc))
		})
		if f.Type.Kind() >= schema.Record {
			add("NewValue "+f.Name, func(s engine.Struct, _ func(string) engine.Struct) { s.NewValue(c, atomicDesc, 0) })
			add("NewValue of many "+f.Name, func(s engine.Struct, _ func(string) engine.Struct) { s.NewValue(c, atomicDesc, 20_000) })
		}
	}
	for _, v := range []string{"", strings.Repeat("v", 5000), large} {
		add(fmt.Sprint("texts: Append ", len(v)), func(_ engine.Struct, c func(string) engine.Struct) { nocopy.StringList(c("ts")).Append(v) })
		add(fmt.Sprint("texts: Set ", len(v)), func(_ engine.Struct, c func(string) engine.Struct) { nocopy.StringList(c("ts")).Set(0, v) })
		add(fmt.Sprint("set: Add ", len(v)), func(_ engine.Struct, c func(string) engine.Struct) { nocopy.StringList(c("set")).Add(v) })
		add(fmt.Sprint("Put ", len(v)), func(_ engine.Struct, c func(string) engine.Struct) { nocopy.StringMap(c("mt")).Put("k", v) })
		add(fmt.Sprint("Put new ", len(v)), func(_ engine.Struct, c func(string) engine.Struct) { nocopy.StringMap(c("mt")).Put("new"+v, v) })
		add(fmt.Sprint("arm ", len(v)), func(_ engine.Struct, c func(string) engine.Struct) {
			c("u").SetValue(ud.Field(1), ud, engine.ValueOfBytes(schema.TypeString, []byte(v)))
		})
		add(fmt.Sprint("in.t ", len(v)), func(_ engine.Struct, c func(string) engine.Struct) { c("in").SetText(atomicIn.Field(1), v) })
		add(fmt.Sprint("element's t ", len(v)), func(_ engine.Struct, c func(string) engine.Struct) {
			nocopy.StructList[engine.Struct](c("ins")).At(1).SetText(atomicIn.Field(1), v)
		})
	}
	add("SetTexts", func(s engine.Struct, _ func(string) engine.Struct) { s.SetTexts(atomicField("ts"), atomicDesc, many) })
	add("SetTexts of a set", func(s engine.Struct, _ func(string) engine.Struct) {
		s.SetTexts(atomicField("set"), atomicDesc, append(many[:1:1], large))
	})
	add("SetTexts of large ones", func(s engine.Struct, _ func(string) engine.Struct) {
		s.SetTexts(atomicField("ts"), atomicDesc, []string{large, large, large, large, large, large, large, large})
	})
	add("SetMap", func(s engine.Struct, _ func(string) engine.Struct) {
		pairs := map[string]string{}
		for i := range 1200 {
			pairs[fmt.Sprint(i)] = many[0]
		}
		engine.Pairs[string, string, engine.AsString, engine.AsString](pairs).SetIn(s, atomicField("mt"), atomicDesc)
	})
	add("SetInt64s", func(s engine.Struct, _ func(string) engine.Struct) {
		s.SetInt64s(atomicField("ns"), atomicDesc, make([]int64, 1<<17))
	})
	add("numbers: Append", func(_ engine.Struct, c func(string) engine.Struct) { nocopy.Int64List(c("ns")).Append(7) })
	add("structs: AppendNew", func(_ engine.Struct, c func(string) engine.Struct) {
		nocopy.StructList[engine.Struct](c("ins")).AppendNew()
	})
	add("structs: Append", func(_ engine.Struct, c func(string) engine.Struct) {
		nocopy.StructList[engine.Struct](c("ins")).Append(other.Child(atomicField("in"), atomicDesc))
	})
	add("structs: Delete", func(_ engine.Struct, c func(string) engine.Struct) {
		nocopy.StructList[engine.Struct](c("ins")).Delete(0, 1)
	})
	add("structs: Swap", func(_ engine.Struct, c func(string) engine.Struct) {
		nocopy.StructList[engine.Struct](c("ins")).Swap(0, 1)
	})
	add("lists: AppendNew", func(_ engine.Struct, c func(string) engine.Struct) { textLists(c("l")).AppendNew(2) })
	add("lists: NewAt", func(_ engine.Struct, c func(string) engine.Struct) { textLists(c("l")).NewAt(0, 2) })
	add("maps: PutNew", func(_ engine.Struct, c func(string) engine.Struct) { numberMaps(c("m")).PutNew("k", 20_000) })
	add("keys: AppendNew", func(_ engine.Struct, c func(string) engine.Struct) { keyLists(c("k")).AppendNew() })
	add("DeletePair", func(_ engine.Struct, c func(string) engine.Struct) { nocopy.StringMap(c("mt")).Delete("k") })
	for _, state := range []string{"being built", "parsed, edited"} {
		refused, done := 0, 0
		for _, left := range []int{0, 2, 33, 44} {
			for _, x := range setters {
				s, want := atomicStates[state](), atomicStates[state]()
				fillPositions(s, long, left)
				name := fmt.Sprintf("%s, %s, %d left", x.name, state, left)
				full := x.refuses(t, name, s)
				if full {
					refused++
				} else {
					done++
					want.SetBytes(atomicField("b"), nil) // complete, as fillPositions has made it
					x.set(want, func(f string) engine.Struct { return want.Child(atomicField(f), atomicDesc) })
				}
				for _, m := range []engine.Struct{s, want} {
					m.Unset(atomicField("b"))
					m.Unset(atomicField("t"))
				}
				sameAtomic(t, name, atomicDesc, s, want)
				if full {
					editAtomic(s)
					editAtomic(want)
					sameAtomic(t, name+", after a change", atomicDesc, s, want)
				}
			}
		}
		if refused == 0 || done == 0 {
			t.Errorf("%s: %d setters refused, %d not", state, refused, done)
		}
	}
}

// TestBuildingWhenFull: if elements are appended without checking for positions each time, the
// elements from before positions ran out are in the message, and the others are empty.
func TestBuildingWhenFull(t *testing.T) {
	holdsGigabytes(t)
	if uint64(^uint(0)) < 1<<32 {
		return
	}
	long := make([]byte, chain.MaxSize)
	const count = 40_000
	text := strings.Repeat("t", 100)
	build := map[string]func(s engine.Struct, i int){
		"structs": func(s engine.Struct, i int) {
			nocopy.StructList[engine.Struct](s.Child(atomicField("ins"), atomicDesc)).At(i).SetText(atomicIn.Field(1), text)
		},
		"texts": func(s engine.Struct, i int) { nocopy.StringList(s.Child(atomicField("ts"), atomicDesc)).Set(i, text) },
		"numbers": func(s engine.Struct, i int) {
			nocopy.Int64List(s.Child(atomicField("ns"), atomicDesc)).Append(int64(i))
		},
		"pairs": func(s engine.Struct, i int) {
			nocopy.StringMap(s.Child(atomicField("mt"), atomicDesc)).Put(fmt.Sprint(i), text)
		},
		"lists": func(s engine.Struct, i int) {
			textLists(s.Child(atomicField("l"), atomicDesc)).NewAt(i, 3).Set(1, text)
		},
	}
	fields := map[string]string{"structs": "ins", "texts": "ts", "numbers": "ns", "pairs": "mt", "lists": "l"}
	for name, set := range build {
		for left := range 4 {
			begin := func() engine.Struct {
				s := engine.New(atomicDesc)
				s.NewChild(atomicField("in"), atomicDesc, 0)
				s.SetInt32(atomicField("a"), 1)
				return s
			}
			s, want := begin(), begin()
			n := count
			if name == "numbers" || name == "pairs" {
				n = 0
			}
			fillPositions(s, long, left+40)
			s.NewChild(atomicField(fields[name]), atomicDesc, n)
			for engine.Buffer(s.Message()).RoomAfter(left, 0) {
				engine.Buffer(s.Message()).AddForeign(nil, false)
			}
			done := 0
			full := func() (full bool) {
				defer func() { full = recover() == panicFull }()
				for ; done < count; done++ {
					set(s, done)
				}
				return false
			}
			if !full() {
				t.Fatalf("%s, %d left: %d elements fit", name, left, done)
			}
			if before := done; !full() || done < before {
				t.Errorf("%s, %d left: no panic again", name, left)
			}
			s.Unset(atomicField("b"))
			s.Unset(atomicField("t"))
			want.NewChild(atomicField(fields[name]), atomicDesc, n)
			for i := range done {
				set(want, i)
			}
			finished := func() (ok bool) {
				defer func() {
					if v := recover(); v != nil && v != panicFull {
						t.Errorf("%s, %d left: %v", name, left, v)
					}
				}()
				s.Message().Finish()
				return true
			}
			if finished() { // else there is no room for the elements that were not set
				sameAtomic(t, fmt.Sprintf("%s, %d left", name, left), atomicDesc, s, want)
			}
			s.Release()
		}
	}
}
