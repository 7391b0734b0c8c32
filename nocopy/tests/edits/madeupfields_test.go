package edits_test

import (
	"bytes"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// TestMadeUpFields calls every method of Struct, found by reflection, with fields that no
// generated code has, descriptors of other types and impossible numbers. The result is a value or
// a panic, but no fault, and other messages stay as they are.
func TestMadeUpFields(t *testing.T) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	r := rand.New(rand.NewPCG(7, 7))
	wire := soakWires()[0]
	bystander, err := engine.Parse(allDesc, wire)
	if err != nil {
		t.Fatal(err)
	}
	built := engine.New(allDesc)
	addToEveryField(built)
	want := bytes.Clone(built.Message().Bytes())

	methods := reflect.TypeFor[engine.Struct]()
	if n := methods.NumMethod(); n < 60 {
		t.Fatalf("only %d methods", n)
	}
	for i := range methods.NumMethod() {
		method := methods.Method(i)
		t.Run(method.Name, func(t *testing.T) {
			for range testmode.Of(300, 5_000) {
				h := hostileHandle(t, r, wire)
				args := []reflect.Value{reflect.ValueOf(h)}
				for k := 1; k < method.Type.NumIn(); k++ {
					args = append(args, hostileArgument(r, method.Type.In(k), h, bystander))
				}
				call(t, method, args)
			}
		})
	}
	if !bytes.Equal(bystander.Message().AppendTo(nil), wire) || !bytes.Equal(built.Message().AppendTo(nil), want) {
		t.Error("another message has changed")
	}
}

// addToEveryField sets a few fields.
func addToEveryField(s engine.Struct) {
	s.SetText(fieldNamed(allDesc, "text"), "text")
	s.SetInt64s(fieldNamed(allDesc, "numbers"), allDesc, []int64{1, 2, 3})
	s.NewChild(fieldNamed(allDesc, "self"), allDesc, 0)
}

// hostileHandle returns a handle of a new message, of a part of it, of a parsed one or of none.
func hostileHandle(t *testing.T, r *rand.Rand, wire []byte) engine.Struct {
	switch r.IntN(6) {
	case 0:
		return engine.Struct{}
	case 1:
		return engine.Absent()
	case 2:
		s, err := engine.Parse(allDesc, wire)
		if err != nil {
			t.Fatal(err)
		}
		return s
	case 3:
		s := engine.New(allDesc)
		addToEveryField(s)
		return s.Child(fieldNamed(allDesc, "numbers"), allDesc)
	case 4:
		s := engine.New(pointDesc)
		s.Release()
		return s
	}
	s := engine.New(allDesc)
	addToEveryField(s)
	return s
}

// hostileArgument returns a value of type t that a method may not expect.
func hostileArgument(r *rand.Rand, t reflect.Type, h, other engine.Struct) reflect.Value {
	pick := func(values ...any) reflect.Value { return reflect.ValueOf(values[r.IntN(len(values))]) }
	switch t {
	case reflect.TypeFor[schema.Ref]():
		f := allDesc.Field(r.IntN(len(allDesc.Fields())))
		return pick(f, f, schema.Ref(0), schema.Ref(math.MaxUint64), schema.Ref(r.Uint64()), f^schema.Ref(1)<<(48+r.IntN(16)),
			f^schema.Ref(1)<<r.IntN(48), pointDesc.Field(0))
	case reflect.TypeFor[*schema.Struct]():
		return pick(allDesc, allDesc, pointDesc, (*schema.Struct)(nil), schema.NewStruct("undefined"))
	case reflect.TypeFor[engine.Struct]():
		return pick(engine.Struct{}, h, other, engine.Absent())
	}
	switch t.Kind() {
	case reflect.Int:
		return pick(-1, 0, 3, math.MaxInt, math.MinInt)
	case reflect.Slice:
		return reflect.MakeSlice(t, r.IntN(4), 4)
	case reflect.String:
		return pick("", "text", strings.Repeat("long", 3000))
	}
	return reflect.Zero(t)
}

// call calls the method; a fault fails the test.
func call(t *testing.T, method reflect.Method, args []reflect.Value) {
	defer func() {
		p := recover()
		if fault, ok := p.(interface{ Addr() uintptr }); ok {
			t.Fatalf("fault at %#x: %v", fault.Addr(), p)
		}
	}()
	if method.Type.IsVariadic() {
		method.Func.CallSlice(args)
		return
	}
	method.Func.Call(args)
}
