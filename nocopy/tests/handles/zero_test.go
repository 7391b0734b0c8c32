package handles_test

import (
	"bytes"
	"fmt"
	"reflect"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/render"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// zeroHandles has the zero values of all types of handles.
var zeroHandles = []any{
	thriftimpl.Struct{}, nocopy.BoolList{}, nocopy.Int8List{}, nocopy.Int16List{}, nocopy.Int32List{}, nocopy.Int64List{}, nocopy.Float64List{}, nocopy.UUIDList{}, nocopy.EnumList[color]{}, nocopy.StringList{}, nocopy.BytesList{},
	nocopy.StructList[thriftimpl.Struct]{}, nocopy.NestedList[nocopy.Int64List]{}, nocopy.NestedList[nocopy.StringMap]{}, nocopy.StringMap{}, nocopy.Map[int64, bool, thriftimpl.AsInt64, thriftimpl.AsBool]{}, nocopy.Map[string, int64, thriftimpl.AsString, thriftimpl.AsInt64]{},
	nocopy.Map[thriftimpl.Struct, string, thriftimpl.AsView[thriftimpl.Struct], thriftimpl.AsString]{}, nocopy.StructMap[string, thriftimpl.Struct, thriftimpl.AsString]{}, nocopy.StructMap[thriftimpl.Struct, thriftimpl.Struct, thriftimpl.AsView[thriftimpl.Struct]]{},
	nocopy.NestedMap[int32, nocopy.StructList[thriftimpl.Struct], thriftimpl.AsInt32]{}, nocopy.NestedMap[nocopy.Int32List, nocopy.StringMap, thriftimpl.AsView[nocopy.Int32List]]{},
}

// inside has the methods that only package rpc calls, or package nocopy after a check.
var inside = map[string]bool{"CheckSameLen": true, "FillByIndex": true, "First": true, "Next": true, "TextOf": true, "ToOwnMemory": true,
	"AddOpen": true, "Claim": true, "Drop": true, "End": true, "Freeze": true, "Offer": true, "Retain": true}

type color int32

// changes matches the methods that change their receiver.
var changes = regexp.MustCompile(`^(Set|Append$|AppendBytes|AppendView|AppendText|AppendNew|AppendElement|AppendPair|AppendUnknown|Changeable|Grow|RemoveFields|Clear$|Add$|New|Put|Delete|Unset|Reset$|Arm|Swap|Truncate|Sort)`)

// TestZeroHandles: all methods of a zero handle return the same as those of an absent struct or
// container. Methods that would change it panic with a text of the package.
func TestZeroHandles(t *testing.T) {
	for _, h := range zeroHandles {
		v := reflect.ValueOf(h)
		for i := range v.NumMethod() {
			if inside[v.Type().Method(i).Name] {
				continue
			}
			name := v.Type().String() + "." + v.Type().Method(i).Name
			checkZeroMethod(t, name, v.Type().Method(i).Name, v.Method(i))
		}
	}
}

// checkZeroMethod calls a method of a zero handle with zero arguments.
func checkZeroMethod(t *testing.T, name, method string, f reflect.Value) {
	t.Helper()
	var args []reflect.Value
	for i := range f.Type().NumIn() {
		arg := reflect.Zero(f.Type().In(i))
		switch arg.Interface().(type) {
		case *thriftimpl.Desc:
			arg = reflect.ValueOf(allDesc)
		case thriftimpl.Field:
			arg = reflect.ValueOf(fieldNamed(allDesc, "point"))
			if strings.Contains(name, "Or") {
				arg = reflect.ValueOf(fieldNamed(allDesc, "medium"))
			}
		}
		if arg.Type() == reflect.TypeFor[fmt.State]() {
			arg = reflect.ValueOf(plainState{})
		}
		if arg.Kind() == reflect.Func {
			arg = reflect.MakeFunc(arg.Type(), func([]reflect.Value) []reflect.Value { return []reflect.Value{reflect.ValueOf(0)} })
		}
		args = append(args, arg)
	}
	defer func() {
		t.Helper()
		v := recover()
		text := fmt.Sprint(v)
		_, outOfRange := v.(nocopy.IndexError)
		switch {
		case changes.MatchString(method):
			if !strings.Contains(text, setterOnAbsent) && !outOfRange {
				t.Errorf("%s panics with %s", name, text)
			}
		case strings.HasSuffix(method, "At") || method == "Element":
			if _, ok := v.(runtime.Error); !ok || !outOfRange && text != "nocopy: index out of range with length 0" {
				t.Errorf("%s panics with %s", name, text)
			}
		case v != nil:
			t.Errorf("%s panics with %s", name, text)
		}
	}()
	call := f.Call
	if f.Type().IsVariadic() {
		call = f.CallSlice
	}
	for _, out := range call(args) {
		if out.Kind() == reflect.Func { // an iterator
			n := 0
			yield := reflect.MakeFunc(out.Type().In(0), func([]reflect.Value) []reflect.Value { n++; return []reflect.Value{reflect.ValueOf(true)} })
			if out.Call([]reflect.Value{yield}); n > 0 {
				t.Errorf("%s yields", name)
			}
			continue
		}
		switch x := out.Interface().(type) {
		case string:
			if x != "" && x != "<none>" {
				t.Errorf("%s returns %q", name, x)
			}
		case *engine.Message:
			if x.Len() != 0 {
				t.Errorf("%s returns a message of %d bytes", name, x.Len())
			}
		case *nocopy.Message:
			if x.Len() != 0 || len(x.Bytes()) != 0 {
				t.Errorf("%s returns a message of %d bytes", name, x.Len())
			}
		case error: // Sendable
		case bool:
			if x != strings.HasPrefix(method, "Equal") { // absent handles are equal
				t.Errorf("%s returns %t", name, x)
			}
		case thriftimpl.Struct:
			if x.Valid() && method != "Clone" {
				t.Errorf("%s returns a handle of something", name)
			}
		default:
			if method == "AppendStruct" || method == "WireLen" {
				continue // an empty struct
			}
			if !out.IsZero() && out.Kind() != reflect.Struct && out.Kind() != reflect.Slice || out.Kind() == reflect.Slice && out.Len() > 0 {
				t.Errorf("%s returns %v", name, x)
			}
		}
	}
}

// TestZeroArguments: a zero handle as an argument stands for an empty value.
func TestZeroArguments(t *testing.T) {
	field := namedIn(allDesc)
	child := func(s thriftimpl.Struct, name string) thriftimpl.Struct { return s.NewChild(field(name), allDesc, 0) }
	fill := func(s, none, noList, noMap thriftimpl.Struct) {
		s.SetChild(field("point"), allDesc, none)
		s.SetChild(field("shape"), allDesc, none)
		s.SetChild(field("numbers"), allDesc, noList)
		s.SetChild(field("counts"), allDesc, noMap)
		points := nocopy.StructList[thriftimpl.Struct](child(s, "points"))
		points.Append(none)
		points.Append(none)
		points.Set(1, none)
		matrix := nocopy.NestedList[nocopy.Int32List](child(s, "matrix"))
		matrix.Append(nocopy.Int32List(noList))
		matrix.Set(0, nocopy.Int32List(noList))
		byNumber := nocopy.StructMap[int32, thriftimpl.Struct, thriftimpl.AsInt32](child(s, "byNumber"))
		byNumber.Put(1, none)
		byNumber.Put(1, none)
		groups := nocopy.NestedMap[string, nocopy.StructList[thriftimpl.Struct], thriftimpl.AsString](child(s, "groups"))
		groups.Put("k", nocopy.StructList[thriftimpl.Struct](noList))
		byPoint := nocopy.Map[thriftimpl.Struct, string, thriftimpl.AsView[thriftimpl.Struct], thriftimpl.AsString](child(s, "byPoint"))
		byPoint.Put(none, "a")
		byPoint.Put(none, "b")
		if v, ok := byPoint.Get(none); !ok || v != "b" || byPoint.Len() != 1 {
			t.Errorf("Get of an absent key: %q, %v", v, ok)
		}
		grown := nocopy.StructList[thriftimpl.Struct](child(s, "grown"))
		grown.Add(none)
		grown.Add(none)
		if grown.Len() != 1 || !grown.Contains(none) {
			t.Errorf("a set of what is absent: %s", grown)
		}
	}
	for _, opts := range [][]nocopy.Option{nil, {nocopy.Recycle}} {
		want, got := newStruct(allDesc, opts...), newStruct(allDesc, opts...)
		fill(want, emptyHandle(), emptyHandle(), emptyHandle())
		fill(got, thriftimpl.Struct{}, thriftimpl.Struct{}, thriftimpl.Struct{})
		if !bytes.Equal(want.Message().Bytes(), got.Message().Bytes()) {
			t.Errorf("zero handles give\n%s, absent ones\n%s", render.Text(got, allDesc), render.Text(want, allDesc))
		}
		want.Release()
		got.Release()
	}
	var orders map[string]thriftimpl.Struct
	if c := orders["none"].Child(field("self"), allDesc).Child(field("point"), allDesc); c.Valid() || c.Int32(fieldNamed(pointDesc, "x")) != 0 {
		t.Error("what is in what is missing is there")
	}
	d := thriftimpl.Struct{}.Child(fieldNamed(defaultDesc, "list1"), defaultDesc)
	if want := newStruct(defaultDesc).Child(fieldNamed(defaultDesc, "list1"), defaultDesc); nocopy.Int64List(d).Len() != nocopy.Int64List(want).Len() || nocopy.Int64List(d).Len() == 0 {
		t.Errorf("a list with a default, of a zero handle: %d elements, not %d", nocopy.Int64List(d).Len(), nocopy.Int64List(want).Len())
	}
}

// TestStaleWhileFilling: functions that remember their place while filling notice that the message
// was released, even if the next message is in the same place.
func TestStaleWhileFilling(t *testing.T) {
	for _, opts := range [][]nocopy.Option{nil, {nocopy.Recycle}} {
		for _, again := range []bool{false, true} {
			s := newStruct(allDesc, opts...)
			points := nocopy.StructList[thriftimpl.Struct](s.NewChild(fieldNamed(allDesc, "points"), allDesc, 5))
			points.At(0)
			points.At(1)
			d, f := stringsDesc()
			other := newStruct(d, opts...)
			texts := nocopy.StringMap(other.NewChild(f, d, 0))
			texts.Put("a", "b")
			s.Release()
			other.Release()
			if again {
				next := newStruct(d, opts...)
				nocopy.StringMap(next.NewChild(f, d, 0)).Put("a", "b")
				nocopy.StructList[thriftimpl.Struct](newStruct(allDesc, opts...).NewChild(fieldNamed(allDesc, "points"), allDesc, 5)).At(0)
			}
			panics(t, "Put", panicStale, func() { texts.Put("c", "d") })
			panics(t, "Put of the same key", panicStale, func() { texts.Put("a", "d") })
			panics(t, "At", panicStale, func() { points.At(2) })
		}
	}
}

func stringsDesc() (*thriftimpl.Desc, thriftimpl.Field) {
	d := newStructDesc("Texts")
	d.Define(thriftimpl.FieldDesc{ID: 1, Name: "m", Type: mapTypeOf(typeString, typeString)})
	return d, d.Field(0)
}

// plainState is the fmt.State of a verb without anything else, whose output nobody reads.
type plainState struct{}

func (plainState) Write(b []byte) (int, error) { return len(b), nil }
func (plainState) Width() (int, bool)          { return 0, false }
func (plainState) Precision() (int, bool)      { return 0, false }
func (plainState) Flag(int) bool               { return false }
