package versions

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/gen/internal/versions/newer"
	"github.com/nocopythrift/nocopythrift/gen/internal/versions/older"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/messages"
	"github.com/nocopythrift/nocopythrift/nocopy/reflection"
)

// panicOf returns the text of f's panic, "" if there is none.
func panicOf(f func()) (text string) {
	defer func() {
		if v := recover(); v != nil {
			text = fmt.Sprint(v)
		}
	}()
	f()
	return ""
}

// must returns what a function returned without an error.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// points returns a Point of the older package in every state that a handle may be in.
func points() map[string]older.Point {
	built := older.NewPoint()
	built.SetX(5)
	all := older.NewAll()
	all.NewPoint().SetX(5)
	all.NewPoints(2).At(1).SetX(5)
	return map[string]older.Point{
		"a root that was built":  built,
		"a root that was parsed": must(older.ParsePoint(built.AppendTo(nil))),
		"a lazy root":            must(older.ParsePoint(built.AppendTo(nil), nocopy.Lazy)),
		"a root with an index":   must(older.ParsePoint(must(older.ParsePoint(built.AppendTo(nil))).AppendTo(nil), nocopy.ByIndex)),
		"a field":                all.GetPoint(),
		"an element":             all.GetPoints().At(1),
		"absent":                 older.NewAll().GetPoint(),
		"the zero handle":        {},
	}
}

// TestAlike: every way to hand over a struct that both packages declare alike works with a
// converted handle, and gives what it gives with a struct of one's own.
func TestAlike(t *testing.T) {
	ways := map[string]func(a newer.All, p newer.Point){
		"SetX":            func(a newer.All, p newer.Point) { a.SetPoint(p) },
		"Append":          func(a newer.All, p newer.Point) { a.NewPoints(0).Append(p) },
		"Set of a list":   func(a newer.All, p newer.Point) { a.NewPoints(1).Set(0, p) },
		"Add":             func(a newer.All, p newer.Point) { a.NewUnique(0).Add(p) },
		"Put":             func(a newer.All, p newer.Point) { a.NewByName().Put("k", p) },
		"PutNew":          func(a newer.All, p newer.Point) { a.NewByPoint().PutNew(p).SetA(1) },
		"Put, a key":      func(a newer.All, p newer.Point) { a.NewByPoint().Put(p, newer.NewGrown()) },
		"Clone":           func(a newer.All, p newer.Point) { a.SetPoint(p.Clone()) },
		"Struct.Clone":    func(a newer.All, p newer.Point) { a.SetPoint(newer.Point(nocopy.Struct(p).Clone(newer.PointDesc))) },
		"bytes":           func(a newer.All, p newer.Point) { a.SetPoint(must(newer.ParsePoint(p.AppendTo(nil)))) },
		"Merge":           func(a newer.All, p newer.Point) { messages.Merge(a.NewPoint(), p) },
		"CopyInto":        func(a newer.All, p newer.Point) { messages.CopyInto(a.NewPoint(), p) },
		"Merge, as it is": func(a newer.All, p newer.Point) { messages.Merge(a.NewPoint(), older.Point(p)) },
		"plain": func(a newer.All, p newer.Point) {
			a.SetPoint(newer.NewPointOf(must(newer.ParsePointFields(p.AppendTo(nil)))))
		},
		"reflection":      func(a newer.All, p newer.Point) { must(0, reflection.Of(a).Set("point", p)) },
		"reflection, own": func(a newer.All, p newer.Point) { must(0, reflection.Of(a).Set("point", older.Point(p))) },
		"reflection, both": func(a newer.All, p newer.Point) {
			must(0, reflection.Of(a).Set("point", reflection.Of(older.Point(p))))
		},
		"texts": func(a newer.All, p newer.Point) {
			a.NewTree().SetName(fmt.Sprint(p, " ", nocopy.Struct(p).StringAs(newer.PointDesc), " ", string(must(json.Marshal(p)))))
		},
		"lookups": func(a newer.All, p newer.Point) {
			a.NewUnique(0).Add(p)
			a.NewByPoint().PutNew(p)
			_, found := a.GetByPoint().Get(p)
			a.NewTree().SetName(fmt.Sprint(a.GetUnique().Contains(p), found, p.Equal(a.GetUnique().At(0))))
		},
	}
	for state, p := range points() {
		for name, way := range ways {
			got, want := newer.NewAll(), newer.NewAll()
			own := newer.Point{}
			switch {
			case state == "absent":
				own = newer.NewAll().GetPoint()
			case p.Valid():
				own = newer.NewPoint()
				own.SetX(5)
			}
			wanted := panicOf(func() { way(want, own) })
			if text := panicOf(func() { way(got, newer.Point(p)) }); text != wanted {
				t.Errorf("%s, %s: panic %q, want %q", name, state, text, wanted)
			} else if got.String() != want.String() || !got.Equal(want) {
				t.Errorf("%s, %s:\n%v\n%v", name, state, got, want)
			}
		}
	}
}

// TestAlikeAll: the same for structs that contain themselves, unions, exceptions, large values and
// containers.
func TestAlikeAll(t *testing.T) {
	a := older.NewAll()
	tree := older.NewTree()
	tree.SetName("root")
	tree.NewChildren(1).At(0).SetName(strings.Repeat("large ", 10_000))
	tree.NewFirst().SetName("first")
	k := older.NewPoint()
	k.SetX(1)
	tree.NewByPoint().PutNew(k).SetName("by point")
	shape := older.NewShape()
	shape.NewParts(1).At(0).NewInner().NewCorner().SetX(7)
	paint := older.NewPaint()
	paint.SetColors([]older.Color{older.Color_GREEN})
	denied := older.NewDenied()
	denied.SetWhy("w")
	a.SetTree(tree)
	a.SetShape(shape)
	a.SetPaint(paint)
	a.SetDenied(denied)
	a.NewPoints(1).At(0).SetX(1)
	a.NewUnique(1).At(0).SetX(2)
	a.NewByName().PutNew("n").SetX(3)
	a.NewRows(1).NewAt(0, 1).At(0).SetX(4)

	b := newer.NewAll()
	b.SetTree(newer.Tree(tree))
	b.SetShape(newer.Shape(shape).Clone())
	b.SetPaint(newer.Paint(paint))
	b.SetDenied(newer.Denied(denied))
	b.SetPoints(nocopy.StructList[newer.Point](a.GetPoints()))
	b.SetUnique(nocopy.StructList[newer.Point](a.GetUnique()))
	for name, p := range a.GetByName().All() {
		b.NewByName().Put(name, newer.Point(p))
	}
	b.SetRows(nocopy.NestedList[nocopy.StructList[newer.Point]](a.GetRows()))
	if a.String() != b.String() || string(a.AppendTo(nil)) != string(b.AppendTo(nil)) {
		t.Errorf("%v\n%v", a, b)
	}
	for _, v := range [][2]any{
		{tree, newer.Tree(tree)}, {shape, newer.Shape(shape)}, {paint, newer.Paint(paint)}, {denied, newer.Denied(denied)},
	} {
		want, got := string(must(json.Marshal(v[0]))), string(must(json.Marshal(v[1])))
		if got != want || fmt.Sprintf("%+v", v[1]) != fmt.Sprintf("%+v", v[0]) {
			t.Errorf("%s\n%s", got, want)
		}
	}
	c := newer.Tree(must(older.ParseTree(tree.AppendTo(nil), nocopy.Lazy)))
	if text := string(must(json.Marshal(c))); text != string(must(json.Marshal(tree))) || c.Clone().String() != tree.String() {
		t.Error(text)
	}
	if err := json.Unmarshal([]byte(`{"name": "read"}`), &c); err != nil || older.Tree(c).GetName() != "read" {
		t.Errorf("%v, %v", c, err)
	}
}
