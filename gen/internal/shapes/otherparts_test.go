package shapes_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/gen/internal/shapes"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/messages"
)

// badText is not UTF-8.
const badText = "b\xffd"

// partSources returns messages that a strict receiver would refuse, each for a different reason.
func partSources(t *testing.T) map[string]shapes.Outer {
	deep := func(n int) shapes.Outer {
		v := shapes.TreeFields{Name: "leaf"}
		for range n {
			v = shapes.TreeFields{Name: "node", Children: []shapes.TreeFields{v}}
		}
		return parsedOuter(t, shapes.NewOuterOf(shapes.OuterFields{Tree: v}), nocopy.Limits{MaxDepth: 2 * n})
	}
	texts := func(n int) shapes.Outer {
		v := shapes.OuterFields{Tree: shapes.TreeFields{Name: badText}}
		for range n {
			v.Tree.Children = append(v.Tree.Children, shapes.TreeFields{Name: badText, Children: []shapes.TreeFields{{Name: badText}}})
			v.Lists.Texts = append(v.Lists.Texts, badText)
		}
		v.Refused = nocopy.Some(shapes.RefusedFields{Reason: badText})
		return withRows(shapes.NewOuterOf(v), []string{badText, "good"}, []string{badText})
	}
	all := map[string]shapes.Outer{
		"no UTF-8":            parsedOuter(t, texts(2)),
		"no UTF-8, linked":    parsedOuter(t, texts(2000)),
		"no UTF-8, lazy":      parsedOuter(t, texts(2000), nocopy.Lazy),
		"no UTF-8, built":     texts(2),
		"deep":                deep(40),
		"deeper":              deep(100),
		"nothing wrong, long": parsedOuter(t, shapes.NewOuterOf(shapes.OuterFields{Lists: shapes.ListsFields{Texts: []string{strings.Repeat("x", 100_000)}}})),
	}
	all["no UTF-8"].SetShape(func() shapes.Shape { s := shapes.NewShape(); s.SetLabel(badText); return s }())
	return all
}

// withRows returns s with these lists in the field lists.table.
func withRows(s shapes.Outer, rows ...[]string) shapes.Outer {
	table := s.GetLists().NewTable(len(rows))
	for _, row := range rows {
		r := table.AppendNew(len(row))
		for _, v := range row {
			r.Append(v)
		}
	}
	return s
}

func parsedOuter(t *testing.T, s shapes.Outer, opts ...nocopy.Option) shapes.Outer {
	t.Helper()
	s, err := shapes.ParseOuter(s.AppendTo(nil), opts...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// partWays has the ways of putting parts of one message into another.
var partWays = map[string]func(t *testing.T, to, from shapes.Outer){
	"SetX": func(_ *testing.T, to, from shapes.Outer) {
		to.SetTree(from.GetTree())
		to.SetLists(from.GetLists())
		to.SetShape(from.GetShape())
		to.SetRefused(from.GetRefused())
	},
	"SetX of containers": func(_ *testing.T, to, from shapes.Outer) {
		to.GetTree().SetChildren(from.GetTree().GetChildren())
		to.GetLists().SetTable(from.GetLists().GetTable())
	},
	"elements": func(_ *testing.T, to, from shapes.Outer) {
		to.GetTree().GetChildren().Append(from.GetTree())
		to.GetTree().GetChildren().Set(0, from.GetTree())
		for _, row := range from.GetLists().GetTable().All() {
			to.GetLists().GetTable().Append(row)
			to.GetLists().GetTable().Set(0, row)
		}
	},
	"new ones": func(_ *testing.T, to, from shapes.Outer) {
		to.NewTree().SetChildren(from.GetTree().GetChildren())
		to.GetTree().GetChildren().Append(from.GetTree())
		to.NewLists().NewTable(1).Append(from.GetLists().GetTexts())
		to.GetLists().GetTable().NewAt(0, 2).Set(0, badText)
		pairs := to.GetLists().NewDeep(1).AppendNew(2)
		pairs.Put(badText, from.GetLists().GetPoints())
		pairs.PutNew("k"+badText, 1)
	},
	"CopyInto": func(_ *testing.T, to, from shapes.Outer) { messages.CopyInto(to, from) },
	"CopyInto a part": func(_ *testing.T, to, from shapes.Outer) {
		messages.CopyInto(to.GetTree(), from.GetTree())
		messages.CopyInto(to.NewLists(), from.GetLists())
	},
	"Merge": func(_ *testing.T, to, from shapes.Outer) { messages.Merge(to, from) },
	"Mask.Copy": func(t *testing.T, to, from shapes.Outer) {
		if err := messages.MustMask(shapes.OuterDesc, "tree.children", "lists.table", "refused").Copy(to, from); err != nil {
			t.Error(err)
		}
	},
	"Mask.Keep": func(_ *testing.T, to, from shapes.Outer) {
		to.SetTree(from.GetTree())
		messages.MustMask(shapes.OuterDesc, "origin", "tree").Keep(to)
	},
	"whole structs": func(_ *testing.T, to, _ shapes.Outer) {
		v := shapes.TreeFields{Name: badText, Children: []shapes.TreeFields{{Name: badText, Children: []shapes.TreeFields{{Name: badText}}}}}
		to.GetTree().Set(v)
		to.GetTree().SetChildrenOf([]shapes.TreeFields{v, v})
		to.GetLists().Set(shapes.ListsFields{Texts: []string{badText}})
	},
}

// TestPartsIntoStrict: limits, ValidUTF8 and required fields apply to received bytes. A message
// accepts all values that the program sets, whatever its own options are, and even if some of its
// received bytes are not yet indexed.
func TestPartsIntoStrict(t *testing.T) {
	sources := partSources(t)
	plain := withRows(shapes.NewOuterOf(shapes.OuterFields{
		Lists: shapes.ListsFields{Texts: []string{strings.Repeat("long ", 1000)}},
		Tree:  shapes.TreeFields{Name: "root", Children: []shapes.TreeFields{{Name: "child", Children: []shapes.TreeFields{{Name: "grandchild"}}}}},
	}), []string{"one"}, []string{"two", "three"}).AppendTo(nil)
	indexing, err := shapes.ParseOuter(plain, nocopy.WithIndex)
	if err != nil {
		t.Fatal(err)
	}
	indexed := indexing.Message().AppendTo(nil)
	if len(indexed) == len(plain) {
		t.Fatal("there is no index")
	}
	strict := map[string][]nocopy.Option{
		"ValidUTF8": {nocopy.ValidUTF8},
		"MaxDepth":  {nocopy.Limits{MaxDepth: 6}},
		"MaxIndex":  {nocopy.Limits{MaxIndex: 4 << 10}},
		"all": {nocopy.ValidUTF8, nocopy.Recycle, nocopy.Own,
			nocopy.Limits{MaxBytes: 16 << 10, MaxDepth: 6, MaxIndex: 4 << 10}},
	}
	// the message after a part was set
	after := func(t *testing.T, wire []byte, opts []nocopy.Option, set func(t *testing.T, to, from shapes.Outer), from shapes.Outer, touch bool) (string, []byte) {
		t.Helper()
		to, err := shapes.ParseOuter(bytes.Clone(wire), opts...)
		if err != nil {
			t.Fatal(err)
		}
		defer to.Release()
		if touch {
			_ = to.String()
		}
		set(t, to, from)
		if touch {
			_ = to.String()
		}
		if err := to.Message().Index(); err != nil {
			t.Errorf("Index: %v", err)
		}
		if err := to.Message().Check(); err != nil {
			t.Errorf("Check: %v", err)
		}
		return to.String(), to.AppendTo(nil)
	}
	for what, opts := range strict {
		for from, source := range sources {
			for how, set := range partWays {
				t.Run(what+"/"+from+"/"+how, func(t *testing.T) {
					text, wire := after(t, plain, opts, set, source, false)
					for _, way := range []struct {
						name  string
						wire  []byte
						opt   nocopy.Option
						touch bool
					}{
						{"Lazy", plain, nocopy.Lazy, false}, {"Lazy, read", plain, nocopy.Lazy, true},
						{"ByIndex", indexed, nocopy.ByIndex, false}, {"ByIndex, read", indexed, nocopy.ByIndex, true},
					} {
						t.Run(way.name, func(t *testing.T) {
							gotText, got := after(t, way.wire, append([]nocopy.Option{way.opt}, opts...), set, source, way.touch)
							if gotText != text {
								t.Errorf("it reads as\n%.300s\nnot\n%.300s", gotText, text)
							}
							if !bytes.Equal(got, wire) {
								t.Errorf("%d bytes\n%.300x\nnot %d\n%.300x", len(got), got, len(wire), wire)
							}
						})
					}
				})
			}
		}
	}
}

// TestLazyRefuses: Parse with Lazy refuses what Parse refuses, with the same error. Index of what
// it accepts finds nothing.
func TestLazyRefuses(t *testing.T) {
	bad := shapes.NewOuterOf(shapes.OuterFields{
		Tree: shapes.TreeFields{Name: "root", Children: []shapes.TreeFields{{Name: "child", Children: []shapes.TreeFields{{Name: badText}}}}},
	}).AppendTo(nil)
	for name, c := range map[string]struct {
		wire []byte
		opts []nocopy.Option
		err  error
	}{
		"valid":    {bad, nil, nil},
		"no UTF-8": {bad, []nocopy.Option{nocopy.ValidUTF8}, nocopy.ErrUTF8},
		"without a required field": {
			bytes.Replace(bad, []byte("\x0b\x00\x01\x00\x00\x00\x03"+badText), nil, 1), nil, nocopy.ErrMissingRequired,
		},
		"an unknown field that is too deep": {
			bytes.Replace(bad, []byte("\x0b\x00\x01\x00\x00\x00\x03"+badText), []byte(strings.Repeat("\x0c\x7f\xff", 65)+strings.Repeat("\x00", 65)), 1), nil, nocopy.ErrLimit,
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, want := shapes.ParseOuter(c.wire, c.opts...)
			if !errors.Is(want, c.err) {
				t.Fatalf("without Lazy: %v", want)
			}
			s, err := shapes.ParseOuter(c.wire, append(c.opts, nocopy.Lazy)...)
			if fmt.Sprint(err) != fmt.Sprint(want) {
				t.Fatalf("%v, not %v", err, want)
			}
			if err == nil && s.Message().Index() != nil {
				t.Error(s.Message().Index())
			}
		})
	}
}
