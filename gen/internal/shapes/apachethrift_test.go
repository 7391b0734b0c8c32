package shapes_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/apache/thrift/lib/go/thrift"
	"github.com/nocopythrift/nocopythrift/gen/internal/shapes"
	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/apachethrift"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/referee/apachetest"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// TestOverApacheProtocols: every generated type, over every protocol and transport.
func TestOverApacheProtocols(t *testing.T) {
	sc, g := apachetest.NewSchema(), apachetest.NewGen(1)
	descs := apachetest.DescsOf("github.com/nocopythrift/nocopythrift/gen/internal/shapes")
	for _, d := range descs {
		t.Run(d.Name(), func(t *testing.T) {
			for range testmode.Of(2, 10) {
				rec := g.Record(sc.StructOf(d), 3)
				for _, w := range apachetest.Wires {
					apachetest.RoundTrip(t, w, d, rec)
				}
			}
		})
	}
	if len(descs) == 0 {
		t.Fatalf("no descriptors of %T", shapes.Point{})
	}
}

// TestWritePartsAndEdited: structs that are being built, parts of messages, and messages in
// several pieces.
func TestWritePartsAndEdited(t *testing.T) {
	o := shapes.NewOuter()
	o.NewOrigin().SetX(3)
	o.NewShape().SetRaw(bytes.Repeat([]byte("long"), 3000))
	o.NewLists().NewTexts(0).Append("a")
	o.SetAfter(9)
	o.GetLists().GetTexts().Append("b") // after the edit it is no longer in one piece
	part := o.GetShape()
	for _, w := range apachetest.Wires {
		var outer shapes.Outer
		if err := w.Read(t, w.Written(t, func(p thrift.TProtocol) error { return apachethrift.Write(context.Background(), p, o) }),
			func(p thrift.TProtocol) (err error) {
				outer, err = apachethrift.Read[shapes.Outer](context.Background(), p)
				return err
			}); err != nil {
			t.Fatal(w.Name, err)
		}
		if outer.String() != o.String() {
			t.Errorf("%s: %s, not %s", w.Name, outer, o)
		}
		var shape shapes.Shape
		if err := w.Read(t, w.Written(t, func(p thrift.TProtocol) error { return apachethrift.Write(context.Background(), p, part) }),
			func(p thrift.TProtocol) (err error) {
				shape, err = apachethrift.Read[shapes.Shape](context.Background(), p)
				return err
			}); err != nil {
			t.Fatal(w.Name, err)
		}
		if shape.String() != part.String() {
			t.Errorf("%s: %s, not %s", w.Name, shape, part)
		}
	}
}

// TestHandles: an absent struct is written as an empty one; a released one panics.
func TestHandles(t *testing.T) {
	var zero shapes.RequiredDefaults
	for name, s := range map[string]shapes.RequiredDefaults{"zero": zero, "absent": shapes.RequiredDefaults(thriftimpl.Absent())} {
		var got shapes.RequiredDefaults
		compact := apachetest.Wires[4]
		if err := compact.Read(t, compact.Written(t, func(p thrift.TProtocol) error { return apachethrift.Write(context.Background(), p, s) }),
			func(p thrift.TProtocol) error { return apachethrift.Struct(&got).Read(context.Background(), p) }); err != nil {
			t.Fatal(name, err)
		}
		want := shapes.NewRequiredDefaults()
		want.Message().Finish()
		if got.String() != want.String() {
			t.Errorf("%s: %s, not %s", name, got, want)
		}
	}
	gone := shapes.NewPoint()
	gone.Release()
	p := thrift.NewTCompactProtocolConf(thrift.NewTMemoryBuffer(), nil)
	for name, f := range map[string]func(){
		"nocopy: Point used after Release":                      func() { apachethrift.Write(context.Background(), p, gone) },
		"nocopy: apachethrift.Write of nil, or to nil":          func() { apachethrift.Write(context.Background(), p, nil) },
		"nocopy: apachethrift.Read from nil":                    func() { apachethrift.Read[shapes.Point](context.Background(), nil) },
		"nocopy: apachethrift.Struct of a nil pointer":          func() { apachethrift.Struct[shapes.Point](nil) },
		"nocopy: apachethrift.ToApache of nil, or to nil":       func() { apachethrift.ToApache(gone, nil) },
		"nocopy: apachethrift.FromApache of nil":                func() { apachethrift.FromApache[shapes.Point](nil) },
		"nocopy: apachethrift.NewProcessor without a Processor": func() { apachethrift.NewProcessor(nil, nocopy.Limits{}) },
		"nocopy: apachethrift.NewCaller without a TClient":      func() { apachethrift.NewCaller(nil) },
	} {
		func() {
			defer func() {
				if v := recover(); !strings.HasPrefix(fmt.Sprint(v), name) {
					t.Errorf("panic %v, not %s", v, name)
				}
			}()
			f()
		}()
	}
}
