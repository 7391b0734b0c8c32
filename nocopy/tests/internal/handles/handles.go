// Package handles has a message with a handle of every kind, and all operations on its handles:
// the tests of used, kept, shared and released messages try them all.
package handles

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/render"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/testtypes"
)

// Wire returns the bytes of a message with a value for every kind of handle.
func Wire() []byte {
	s := engine.New(testtypes.All)
	defer s.Release()
	s.SetInt32(testtypes.FieldNamed(testtypes.All, "medium"), 42)
	s.SetText(testtypes.FieldNamed(testtypes.All, "text"), "some text")
	s.SetInt64s(testtypes.FieldNamed(testtypes.All, "numbers"), testtypes.All, []int64{1, 2, 3})
	s.SetTexts(testtypes.FieldNamed(testtypes.All, "words"), testtypes.All, []string{"a", "b"})
	s.SetInt32s(testtypes.FieldNamed(testtypes.All, "unique"), testtypes.All, []int32{1, 2})
	s.SetBools(testtypes.FieldNamed(testtypes.All, "flags"), testtypes.All, []bool{true, false})
	s.SetByteSlices(testtypes.FieldNamed(testtypes.All, "blobs"), testtypes.All, [][]byte{{1}, {2}})
	engine.UUIDs[nocopy.UUID]([]nocopy.UUID{{1}}).SetIn(s, testtypes.FieldNamed(testtypes.All, "keys"), testtypes.All)
	counts := nocopy.Map[string, int64, engine.AsString, engine.AsInt64](s.NewChild(testtypes.FieldNamed(testtypes.All, "counts"), testtypes.All, 0))
	for i := range 40 { // more than are looked up one by one
		counts.Put(fmt.Sprint("key ", i), int64(i))
	}
	point := s.NewChild(testtypes.FieldNamed(testtypes.All, "point"), testtypes.All, 0)
	point.SetInt32(testtypes.FieldNamed(testtypes.Point, "x"), 1)
	points := nocopy.StructList[engine.Struct](s.NewChild(testtypes.FieldNamed(testtypes.All, "points"), testtypes.All, 2))
	points.At(1).SetInt32(testtypes.FieldNamed(testtypes.Point, "y"), 2)
	matrix := nocopy.NestedList[nocopy.Int32List](s.NewChild(testtypes.FieldNamed(testtypes.All, "matrix"), testtypes.All, 2))
	matrix.NewAt(1, 2).Set(0, 5)
	byNumber := nocopy.StructMap[int32, engine.Struct, engine.AsInt32](s.NewChild(testtypes.FieldNamed(testtypes.All, "byNumber"), testtypes.All, 0))
	byNumber.PutNew(7)
	groups := nocopy.NestedMap[string, nocopy.StructList[engine.Struct], engine.AsString](s.NewChild(testtypes.FieldNamed(testtypes.All, "groups"), testtypes.All, 0))
	groups.PutNew("g", 1)
	s.NewChild(testtypes.FieldNamed(testtypes.All, "shape"), testtypes.All, 0).Arm(testtypes.FieldNamed(testtypes.Shape, "label"), testtypes.Shape).SetText(testtypes.FieldNamed(testtypes.Shape, "label"), "l")
	return bytes.Clone(s.Message().Bytes())
}

// Uses returns the operations on the handles of a message.
func Uses(s engine.Struct) map[string]func() {
	longText := strings.Repeat("long ", engine.ReferSize/5+1)
	var (
		flag, medium, text, blob = testtypes.FieldNamed(testtypes.All, "flag"), testtypes.FieldNamed(testtypes.All, "medium"), testtypes.FieldNamed(testtypes.All, "text"), testtypes.FieldNamed(testtypes.All, "blob")
		point                    = s.Child(testtypes.FieldNamed(testtypes.All, "point"), testtypes.All)
		numbers                  = nocopy.Int64List(s.Child(testtypes.FieldNamed(testtypes.All, "numbers"), testtypes.All))
		flags                    = nocopy.BoolList(s.Child(testtypes.FieldNamed(testtypes.All, "flags"), testtypes.All))
		words                    = nocopy.StringList(s.Child(testtypes.FieldNamed(testtypes.All, "words"), testtypes.All))
		blobs                    = nocopy.BytesList(s.Child(testtypes.FieldNamed(testtypes.All, "blobs"), testtypes.All))
		keys                     = nocopy.UUIDList(s.Child(testtypes.FieldNamed(testtypes.All, "keys"), testtypes.All))
		unique                   = nocopy.Int32List(s.Child(testtypes.FieldNamed(testtypes.All, "unique"), testtypes.All))
		points                   = nocopy.StructList[engine.Struct](s.Child(testtypes.FieldNamed(testtypes.All, "points"), testtypes.All))
		matrix                   = nocopy.NestedList[nocopy.Int32List](s.Child(testtypes.FieldNamed(testtypes.All, "matrix"), testtypes.All))
		counts                   = nocopy.Map[string, int64, engine.AsString, engine.AsInt64](s.Child(testtypes.FieldNamed(testtypes.All, "counts"), testtypes.All))
		byNumber                 = nocopy.StructMap[int32, engine.Struct, engine.AsInt32](s.Child(testtypes.FieldNamed(testtypes.All, "byNumber"), testtypes.All))
		groups                   = nocopy.NestedMap[string, nocopy.StructList[engine.Struct], engine.AsString](s.Child(testtypes.FieldNamed(testtypes.All, "groups"), testtypes.All))
		shape                    = s.Child(testtypes.FieldNamed(testtypes.All, "shape"), testtypes.All)
	)
	return map[string]func(){
		"Bool": func() { s.Bool(flag) }, "Int32": func() { s.Int32(medium) }, "Int64": func() { s.Int64(testtypes.FieldNamed(testtypes.All, "large")) },
		"Int8": func() { s.Int8(testtypes.FieldNamed(testtypes.All, "tiny")) }, "Int16": func() { s.Int16(testtypes.FieldNamed(testtypes.All, "small")) },
		"Float64": func() { s.Float64(testtypes.FieldNamed(testtypes.All, "real")) }, "UUID": func() { s.UUID(testtypes.FieldNamed(testtypes.All, "key")) },
		"Text":  func() { s.Text(text) },
		"Bytes": func() { s.Bytes(blob) }, "Has": func() { s.Has(medium) },
		"Child": func() { s.Child(testtypes.FieldNamed(testtypes.All, "point"), testtypes.All) }, "Which": func() { shape.Which() },
		"Format": func() { render.Text(s, testtypes.All) }, "Clone": func() { s.Clone(testtypes.All) }, "Release": func() { s.Release() },
		"Valid": func() { s.Valid() }, "Message": func() { s.Message() },
		"Unknown": func() {
			for range s.Unknown(testtypes.All) {
			}
		},
		"SetBool": func() { s.SetBool(flag, true) }, "SetInt8": func() { s.SetInt8(testtypes.FieldNamed(testtypes.All, "tiny"), 1) },
		"SetInt16": func() { s.SetInt16(testtypes.FieldNamed(testtypes.All, "small"), 1) }, "SetInt32": func() { s.SetInt32(medium, 1) },
		"SetInt64": func() { s.SetInt64(testtypes.FieldNamed(testtypes.All, "large"), 1) }, "SetFloat64": func() { s.SetFloat64(testtypes.FieldNamed(testtypes.All, "real"), 1) },
		"SetUUID": func() { s.SetUUID(testtypes.FieldNamed(testtypes.All, "key"), nocopy.UUID{}) }, "SetText": func() { s.SetText(text, "x") },
		"SetText, large": func() { s.SetText(text, longText) }, "SetBytes": func() { s.SetBytes(blob, nil) },
		"SetBytes, large": func() { s.SetBytes(blob, make([]byte, engine.ReferSize)) }, "NewBytes": func() { s.NewBytes(blob, 3) },
		"Unset": func() { s.Unset(medium) }, "Reset": func() { s.Reset(medium, testtypes.All) },
		"NewChild": func() { s.NewChild(testtypes.FieldNamed(testtypes.All, "point"), testtypes.All, 0) }, "SetChild": func() { s.SetChild(testtypes.FieldNamed(testtypes.All, "point"), testtypes.All, engine.Absent()) },
		"SetInt64s": func() { s.SetInt64s(testtypes.FieldNamed(testtypes.All, "numbers"), testtypes.All, nil) }, "SetTexts": func() { s.SetTexts(testtypes.FieldNamed(testtypes.All, "words"), testtypes.All, []string{"x"}) },
		"Arm": func() { shape.Arm(testtypes.FieldNamed(testtypes.Shape, "label"), testtypes.Shape) }, "UnsetArm": func() { shape.UnsetArm(testtypes.FieldNamed(testtypes.Shape, "label")) },
		"inner Int32": func() { point.Int32(testtypes.FieldNamed(testtypes.Point, "x")) }, "inner SetInt32": func() { point.SetInt32(testtypes.FieldNamed(testtypes.Point, "x"), 1) },
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

// Writes reports whether a use changes the message.
func Writes(use string) bool {
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
