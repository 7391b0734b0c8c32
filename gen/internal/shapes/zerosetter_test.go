package shapes_test

import (
	"testing"

	"github.com/nocopythrift/nocopythrift/gen/internal/shapes"
	"github.com/nocopythrift/nocopythrift/nocopy"
)

// TestSetterOfZero: the panic of a setter of the zero handle names the type, although the handle
// does not know it.
func TestSetterOfZero(t *testing.T) {
	var p shapes.Point
	var l shapes.Lists
	var r shapes.Refused
	var u shapes.Shape
	const absent = ": setter called on an absent struct or container: use New"
	const in = "X, or NewAt of a list of containers, first"
	for want, set := range map[string]func(){
		"shapes.Point.SetX" + absent + "Point first":          func() { p.SetX(1) },
		"shapes.Refused.SetReason" + absent + "Refused first": func() { r.SetReason("none") },
		"shapes.Lists.NewPoints" + absent + "Lists first":     func() { l.NewPoints(1) },
		"shapes.Lists.UnsetTexts" + absent + "Lists first":    func() { l.UnsetTexts() },
		"shapes.Lists.SetTexts" + absent + "Lists first":      func() { l.SetTexts([]string{"a"}) },
		"shapes.Lists.SetLarges" + absent + "Lists first":     func() { l.SetLarges([]int64{1}) },
		// setters that call a function of the library that calls another
		"shapes.Lists.Set" + absent + "Lists first":         func() { l.Set(shapes.ListsFields{}) },
		"shapes.Lists.SetPointsOf" + absent + "Lists first": func() { l.SetPointsOf(nil) },
		"shapes.Lists.SetPointsBy" + absent + "Lists first": func() {
			l.SetPointsBy(1, func(int) shapes.PointFields { return shapes.PointFields{} })
		},
		"shapes.Shape.SetLabel" + absent + "Shape first": func() { u.SetLabel("round") },

		// NewStringList does not exist
		"nocopy.StringList.Append" + absent + in:    func() { nocopy.StringList{}.Append("a") },
		"nocopy.StructList.AppendNew" + absent + in: func() { nocopy.StructList[shapes.Point]{}.AppendNew() },
		"nocopy.Int64List.Append" + absent + in:     func() { shapes.NewLists().NewMatrix(1).At(0).Append(1) },
		"nocopy.StringMap.Put" + absent + in:        func() { nocopy.StringMap{}.Put("a", "b") },
	} {
		func() {
			defer func() {
				if got := recover(); got != "nocopy: "+want {
					t.Errorf("panics with %v, not with %s", got, want)
				}
			}()
			set()
		}()
	}
}
