package nocopy

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"runtime/debug"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
)

// TestMadeUpRows calls the methods of XRow, found by reflection, in any order, with fields,
// descriptors and offsets that no generated code has. What comes of it is a message or a panic,
// but no fault, and other messages stay as they are.
func TestMadeUpRows(t *testing.T) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	r := rand.New(rand.NewPCG(testmode.Seed(t), 7))
	wire := soakWires()[0]
	bystander, err := parseStruct(allDesc, wire)
	if err != nil {
		t.Fatal(err)
	}
	var methods []reflect.Method
	rows := reflect.TypeFor[*XRow]()
	for i := range rows.NumMethod() {
		methods = append(methods, rows.Method(i))
	}
	if len(methods) < 40 {
		t.Fatalf("only %d methods", len(methods))
	}
	ended, sum, wide := 0, 0, int64(1)<<32 // more than 32 bits, where there are as many
	for range testmode.Of(1000, 50_000) {
		// Blocks at the tail begin where one of these has ended.
		before := newRoot(allDesc)
		before.SetText(fieldNamed(allDesc, "text"), "before")
		want := before.m.AppendTo(nil)
		other, _ := parseStruct(allDesc, wire)
		row := new(XRow)
		at, begun := 0, hostileHandle(t, r, wire)
		noFault(t, func() {
			switch r.IntN(4) {
			case 0:
				at = row.New(allDesc)
			case 1:
				at = row.Into(begun, allDesc)
			case 2:
				at = row.Rows(begun, fieldNamed(allDesc, "points"), allDesc, r.IntN(4))
			}
		})
		var root XStruct
		for range 1 + r.IntN(10) {
			method := methods[r.IntN(len(methods))]
			args := []reflect.Value{reflect.ValueOf(row)}
			for k := 1; k < method.Type.NumIn(); k++ {
				in := method.Type.In(k)
				arg := hostileArgument(r, in, begun, other)
				switch {
				case in.Kind() == reflect.Int && k == 1 && r.IntN(3) > 0:
					arg = reflect.ValueOf(at)
				case in.Kind() == reflect.Int && k == 1 && r.IntN(3) > 0:
					arg = reflect.ValueOf(at + []int{-1, 1, -30, 1 << 12, 1 << 20, int(wide - 1), int(-wide)}[r.IntN(7)])
				case in.Kind() == reflect.Uint32:
					arg = reflect.ValueOf([]uint32{0, 1, 4, row.e, row.next, ^uint32(0), r.Uint32()}[r.IntN(7)])
				}
				args = append(args, arg)
			}
			noFault(t, func() {
				out := method.Func.Call
				if method.Type.IsVariadic() {
					out = method.Func.CallSlice
				}
				for _, v := range out(args) {
					switch v := v.Interface().(type) {
					case int:
						at = v
					case XStruct:
						root = v
						ended++
					}
				}
			})
		}
		noFault(t, func() { row.End(at) })
		for _, s := range []XStruct{root, begun} {
			for i := range allDesc.Fields() {
				noFault(t, func() { sum += len(s.Text(allDesc.Field(i))) })
				noFault(t, func() { sum += int(s.Int64(allDesc.Field(i))) })
			}
			noFault(t, func() { s.SetText(fieldNamed(allDesc, "text"), "after") })
			noFault(t, func() { newStruct(allDesc).SetText(fieldNamed(allDesc, "text"), "in the same memory") })
		}
		if !bytes.Equal(before.m.AppendTo(nil), want) || !bytes.Equal(bystander.m.AppendTo(nil), wire) {
			t.Fatal("another message has changed")
		}
		before.Release()
	}
	if ended < 10 {
		t.Errorf("only %d messages were made; of %d bytes", ended, sum)
	}
}

// noFault calls f, which may panic; a fault fails the test.
func noFault(t *testing.T, f func()) {
	defer func() {
		p := recover()
		if fault, ok := p.(interface{ Addr() uintptr }); ok {
			t.Fatalf("fault at %#x: %v", fault.Addr(), p)
		}
	}()
	f()
}
