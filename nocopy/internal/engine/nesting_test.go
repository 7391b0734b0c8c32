package engine

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// What this library builds, it accepts.

// fieldOf returns the field of allDesc with this name.
func fieldOf(name string) schema.Ref {
	for i := range allDesc.Fields() {
		if allDesc.Fields()[i].Name == name {
			return allDesc.Field(i)
		}
	}
	panic(name)
}

// accepted checks that all ways of parsing, with default limits, take the message's bytes.
func accepted(t *testing.T, what string, d *schema.Struct, m *Message) {
	t.Helper()
	wire := m.AppendTo(nil)
	for _, w := range manyWays {
		s, err := w.parse(d, wire)
		if err == nil {
			err = s.m.Index()
		}
		if err != nil {
			t.Fatalf("%s, %d bytes, %s: %v", what, len(wire), w.name, err)
		}
		if got := s.m.AppendTo(nil); !bytes.Equal(got, wire) {
			t.Fatalf("%s, %s: goes out otherwise", what, w.name)
		}
		s.Release()
	}
}

// TestOwnWideStructs: many wide structs of which few fields are set take more index than bytes.
func TestOwnWideStructs(t *testing.T) {
	wide := schema.NewStruct("Wide")
	fields := make([]schema.FieldDesc, 200)
	for i := range fields {
		fields[i] = schema.FieldDesc{ID: int16(i + 1), Name: "f" + itoa(i), Type: schema.TypeI64, Req: schema.Optional}
		if i%2 == 0 {
			fields[i].Type = schema.TypeBool
		}
	}
	wide.DefineWide(fields...)
	list := schema.NewStruct("List")
	list.Define(schema.FieldDesc{ID: 1, Name: "list", Type: schema.ListOf(schema.StructOf(wide))},
		schema.FieldDesc{ID: 2, Name: "map", Type: schema.MapOf(schema.TypeI32, schema.StructOf(wide))},
		schema.FieldDesc{ID: 3, Name: "lists", Type: schema.ListOf(schema.ListOf(schema.StructOf(wide)))})
	fill := func(s Struct, i int) {
		if i%2 == 0 {
			s.SetBool(wide.Field(i), true)
		} else {
			s.SetInt64(wide.Field(i), 1)
		}
	}
	sizes := []int{1000, 5000, 20_000}
	if raceEnabled {
		sizes = sizes[:1]
	}
	for _, n := range sizes {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			for _, field := range []int{0, 1, 198, 199} {
				s := New(list)
				elems := StructList[Struct](s.NewChild(list.Field(0), list, n))
				for i := range n {
					fill(elems.At(i), field)
				}
				accepted(t, "a list", list, s.m)
				s.Release()
			}
		})
	}
	s := New(list)
	m := StructMap[int32, Struct, AsInt32](s.NewChild(list.Field(1), list, 0))
	lists := NestedList[StructList[Struct]](s.NewChild(list.Field(2), list, 100))
	for i := range 5000 {
		fill(m.PutNew(int32(i)), 7)
	}
	for i := range 100 {
		for k, elems := 0, lists.NewAt(i, 100); k < 100; k++ {
			fill(elems.At(k), 2*k)
		}
	}
	accepted(t, "a map and lists in a list", list, s.m)
	clone := s.Clone(list)
	accepted(t, "their clone", list, clone.m)
}

// TestOwnNesting: whatever was done to a message, it can be finished if and only if Parse accepts
// it.
func TestOwnNesting(t *testing.T) {
	selfField, childrenField := fieldOf("self"), fieldOf("children")
	namedField, unionField := fieldOf("named"), fieldOf("text")
	r := rand.New(rand.NewPCG(1, 2))
	deepest := 0
	for range testmode.Of(100, 300) {
		msgs := []Struct{New(allDesc), mustParse(t, allDesc, []byte(structs(1+r.IntN(64))))}
		at := []Struct{msgs[0], msgs[1]}
		for at[1].HasField(selfField) {
			at[1] = at[1].Child(selfField, allDesc)
		}
		for range 1 + r.IntN(600) {
			i := r.IntN(len(at))
			if s := at[i]; r.IntN(4) > 0 { // one level down
				switch r.IntN(5) {
				case 0:
					at[i] = s.NewChild(selfField, allDesc, 0)
				case 1:
					at[i] = StructList[Struct](s.NewChild(childrenField, allDesc, 1)).At(0)
				case 2:
					at[i] = StructMap[string, Struct, AsString](s.NewChild(namedField, allDesc, 0)).PutNew("k")
				case 3:
					at[i] = StructList[Struct](s.NewChild(childrenField, allDesc, 0)).AppendNew()
				default:
					s.SetText(unionField, "x")
				}
				continue
			}
			from := at[r.IntN(len(at))]
			// It was removed
			if from.m.Check() != nil || from.m.exceeds(allDesc.Type(), from.entry(), defaultMaxDepth) {
				continue
			}
			switch r.IntN(5) {
			case 0:
				at[i].SetChild(selfField, allDesc, from)
				at[i] = at[i].Child(selfField, allDesc)
			case 1:
				l := StructList[Struct](at[i].NewChild(childrenField, allDesc, 0))
				l.Append(from)
				l.Set(0, from)
				at[i] = l.At(0)
			case 2:
				StructMap[string, Struct, AsString](at[i].NewChild(namedField, allDesc, 0)).Put("k", from)
			case 3:
				c := from.Clone(allDesc)
				msgs, at = append(msgs, c), append(at, c)
			default:
				s := mustParse(t, allDesc, from.m.AppendTo(nil), Lazy)
				msgs, at = append(msgs, s), append(at, s)
			}
		}
		for _, s := range msgs {
			err := s.m.Check()
			if err == nil {
				accepted(t, "a message", allDesc, s.m)
				for s.HasField(selfField) {
					s = s.Child(selfField, allDesc)
				}
				continue
			}
			deepest++
			checkTooDeep(t, s, err)
		}
	}
	if deepest < 20 {
		t.Errorf("only %d messages were too deep", deepest)
	}
}

// checkTooDeep checks that everything that would finish a message says that it is too deep, which
// Parse finds too.
func checkTooDeep(t *testing.T, s Struct, err error) {
	t.Helper()
	const text = "All: offset 0: limit exceeded: nested deeper than Limits.MaxDepth = 64"
	if !errors.Is(err, ErrLimit) || err.Error() != "nocopy: "+text {
		t.Fatalf("Check: %v", err)
	}
	if n, err := s.m.WriteTo(io.Discard); n != 0 || !errors.Is(err, ErrLimit) {
		t.Fatalf("WriteTo: %d, %v", n, err)
	}
	if _, err := s.m.WriteFrame(io.Discard); !errors.Is(err, ErrLimit) {
		t.Fatalf("WriteFrame: %v", err)
	}
	for what, f := range map[string]func(){
		"Finish": s.m.Finish, "Len": func() { s.m.Len() }, "Bytes": func() { s.m.Bytes() },
		"AppendTo": func() { s.m.AppendTo(nil) }, "Clone": func() { s.Clone(allDesc) },
	} {
		panics(t, what, "nocopy: message can't be finished: "+text, f)
	}
	s.m.limits.MaxDepth = 1 << 20
	wire := s.m.AppendTo(nil)
	if _, err := Parse(allDesc, wire); !errors.Is(err, ErrLimit) {
		t.Fatalf("Parse accepts what could not be finished: %v", err)
	}
}

// TestDeeperByLimits: Limits.MaxDepth makes room for deeper messages, for what is made of them
// too.
func TestDeeperByLimits(t *testing.T) {
	f := fieldOf("self")
	s := New(allDesc, Limits{MaxDepth: 100})
	inner := s
	for range 99 {
		inner = inner.NewChild(f, allDesc, 0)
	}
	if err := s.m.Check(); err != nil {
		t.Fatal(err)
	}
	wire := s.m.AppendTo(nil)
	got := mustParse(t, allDesc, wire, Limits{MaxDepth: 100})
	for what, m := range map[string]Struct{"built": s, "received": got} {
		t.Run(what, func(t *testing.T) {
			if c := m.Clone(allDesc); c.m.Check() != nil || !bytes.Equal(c.m.Bytes(), wire) {
				t.Errorf("%s: the clone is not the same", what)
			}
			to := New(allDesc)
			to.SetChild(f, allDesc, m.Child(f, allDesc))
			if err := to.m.Check(); err != nil || !bytes.Equal(to.m.Bytes(), wire) {
				t.Errorf("%s: linked: %v", what, err)
			}
			inner := m
			for inner.HasField(f) {
				inner = inner.Child(f, allDesc)
			}
			inner.NewChild(f, allDesc, 0)
			if err := m.m.Check(); !errors.Is(err, ErrLimit) || !strings.HasSuffix(err.Error(), "MaxDepth = 100") {
				t.Errorf("%s: 101 structs: %v", what, err)
			}
			inner.Unset(f)
			if err := m.m.Check(); err != nil {
				t.Errorf("%s: 101 structs, and one removed: %v", what, err)
			}
			m.Release()
		})
	}
	small := New(allDesc, Limits{MaxDepth: 2}) // no less than what everybody accepts
	small.NewChild(f, allDesc, 0).NewChild(f, allDesc, 0)
	if err := small.m.Check(); err != nil {
		t.Error(err)
	}
}

// TestUnknownInTheDeep: what is unknown counts by itself, wherever it is, in all ways of parsing.
func TestUnknownInTheDeep(t *testing.T) {
	lists := unkList + string(nest(63, "\x0f"+one, "\x08"+none, ""))
	for _, c := range []struct {
		unknown string
		ok      bool
	}{
		{string(nest(64, unkStruct, "", stop)), true}, {lists, true}, {string(nest(66, unkStruct, "", stop)), false},
	} {
		for _, head := range []string{self, children + one, named + one + one + "k"} {
			for _, levels := range []int{1, 33, 63} {
				wire := nest(levels, head, c.unknown+stop, stop)
				for _, w := range manyWays {
					s, err := w.parse(allDesc, wire)
					if err == nil {
						err = s.m.Index()
					}
					if c.ok != (err == nil) {
						t.Errorf("%d levels of %x around %.20x…, %s: %v", levels, head, c.unknown, w.name, err)
					}
				}
			}
		}
	}
}
