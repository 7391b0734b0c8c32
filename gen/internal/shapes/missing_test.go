package shapes_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/gen/internal/shapes"
	"github.com/nocopythrift/nocopythrift/nocopy"
)

// TestMissing: Missing finds unset required fields of every type; numbers only with the tag
// nocopydebug, and no fields with a default.
func TestMissing(t *testing.T) {
	s := shapes.NewRequiredFields()
	debugging := len(nocopy.Leaked()) > 0
	want := "text blob point shape numbers words unique counts points"
	if debugging {
		want = "flag tiny small medium large real text blob key color point shape numbers words unique counts points"
	}
	if got := strings.ReplaceAll(strings.Join(s.Message().Missing(), " "), "RequiredFields.", ""); got != want {
		t.Errorf("missing %q, want %q", got, want)
	}
	s.SetFlag(false)
	s.SetTiny(0)
	s.SetSmall(0)
	s.SetMedium(0)
	s.SetLarge(0)
	s.SetReal(0)
	s.SetText("")
	s.SetBlob(nil)
	s.SetKey(nocopy.UUID{})
	s.SetColor(0)
	s.NewPoint().SetX(0)
	s.NewShape().SetLabel("")
	s.NewNumbers(0)
	s.SetWords(nil)
	s.SetUnique(nil)
	s.NewCounts(0)
	s.NewPoints(1).At(0).SetX(0)
	if got := s.Message().Missing(); got != nil {
		t.Errorf("missing %q of one in which all are set to nothing", got)
	}
	s.Message().Finish()
	if got := s.Message().Missing(); got != nil {
		t.Errorf("missing %q", got)
	}
	if got := shapes.NewRequiredDefaults().Message().Missing(); got != nil {
		t.Errorf("missing %q, which have defaults", got)
	}

	o := shapes.NewOuter()
	o.NewTree().NewChildren(2).At(1).NewChildren(1)
	o.NewOrigin().SetX(1)
	want = "Outer.tree.name Outer.tree.children[0].name Outer.tree.children[1].name Outer.tree.children[1].children[0].name"
	for range 2 {
		if got := strings.Join(o.Message().Missing(), " "); got != want {
			t.Errorf("missing %q, want %q", got, want)
		}
		if !debugging {
			o.Message().Finish()
		}
	}
}

// TestMissingSetAnew: a required struct that was filled in, and that the program then sets, may
// still be open when Missing looks at it.
func TestMissingSetAnew(t *testing.T) {
	s := shapes.NewOuter()
	s.UnsetOrigin()
	s.UnsetOrigin()
	s.Message().Repack()
	p := s.NewOrigin()
	if missing := s.Message().Missing(); slices.Contains(missing, "Outer.origin") {
		t.Errorf("the field that was set is in %q", missing)
	}
	p.SetX(7)
	if missing := s.Message().Missing(); slices.Contains(missing, "Outer.origin") {
		t.Errorf("the field that was set is in %q", missing)
	}
}
