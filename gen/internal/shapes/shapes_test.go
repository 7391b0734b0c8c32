package shapes_test

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nocopythrift/nocopythrift/gen/internal/shapes"
	"github.com/nocopythrift/nocopythrift/nocopy"
)

// TestDefaults: unset fields read as the IDL's defaults.
func TestDefaults(t *testing.T) {
	s := shapes.NewOptionalDefaults()
	defer s.Release()
	if s.IsSetFlag() || s.IsSetText() || s.IsSetPoint() {
		t.Error("a field of a new message is set")
	}
	id, err := nocopy.ParseUUID("00112233-4455-6677-8899-aabbccddeeff")
	if err != nil {
		t.Fatal(err)
	}
	got := []any{s.GetFlag(), s.GetTiny(), s.GetSmall(), s.GetMedium(), s.GetLarge(), s.GetReal(), s.GetText(), string(s.GetBlob()),
		s.GetKey(), s.GetColor(), s.GetPoint().GetX(), s.GetPoint().GetY(), s.GetShape().GetRadius(), s.GetNumbers().At(2), s.GetWords().At(1)}
	want := []any{true, int8(-8), int16(-1600), int32(320000), int64(-6400000000), 2.5, "héllo\n", "bytes",
		id, shapes.Color_GREEN, int32(3), int32(4), 1.5, int64(3), "b"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestConstants(t *testing.T) {
	if got := shapes.PRIMES().Len(); got != 4 {
		t.Errorf("PRIMES has %d elements", got)
	}
	if got := shapes.COLORS().Len(); got != 2 {
		t.Errorf("COLORS, which names one twice, has %d elements", got)
	}
	path, ok := shapes.PATHS().Get("a")
	if !ok || path.Len() != 2 || path.At(1).GetX() != 1 {
		t.Errorf("PATHS is %v", shapes.PATHS())
	}
	if got := shapes.CIRCLE(); got.Which() != shapes.Shape_Radius || got.GetRadius() != 0.5 {
		t.Errorf("CIRCLE is %v", got)
	}
}

func TestEnum(t *testing.T) {
	if got := shapes.Color_VERT.String(); got != "GREEN" {
		t.Errorf("VERT, another GREEN, prints %s", got)
	}
	if got := shapes.Color(7).String(); got != "Color(7)" {
		t.Errorf("an unknown colour prints %s", got)
	}
	for _, name := range []string{"RED", "GREEN", "VERT", "BLUE", "NONE"} {
		if _, err := shapes.ParseColor(name); err != nil {
			t.Error(err)
		}
	}
	if _, err := shapes.ParseColor("PINK"); err == nil {
		t.Error("PINK is a colour")
	}
}

func TestUnion(t *testing.T) {
	s := shapes.NewShape()
	defer s.Release()
	s.SetLabel("square")
	s.SetRadius(2)
	if s.Which() != shapes.Shape_Radius || s.IsSetLabel() || s.GetRadius() != 2 {
		t.Errorf("after the second arm was set: %v, which %d", s, s.Which())
	}
	s.UnsetRadius()
	if s.Which() != 0 {
		t.Errorf("after it was unset: which %d", s.Which())
	}
}

// TestUnionFromHandle: an arm is set to the contents of another arm, and a stale handle leaves the
// union unchanged.
func TestUnionFromHandle(t *testing.T) {
	s := shapes.NewShape()
	defer s.Release()
	s.NewOutline(2).At(1).SetX(7)
	s.SetCorner(s.GetOutline().At(1))
	if s.Which() != shapes.Shape_Corner || s.GetCorner().GetX() != 7 {
		t.Errorf("a corner of the outline: %v, which %d", s, s.Which())
	}
	other := shapes.NewShape()
	dead := other.NewWeights()
	other.Release()
	func() {
		defer func() { recover() }()
		s.SetWeights(dead)
		t.Error("no panic")
	}()
	if s.Which() != shapes.Shape_Corner || s.GetCorner().GetX() != 7 {
		t.Errorf("after a panic: %v, which %d", s, s.Which())
	}
}

// TestRoundTrip builds a message of nested shapes and parses its bytes.
func TestRoundTrip(t *testing.T) {
	m := shapes.NewMaps()
	defer m.Release()
	m.NewToPoints().PutNew("p").SetX(4)
	m.NewNested().PutNew("a", 1).Put("b", 5)
	m.NewByRow()
	m.NewToColors().Put("sky", shapes.Color_BLUE)
	got, err := shapes.ParseMaps(m.Message().Bytes())
	if err != nil {
		t.Fatal(err)
	}
	defer got.Release()
	if diff := cmp.Diff(m.String(), got.String()); diff != "" {
		t.Errorf("(-built +parsed):\n%s", diff)
	}
	if p, ok := got.GetToPoints().Get("p"); !ok || p.GetX() != 4 {
		t.Errorf("p is %v", p)
	}
	if inner, _ := got.GetNested().Get("a"); inner.Len() != 1 {
		t.Errorf("a is %v", inner)
	}
}

func TestException(t *testing.T) {
	e := shapes.NewRefused()
	defer e.Release()
	e.SetReason("late")
	const text = `Refused{reason: "late", code: 0}`
	var err error = e
	for _, got := range []string{err.Error(), e.String(), fmt.Sprint(err),
		fmt.Sprintf("%#v", err), errors.Unwrap(fmt.Errorf("wrapped: %w", err)).Error()} {
		if got != text {
			t.Errorf("%s, want %s", got, text)
		}
	}
	if got := fmt.Errorf("wrapped: %w", err).Error(); got != "wrapped: "+text {
		t.Error(got)
	}
	if got := fmt.Sprint(shapes.Refused{}); got != "<none>" {
		t.Errorf("the zero handle: %s", got)
	}
}

// TestZeroHandles calls every method of every generated type on its zero value. Methods that read
// return empty values; methods that change panic with a text of the runtime.
func TestZeroHandles(t *testing.T) {
	for _, h := range []any{
		shapes.PlainFields{}, shapes.OptionalFields{}, shapes.RequiredFields{}, shapes.PlainDefaults{}, shapes.OptionalDefaults{},
		shapes.RequiredDefaults{}, shapes.Shape{}, shapes.Point{}, shapes.Refused{}, shapes.OddNames{}, shapes.Outer{},
	} {
		v := reflect.ValueOf(h)
		for i := range v.NumMethod() {
			name := v.Type().Method(i).Name
			var args []reflect.Value
			for k := range v.Method(i).Type().NumIn() {
				in := v.Method(i).Type().In(k)
				args = append(args, reflect.Zero(in))
				if in.Kind() == reflect.Func && in.NumOut() > 0 { // nil would panic with another text
					zeros := []reflect.Value{reflect.Zero(in.Out(0))}
					args[k] = reflect.MakeFunc(in, func([]reflect.Value) []reflect.Value { return zeros })
				}
			}
			func() {
				defer func() {
					text, isText := recover().(string)
					changes := !strings.HasPrefix(name, "Unmarshal") && regexp.MustCompile("^(Set|New|Unset)").MatchString(name)
					if changes != (isText && strings.Contains(text, ": setter called on an absent")) {
						t.Errorf("%T.%s panics with %q", h, name, text)
					}
				}()
				if v.Method(i).Type().IsVariadic() {
					v.Method(i).CallSlice(args)
				} else {
					v.Method(i).Call(args)
				}
			}()
		}
	}
	var orders map[string]shapes.OptionalDefaults
	if got := orders["none"]; got.GetSmall() != -1600 || got.GetPoint().GetX() != 3 || got.GetWords().At(1) != "b" || got.GetPoint().Valid() {
		t.Error("what is missing in a Go map does not read as absent")
	}
}
