package shapes_test

import (
	"bytes"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nocopythrift/nocopythrift/gen/internal/shapes"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/nocopycmp"
)

// TestRowsThatChange: a function that supplies elements may change the message. If it panics or
// ends its goroutine, the field is unchanged, for lists and fields at any place.
func TestRowsThatChange(t *testing.T) {
	const n = 3000 // enough for several blocks
	v := refused(n, 100)
	newer := shapes.NewLists()
	newer.SetWords([]string{"a"})
	build := func() shapes.Lists {
		s := shapes.NewLists()
		s.SetWords([]string{"one", "two"})
		s.SetMatrix(newer.GetMatrix())
		return s
	}
	for _, where := range []int{0, 1, 700, n - 1} {
		for name, test := range map[string]struct {
			do   func(s shapes.Lists)
			ends bool // the call ends its goroutine
			want any  // the value of its panic
		}{
			"panic":        {func(shapes.Lists) { panic("enough") }, true, "enough"},
			"Goexit":       {func(shapes.Lists) { runtime.Goexit() }, true, nil},
			"set a field":  {func(s shapes.Lists) { s.SetTimes([]int64{1, 2, 3}) }, false, nil},
			"new list":     {func(s shapes.Lists) { s.NewPoints(2).At(0).SetX(3) }, false, nil},
			"same list":    {func(s shapes.Lists) { s.SetRefusalsOf(v[:2]) }, false, nil},
			"append":       {func(s shapes.Lists) { s.GetWords().Append("more") }, false, nil},
			"finish":       {func(s shapes.Lists) { s.Message().Finish() }, false, nil},
			"compact":      {func(s shapes.Lists) { s.Message().Repack() }, false, nil},
			"set in place": {func(s shapes.Lists) { s.SetMatrix(newer.GetMatrix()) }, false, nil},
		} {
			s, want := build(), build()
			var got any
			done := make(chan bool)
			go func() {
				defer close(done)
				defer func() { got = recover() }()
				s.SetRefusalsBy(n, func(i int) shapes.RefusedFields {
					if i == where {
						test.do(s)
					}
					return v[i]
				})
			}()
			<-done
			if got != test.want {
				t.Errorf("%s at %d: panic is %v", name, where, got)
			}
			if !test.ends {
				test.do(want)
				want.SetRefusalsOf(v)
			}
			if !s.Equal(want) {
				t.Errorf("%s at %d: (-want +got)\n%s", name, where, cmp.Diff(want, s, nocopycmp.Transform()))
			}
			s.SetReals([]float64{1.5})
			s.SetRefusalsOf(v[:5])
			s.NewShapes(1).At(0).SetLabel("after")
			parsed, err := shapes.ParseLists(s.Message().AppendTo(nil))
			if err != nil {
				t.Fatalf("%s at %d: %v", name, where, err)
			}
			if parsed.GetRefusals().Len() != 5 || parsed.GetWords().At(1) != "two" || parsed.GetShapes().At(0).GetLabel() != "after" {
				t.Errorf("%s at %d: afterwards %v", name, where, parsed)
			}
			if !parsed.Equal(s) {
				t.Errorf("%s at %d: what is sent is another (-sent +built):\n%s", name, where, cmp.Diff(parsed, s, nocopycmp.Transform()))
			}
			s.Release()
		}
	}
}

// TestRowsThatChangeReceived is TestRowsThatChange for a list that is replaced.
func TestRowsThatChangeReceived(t *testing.T) {
	v := refused(300, 10)
	wire := wantRefused(v).Message().AppendTo(nil)
	for _, opts := range [][]nocopy.Option{nil, {nocopy.Recycle}, {nocopy.Lazy}, {nocopy.Own}} {
		for name, do := range map[string]func(s shapes.Lists){
			"append":  func(s shapes.Lists) { s.GetRefusals().AppendNew() },
			"set":     func(s shapes.Lists) { s.SetWords([]string{"a"}) },
			"edit":    func(s shapes.Lists) { s.GetRefusals().At(3).SetReason("b") },
			"replace": func(s shapes.Lists) { s.SetRefusalsOf(nil) },
			"remove":  func(s shapes.Lists) { s.UnsetRefusals() },
			"compact": func(s shapes.Lists) { s.Message().Repack() },
		} {
			s, err := shapes.ParseLists(bytes.Clone(wire), opts...)
			if err != nil {
				t.Fatal(err)
			}
			want, _ := shapes.ParseLists(bytes.Clone(wire), opts...)
			do(want)
			want.SetRefusalsOf(v[:5])
			s.SetRefusalsBy(5, func(i int) shapes.RefusedFields {
				if i == 2 {
					do(s)
				}
				return v[i]
			})
			if !s.Equal(want) {
				t.Errorf("%s, options %v: (-want +got)\n%s", name, opts, cmp.Diff(want, s, nocopycmp.Transform()))
			}
		}
	}
}
