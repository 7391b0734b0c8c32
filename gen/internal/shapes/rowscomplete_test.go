package shapes_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nocopythrift/nocopythrift/gen/internal/shapes"
	"github.com/nocopythrift/nocopythrift/nocopy/nocopycmp"
)

// TestRowsThatComplete: what completes a message that is being built is refused, and what adds no
// bytes stays, with the list.
func TestRowsThatComplete(t *testing.T) {
	v := refused(3, 10)
	build := func() shapes.Lists {
		s := shapes.NewLists()
		s.NewPoints(1).At(0).SetX(1)
		s.SetLarges([]int64{1, 2})
		return s
	}
	for name, f := range map[string]struct {
		do    func(s shapes.Lists)
		panic any
	}{
		"get":       {func(s shapes.Lists) { _ = s.GetPoints().At(0).GetX() + int32(s.GetLarges().At(1)) }, nil},
		"print":     {func(s shapes.Lists) { _ = fmt.Sprintf("%v %+v %v", s, s, s.LogValue()) }, nil},
		"set in it": {func(s shapes.Lists) { s.GetPoints().At(0).SetX(2); s.GetLarges().Swap(0, 1) }, nil},
		"equal":     {func(s shapes.Lists) { s.Equal(s) }, panicChanged},
		"clone":     {func(s shapes.Lists) { s.Clone() }, panicChanged},
		"JSON":      {func(s shapes.Lists) { s.MarshalJSON() }, panicChanged},
		"wire":      {func(s shapes.Lists) { s.GetPoints().Wire() }, panicChanged},
		"append":    {func(s shapes.Lists) { s.AppendTo(nil) }, panicChanged},
		"contains":  {func(s shapes.Lists) { s.GetPoints().Contains(s.GetPoints().At(0)) }, panicChanged},
		"link":      {func(s shapes.Lists) { shapes.NewLists().SetPoints(s.GetPoints()) }, panicChanged},
		"unknown": {func(s shapes.Lists) {
			for range s.Unknown() {
			}
		}, panicChanged},
	} {
		s, want := build(), build()
		f.do(want)
		func() {
			defer func() {
				if r := recover(); r != f.panic {
					t.Errorf("%s: panic is %v", name, r)
				}
			}()
			s.SetRefusalsBy(len(v), func(i int) shapes.RefusedFields {
				if i == 1 {
					f.do(s)
				}
				return v[i]
			})
		}()
		if f.panic == nil {
			want.SetRefusalsOf(v)
		}
		if !s.Equal(want) {
			t.Errorf("%s: %s", name, cmp.Diff(want, s, nocopycmp.Transform()))
		}
	}
}

// TestRowsInThemselves: fields that contain themselves, by a pointer or a slice, panic with a text
// of ours instead of filling the stack, which nothing recovers from. The message stays usable.
func TestRowsInThemselves(t *testing.T) {
	chain := shapes.ChainFields{}
	chain.Next = &chain
	tree := shapes.TreeFields{Children: make([]shapes.TreeFields, 2)}
	tree.Children[0].Children = tree.Children
	to := shapes.NewChain()
	for name, f := range map[string]func(){
		"a pointer, new":   func() { shapes.NewChainOf(chain) },
		"a pointer, set":   func() { to.Set(chain) },
		"a slice, new":     func() { shapes.NewTreeOf(tree) },
		"a slice, in list": func() { shapes.NewTree().SetChildrenOf(tree.Children) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.HasPrefix(got, "nocopy: values that contain themselves") {
					t.Errorf("the panic is %q", got)
				}
			}()
			f()
		})
	}
	chain.Next = &shapes.ChainFields{}
	to.Set(chain)
	if again, err := shapes.ParseChain(to.Message().AppendTo(nil)); err != nil || !again.GetNext().Valid() || again.GetNext().GetNext().Valid() {
		t.Errorf("set afterwards: %v, %v", again, err)
	}
}
