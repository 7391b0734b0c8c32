package shapes

import (
	"math"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy"
)

// TestUnionSettersAreAtomic: a union's setter that panics leaves the set arm unchanged.
func TestUnionSettersAreAtomic(t *testing.T) {
	stale := NewPoint()
	stale.Release()
	wrong := NewShape()
	wrong.SetRadius(1)
	for name, set := range map[string]func(s Shape){
		"NewRaw":         func(s Shape) { s.NewRaw(-1) },
		"NewRaw, large":  func(s Shape) { s.NewRaw(math.MaxInt32) },
		"NewOutline":     func(s Shape) { s.NewOutline(-1) },
		"NewWeights":     func(s Shape) { s.NewWeights(-1) },
		"NewWeights, 2":  func(s Shape) { s.NewWeights(1, 2) },
		"NewNumbers":     func(s Shape) { s.NewNumbers(-1) },
		"SetCorner":      func(s Shape) { s.SetCorner(stale) },
		"SetCorner, bad": func(s Shape) { s.SetCorner(Point(wrong)) },
		"SetOutline":     func(s Shape) { s.SetOutline(nocopy.StructList[Point](stale)) },
	} {
		for _, state := range []string{"being built", "parsed"} {
			s := NewShape()
			s.SetLabel("label")
			if state == "parsed" {
				var err error
				if s, err = ParseShape(s.AppendTo(nil)); err != nil {
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
			if s.Which() != Shape_Label || s.GetLabel() != "label" {
				t.Errorf("%s, %s: %s is left", name, state, s)
			}
			again, err := ParseShape(s.AppendTo(nil))
			if err != nil || again.GetLabel() != "label" || again.Which() != Shape_Label {
				t.Errorf("%s, %s: %s is sent, %v", name, state, again, err)
			}
			s.SetRadius(2)
			if s.Which() != Shape_Radius || s.IsSetLabel() || s.GetRadius() != 2 {
				t.Errorf("%s, %s: %s after SetRadius", name, state, s)
			}
		}
	}
}
