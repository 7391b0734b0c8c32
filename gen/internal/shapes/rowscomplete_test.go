package shapes_test

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nocopythrift/nocopythrift/gen/internal/shapes"
	"github.com/nocopythrift/nocopythrift/nocopy/nocopycmp"
)

// TestRowsThatUse: a function that supplies elements may use the message in every way, even in
// ways that complete what is being built.
func TestRowsThatUse(t *testing.T) {
	v := refused(3, 10)
	build := func() shapes.Lists {
		s := shapes.NewLists()
		s.NewPoints(1).At(0).SetX(1)
		s.SetLarges([]int64{1, 2})
		return s
	}
	for name, do := range map[string]func(s shapes.Lists){
		"get":       func(s shapes.Lists) { _ = s.GetPoints().At(0).GetX() + int32(s.GetLarges().At(1)) },
		"print":     func(s shapes.Lists) { _ = fmt.Sprintf("%v %+v %v", s, s, s.LogValue()) },
		"set in it": func(s shapes.Lists) { s.GetPoints().At(0).SetX(2); s.GetLarges().Swap(0, 1) },
		"equal":     func(s shapes.Lists) { s.Equal(s) },
		"clone":     func(s shapes.Lists) { s.Clone() },
		"JSON":      func(s shapes.Lists) { s.MarshalJSON() },
		"wire":      func(s shapes.Lists) { s.GetPoints().Wire() },
		"append":    func(s shapes.Lists) { s.AppendTo(nil) },
		"send":      func(s shapes.Lists) { s.Message().WriteTo(io.Discard) },
		"contains":  func(s shapes.Lists) { s.GetPoints().Contains(s.GetPoints().At(0)) },
		"link":      func(s shapes.Lists) { shapes.NewLists().SetPoints(s.GetPoints()) },
		"unknown": func(s shapes.Lists) {
			for range s.Unknown() {
			}
		},
		"set": func(s shapes.Lists) { s.Set(shapes.ListsFields{Words: []string{"a"}}) },
		"same list by function": func(s shapes.Lists) {
			s.SetRefusalsBy(2, func(i int) shapes.RefusedFields { return v[i] })
		},
	} {
		s, want := build(), build()
		do(want)
		s.SetRefusalsBy(len(v), func(i int) shapes.RefusedFields {
			if i == 1 {
				do(s)
			}
			return v[i]
		})
		want.SetRefusalsOf(v)
		if !s.Equal(want) {
			t.Errorf("%s: %s", name, cmp.Diff(want, s, nocopycmp.Transform()))
		}
		if sent, err := shapes.ParseLists(s.Message().AppendTo(nil)); err != nil || !sent.Equal(want) {
			t.Errorf("%s: sent is %v, %v", name, sent, err)
		}
	}
}

// TestRowsInThemselves: plain values that contain themselves, through a pointer or a slice, give a
// panic with one of our texts, not a stack overflow, which cannot be recovered. The message stays
// usable.
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
