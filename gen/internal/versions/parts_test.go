package versions

import (
	"encoding/json"
	"testing"

	"github.com/nocopythrift/nocopythrift/gen/internal/versions/newer"
	"github.com/nocopythrift/nocopythrift/gen/internal/versions/older"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/messages"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// everything returns a message of the older package with a value in each field.
func everything() older.All {
	a := older.NewAll()
	a.NewPoint().SetX(1)
	a.NewPaint().SetColor(older.Color_GREEN)
	a.NewShape().SetLabel("s")
	a.NewTree().SetName("t")
	a.NewDenied().SetWhy("d")
	a.NewGrown().SetA(6)
	a.NewShrunk().SetB("gone")
	a.NewRetyped().SetA(8)
	a.NewRenamed().SetA(9)
	a.NewNeeded().SetA(10)
	a.NewDefaulted()
	a.NewReordered().SetB(12)
	a.NewChosen().SetA(13)
	a.NewArmed().SetA(14)
	a.NewOld().SetA(15)
	a.NewRecolored().SetColor(older.Color_RED)
	a.NewDeep()
	a.NewManyGrown(1).At(0).SetA(22)
	a.NewGrownByName().PutNew("g").SetA(27)
	return a
}

// TestBytes: what one package has written, the other reads by the rules for IDLs that change.
func TestBytes(t *testing.T) {
	a := everything()
	for _, opts := range [][]nocopy.Option{nil, {nocopy.Lazy}, {nocopy.ByIndex}} {
		b := must(newer.ParseAll(a.AppendTo(nil), opts...))
		if b.GetGrown().GetA() != 6 || b.GetGrown().GetB() != "" || b.GetManyGrown().At(0).GetA() != 22 {
			t.Errorf("a field was added: %v", b)
		}
		for id, v := range b.GetShrunk().Unknown() {
			if id != 2 || v.Text() != "gone" {
				t.Errorf("a field was removed: %d: %v", id, v)
			}
		}
		if b.GetRetyped().IsSetA() || b.GetRetyped().GetA() != 0 {
			t.Errorf("the type was changed: %v", b.GetRetyped())
		}
		if b.GetRenamed().GetB() != 9 || b.GetNeeded().GetA() != 10 || b.GetOld().GetA() != 15 {
			t.Errorf("a name, or the requiredness, was changed: %v", b)
		}
		if b.GetDefaulted().GetA() != 1 || older.NewDefaulted().GetA() != 1 || newer.NewDefaulted().GetA() != 2 {
			t.Errorf("the default was changed: %v", b.GetDefaulted())
		}
		if b.GetReordered().GetB() != 12 || b.GetReordered().GetA() != 0 || b.GetArmed().GetA() != 14 || b.GetRecolored().GetColor() != newer.Hue_RED {
			t.Errorf("the order, a union or an enum was changed: %v", b)
		}
		back := must(older.ParseAll(b.AppendTo(nil)))
		if !messages.Equal(back, a) {
			t.Errorf("%v\n%v", back, a)
		}
	}
}

// TestEnumsConstants: numbers of enums that only one package knows go through the other.
func TestEnumsConstants(t *testing.T) {
	b := newer.NewPaint()
	b.SetColor(newer.Color_BLUE)
	b.SetAt(newer.Moment(5))
	a := older.NewAll()
	a.SetPaint(older.Paint(b))
	if c := a.GetPaint().GetColor(); c.String() != "Color(3)" && c.String() != "3" || newer.Color(c) != newer.Color_BLUE {
		t.Errorf("%v", c)
	}
	if a.GetPaint().GetAt() != older.Time(5) || older.LIMIT != 7 || newer.LIMIT != 8 {
		t.Error(a)
	}
	for want, v := range map[string]any{`3`: a.GetPaint(), `"BLUE"`: newer.Paint(a.GetPaint())} {
		if text := string(must(json.Marshal(v))); text != `{"color":`+want+`,"at":5}` {
			t.Error(text)
		}
	}
}

// TestParts: a part of a message, which does not know its type, is taken for what it is converted
// to. Set as a struct that is declared differently, it gets the values that its bytes would have.
// Lists, sets and maps know their types.
func TestParts(t *testing.T) {
	a := everything()
	b := newer.NewAll()
	b.SetPoint(newer.Point(a.GetPoint()))
	b.SetPaint(newer.Paint(a.GetPaint()))
	b.SetShape(newer.Shape(a.GetShape()))
	b.SetTree(newer.Tree(a.GetTree()))
	b.SetDenied(newer.Denied(a.GetDenied()))
	b.SetGrown(newer.Grown(a.GetGrown()))
	b.SetShrunk(newer.Shrunk(a.GetShrunk()))
	b.SetRetyped(newer.Retyped(a.GetRetyped()))
	b.SetRenamed(newer.Renamed(a.GetRenamed()))
	b.SetNeeded(newer.Needed(a.GetNeeded()))
	b.SetDefaulted(newer.Defaulted(a.GetDefaulted()).Clone())
	b.SetReordered(newer.Reordered(a.GetReordered()))
	b.SetChosen(newer.Chosen(a.GetChosen()))
	b.SetArmed(newer.Armed(a.GetArmed()).Clone())
	b.SetOld(newer.Latest(a.GetOld()))
	b.SetRecolored(newer.Recolored(a.GetRecolored()))
	b.SetDeep(newer.Deep(a.GetDeep()))
	b.NewManyGrown(0).Append(newer.Grown(a.GetManyGrown().At(0)))
	g, _ := a.GetGrownByName().Get("g")
	b.NewGrownByName().Put("g", newer.Grown(g))
	if want := must(newer.ParseAll(a.AppendTo(nil))); !b.Equal(want) {
		t.Errorf("%+v\n%+v", b, want)
	}

	const tail = ": two packages declare it differently (only one Grown has 2: string b). Parse the bytes of one as the other"
	for want, f := range map[string]func(){
		"list<Grown> instead of list<Grown>": func() {
			b.SetManyGrown(nocopy.StructList[newer.Grown](a.GetManyGrown()))
		},
		"map<string, Grown> instead of map<string, Grown>": func() {
			b.SetGrownByName(nocopy.StructMap[string, newer.Grown, thriftimpl.AsString](a.GetGrownByName()))
		},
	} {
		if text := panicOf(f); text != "nocopy: "+want+tail {
			t.Errorf("%q, want %q", text, want)
		}
	}
}
