package released_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/nocopythrift/nocopythrift/gen/internal/released/v1.0.0-rc.1/fields/services"
	"github.com/nocopythrift/nocopythrift/gen/internal/released/v1.0.0-rc.1/fields/services/parent"
	own "github.com/nocopythrift/nocopythrift/gen/internal/released/v1.0.0-rc.1/fields/shapes"
	lintedservices "github.com/nocopythrift/nocopythrift/gen/internal/released/v1.0.0-rc.1/golint/services"
	linted "github.com/nocopythrift/nocopythrift/gen/internal/released/v1.0.0-rc.1/golint/shapes"
	headservices "github.com/nocopythrift/nocopythrift/gen/internal/services"
	headparent "github.com/nocopythrift/nocopythrift/gen/internal/services/parent"
	head "github.com/nocopythrift/nocopythrift/gen/internal/shapes"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/messages"
	"github.com/nocopythrift/nocopythrift/nocopy/reflection"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// The tests in this file use what few IDLs have: a struct of many fields, a union that contains
// itself, structs of another file as keys; and code with -golint. Each is set, read, and handed to
// code of the head and back.

// handed checks that the head's struct b has the contents of a, and that JSON and texts agree.
func handed(t *testing.T, a, b nocopy.AnyStruct) {
	t.Helper()
	if !messages.Equal(a, b) {
		t.Errorf("not equal: %v\n%v", a, b)
	}
	x, err := json.Marshal(a)
	y, also := json.Marshal(b)
	if err != nil || also != nil || string(x) != string(y) {
		t.Errorf("JSON: %s, %v\n%s, %v", x, err, y, also)
	}
	for f, v := range reflection.Of(a).Range() {
		if w, err := reflection.Of(b).Get(f.Name()); err != nil || v.String() != w.String() {
			t.Errorf("%s: %v, %v, %v", f.Name(), v, w, err)
		}
	}
}

// TestWide: a struct with more fields than an entry of the index has words.
func TestWide(t *testing.T) {
	a := own.NewWide()
	a.SetNumber1(1)
	a.SetText2("two")
	a.SetLarge4(1 << 40)
	a.NewPoint5().SetX(5)
	a.NewShape14().SetLabel("fourteen")
	a.SetUnique15([]string{"a", "b"})
	a.SetNumber17(17)
	a.SetText18("eighteen")
	a.SetReal23(2.5)
	a.SetBlob24([]byte{2, 4})
	a.NewCounts25().Put("x", 25)
	a.SetNumber33(33)
	a.SetColor42(own.Color_BLUE)
	a.SetTiny43(-43)
	a.SetSmall44(44)
	a.SetKey45(own.ID())
	a.SetNumbers54([]int64{5, 4})
	a.SetFlag51(true)
	a.NewPoints64(2).At(1).SetX(64)
	check := func(what string, b head.Wide) {
		t.Helper()
		if b.GetNumber1() != 1 || b.GetText2() != "two" || b.GetLarge4() != 1<<40 || b.GetPoint5().GetX() != 5 ||
			b.GetShape14().GetLabel() != "fourteen" || b.GetUnique15().At(1) != "b" || b.GetNumber17() != 17 ||
			b.GetText18() != "eighteen" || b.GetReal23() != 2.5 || string(b.GetBlob24()) != "\x02\x04" || b.GetNumber33() != 33 ||
			b.GetColor42() != head.Color_BLUE || b.GetTiny43() != -43 || b.GetSmall44() != 44 || b.GetKey45() != head.ID() ||
			b.GetNumbers54().At(0) != 5 || !b.GetFlag51() || b.GetPoints64().At(1).GetX() != 64 {
			t.Errorf("%s: %v", what, b)
		}
		if n, ok := b.GetCounts25().Get("x"); n != 25 || !ok || b.IsSetText50() || b.GetText34() != "text" || b.GetNumber49() != -7 {
			t.Errorf("%s: %v", what, b)
		}
		handed(t, a, b)
	}
	check("converted", head.Wide(a))
	check("cloned", head.Wide(a).Clone())
	for _, opts := range [][]nocopy.Option{nil, {nocopy.Lazy}, {nocopy.ByIndex}} {
		b, err := head.ParseWide(a.AppendTo(nil), opts...)
		if err != nil {
			t.Fatal(err)
		}
		check("parsed", b)
		check("parsed and converted", head.Wide(own.Wide(b)).Clone())
	}
	merged := head.NewWide()
	messages.Merge(merged, a)
	check("merged", merged)

	var v head.WideFields
	if err := v.Parse(a.AppendTo(nil)); err != nil || v.Points64[1].X != 64 || v.Numbers54[1] != 4 {
		t.Fatalf("%v, %v", v, err)
	}
	var w own.WideFields
	if err := w.Parse(v.AppendTo(nil)); err != nil {
		t.Fatal(err)
	}
	if b := own.NewWideOf(w); b.GetText18() != "eighteen" || b.GetPoints64().At(1).GetX() != 64 || b.IsSetShape14() {
		t.Errorf("%v", b)
	}

	b := head.Wide(a)
	b.UnsetText18()
	b.SetText50("fifty")
	b.SetNumber17(-17)
	if a.IsSetText18() || a.GetText50() != "fifty" || a.GetNumber17() != -17 {
		t.Errorf("changed by code of the head: %v", a)
	}
}

// TestNest: a union that contains itself.
func TestNest(t *testing.T) {
	a := own.NewNest()
	many := a.NewInner().NewMany(2)
	many.At(0).SetLeaf(1)
	many.At(1).NewNamed().PutNew("n").SetLeaf(2)
	check := func(what string, b head.Nest) {
		t.Helper()
		m := b.GetInner().GetMany()
		n, ok := m.At(1).GetNamed().Get("n")
		if b.Which() != head.Nest_Inner || m.At(0).Which() != head.Nest_Leaf || m.At(0).GetLeaf() != 1 || n.GetLeaf() != 2 || !ok {
			t.Errorf("%s: %v", what, b)
		}
		handed(t, a, b)
	}
	check("converted", head.Nest(a))
	check("cloned", head.Nest(a).Clone())
	b, err := head.ParseNest(a.AppendTo(nil))
	if err != nil {
		t.Fatal(err)
	}
	check("parsed", b)
	merged := head.NewNest()
	messages.Merge(merged, a)
	check("merged", merged)

	outer := head.NewNest()
	outer.SetInner(head.Nest(a)) // a root of the other package
	check("set", outer.GetInner())
	outer.NewMany(0).Append(head.Nest(a))
	outer.GetMany().Append(head.Nest(a.GetInner())) // a part
	if outer.GetMany().At(1).GetMany().At(0).GetLeaf() != 1 {
		t.Error(outer)
	}
	outer.NewNamed().Put("k", head.Nest(a))
	if got, _ := outer.GetNamed().Get("k"); !messages.Equal(got, a) {
		t.Error(outer)
	}
}

// TestKeys: structs of another file as keys of maps and elements of sets.
func TestKeys(t *testing.T) {
	a := services.NewLedger()
	point := own.NewPoint()
	point.SetX(1)
	shape := own.NewShape()
	shape.SetLabel("round")
	denied := parent.NewDenied()
	denied.SetWhy("why")
	a.NewNames().Put(point, "one")
	a.NewPoints().PutNew(shape).SetX(2)
	a.NewRefusals().PutNew(denied, 1).At(0).SetX(3)
	a.NewUnique(0).Add(point)
	a.NewColors().Put(own.Color_BLUE, denied)
	check := func(what string, b headservices.Ledger) {
		t.Helper()
		name, ok := b.GetNames().Get(head.Point(point)) // a key of the other package
		p, found := b.GetPoints().Get(head.Shape(shape))
		list, listed := b.GetRefusals().Get(headparent.Denied(denied))
		if name != "one" || !ok || p.GetX() != 2 || !found || list.At(0).GetX() != 3 || !listed || !b.GetUnique().Contains(head.Point(point)) {
			t.Errorf("%s: %v", what, b)
		}
		if d, ok := b.GetColors().Get(head.Color_BLUE); d.GetWhy() != "why" || !ok {
			t.Errorf("%s: %v", what, b)
		}
		handed(t, a, b)
	}
	check("converted", headservices.Ledger(a))
	check("cloned", headservices.Ledger(a).Clone())
	b, err := headservices.ParseLedger(a.AppendTo(nil))
	if err != nil {
		t.Fatal(err)
	}
	check("parsed", b)
	merged := headservices.NewLedger()
	messages.Merge(merged, a)
	check("merged", merged)

	c := headservices.NewLedger()
	c.NewNames().Put(head.Point(point), "one")
	c.NewPoints().PutNew(head.Shape(shape)).SetX(2)
	c.NewRefusals().PutNew(headparent.Denied(denied), 1).At(0).SetX(3)
	c.SetUnique(nocopy.StructList[head.Point](a.GetUnique()))
	c.SetColors(nocopy.StructMap[head.Color, headparent.Denied, thriftimpl.AsEnum[head.Color]](a.GetColors()))
	check("set", c)
}

// TestRoots: the root of a message of one package is taken as a struct by setters of the other.
func TestRoots(t *testing.T) {
	a := filled()
	p := own.NewPoint()
	p.SetX(8)
	b := head.NewOuter()
	b.SetOrigin(head.Point(p))
	b.NewLists().NewPoints(0).Append(head.Point(p))
	b.SetTree(head.Tree(a.GetTree().Clone()))
	b.NewRefused().SetWhere(head.Point(p))
	if b.GetOrigin().GetX() != 8 || b.GetLists().GetPoints().At(0).GetX() != 8 || b.GetTree().GetChildren().At(0).GetName() != "leaf" ||
		b.GetRefused().GetWhere().GetX() != 8 {
		t.Error(b)
	}
	handed(t, a, head.Outer(a))
	handed(t, a, head.Outer(a).Clone())
	handed(t, b, own.Outer(b).Clone())
}

// TestLinted: code with -golint has other names for the same fields.
func TestLinted(t *testing.T) {
	a := linted.NewOuter()
	messages.Merge(a, filled())
	handed(t, a, head.Outer(a))
	handed(t, a, own.Outer(a).Clone())
	w := linted.NewWide()
	w.SetText50("fifty")
	handed(t, w, head.Wide(w).Clone())
	n := linted.NewNest()
	n.NewInner().SetLeaf(1)
	handed(t, n, own.Nest(n).Clone())
	o := linted.NewOddNames()
	o.SetUserID(5)
	handed(t, o, own.OddNames(o))
	l := lintedservices.NewLedger()
	p := linted.NewPoint()
	p.SetX(1)
	l.NewNames().Put(p, "one")
	handed(t, l, headservices.Ledger(l).Clone())
	d := linted.NewRequiredDefaults()
	handed(t, d, head.NewRequiredDefaults())
	handed(t, d, head.RequiredDefaults(d))
	var f linted.RequiredFieldsFields
	m := linted.NewRequiredFields()
	m.SetWords([]string{"a"})
	if err := f.Parse(m.AppendTo(nil)); err == nil && !slices.Equal(f.Words, []string{"a"}) {
		t.Errorf("%v, %v", f, err)
	}
}
