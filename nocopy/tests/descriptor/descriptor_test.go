package descriptor_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/examples/quickstart/order"
	"github.com/nocopythrift/nocopythrift/nocopy/descriptor"
	_ "github.com/nocopythrift/nocopythrift/nocopy/tests/descriptor/v1"
	_ "github.com/nocopythrift/nocopythrift/nocopy/tests/descriptor/v2"
)

// TestTwoVersions: a name that two packages define gives an error that names both packages. A name
// that only one of them defines is found.
func TestTwoVersions(t *testing.T) {
	const packages = "github.com/nocopythrift/nocopythrift/nocopy/tests/descriptor/v"
	_, err := descriptor.FindStruct("twice.Same")
	var twice *descriptor.AmbiguousError
	if !errors.As(err, &twice) || !slices.Equal(twice.Packages, []string{packages + "1", packages + "2"}) {
		t.Errorf("%v", err)
	}
	for _, name := range []string{"twice.OnlyIn1", "twice.OnlyIn2", "order.Order"} {
		if s, err := descriptor.FindStruct(name); err != nil || !s.Valid() {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestNotFound(t *testing.T) {
	for _, name := range []string{"", ".", "Order", "order", "order.", "order.order", "Order.Order", "order.Order.", ".Order", "twice.Nothing"} {
		s, err := descriptor.FindStruct(name)
		if !errors.Is(err, descriptor.ErrNotFound) || s.Valid() {
			t.Errorf("struct %q: %v", name, err)
		}
		e, err := descriptor.FindEnum(name)
		if !errors.Is(err, descriptor.ErrNotFound) || e.Valid() {
			t.Errorf("enum %q: %v", name, err)
		}
		c, err := descriptor.FindConst(name)
		if !errors.Is(err, descriptor.ErrNotFound) || c.Valid() {
			t.Errorf("const %q: %v", name, err)
		}
		sv, err := descriptor.FindService(name)
		if !errors.Is(err, descriptor.ErrNotFound) || sv.Valid() {
			t.Errorf("service %q: %v", name, err)
		}
	}
}

func TestNoField(t *testing.T) {
	s := descriptor.StructOf(order.Order{})
	for _, id := range []int16{0, -1, 6, 32767, -32768} {
		if f, ok := s.ByID(id); ok {
			t.Errorf("field %d is %s", id, f.Name())
		}
	}
	for _, name := range []string{"", "Customer", "customers"} {
		if _, ok := s.ByName(name); ok {
			t.Errorf("there is a field %q", name)
		}
	}
	if _, ok := s.Annotation("none"); ok || s.Doc() != "" {
		t.Errorf("%q", s.Doc())
	}
}

func TestRequiredness(t *testing.T) {
	if got := fmt.Sprint(descriptor.Default, descriptor.Required, descriptor.Optional, descriptor.Requiredness(3)); got != "default required optional XRequiredness(3)" {
		t.Error(got)
	}
}

// TestZero: zero descriptions have no names and no contents.
func TestZero(t *testing.T) {
	var (
		s  descriptor.Struct
		e  descriptor.Enum
		c  descriptor.Const
		sv descriptor.Service
		ty descriptor.Type
		f  descriptor.Field
		v  descriptor.EnumValue
		m  descriptor.Method
	)
	if f.Name()+f.DefaultWire()+v.Name()+m.Name()+f.Doc()+v.Doc()+m.Doc() != "" || f.HasDefault() || f.ID() != 0 || f.Type().WireType() != 0 ||
		f.Struct().Valid() || v.Number() != 0 || m.Args().Valid() || m.Result().Valid() || !m.Oneway() {
		t.Error("a part of nothing has parts")
	}
	if _, ok := m.Returns(); ok {
		t.Error("nothing returns something")
	}
	for f := range m.Throws() {
		t.Error(f.Name())
	}
	for name, call := range map[string]func(){
		"StructOf": func() { descriptor.StructOf(nil) }, "Field": func() { s.Field(0) }, "-1": func() { descriptor.StructOf(order.Order{}).Field(-1) },
	} {
		func() {
			defer func() {
				if p := fmt.Sprint(recover()); !strings.HasPrefix(p, "nocopy: ") {
					t.Errorf("%s: %s", name, p)
				}
			}()
			call()
		}()
	}
	if s.Valid() || e.Valid() || c.Valid() || sv.Valid() || s.Name()+e.Name()+c.Name()+sv.Name()+sv.Extends()+c.Wire() != "" {
		t.Error("nothing has a name")
	}
	for f := range s.Fields() {
		t.Error(f.Name())
	}
	for v := range e.Values() {
		t.Error(v.Name())
	}
	for m := range sv.Methods() {
		t.Error(m.Name())
	}
	for a := range s.Annotations() {
		t.Error(a)
	}
	_, byName := s.ByName("x")
	_, byID := s.ByID(0)
	_, value := e.ByName("x")
	_, number := e.ByNumber(0)
	_, method := sv.ByName("x")
	if byName || byID || value || number || method || s.NumFields() != 0 || s.Shape() != descriptor.ShapeStruct {
		t.Error("nothing has parts")
	}
	if ty.WireType() != 0 || ty.IsBinary() || ty.Struct().Valid() || ty.Enum().Valid() || ty.String() != "none" || c.Type().String() != "none" {
		t.Errorf("a type of nothing: %v", ty)
	}
}
