// Messages that tests use, what can be done with them, and how tests expect panics.

package nocopy

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
)

// fullWire is a message in which every kind of handle can be had.
func fullWire(t testing.TB) []byte {
	s := newStruct(allDesc)
	defer s.Release()
	s.SetInt32(allDesc.named("medium"), 42)
	s.SetText(allDesc.named("text"), "some text")
	s.SetInt64s(allDesc.named("numbers"), allDesc, []int64{1, 2, 3})
	s.SetTexts(allDesc.named("words"), allDesc, []string{"a", "b"})
	s.SetInt32s(allDesc.named("unique"), allDesc, []int32{1, 2})
	s.SetBools(allDesc.named("flags"), allDesc, []bool{true, false})
	s.SetByteSlices(allDesc.named("blobs"), allDesc, [][]byte{{1}, {2}})
	s.SetUUIDs(allDesc.named("keys"), allDesc, []UUID{{1}})
	counts := Map[string, int64, XAsString, XAsInt64](s.NewChild(allDesc.named("counts"), allDesc, 0))
	for i := range 40 { // more than are looked up one by one
		counts.Put("key "+itoa(i), int64(i))
	}
	point := s.NewChild(allDesc.named("point"), allDesc, 0)
	point.SetInt32(pointDesc.named("x"), 1)
	points := StructList[XStruct](s.NewChild(allDesc.named("points"), allDesc, 2))
	points.At(1).SetInt32(pointDesc.named("y"), 2)
	matrix := NestedList[Int32List](s.NewChild(allDesc.named("matrix"), allDesc, 2))
	matrix.NewAt(1, 2).Set(0, 5)
	byNumber := StructMap[int32, XStruct, XAsInt32](s.NewChild(allDesc.named("byNumber"), allDesc, 0))
	byNumber.PutNew(7)
	groups := NestedMap[string, StructList[XStruct], XAsString](s.NewChild(allDesc.named("groups"), allDesc, 0))
	groups.PutNew("g", 1)
	s.NewChild(allDesc.named("shape"), allDesc, 0).Arm(shapeDesc.named("label"), shapeDesc).SetText(shapeDesc.named("label"), "l")
	return bytes.Clone(s.m.Bytes())
}

func mustParse(t testing.TB, d *XDesc, wire []byte, opts ...Option) XStruct {
	t.Helper()
	s, err := parseStruct(d, wire, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// panics calls f and wants it to panic with the text.
func panics(t *testing.T, what, text string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		got := recover()
		if text == panicAbsent && strings.Contains(fmt.Sprint(got), setterOnAbsent) {
			return // it may name the field
		}
		if text == panicStale && isStale(got) {
			return // it may name the type
		}
		if got != text {
			t.Errorf("%s: panic with %v, want %q", what, got, text)
		}
	}()
	f()
}

// isStale reports whether v is the panic of a use after Release that names the message's type.
func isStale(v any) bool {
	const text = `^nocopy: (part of )?\w+ used after Release(\z| \(build with |; (made|released) at\n)`
	return regexp.MustCompile(text).MatchString(fmt.Sprint(v))
}

// ignoredTwice calls a Release that is not the first. It must do nothing; with the tag nocopydebug
// it must panic.
func ignoredTwice(t *testing.T, what string, release func()) {
	t.Helper()
	if debugging {
		panics(t, what+": a second Release", panicTwice, release)
		return
	}
	release()
}

// panicsWith runs f, which must panic with a text that begins so.
func panicsWith(t *testing.T, begins string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if got := fmt.Sprint(recover()); !strings.HasPrefix(got, begins) {
			t.Errorf("the panic is %q", got)
		}
	}()
	f()
}

// uses are what can be done with the handles of a message.
func uses(s XStruct) map[string]func() {
	var (
		flag, medium, text, blob = allDesc.named("flag"), allDesc.named("medium"), allDesc.named("text"), allDesc.named("blob")
		point                    = s.Child(allDesc.named("point"), allDesc)
		numbers                  = Int64List(s.Child(allDesc.named("numbers"), allDesc))
		flags                    = BoolList(s.Child(allDesc.named("flags"), allDesc))
		words                    = StringList(s.Child(allDesc.named("words"), allDesc))
		blobs                    = BytesList(s.Child(allDesc.named("blobs"), allDesc))
		keys                     = UUIDList(s.Child(allDesc.named("keys"), allDesc))
		unique                   = Int32List(s.Child(allDesc.named("unique"), allDesc))
		points                   = StructList[XStruct](s.Child(allDesc.named("points"), allDesc))
		matrix                   = NestedList[Int32List](s.Child(allDesc.named("matrix"), allDesc))
		counts                   = Map[string, int64, XAsString, XAsInt64](s.Child(allDesc.named("counts"), allDesc))
		byNumber                 = StructMap[int32, XStruct, XAsInt32](s.Child(allDesc.named("byNumber"), allDesc))
		groups                   = NestedMap[string, StructList[XStruct], XAsString](s.Child(allDesc.named("groups"), allDesc))
		shape                    = s.Child(allDesc.named("shape"), allDesc)
	)
	return map[string]func(){
		"Bool": func() { s.Bool(flag) }, "Int32": func() { s.Int32(medium) }, "Int64": func() { s.Int64(allDesc.named("large")) },
		"Int8": func() { s.Int8(allDesc.named("tiny")) }, "Int16": func() { s.Int16(allDesc.named("small")) },
		"Float64": func() { s.Float64(allDesc.named("real")) }, "UUID": func() { s.UUID(allDesc.named("key")) },
		"Text":  func() { s.Text(text) },
		"Bytes": func() { s.Bytes(blob) }, "Has": func() { s.Has(medium) },
		"Child": func() { s.Child(allDesc.named("point"), allDesc) }, "Which": func() { shape.Which() },
		"Format": func() { s.Format(allDesc) }, "Clone": func() { s.Clone(allDesc) }, "Release": func() { s.Release() },
		"Valid": func() { s.Valid() }, "Message": func() { s.Message() },
		"Unknown": func() {
			for range s.Unknown(allDesc) {
			}
		},
		"SetBool": func() { s.SetBool(flag, true) }, "SetInt8": func() { s.SetInt8(allDesc.named("tiny"), 1) },
		"SetInt16": func() { s.SetInt16(allDesc.named("small"), 1) }, "SetInt32": func() { s.SetInt32(medium, 1) },
		"SetInt64": func() { s.SetInt64(allDesc.named("large"), 1) }, "SetFloat64": func() { s.SetFloat64(allDesc.named("real"), 1) },
		"SetUUID": func() { s.SetUUID(allDesc.named("key"), UUID{}) }, "SetText": func() { s.SetText(text, "x") },
		"SetText, large": func() { s.SetText(text, longText) }, "SetBytes": func() { s.SetBytes(blob, nil) },
		"SetBytes, large": func() { s.SetBytes(blob, make([]byte, referSize)) }, "NewBytes": func() { s.NewBytes(blob, 3) },
		"Unset": func() { s.Unset(medium) }, "Reset": func() { s.Reset(medium, allDesc) },
		"NewChild": func() { s.NewChild(allDesc.named("point"), allDesc, 0) }, "SetChild": func() { s.SetChild(allDesc.named("point"), allDesc, emptyHandle()) },
		"SetInt64s": func() { s.SetInt64s(allDesc.named("numbers"), allDesc, nil) }, "SetTexts": func() { s.SetTexts(allDesc.named("words"), allDesc, []string{"x"}) },
		"Arm": func() { shape.Arm(shapeDesc.named("label"), shapeDesc) }, "UnsetArm": func() { shape.UnsetArm(shapeDesc.named("label")) },
		"inner Int32": func() { point.Int32(pointDesc.named("x")) }, "inner SetInt32": func() { point.SetInt32(pointDesc.named("x"), 1) },
		"list Len": func() { numbers.Len() }, "list At": func() { numbers.At(0) }, "list Set": func() { numbers.Set(0, 1) },
		"list Append": func() { numbers.Append(1) }, "list AppendTo": func() { numbers.AppendTo(nil) }, "list String": func() { _ = numbers.String() }, "list Contains": func() { numbers.Contains(1) },
		"list All": func() {
			for range numbers.All() {
			}
		},
		"bools At": func() { flags.At(0) }, "uuids At": func() { keys.At(0) }, "set Add": func() { unique.Add(9) },
		"strings Len": func() { words.Len() }, "strings At": func() { words.At(0) }, "strings Set": func() { words.Set(0, "") },
		"strings Append": func() { words.Append("") }, "strings AppendTo": func() { words.AppendTo(nil) }, "strings Contains": func() { words.Contains("a") },
		"strings All": func() {
			for range words.All() {
			}
		},
		"binaries At": func() { blobs.At(0) }, "binaries Set": func() { blobs.Set(0, nil) }, "binaries Append": func() { blobs.Append(nil) },
		"structs Len": func() { points.Len() }, "structs At": func() { points.At(0) }, "structs Set": func() { points.Set(0, emptyHandle()) },
		"structs Append": func() { points.Append(emptyHandle()) }, "structs AppendNew": func() { points.AppendNew() },
		"structs All": func() {
			for range points.All() {
			}
		},
		"lists Len": func() { matrix.Len() }, "lists At": func() { matrix.At(0) }, "lists NewAt": func() { matrix.NewAt(0, 1) },
		"lists AppendNew": func() { matrix.AppendNew(1) }, "lists Set": func() { matrix.Set(0, Int32List(emptyHandle())) },
		"map Len": func() { counts.Len() }, "map Get": func() { counts.Get("key 1") }, "map Put": func() { counts.Put("a", 1) },
		"map Delete": func() { counts.Delete("key 1") },
		"map All": func() {
			for range counts.All() {
			}
		},
		"map of structs Get": func() { byNumber.Get(7) }, "map of structs PutNew": func() { byNumber.PutNew(8) },
		"map of structs Put": func() { byNumber.Put(8, emptyHandle()) }, "map of structs Delete": func() { byNumber.Delete(7) },
		"map of lists Get": func() { groups.Get("g") }, "map of lists PutNew": func() { groups.PutNew("h", 1) },
		"map of lists Delete": func() { groups.Delete("g") },
	}
}

// writes reports whether a use changes the message.
func writes(use string) bool {
	name := use[strings.LastIndexByte(use, ' ')+1:]
	if use, _, _ = strings.Cut(use, ","); name == "large" {
		name = use
	}
	for _, prefix := range []string{"Set", "New", "Unset", "Reset", "Arm", "Put", "Delete", "Add"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return name == "Append" || name == "AppendNew"
}

var cloned = way{"cloned", func(d *XDesc, wire []byte, opts ...Option) (XStruct, error) {
	s, err := parseStruct(d, wire, opts...)
	if err != nil {
		return s, err
	}
	defer s.Release()
	return s.Clone(d), nil
}}

// soakWires are received messages of every octave from 1 KiB to 8 MiB; in the short form of 1, 16
// and 256 KiB.
func soakWires() [][]byte {
	var wires [][]byte
	for octave := 0; octave < testmode.Of(11, 14); octave += testmode.Of(4, 1) {
		n := 1 << (10 + octave)
		s := newRoot(allDesc)
		s.SetText(allDesc.named("text"), strings.Repeat("t", n/8))
		s.SetInt64s(allDesc.named("numbers"), allDesc, make([]int64, n/18))
		words := StringList(s.NewChild(allDesc.named("words"), allDesc, n/128))
		for i := range n / 128 {
			words.Set(i, "some words of text")
		}
		points := StructList[XStruct](s.NewChild(allDesc.named("points"), allDesc, n/64))
		for i := range n / 64 {
			points.At(i).SetInt32(pointDesc.named("x"), int32(i))
		}
		wires = append(wires, bytes.Clone(s.m.Bytes()))
		s.Release()
	}
	return wires
}

var (
	describedCustomer = newStructDesc("Customer")
	describedOrder    = newStructDesc("Order")
)

func init() {
	describedCustomer.Define(XFieldDesc{ID: 1, Name: "name", Type: typeString}, XFieldDesc{ID: 2, Name: "vip", Type: typeBool})
	describedOrder.Define(
		XFieldDesc{ID: 1, Name: "id", Type: typeI64},
		XFieldDesc{ID: 2, Name: "customer", Type: structTypeOf(describedCustomer)},
		XFieldDesc{ID: 3, Name: "price_list", Type: listTypeOf(typeI32)},
		XFieldDesc{ID: 4, Name: "small", Type: typeI8},
		XFieldDesc{ID: 5, Name: "note", Type: typeString},
		XFieldDesc{ID: 6, Name: "names", Type: mapTypeOf(typeString, typeString)},
	)
}

// orderWire is an Order with all fields.
func orderWire() []byte {
	s := newStruct(describedOrder)
	s.SetInt64(describedOrder.named("id"), 1)
	c := s.NewChild(describedOrder.named("customer"), describedOrder, 0)
	c.SetText(describedCustomer.named("name"), "Ada")
	s.SetInt32s(describedOrder.named("price_list"), describedOrder, []int32{1, 2, 3})
	s.SetInt8(describedOrder.named("small"), 4)
	s.SetText(describedOrder.named("note"), "a note")
	return s.Message().AppendTo(nil)
}
