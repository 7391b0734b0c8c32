package shapes_test

import (
	"fmt"
	"testing"

	"github.com/nocopythrift/nocopythrift/gen/internal/shapes"
)

// TestSortByNil: without a function, sorting a list of any kind panics with its type.
func TestSortByNil(t *testing.T) {
	for _, n := range []int{0, 1, 3} {
		l := shapes.NewLists()
		for text, sort := range map[string]func(){
			"list<bool>":      func() { l.NewFlags(n).SortFunc(nil) },
			"list<i8>":        func() { l.NewTinies(n).SortFunc(nil) },
			"list<i16>":       func() { l.NewSmalls(n).SortFunc(nil) },
			"list<i32>":       func() { l.NewMediums(n).SortFunc(nil) },
			"list<i64>":       func() { l.NewLarges(n).SortFunc(nil) },
			"list<double>":    func() { l.NewReals(n).SortFunc(nil) },
			"list<string>":    func() { l.NewTexts(n).SortFunc(nil) },
			"list<binary>":    func() { l.NewBlobs(n).SortFunc(nil) },
			"list<uuid>":      func() { l.NewKeys(n).SortFunc(nil) },
			"list<Color>":     func() { l.NewColors(n).SortFunc(nil) },
			"list<Point>":     func() { l.NewPoints(n).SortFunc(nil) },
			"list<list<i64>>": func() { l.NewMatrix(n).SortFunc(nil) },
		} {
			func() {
				defer func() {
					if got, want := fmt.Sprint(recover()), "nocopy: SortFunc of a "+text+": cmp is nil"; got != want {
						t.Errorf("%d elements: panic %q, want %q", n, got, want)
					}
				}()
				sort()
			}()
		}
		if _, err := shapes.ParseLists(l.Message().AppendTo(nil)); err != nil {
			t.Error(err)
		}
	}
}
