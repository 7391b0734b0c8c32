package shapes_test

import (
	"testing"

	"github.com/nocopythrift/nocopythrift/gen/internal/shapes"
	"github.com/nocopythrift/nocopythrift/nocopy/nocopyjson"
)

// TestSeveralArms: what docs/messages.md says about a union that arrives with several arms.
func TestSeveralArms(t *testing.T) {
	const radius = "\x04\x00\x01\x3f\xf0\x00\x00\x00\x00\x00\x00"
	const label = "\x0b\x00\x03\x00\x00\x00\x01a"
	parse := func(wire string) shapes.Shape {
		s, err := shapes.ParseShape([]byte(wire))
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	sends := func(what string, s shapes.Shape, want string, which shapes.ShapeWhich) {
		t.Helper()
		if got := string(s.Message().AppendTo(nil)); got != want || s.Which() != which {
			t.Errorf("%s: %q and %v, want %q and %v", what, got, s.Which(), want, which)
		}
	}
	for wire, last := range map[string]shapes.ShapeWhich{radius + label + "\x00": shapes.Shape_Label, label + radius + "\x00": shapes.Shape_Radius} {
		s := parse(wire)
		sends("as it came", s, wire, last)
		sends("its clone", s.Clone(), wire, last)
		if !s.IsSetRadius() || !s.IsSetLabel() || s.GetRadius() != 1 || s.GetLabel() != "a" || s.String() != `{radius: 1, label: "a"}` {
			t.Errorf("read: %v", s)
		}
		if one := parse(label + "\x00"); s.Equal(one) != (last == shapes.Shape_Label) || !s.Equal(parse(wire)) {
			t.Error("Equal does not compare the last arm")
		}
		want := map[shapes.ShapeWhich]string{shapes.Shape_Label: `{"label":"a"}`, shapes.Shape_Radius: `{"radius":1}`}[last]
		if got, err := nocopyjson.Marshal(s); string(got) != want || err != nil {
			t.Errorf("JSON: %s, %v", got, err)
		}
		p := shapes.NewPlainFields()
		p.SetShape(s)
		sends("in another message", p.GetShape().Clone(), wire, last)

		s.SetRadius(1)
		sends("an arm is set", s, radius+"\x00", shapes.Shape_Radius)
		s = parse(wire)
		s.UnsetRadius()
		sends("an arm is unset", s, label+"\x00", shapes.Shape_Label)
		s = parse(wire)
		s.UnsetLabel()
		sends("the other arm is unset", s, radius+"\x00", shapes.Shape_Radius)
	}
}
