package limits_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/parse"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// Tests that the library accepts the messages that it builds.

// fieldOf returns the field of allDesc with the name.
func fieldOf(name string) schema.Ref {
	for i := range allDesc.Fields() {
		if allDesc.Fields()[i].Name == name {
			return allDesc.Field(i)
		}
	}
	panic(name)
}

// accepted checks that all ways of parsing, with default limits, accept the message's bytes.
func accepted(t *testing.T, what string, d *schema.Struct, m *engine.Message) {
	t.Helper()
	wire := m.AppendTo(nil)
	for _, w := range manyWays {
		s, err := w.Parse(d, wire)
		if err == nil {
			err = s.Message().Index()
		}
		if err != nil {
			t.Fatalf("%s, %d bytes, %s: %v", what, len(wire), w.Name, err)
		}
		if got := s.Message().AppendTo(nil); !bytes.Equal(got, wire) {
			t.Fatalf("%s, %s: goes out otherwise", what, w.Name)
		}
		s.Release()
	}
}

// TestOwnWideStructs: many wide structs with few fields set take more index than bytes.
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
	fill := func(s engine.Struct, i int) {
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
				s := engine.New(list)
				elems := nocopy.StructList[engine.Struct](s.NewChild(list.Field(0), list, n))
				for i := range n {
					fill(elems.At(i), field)
				}
				accepted(t, "a list", list, s.Message())
				s.Release()
			}
		})
	}
	s := engine.New(list)
	m := nocopy.StructMap[int32, engine.Struct, engine.AsInt32](s.NewChild(list.Field(1), list, 0))
	lists := nocopy.NestedList[nocopy.StructList[engine.Struct]](s.NewChild(list.Field(2), list, 100))
	for i := range 5000 {
		fill(m.PutNew(int32(i)), 7)
	}
	for i := range 100 {
		for k, elems := 0, lists.NewAt(i, 100); k < 100; k++ {
			fill(elems.At(k), 2*k)
		}
	}
	accepted(t, "a map and lists in a list", list, s.Message())
	clone := s.Clone(list)
	accepted(t, "their clone", list, clone.Message())
}

// TestDeeperByLimits: Limits.MaxDepth allows deeper messages, also for copies of them.
func TestDeeperByLimits(t *testing.T) {
	f := fieldOf("self")
	s := engine.New(allDesc, engine.Limits{MaxDepth: 100})
	inner := s
	for range 99 {
		inner = inner.NewChild(f, allDesc, 0)
	}
	if err := s.Message().Check(); err != nil {
		t.Fatal(err)
	}
	wire := s.Message().AppendTo(nil)
	got := mustParse(t, allDesc, wire, engine.Limits{MaxDepth: 100})
	for what, m := range map[string]engine.Struct{"built": s, "received": got} {
		t.Run(what, func(t *testing.T) {
			if c := m.Clone(allDesc); c.Message().Check() != nil || !bytes.Equal(c.Message().Bytes(), wire) {
				t.Errorf("%s: the clone is not the same", what)
			}
			to := engine.New(allDesc)
			to.SetChild(f, allDesc, m.Child(f, allDesc))
			if err := to.Message().Check(); err != nil || !bytes.Equal(to.Message().Bytes(), wire) {
				t.Errorf("%s: linked: %v", what, err)
			}
			inner := m
			for inner.HasField(f) {
				inner = inner.Child(f, allDesc)
			}
			inner.NewChild(f, allDesc, 0)
			if err := m.Message().Check(); !errors.Is(err, nocopy.ErrLimit) || !strings.HasSuffix(err.Error(), "MaxDepth = 100") {
				t.Errorf("%s: 101 structs: %v", what, err)
			}
			inner.Unset(f)
			if err := m.Message().Check(); err != nil {
				t.Errorf("%s: 101 structs, and one removed: %v", what, err)
			}
			m.Release()
		})
	}
	small := engine.New(allDesc, engine.Limits{MaxDepth: 2}) // no less than what everybody accepts
	small.NewChild(f, allDesc, 0).NewChild(f, allDesc, 0)
	if err := small.Message().Check(); err != nil {
		t.Error(err)
	}
}

// TestCopyOfOneMore: what may be nested by one more than everybody accepts may be so in a copy.
func TestCopyOfOneMore(t *testing.T) {
	limits := engine.Limits{MaxDepth: parse.MaxDepth + 1}
	s := engine.New(allDesc, limits)
	for inner, i := s, 1; i < limits.MaxDepth; i++ {
		inner = inner.NewChild(fieldOf("self"), allDesc, 0)
	}
	s.Message().Finish()
	if c := s.Clone(allDesc); c.Message().Check() != nil {
		t.Error(c.Message().Check())
	}
}

// TestUnknownInTheDeep: the levels of an unknown value are counted by themselves, wherever it is,
// in all ways of parsing.
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
					s, err := w.Parse(allDesc, wire)
					if err == nil {
						err = s.Message().Index()
					}
					if c.ok != (err == nil) {
						t.Errorf("%d levels of %x around %.20x…, %s: %v", levels, head, c.unknown, w.Name, err)
					}
				}
			}
		}
	}
}
