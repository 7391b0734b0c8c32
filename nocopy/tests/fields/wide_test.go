package fields_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/entry"
	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/render"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// setNth sets field i of s to a value that depends on i and x.
func setNth(s engine.Struct, d *schema.Struct, i, x int) {
	switch f := d.Field(i); i % 4 {
	case 0:
		s.SetInt32(f, int32(x))
	case 1:
		s.SetText(f, fmt.Sprint("text", x))
	case 2:
		s.SetBool(f, true)
	case 3:
		s.NewChild(f, d, x%3+1)
	}
}

// TestWideSetWhileOpen: an element is replaced that is being built and has fields for which its
// table has no room yet. Its table is freed only once: later elements have tables of their own.
func TestWideSetWhileOpen(t *testing.T) {
	elem := schema.NewStruct("Owing")
	var fields []schema.FieldDesc
	for i := range 100 {
		f := schema.FieldDesc{ID: int16(i + 1), Name: fmt.Sprint("f", i+1), Type: schema.TypeI32, Req: schema.Optional}
		if i >= 90 {
			f.Type, f.Req = schema.TypeString, schema.Required
		}
		fields = append(fields, f)
	}
	elem.DefineWide(fields...)
	d := schema.NewStruct("OwingList")
	d.Define(schema.FieldDesc{ID: 1, Name: "owing", Type: schema.ListOf(schema.StructOf(elem)), Req: schema.Optional})
	for n := range 20 {
		s := engine.New(d)
		s.Message().Compact() // then the parser takes tables that are free, too
		list := nocopy.StructList[engine.Struct](s.NewChild(d.Field(0), d, 0))
		first := list.AppendNew()
		for i := range n {
			first.SetInt32(elem.Field(i), 1)
		}
		list.Set(0, engine.New(elem)) // of another message, so that nothing here was completed before
		for range 6 {
			list.Append(engine.New(elem))
		}
		for i := range list.Len() {
			list.At(i).SetInt32(elem.Field(50), int32(i))
		}
		for i, x := range list.All() {
			if got := engine.Wide(x).Int32(elem.Field(50)); int(got) != i {
				t.Errorf("%d fields: element %d has the number of element %d", n, i, got)
			}
		}
	}
}

// TestWideAllocations: getters and setters of a message that is used again allocate nothing.
func TestWideAllocations(t *testing.T) {
	if raceEnabled || debugging {
		t.Skip("this build allocates")
	}
	d := wideOf(200)
	wire := func() []byte {
		s := engine.New(d)
		defer s.Release()
		for i := 0; i < 200; i += 20 {
			setNth(s, d, i, i)
		}
		return slices.Clone(s.Message().Bytes())
	}()
	if n := allocsPerRun(func() {
		s, err := engine.Parse(d, wire)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 200 {
			engine.Wide(s).Int32(d.Field(i &^ 3))
		}
		s.SetInt32(d.Field(4), 1)
		s.Release()
	}); n > .01 {
		t.Errorf("%.2f allocations", n)
	}
}

// TestWideGeneratedBefore: code that was generated before there were wide structs defines structs
// of many fields like all others.
func TestWideGeneratedBefore(t *testing.T) {
	d, now := schema.NewStruct("Old"), wideOf(200)
	fields := make([]schema.FieldDesc, 200)
	for i := range fields {
		fields[i] = now.Fields()[i].FieldDesc
	}
	d.Define(fields...)
	s := engine.New(now)
	setNth(s, now, 0, 5)
	setNth(s, now, 197, 7)
	old, err := engine.Parse(d, s.Message().Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if old.Int32(d.Field(0)) != 5 || old.Text(d.Field(197)) != "text7" || old.Has(d.Field(1)) {
		t.Error(render.Text(old, d))
	}
	old.SetText(d.Field(1), "x")
	if again, err := engine.Parse(now, old.Message().Bytes()); err != nil || engine.Wide(again).Text(now.Field(1)) != "x" {
		t.Error(render.Text(again, now), err)
	}
}

// wideSizes are numbers of fields around the numbers at which the layout changes.
var wideSizes = []int{1, 29, 30, 31, 63, 200, 509, 510, 893, 894, 895, 1021, 1022, 1023, 1533, 1534, 1535, 9000, 32767}

// nth returns the value of field i, in the form of wanted.
func nth(s engine.Struct, d *schema.Struct, i int) any {
	f, w := d.Field(i), engine.Wide(s)
	if !w.Has(f) {
		if s.HasField(f) || w.Int32(f) != 0 || w.Text(f) != "" || w.Bool(f) || s.Child(f, d).Valid() && i%4 == 3 {
			return "something that is not set"
		}
		return nil
	}
	switch i % 4 {
	case 0:
		return int(w.Int32(f))
	case 1:
		return w.Text(f)
	case 2:
		return w.Bool(f)
	}
	return s.Child(f, d).ListLen()
}

// wanted returns the result of nth for a field that was set to x.
func wanted(i, x int) any { return []any{x, fmt.Sprint("text", x), true, x%3 + 1}[i%4] }

// TestWide sets and removes fields of wide structs in random order, and compares them with a map:
// while the message is built, and after it was parsed in one piece or cut, edited and compacted.
func TestWide(t *testing.T) {
	for _, n := range wideSizes {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			d := wideOf(n)
			rnd := rand.New(rand.NewPCG(testmode.Seed(t), uint64(n)))
			for round := range testmode.Of(2, 40) {
				s, want := engine.New(d), map[int]int{}
				near := rnd.IntN(n)
				change := func(times int) {
					for range times {
						i := rnd.IntN(n)
						if rnd.IntN(2) == 0 {
							i = min((near+rnd.IntN(70))%n, n-1)
						}
						if x := rnd.IntN(1000); x < 800 {
							setNth(s, d, i, x)
							want[i] = x
						} else {
							s.Unset(d.Field(i))
							delete(want, i)
						}
					}
				}
				check := func(when string) {
					t.Helper()
					next := 0
					for i := s.NextField(d, 0); i < n; i = s.NextField(d, i+1) {
						if i < next {
							t.Fatalf("%s: field %d comes after %d", when, i, next)
						}
						next = i + 1
						if _, set := want[i]; !set && nth(s, d, i) != nil {
							t.Fatalf("%s: field %d is %v", when, i, nth(s, d, i))
						}
					}
					for i, x := range want {
						if got := nth(s, d, i); got != wanted(i, x) {
							t.Fatalf("round %d, %s: field %d is %v, not %v", round, when, i, got, wanted(i, x))
						}
					}
					for range 50 {
						if i := rnd.IntN(n); want[i] == 0 && nth(s, d, i) != nil && want[i] != nth(s, d, i) {
							if _, set := want[i]; !set {
								t.Fatalf("%s: field %d is set", when, i)
							}
						}
					}
					if err := engine.CheckIndex(s.Message()); err != nil {
						t.Fatalf("%s: %v", when, err)
					}
				}
				change(1 + rnd.IntN(min(3*n, 200)))
				check("built")
				wire := s.Message().Bytes()
				cut := rnd.IntN(len(wire))
				for _, parse := range []func() (engine.Struct, error){
					func() (engine.Struct, error) { return engine.Parse(d, slices.Clone(wire)) },
					func() (engine.Struct, error) { return engine.Parse(d, slices.Clone(wire), engine.Lazy) },
					func() (engine.Struct, error) { return engine.ParseBlocks(d, [][]byte{wire[:cut], wire[cut:]}) },
				} {
					before := want
					want = map[int]int{}
					for i, x := range before {
						want[i] = x
					}
					var err error
					if s, err = parse(); err != nil {
						t.Fatal(err)
					}
					check("parsed")
					change(1 + rnd.IntN(40))
					check("edited")
					s.Message().Compact()
					check("compacted")
					change(1 + rnd.IntN(40))
					check("edited again")
					s.Release()
					want = before
				}
			}
		})
	}
}

// TestWideInAnyOrder: fields on the wire may be in any order and come twice; the last counts.
func TestWideInAnyOrder(t *testing.T) {
	for _, n := range []int{63, 200, 1023, 3000} {
		d := wideOf(n)
		rnd := rand.New(rand.NewPCG(1, uint64(n)))
		var data []byte
		want := map[int]int{}
		for k := range 5 * n {
			i, x := rnd.IntN(n)&^3, k // an i32
			data = append(data, byte(nocopy.WireI32), byte((i+1)>>8), byte(i+1))
			data = wire.AppendBE32(data, uint32(x))
			want[i] = x
		}
		data = append(data, 0)
		s, err := engine.Parse(d, data)
		if err != nil {
			t.Fatal(err)
		}
		for i := range n {
			x, set := want[i]
			if got := nth(s, d, i); set && got != x || !set && got != nil {
				t.Fatalf("%d fields: field %d is %v, not %v", n, i, got, x)
			}
		}
		i := slices.Max(slices.Collect(func(yield func(int) bool) {
			for i := range want {
				if !yield(i) {
					return
				}
			}
		}))
		s.Unset(d.Field(i)) // all that are on the wire
		again, err := engine.Parse(d, s.Message().Bytes())
		if err != nil || nth(again, d, i) != nil {
			t.Errorf("%d fields: field %d comes back: %v", n, i, err)
		}
	}
}

// listOfWide returns a struct with a list of wide structs of n fields, and the wide struct.
func listOfWide(n int) (d, elem *schema.Struct) {
	elem = wideOf(n)
	d = schema.NewStruct("Wides")
	d.Define(schema.FieldDesc{ID: 1, Name: "wides", Type: schema.ListOf(schema.StructOf(elem)), Req: schema.Optional})
	return d, elem
}

// TestWideMemory: the index of lists of wide structs is in proportion to the number of fields that
// are set, whichever they are. It is never larger than the default limits allow, apart from 2 bits
// for each field that a struct has if it has more than 864.
func TestWideMemory(t *testing.T) {
	for _, n := range wideSizes {
		d, elem := listOfWide(n)
		for name, numbers := range map[string]func(k int) []int{
			"none":           func(k int) []int { return nil },
			"the first":      func(k int) []int { return []int{2 % n} },
			"the last":       func(k int) []int { return []int{(n - 1) / 4 * 4} },
			"both":           func(k int) []int { return []int{2 % n, (n - 1) / 4 * 4} },
			"far apart":      func(k int) []int { return every(n, 512) },
			"in all groups":  func(k int) []int { return every(n, 32) },
			"all":            func(k int) []int { return every(n, 1) },
			"ten":            func(k int) []int { return every(n, max(n/10, 1)) },
			"in one group":   func(k int) []int { return every(min(n, 30), 1) },
			"back to front ": func(k int) []int { a := every(n, 32); slices.Reverse(a); return a },
		} {
			data := []byte{byte(nocopy.WireList), 0, 1, byte(nocopy.WireStruct), 0, 0, 0, 0}
			count := 0
			for ; len(data) < 4<<10; count++ {
				for _, i := range numbers(count) {
					i = i/4*4 + 2 // a bool, which is the smallest
					if i >= n {
						continue
					}
					data = append(data, byte(nocopy.WireBool), byte((i+1)>>8), byte(i+1), 1)
				}
				data = append(data, 0)
			}
			wire.PutBE32(data[4:], uint32(count))
			data = append(data, 0)
			s, err := engine.Parse(d, data)
			if err != nil {
				t.Fatal(err)
			}
			most := entry.PerByte*len(data) + 1024
			if n > 860 {
				most += count * n / 4
			}
			if words := engine.IndexWords(s.Message()); 4*words > most {
				t.Errorf("%d fields, %s: index of %.1f bytes a byte", n, name, 4*float64(words)/float64(len(data)))
			}
			_ = elem
			s.Release()
		}
	}
}

// every returns each step-th number below n.
func every(n, step int) (all []int) {
	for i := 0; i < n; i += step {
		all = append(all, i)
	}
	return all
}

// TestWideBuiltIsAccepted: messages that are built within MaxBytes are accepted with the default
// limits, also lists that take many times the constant part of the limit.
func TestWideBuiltIsAccepted(t *testing.T) {
	for _, n := range []int{200, 5000} {
		d, elem := listOfWide(n)
		s := engine.New(d)
		f := d.Field(0)
		count := testmode.Of(3000, 200000)
		l := nocopy.StructList[engine.Struct](s.NewChild(f, d, count))
		for i := range count {
			x := l.At(i)
			for k := range 10 {
				if j := (i*7+k*n/10)%n&^3 + 2; j < n {
					x.SetBool(elem.Field(j), true)
				}
			}
		}
		wire := s.Message().Bytes()
		// Such a field has 4 bytes
		if words := engine.IndexWords(s.Message()); n == 200 && words*4 > 5*len(wire) {
			t.Errorf("built with an index of %.1f bytes a byte", float64(words)*4/float64(len(wire)))
		}
		got, err := engine.Parse(d, wire)
		if err != nil {
			t.Fatal(err)
		}
		if words := engine.IndexWords(got.Message()); n == 200 && words*4 > 4*len(wire) {
			t.Errorf("parsed with an index of %.1f bytes a byte", float64(words)*4/float64(len(wire)))
		}
	}
}

// TestWideInThemselves: wide structs nested in each other, with no other fields set, have the
// fewest wire bytes for their tables. Up to 864 fields their index is never larger than the
// default limits allow; with more, each struct takes 2 bits for each field besides.
func TestWideInThemselves(t *testing.T) {
	for _, n := range []int{63, 894, 895, 1022, 1023, 32767} {
		elem := schema.NewStruct(fmt.Sprint("Nested", n))
		fields := make([]schema.FieldDesc, n)
		for i := range fields {
			fields[i] = schema.FieldDesc{ID: int16(i + 1), Name: fmt.Sprint("f", i+1), Type: schema.TypeBool, Req: schema.Optional}
		}
		fields[n/2].Type = schema.StructOf(elem)
		elem.DefineWide(fields...)
		d := schema.NewStruct(fmt.Sprint("NestedList", n))
		d.Define(schema.FieldDesc{ID: 1, Name: "nested", Type: schema.ListOf(schema.StructOf(elem)), Req: schema.Optional})
		chain, down := engine.New(elem), elem.Field(n/2)
		for x, depth := chain, 2; depth < 63; depth++ {
			x = x.NewChild(down, elem, 0)
		}
		const count = 20
		wire := append([]byte{byte(nocopy.WireList), 0, 1, byte(nocopy.WireStruct), 0, 0, 0, count}, bytes.Repeat(chain.Message().Bytes(), count)...)
		s, err := engine.Parse(d, append(wire, 0))
		if err != nil {
			t.Fatal(err)
		}
		most := entry.PerByte * len(wire)
		if n > 864 {
			most += count * 62 * n / 4
		}
		if words := engine.IndexWords(s.Message()); 4*words > most {
			t.Errorf("%d fields: index of %.1f bytes a byte", n, 4*float64(words)/float64(len(wire)))
		}
		s.Release()
	}
}
