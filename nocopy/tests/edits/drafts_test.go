package edits_test

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"runtime/debug"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
)

// TestMadeUpDrafts calls the methods of Draft, found by reflection, in any order, with fields,
// descriptors and offsets that no generated code has. The result is a message or a panic, but no
// fault, and other messages stay as they are.
func TestMadeUpDrafts(t *testing.T) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	r := rand.New(rand.NewPCG(testmode.Seed(t), 7))
	wire := soakWires()[0]
	bystander, err := engine.Parse(allDesc, wire)
	if err != nil {
		t.Fatal(err)
	}
	var methods []reflect.Method
	rows := reflect.TypeFor[*engine.Draft]()
	for i := range rows.NumMethod() {
		methods = append(methods, rows.Method(i))
	}
	if len(methods) < 8 {
		t.Fatalf("only %d methods", len(methods))
	}
	ended, sum := 0, 0
	for range testmode.Of(1000, 25_000) {
		// Blocks at the tail begin where one of these has ended.
		before := engine.New(allDesc)
		before.SetText(fieldNamed(allDesc, "text"), "before")
		want := before.Message().AppendTo(nil)
		other, _ := engine.Parse(allDesc, wire)
		row := new(engine.Draft)
		var b []byte // the row's memory
		begun := hostileHandle(t, r, wire)
		noFault(t, func() {
			switch r.IntN(4) {
			case 0:
				b = row.New(allDesc)
			case 1:
				b = row.Into(begun, allDesc)
			case 2:
				b = row.List(begun, fieldNamed(allDesc, "points"), allDesc, r.IntN(4), r.IntN(2) == 0)
			}
		})
		var root engine.Struct
		for range 1 + r.IntN(10) {
			n := 0
			switch r.IntN(3) {
			case 0:
				n = copy(b, wire)
			case 1:
				n = copy(b, "\x0f\x00\x05\x0c\x00\x00\x00\x02\x00\x00")
			}
			method := methods[r.IntN(len(methods))]
			args := []reflect.Value{reflect.ValueOf(row)}
			for k := 1; k < method.Type.NumIn(); k++ {
				in := method.Type.In(k)
				arg := hostileArgument(r, in, begun, other)
				switch {
				case in.Kind() == reflect.Int && r.IntN(3) > 0:
					arg = reflect.ValueOf(n)
				case in.Kind() == reflect.Int && r.IntN(3) > 0:
					arg = reflect.ValueOf(n + []int{-1, 1, -30, 1 << 12, 1 << 20}[r.IntN(5)])
				case in == reflect.TypeFor[[]byte]() && r.IntN(3) > 0:
					arg = reflect.ValueOf(b)
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
					case []byte:
						b = v
					case engine.Struct:
						root = v
						ended++
					}
				}
			})
		}
		noFault(t, func() { row.EndList(len(wire)) })
		for _, s := range []engine.Struct{root, begun} {
			for i := range allDesc.Fields() {
				noFault(t, func() { sum += len(s.Text(allDesc.Field(i))) })
				noFault(t, func() { sum += int(s.Int64(allDesc.Field(i))) })
			}
			noFault(t, func() { s.SetText(fieldNamed(allDesc, "text"), "after") })
			noFault(t, func() { engine.New(allDesc).SetText(fieldNamed(allDesc, "text"), "in the same memory") })
		}
		if !bytes.Equal(before.Message().AppendTo(nil), want) || !bytes.Equal(bystander.Message().AppendTo(nil), wire) {
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

// TestDraftOfChanged: a struct must not be changed while all of its fields are being written.
func TestDraftOfChanged(t *testing.T) {
	s, x := engine.New(allDesc), new(engine.Draft)
	b := x.Into(s, allDesc)
	s.SetText(fieldNamed(allDesc, "text"), "in between")
	defer func() {
		if got := recover(); got != "nocopy: struct was changed while all of its fields were set" {
			t.Error(got)
		}
	}()
	x.Done(copy(b, "\x08\x00\x04\x00\x00\x00\x01"))
	t.Error("both are set")
}
