package released_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nocopythrift/nocopythrift/gen/internal/released/v1.0.0-rc.1/fields/services"
	"github.com/nocopythrift/nocopythrift/gen/internal/released/v1.0.0-rc.1/fields/services/parent"
	own "github.com/nocopythrift/nocopythrift/gen/internal/released/v1.0.0-rc.1/fields/shapes"
	linted "github.com/nocopythrift/nocopythrift/gen/internal/released/v1.0.0-rc.1/golint/shapes"
	headservices "github.com/nocopythrift/nocopythrift/gen/internal/services"
	headparent "github.com/nocopythrift/nocopythrift/gen/internal/services/parent"
	head "github.com/nocopythrift/nocopythrift/gen/internal/shapes"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/dynamic"
	"github.com/nocopythrift/nocopythrift/nocopy/messages"
	"github.com/nocopythrift/nocopythrift/nocopy/nocopycmp"
	"github.com/nocopythrift/nocopythrift/nocopy/reflection"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// The tests in this file hand messages of the version in this folder to code of the head, which
// has the same IDL and possibly more, and back.

// filled returns a message with values of all kinds.
func filled() own.Outer {
	s := own.NewOuter()
	s.NewOrigin().SetX(-7)
	s.NewShape().SetLabel("round")
	l := s.NewLists()
	l.SetFlags([]bool{true, false})
	l.SetTinies([]int8{-1, 2})
	l.SetSmalls([]int16{-300})
	l.SetMediums([]int32{70000})
	l.SetLarges([]int64{1 << 40})
	l.SetReals([]float64{0.5, -2})
	l.SetTexts([]string{"a", "", "c"})
	l.NewBlobs(1).Set(0, []byte{0, 255})
	l.SetKeys([]nocopy.UUID{own.ID()})
	l.SetColors([]own.Color{own.Color_BLUE, own.Color_NONE})
	l.NewPoints(2).At(1).SetY(9)
	l.NewShapes(1).At(0).NewWeights().Put("w", 3)
	l.NewMatrix(1).NewAt(0, 2).Set(1, 5)
	s.NewRefused().SetReason("why not")
	s.NewTree().SetName("root")
	s.GetTree().NewChildren(1).At(0).SetName("leaf")
	s.SetAfter(11)
	return s
}

// TestBytes: bytes and texts of one are those of the other.
func TestBytes(t *testing.T) {
	a := filled()
	b, err := head.ParseOuter(a.Message().Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if a.String() != b.String() || !messages.Equal(a, b) {
		t.Errorf("%v\n%v", a, b)
	}
	c, err := own.ParseOuter(b.AppendTo(nil), nocopy.Lazy)
	if err != nil || !a.Equal(c) || c.GetLists().GetShapes().At(0).Which() != own.Shape_Weights {
		t.Errorf("%v, %v", c, err)
	}
	if diff := cmp.Diff(a, c, nocopycmp.Transform()); diff != "" {
		t.Error(diff)
	}
	c.GetLists().GetTexts().Set(1, "edited")
	if again, err := head.ParseOuter(c.Message().Bytes()); err != nil || again.GetLists().GetTexts().At(1) != "edited" {
		t.Errorf("%v, %v", again, err)
	}
}

// TestMessage: a message goes from one to the other as it is. Parts of it do, too.
func TestMessage(t *testing.T) {
	a := filled()
	b := head.Outer(a.Message().Root())
	if b.GetOrigin().GetX() != -7 || b.GetShape().GetLabel() != "round" || b.GetShape().Which() != head.Shape_Label {
		t.Errorf("%v", b)
	}
	b.SetAfter(12)
	b.NewShape().SetRadius(2)
	if a.GetAfter() != 12 || a.GetShape().GetRadius() != 2 || a.GetShape().Which() != own.Shape_Radius {
		t.Errorf("%v", a)
	}
	c := head.NewOuter()
	messages.Merge(c, a)
	c.SetOrigin(head.Point(a.GetOrigin()))
	c.SetLists(head.Lists(a.GetLists()))
	if !messages.Equal(a, c) {
		t.Errorf("%v\n%v", a, c)
	}
}

// TestPlain: Go structs of plain values of one are made from bytes of the other.
func TestPlain(t *testing.T) {
	a := filled()
	var v head.OuterFields
	if err := v.Parse(a.Message().Bytes()); err != nil || v.Lists.Texts[2] != "c" || v.Refused.Value.Reason != "why not" {
		t.Fatalf("%v, %v", v, err)
	}
	var w own.OuterFields
	if err := w.Parse(v.AppendTo(nil)); err != nil || !slices.Equal(w.Lists.Larges, []int64{1 << 40}) || w.Tree.Children[0].Name != "leaf" {
		t.Fatalf("%v, %v", w, err)
	}
	if m := own.NewOuterOf(w); m.GetAfter() != 11 || m.GetLists().GetPoints().At(1).GetY() != 9 {
		t.Errorf("%v", m)
	}
	n := 0
	err := own.ParseTreeBy(&own.TreeFields{}, own.TreeBy{Children: func(_ int, v *own.TreeFields) error { n++; return nil }},
		a.GetTree().AppendTo(nil))
	if err != nil || n != 1 {
		t.Errorf("%d, %v", n, err)
	}
}

// TestReflection: reflection finds in one what it finds in the other; JSON is the same.
func TestReflection(t *testing.T) {
	a := filled()
	b, err := head.ParseOuter(a.Message().Bytes())
	if err != nil {
		t.Fatal(err)
	}
	for f, v := range reflection.Of(a).Range() {
		w, err := reflection.Of(b).Get(f.Name())
		if err != nil || v.String() != w.String() {
			t.Errorf("%s: %v, %v, %v", f.Name(), v, w, err)
		}
	}
	text, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	c := head.NewOuter()
	if err := json.Unmarshal(text, &c); err != nil || !b.Equal(c) {
		t.Errorf("%v, %v\n%s", c, err, text)
	}
	if err := reflection.Of(a).Set("after", 13); err != nil || a.GetAfter() != 13 {
		t.Errorf("%v, %v", a, err)
	}
}

// TestConstants: constants, defaults and names of enums.
func TestConstants(t *testing.T) {
	if own.ORIGIN().String() != head.ORIGIN().String() || own.PRIMES().At(2) != 5 || own.GREETING != head.GREETING {
		t.Error(own.ORIGIN(), own.PRIMES())
	}
	if s := own.NewRequiredDefaults(); s.GetPoint().GetY() != 4 || s.GetText() != "héllo\n" || s.GetColor() != own.Color_GREEN {
		t.Error(s)
	}
	if c, err := own.ParseColor("BLUE"); c != own.Color_BLUE || err != nil || len(own.ColorValues()) == 0 {
		t.Error(c, err)
	}
	m := own.NewMaps()
	m.SetToLargesMap(map[string]int64{"a": 1, "b": 2})
	if got := maps.Collect(m.GetToLarges().All()); !maps.Equal(got, map[string]int64{"a": 1, "b": 2}) {
		t.Error(got)
	}
	o := linted.NewOddIDs()
	o.SetTop(3)
	if p, err := head.ParseOddIDs(o.Message().Bytes()); err != nil || p.GetTop() != 3 {
		t.Error(p, err)
	}
}

func dial(t *testing.T, p *rpc.Processor) *rpc.Client {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := &rpc.Server{Processor: p, Describe: true}
	go srv.Serve(l)
	c, err := rpc.Dial(t.Context(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Close()
		srv.Shutdown(bg)
	})
	return c
}

// headHandler is a handler of the head for the methods that TestCalls calls.
type headHandler struct {
	headservices.UnimplementedSameHandler
}

func (headHandler) AUnion(_ context.Context, args headservices.AllAUnionArgs, result headservices.AllAUnionResult) error {
	result.SetSuccess(args.GetV())
	return nil
}

func (headHandler) Maybe(_ context.Context, args headservices.AllMaybeArgs, result headservices.AllMaybeResult) error {
	result.NewDenied().SetWhy("head")
	return nil
}

// Many returns an exception of the other package.
func (headHandler) Many(context.Context, headservices.AllManyArgs, headservices.AllManyResult) error {
	e := parent.NewDenied()
	e.SetWhy("of the other package")
	return fmt.Errorf("wrapped: %w", e)
}

// TestCalls: clients of one call servers of the other.
func TestCalls(t *testing.T) {
	c := headservices.NewSameClient(dial(t, services.NewSameProcessor(handler{})))
	r, err := c.AUnion(bg, func(args headservices.AllAUnionArgs) { args.NewV().NewCorner().SetX(3) })
	if err != nil || r.GetSuccess().GetCorner().GetX() != 3 {
		t.Errorf("%v, %v", r, err)
	}
	var denied headparent.Denied
	if _, err := c.Count(bg, func(args headparent.MiddleCountArgs) { args.SetWhat("secrets") }); !errors.As(err, &denied) || denied.GetWhy() == "" {
		t.Errorf("an exception of an inherited method: %v", err)
	}

	raw := dial(t, headservices.NewSameProcessor(headHandler{}))
	d := services.NewSameClient(raw)
	s, err := d.AUnion(bg, func(args services.AllAUnionArgs) { args.NewV().SetNumbers([]int64{4, 5}) })
	if err != nil || s.GetSuccess().GetNumbers().At(1) != 5 {
		t.Errorf("%v, %v", s, err)
	}
	var why parent.Denied
	if _, err := d.Maybe(bg, nil); !errors.As(err, &why) || why.GetWhy() != "head" {
		t.Errorf("an exception: %v", err)
	}
	if _, err := d.Many(bg, func(args services.AllManyArgs) { args.SetType("x") }); !errors.As(err, &why) || why.GetWhy() != "of the other package" {
		t.Errorf("an exception of the other package: %v", err)
	}
	if _, err := d.ABool(bg, nil); err == nil || !strings.Contains(err.Error(), "aBool") {
		t.Errorf("a method that the server does not have: %v", err)
	}
}

// TestDescribe: a server of generated code with -reflect tells its IDL.
func TestDescribe(t *testing.T) {
	s, err := dynamic.Describe(t.Context(), dial(t, services.NewSameProcessor(handler{})))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Service("Same"); err != nil {
		t.Error(err)
	}
}
