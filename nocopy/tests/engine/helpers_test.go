// Messages for tests, the operations on them, and functions that check for panics.

package engine_test

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/entry"
	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/render"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// fullWire returns a message with a value for every kind of handle.
func fullWire(t testing.TB) []byte {
	s := engine.New(allDesc)
	defer s.Release()
	s.SetInt32(fieldNamed(allDesc, "medium"), 42)
	s.SetText(fieldNamed(allDesc, "text"), "some text")
	s.SetInt64s(fieldNamed(allDesc, "numbers"), allDesc, []int64{1, 2, 3})
	s.SetTexts(fieldNamed(allDesc, "words"), allDesc, []string{"a", "b"})
	s.SetInt32s(fieldNamed(allDesc, "unique"), allDesc, []int32{1, 2})
	s.SetBools(fieldNamed(allDesc, "flags"), allDesc, []bool{true, false})
	s.SetByteSlices(fieldNamed(allDesc, "blobs"), allDesc, [][]byte{{1}, {2}})
	engine.UUIDs[nocopy.UUID]([]nocopy.UUID{{1}}).SetIn(s, fieldNamed(allDesc, "keys"), allDesc)
	counts := nocopy.Map[string, int64, engine.AsString, engine.AsInt64](s.NewChild(fieldNamed(allDesc, "counts"), allDesc, 0))
	for i := range 40 { // more than are looked up one by one
		counts.Put("key "+itoa(i), int64(i))
	}
	point := s.NewChild(fieldNamed(allDesc, "point"), allDesc, 0)
	point.SetInt32(fieldNamed(pointDesc, "x"), 1)
	points := nocopy.StructList[engine.Struct](s.NewChild(fieldNamed(allDesc, "points"), allDesc, 2))
	points.At(1).SetInt32(fieldNamed(pointDesc, "y"), 2)
	matrix := nocopy.NestedList[nocopy.Int32List](s.NewChild(fieldNamed(allDesc, "matrix"), allDesc, 2))
	matrix.NewAt(1, 2).Set(0, 5)
	byNumber := nocopy.StructMap[int32, engine.Struct, engine.AsInt32](s.NewChild(fieldNamed(allDesc, "byNumber"), allDesc, 0))
	byNumber.PutNew(7)
	groups := nocopy.NestedMap[string, nocopy.StructList[engine.Struct], engine.AsString](s.NewChild(fieldNamed(allDesc, "groups"), allDesc, 0))
	groups.PutNew("g", 1)
	s.NewChild(fieldNamed(allDesc, "shape"), allDesc, 0).Arm(fieldNamed(shapeDesc, "label"), shapeDesc).SetText(fieldNamed(shapeDesc, "label"), "l")
	return bytes.Clone(s.Message().Bytes())
}

func mustParse(t testing.TB, d *schema.Struct, wire []byte, opts ...engine.Option) engine.Struct {
	t.Helper()
	s, err := engine.Parse(d, wire, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// panics calls f, which must panic with the text.
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

// panicsWith runs f, which must panic with a text that begins with begins.
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

// uses returns the operations on the handles of a message.
func uses(s engine.Struct) map[string]func() {
	var (
		flag, medium, text, blob = fieldNamed(allDesc, "flag"), fieldNamed(allDesc, "medium"), fieldNamed(allDesc, "text"), fieldNamed(allDesc, "blob")
		point                    = s.Child(fieldNamed(allDesc, "point"), allDesc)
		numbers                  = nocopy.Int64List(s.Child(fieldNamed(allDesc, "numbers"), allDesc))
		flags                    = nocopy.BoolList(s.Child(fieldNamed(allDesc, "flags"), allDesc))
		words                    = nocopy.StringList(s.Child(fieldNamed(allDesc, "words"), allDesc))
		blobs                    = nocopy.BytesList(s.Child(fieldNamed(allDesc, "blobs"), allDesc))
		keys                     = nocopy.UUIDList(s.Child(fieldNamed(allDesc, "keys"), allDesc))
		unique                   = nocopy.Int32List(s.Child(fieldNamed(allDesc, "unique"), allDesc))
		points                   = nocopy.StructList[engine.Struct](s.Child(fieldNamed(allDesc, "points"), allDesc))
		matrix                   = nocopy.NestedList[nocopy.Int32List](s.Child(fieldNamed(allDesc, "matrix"), allDesc))
		counts                   = nocopy.Map[string, int64, engine.AsString, engine.AsInt64](s.Child(fieldNamed(allDesc, "counts"), allDesc))
		byNumber                 = nocopy.StructMap[int32, engine.Struct, engine.AsInt32](s.Child(fieldNamed(allDesc, "byNumber"), allDesc))
		groups                   = nocopy.NestedMap[string, nocopy.StructList[engine.Struct], engine.AsString](s.Child(fieldNamed(allDesc, "groups"), allDesc))
		shape                    = s.Child(fieldNamed(allDesc, "shape"), allDesc)
	)
	return map[string]func(){
		"Bool": func() { s.Bool(flag) }, "Int32": func() { s.Int32(medium) }, "Int64": func() { s.Int64(fieldNamed(allDesc, "large")) },
		"Int8": func() { s.Int8(fieldNamed(allDesc, "tiny")) }, "Int16": func() { s.Int16(fieldNamed(allDesc, "small")) },
		"Float64": func() { s.Float64(fieldNamed(allDesc, "real")) }, "UUID": func() { s.UUID(fieldNamed(allDesc, "key")) },
		"Text":  func() { s.Text(text) },
		"Bytes": func() { s.Bytes(blob) }, "Has": func() { s.Has(medium) },
		"Child": func() { s.Child(fieldNamed(allDesc, "point"), allDesc) }, "Which": func() { shape.Which() },
		"Format": func() { render.Text(s, allDesc) }, "Clone": func() { s.Clone(allDesc) }, "Release": func() { s.Release() },
		"Valid": func() { s.Valid() }, "Message": func() { s.Message() },
		"Unknown": func() {
			for range s.Unknown(allDesc) {
			}
		},
		"SetBool": func() { s.SetBool(flag, true) }, "SetInt8": func() { s.SetInt8(fieldNamed(allDesc, "tiny"), 1) },
		"SetInt16": func() { s.SetInt16(fieldNamed(allDesc, "small"), 1) }, "SetInt32": func() { s.SetInt32(medium, 1) },
		"SetInt64": func() { s.SetInt64(fieldNamed(allDesc, "large"), 1) }, "SetFloat64": func() { s.SetFloat64(fieldNamed(allDesc, "real"), 1) },
		"SetUUID": func() { s.SetUUID(fieldNamed(allDesc, "key"), nocopy.UUID{}) }, "SetText": func() { s.SetText(text, "x") },
		"SetText, large": func() { s.SetText(text, longText) }, "SetBytes": func() { s.SetBytes(blob, nil) },
		"SetBytes, large": func() { s.SetBytes(blob, make([]byte, engine.ReferSize)) }, "NewBytes": func() { s.NewBytes(blob, 3) },
		"Unset": func() { s.Unset(medium) }, "Reset": func() { s.Reset(medium, allDesc) },
		"NewChild": func() { s.NewChild(fieldNamed(allDesc, "point"), allDesc, 0) }, "SetChild": func() { s.SetChild(fieldNamed(allDesc, "point"), allDesc, engine.Absent()) },
		"SetInt64s": func() { s.SetInt64s(fieldNamed(allDesc, "numbers"), allDesc, nil) }, "SetTexts": func() { s.SetTexts(fieldNamed(allDesc, "words"), allDesc, []string{"x"}) },
		"Arm": func() { shape.Arm(fieldNamed(shapeDesc, "label"), shapeDesc) }, "UnsetArm": func() { shape.UnsetArm(fieldNamed(shapeDesc, "label")) },
		"inner Int32": func() { point.Int32(fieldNamed(pointDesc, "x")) }, "inner SetInt32": func() { point.SetInt32(fieldNamed(pointDesc, "x"), 1) },
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
		"structs Len": func() { points.Len() }, "structs At": func() { points.At(0) }, "structs Set": func() { points.Set(0, engine.Absent()) },
		"structs Append": func() { points.Append(engine.Absent()) }, "structs AppendNew": func() { points.AppendNew() },
		"structs All": func() {
			for range points.All() {
			}
		},
		"lists Len": func() { matrix.Len() }, "lists At": func() { matrix.At(0) }, "lists NewAt": func() { matrix.NewAt(0, 1) },
		"lists AppendNew": func() { matrix.AppendNew(1) }, "lists Set": func() { matrix.Set(0, nocopy.Int32List(engine.Absent())) },
		"map Len": func() { counts.Len() }, "map Get": func() { counts.Get("key 1") }, "map Put": func() { counts.Put("a", 1) },
		"map Delete": func() { counts.Delete("key 1") },
		"map All": func() {
			for range counts.All() {
			}
		},
		"map of structs Get": func() { byNumber.Get(7) }, "map of structs PutNew": func() { byNumber.PutNew(8) },
		"map of structs Put": func() { byNumber.Put(8, engine.Absent()) }, "map of structs Delete": func() { byNumber.Delete(7) },
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

var cloned = way{"cloned", func(d *schema.Struct, wire []byte, opts ...engine.Option) (engine.Struct, error) {
	s, err := engine.Parse(d, wire, opts...)
	if err != nil {
		return s, err
	}
	defer s.Release()
	return s.Clone(d), nil
}}

// soakWires returns messages of 1 KiB, 2 KiB, 4 KiB and so on up to 8 MiB; in the short form of 1,
// 16 and 256 KiB.
func soakWires() [][]byte {
	var wires [][]byte
	for octave := 0; octave < testmode.Of(11, 14); octave += testmode.Of(4, 1) {
		n := 1 << (10 + octave)
		s := engine.New(allDesc)
		s.SetText(fieldNamed(allDesc, "text"), strings.Repeat("t", n/8))
		s.SetInt64s(fieldNamed(allDesc, "numbers"), allDesc, make([]int64, n/18))
		words := nocopy.StringList(s.NewChild(fieldNamed(allDesc, "words"), allDesc, n/128))
		for i := range n / 128 {
			words.Set(i, "some words of text")
		}
		points := nocopy.StructList[engine.Struct](s.NewChild(fieldNamed(allDesc, "points"), allDesc, n/64))
		for i := range n / 64 {
			points.At(i).SetInt32(fieldNamed(pointDesc, "x"), int32(i))
		}
		wires = append(wires, bytes.Clone(s.Message().Bytes()))
		s.Release()
	}
	return wires
}

// define completes a descriptor, that of a wide struct if it has enough fields, as
// thriftimpl.Define does.
func define(d *schema.Struct, fields []schema.FieldDesc) {
	if len(fields) > entry.MaxDirect {
		d.DefineWide(fields...)
		return
	}
	d.Define(fields...)
}
