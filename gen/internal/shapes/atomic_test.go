package shapes_test

import (
	"math"
	"testing"

	"github.com/nocopythrift/nocopythrift/gen/internal/shapes"
	"github.com/nocopythrift/nocopythrift/nocopy"
)

// TestUnionSettersAreAtomic: a union's setter that panics leaves the set arm unchanged.
func TestUnionSettersAreAtomic(t *testing.T) {
	stale := shapes.NewPoint()
	stale.Release()
	wrong := shapes.NewShape()
	wrong.SetRadius(1)
	for name, set := range map[string]func(s shapes.Shape){
		"NewRaw":         func(s shapes.Shape) { s.NewRaw(-1) },
		"NewRaw, large":  func(s shapes.Shape) { s.NewRaw(math.MaxInt32) },
		"NewOutline":     func(s shapes.Shape) { s.NewOutline(-1) },
		"NewWeights":     func(s shapes.Shape) { s.NewWeights(-1) },
		"NewWeights, 2":  func(s shapes.Shape) { s.NewWeights(1, 2) },
		"NewNumbers":     func(s shapes.Shape) { s.NewNumbers(-1) },
		"SetCorner":      func(s shapes.Shape) { s.SetCorner(stale) },
		"SetCorner, bad": func(s shapes.Shape) { s.SetCorner(shapes.Point(wrong)) },
		"SetOutline":     func(s shapes.Shape) { s.SetOutline(nocopy.StructList[shapes.Point](stale)) },
	} {
		for _, state := range []string{"being built", "parsed"} {
			s := shapes.NewShape()
			s.SetLabel("label")
			if state == "parsed" {
				var err error
				if s, err = shapes.ParseShape(s.AppendTo(nil)); err != nil {
					t.Fatal(err)
				}
			}
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%s, %s: no panic", name, state)
					}
				}()
				set(s)
			}()
			if s.Which() != shapes.Shape_Label || s.GetLabel() != "label" {
				t.Errorf("%s, %s: %s is left", name, state, s)
			}
			again, err := shapes.ParseShape(s.AppendTo(nil))
			if err != nil || again.GetLabel() != "label" || again.Which() != shapes.Shape_Label {
				t.Errorf("%s, %s: %s is sent, %v", name, state, again, err)
			}
			s.SetRadius(2)
			if s.Which() != shapes.Shape_Radius || s.IsSetLabel() || s.GetRadius() != 2 {
				t.Errorf("%s, %s: %s after SetRadius", name, state, s)
			}
		}
	}
}
