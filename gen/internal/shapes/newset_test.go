package shapes_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/gen/internal/shapes"
	"github.com/nocopythrift/nocopythrift/nocopy"
)

// newSetPlace is a field of struct type: in the root, an element, the value of a map, a struct in
// a struct, or a union. P is the struct that has the field.
type newSetPlace[S, P any] struct {
	name       string
	begin, get func(s S) P // begin makes the struct
	set        func(p P, v string)
	unset      func(p P)
	value      func(p P) string // "" if the field is not set
}

func itself[S any](s S) S { return s }

func cardPlace(name string, begin, get func(s shapes.Secrets) shapes.Secrets) newSetPlace[shapes.Secrets, shapes.Secrets] {
	return newSetPlace[shapes.Secrets, shapes.Secrets]{
		name, begin, get,
		func(p shapes.Secrets, v string) { p.NewCard().Set(shapes.CardFields{Number: v}) },
		func(p shapes.Secrets) { p.UnsetCard() },
		func(p shapes.Secrets) string { return p.GetCard().GetNumber() },
	}
}

// TestNewSet sets a field of struct type as a whole where the struct does not fit in the rest of
// its block, or nearly so, and then removes or replaces the field: getters, clones, and what is
// sent have the last value.
func TestNewSet(t *testing.T) {
	secrets := newSetMessage[shapes.Secrets]{shapes.NewSecrets, shapes.ParseSecrets, func(m *nocopy.Message, b []byte) (shapes.Secrets, error) {
		return nocopy.ParseInto[shapes.Secrets](m, b)
	}, func(s shapes.Secrets, v []string) { s.SetTokens(v) }}
	for _, p := range []newSetPlace[shapes.Secrets, shapes.Secrets]{
		cardPlace("field", itself, itself),
		cardPlace("element", func(s shapes.Secrets) shapes.Secrets { return s.NewNested(0).AppendNew() },
			func(s shapes.Secrets) shapes.Secrets { return s.GetNested().At(0) }),
		cardPlace("one of two elements", func(s shapes.Secrets) shapes.Secrets { return s.NewNested(2).At(0) },
			func(s shapes.Secrets) shapes.Secrets { return s.GetNested().At(0) }),
		cardPlace("value of a map", func(s shapes.Secrets) shapes.Secrets { return s.NewNestedByNumber(1).PutNew(7) },
			func(s shapes.Secrets) shapes.Secrets {
				v, _ := s.GetNestedByNumber().Get(7)
				return v
			}),
		cardPlace("value in an element", func(s shapes.Secrets) shapes.Secrets {
			return s.NewNested(0).AppendNew().NewNestedByName(1).PutNew("a")
		}, func(s shapes.Secrets) shapes.Secrets {
			v, _ := s.GetNested().At(0).GetNestedByName().Get("a")
			return v
		}),
	} {
		t.Run(p.name, func(t *testing.T) { testNewSet(t, secrets, p) })
	}

	outer := newSetMessage[shapes.Outer]{shapes.NewOuter, shapes.ParseOuter, func(m *nocopy.Message, b []byte) (shapes.Outer, error) {
		return nocopy.ParseInto[shapes.Outer](m, b)
	}, func(s shapes.Outer, v []string) {
		children := s.NewTree().NewChildren(0)
		for _, name := range v {
			children.AppendNew().SetName(name)
		}
	}}
	t.Run("lists", func(t *testing.T) {
		testNewSet(t, outer, newSetPlace[shapes.Outer, shapes.Outer]{
			begin: itself[shapes.Outer], get: itself[shapes.Outer],
			set: func(s shapes.Outer, v string) {
				// The last ones are referred to.
				texts := slices.Repeat([]string{v}, 30)
				if len(v) > 1000 {
					texts = append(texts, strings.Repeat("r", 4096), strings.Repeat("r", 9000))
				}
				s.NewLists().Set(shapes.ListsFields{Texts: texts})
			},
			unset: func(s shapes.Outer) { s.UnsetLists() },
			value: func(s shapes.Outer) string {
				if !s.IsSetLists() {
					return ""
				}
				return s.GetLists().GetTexts().At(29)
			},
		})
	})
	t.Run("struct with a template", func(t *testing.T) {
		testNewSet(t, outer, newSetPlace[shapes.Outer, shapes.Refused]{
			begin: func(s shapes.Outer) shapes.Refused { return s.NewRefused() },
			get:   func(s shapes.Outer) shapes.Refused { return s.GetRefused() },
			set: func(p shapes.Refused, v string) {
				p.NewWhere().Set(shapes.PointFields{X: int32(len(v))})
				p.SetReason(v)
			},
			unset: func(p shapes.Refused) { p.UnsetWhere(); p.UnsetReason() },
			value: func(p shapes.Refused) string {
				if len(p.GetReason()) != int(p.GetWhere().GetX()) {
					return fmt.Sprint(p)
				}
				return p.GetReason()
			},
		})
	})
	t.Run("union", func(t *testing.T) {
		testNewSet(t, outer, newSetPlace[shapes.Outer, shapes.Shape]{
			begin: func(s shapes.Outer) shapes.Shape { return s.NewShape() },
			get:   func(s shapes.Outer) shapes.Shape { return s.GetShape() },
			set: func(p shapes.Shape, v string) {
				p.NewCorner().Set(shapes.PointFields{X: int32(len(v)), Y: int32(v[0])})
			},
			unset: func(p shapes.Shape) { p.SetEmpty(true) },
			value: func(p shapes.Shape) string {
				return strings.Repeat(string(rune(p.GetCorner().GetY())), int(p.GetCorner().GetX()))
			},
		})
	})
}

// newSetMessage is the message that has a place.
type newSetMessage[S any] struct {
	begin func(...nocopy.Option) S
	parse func([]byte, ...nocopy.Option) (S, error)
	keep  func(*nocopy.Message, []byte) (S, error)
	fill  func(s S, v []string) // sets texts of another field
}

// newSetSteps are what is done after the first Set, a letter each: (u)nset, a (s)mall or (l)arge
// value, (c)ompact, (f)inish.
var newSetSteps = []string{"u", "s", "l", "cu", "uc", "fu", "fusu", "lu", "luls", "fslc", "cls", "ulfu"}

func testNewSet[S interface {
	Message() *nocopy.Message
	Clone() S
	Equal(S) bool
	Release()
}, P any](t *testing.T, m newSetMessage[S], p newSetPlace[S, P]) {
	var kept nocopy.Message
	run := func(way, fill, size int, steps string) {
		what := fmt.Sprintf("way %d, %d bytes, then %d, %s", way, fill, size, steps)
		var opts []nocopy.Option
		if way%2 == 1 {
			opts = append(opts, nocopy.Recycle)
		}
		s := m.begin(opts...)
		texts := slices.Repeat([]string{strings.Repeat("f", 4000)}, fill/4000)
		m.fill(s, append(texts, strings.Repeat("g", fill%4000)))
		var err error
		switch way / 2 {
		case 1:
			s.Message().Repack()
		case 2:
			s, err = m.parse(s.Message().AppendTo(nil), opts...)
		case 3:
			s, err = m.keep(&kept, s.Message().AppendTo(nil))
		}
		if err != nil {
			t.Fatal(err)
		}
		want := strings.Repeat("a", size)
		p.set(p.begin(s), want)
		for i, step := range steps {
			switch step {
			case 'u':
				want = ""
				p.unset(p.get(s))
			case 's', 'l':
				n := 2
				if step == 'l' {
					n = 3000
				}
				want = strings.Repeat(string(rune('b'+i)), n)
				p.set(p.get(s), want)
			case 'c':
				s.Message().Repack()
			case 'f':
				s.Message().Finish()
			}
		}
		check := func(how string, s S) {
			if got := p.value(p.get(s)); got != want {
				t.Fatalf("%s: %s has %.20q of %d bytes, want %.20q of %d", what, how, got, len(got), want, len(want))
			}
		}
		check("the message", s)
		parsed, err := m.parse(s.Message().AppendTo(nil))
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		check("what is sent", parsed)
		if !parsed.Equal(s) {
			t.Fatalf("%s: what is sent is another", what)
		}
		clone := s.Clone()
		check("the clone", clone)
		sent, err := m.parse(clone.Message().AppendTo(nil))
		if err != nil {
			t.Fatalf("%s: the clone: %v", what, err)
		}
		check("what the clone sends", sent)
		s.Message().Repack()
		compacted, err := m.parse(s.Message().AppendTo(nil))
		if err != nil {
			t.Fatalf("%s: compacted: %v", what, err)
		}
		check("what is sent when compacted", compacted)
		s.Release()
	}
	for way := range 8 {
		for _, steps := range newSetSteps {
			for _, size := range []int{1, 1200, 4095, 5000} {
				run(way, 10, size, steps)
				run(way, 64_000, size, steps)
			}
		}
		if way == 2 || way > 3 { // others have the filling in a block of its own
			continue
		}
		for _, block := range []int{4 << 10, 64 << 10} { // the ends of the first blocks
			for rest := range 320 {
				if way%2 == 0 && block < 64<<10 {
					break // only recycled blocks are so small
				}
				run(way, block-rest, 20, newSetSteps[rest%len(newSetSteps)])
			}
		}
	}
}
