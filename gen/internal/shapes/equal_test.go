package shapes_test

import (
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nocopythrift/nocopythrift/gen/internal/shapes"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/descriptor"
	"github.com/nocopythrift/nocopythrift/nocopy/messages"
)

// TestEqualMethods: the method Equal of structs, lists, sets and maps of all types gives the same
// result as messages.Equal, also for absent ones.
func TestEqualMethods(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	called := map[reflect.Type]bool{}
	for range 20 {
		sameMethods(t, rnd, called, shapes.ParseLists)
		sameMethods(t, rnd, called, shapes.ParseSets)
		sameMethods(t, rnd, called, shapes.ParseMaps)
	}
	if len(called) < 35 {
		t.Errorf("%d types have a method Equal", len(called))
	}
}

func sameMethods[S nocopy.AnyStruct](t *testing.T, rnd *rand.Rand, called map[reflect.Type]bool, parse func([]byte, ...nocopy.Option) (S, error)) {
	t.Helper()
	var zero S
	var all []S
	for range 2 {
		s, err := parse(randomMessage(t, rnd, descriptor.StructOf(zero)))
		if err != nil {
			t.Fatal(err)
		}
		again, err := parse(messageOf(s))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, s, again)
	}
	all = append(all, zero)
	for _, a := range all {
		for _, b := range all {
			sameEqual(t, called, reflect.ValueOf(a), reflect.ValueOf(b))
			for i := range reflect.TypeOf(a).NumMethod() {
				m := reflect.TypeOf(a).Method(i)
				if !strings.HasPrefix(m.Name, "Get") {
					continue
				}
				x, y := reflect.ValueOf(a).Method(i).Call(nil)[0], reflect.ValueOf(b).Method(i).Call(nil)[0]
				if _, ok := x.Interface().(nocopy.AnyHandle); ok {
					sameEqual(t, called, x, y)
				}
			}
		}
	}
}

func messageOf(s nocopy.AnyStruct) []byte { return s.ThriftStruct().AppendStruct(nil, s.ThriftDesc()) }

// sameEqual compares the result of x.Equal(y) with that of messages.Equal.
func sameEqual(t *testing.T, called map[reflect.Type]bool, x, y reflect.Value) {
	t.Helper()
	called[x.Type()] = true
	have := x.MethodByName("Equal").Call([]reflect.Value{y})[0].Bool()
	if want := messages.Equal(x.Interface().(nocopy.AnyHandle), y.Interface().(nocopy.AnyHandle)); have != want {
		t.Errorf("%v: %t, not %t: %v, %v", x.Type(), have, want, x, y)
	}
}

// TestEqualByCmp: without options, package cmp compares messages by their method Equal.
func TestEqualByCmp(t *testing.T) {
	a, b := shapes.NewLists(), shapes.NewLists()
	a.SetReals([]float64{0, 1})
	b.SetReals([]float64{math.Copysign(0, -1), 1})
	if !cmp.Equal(a, b) || !cmp.Equal(a.GetReals(), b.GetReals()) || !a.Equal(b) {
		t.Error("equal messages are different")
	}
	b.GetReals().Set(1, math.NaN())
	if cmp.Equal(a, b) || b.Equal(b) || b.GetReals().Equal(b.GetReals()) {
		t.Error("NaN is equal")
	}
}
