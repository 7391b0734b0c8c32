package nocopy

import (
	"bytes"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// zeroHandles are the zero values of all types of handles.
var zeroHandles = []any{
	XStruct{}, BoolList{}, Int8List{}, Int16List{}, Int32List{}, Int64List{}, Float64List{}, UUIDList{}, EnumList[color]{}, StringList{}, BytesList{},
	StructList[XStruct]{}, NestedList[Int64List]{}, NestedList[StringMap]{}, StringMap{}, Map[int64, bool, XAsInt64, XAsBool]{}, Map[string, int64, XAsString, XAsInt64]{},
	Map[XStruct, string, XAsView[XStruct], XAsString]{}, StructMap[string, XStruct, XAsString]{}, StructMap[XStruct, XStruct, XAsView[XStruct]]{},
	NestedMap[int32, StructList[XStruct], XAsInt32]{}, NestedMap[Int32List, StringMap, XAsView[Int32List]]{},
}

// forRPC are the methods that only package rpc calls.
var forRPC = map[string]bool{"AddOpen": true, "Claim": true, "Drop": true, "End": true, "Freeze": true, "Offer": true, "Retain": true}

type color int32

// changes are the methods that change what they are called on.
var changes = regexp.MustCompile(`^(Set|Append$|AppendNew|AppendElement|AppendPair|AppendUnknown|RemoveFields|Clear$|Add$|New|Put|Delete|Unset|Reset$|Arm|Swap|Truncate|Sort)`)

// TestZeroHandles: whatever is asked of a zero handle, it answers like an absent struct or
// container; what would change it panics with a text of this package's.
func TestZeroHandles(t *testing.T) {
	for _, h := range zeroHandles {
		v := reflect.ValueOf(h)
		for i := range v.NumMethod() {
			if forRPC[v.Type().Method(i).Name] {
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
		case *XDesc:
			arg = reflect.ValueOf(allDesc)
		case XField:
			arg = reflect.ValueOf(allDesc.named("point"))
			if strings.Contains(name, "Or") {
				arg = reflect.ValueOf(allDesc.named("medium"))
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
		_, outOfRange := v.(IndexError)
		switch {
		case changes.MatchString(method):
			if !strings.Contains(text, setterOnAbsent) && !outOfRange {
				t.Errorf("%s panics with %s", name, text)
			}
		case method == "At" || method == "Element":
			if !outOfRange && !(text == staleUse{}.Error() && strings.Contains(name, "Float64List")) {
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
		case *Message:
			if x.Len() != 0 || len(x.Bytes()) != 0 {
				t.Errorf("%s returns a message of %d bytes", name, x.Len())
			}
		case error: // Sendable
		case bool:
			if x != (method == "Equal") { // what is absent equals what is absent
				t.Errorf("%s returns %t", name, x)
			}
		case XStruct:
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

// TestZeroArguments: a zero handle in the place of a value is an empty value.
func TestZeroArguments(t *testing.T) {
	field := allDesc.named
	child := func(s XStruct, name string) XStruct { return s.NewChild(field(name), allDesc, 0) }
	fill := func(s, none, noList, noMap XStruct) {
		s.SetChild(field("point"), allDesc, none)
		s.SetChild(field("shape"), allDesc, none)
		s.SetChild(field("numbers"), allDesc, noList)
		s.SetChild(field("counts"), allDesc, noMap)
		points := StructList[XStruct](child(s, "points"))
		points.Append(none)
		points.Append(none)
		points.Set(1, none)
		matrix := NestedList[Int32List](child(s, "matrix"))
		matrix.Append(Int32List(noList))
		matrix.Set(0, Int32List(noList))
		byNumber := StructMap[int32, XStruct, XAsInt32](child(s, "byNumber"))
		byNumber.Put(1, none)
		byNumber.Put(1, none)
		groups := NestedMap[string, StructList[XStruct], XAsString](child(s, "groups"))
		groups.Put("k", StructList[XStruct](noList))
		byPoint := Map[XStruct, string, XAsView[XStruct], XAsString](child(s, "byPoint"))
		byPoint.Put(none, "a")
		byPoint.Put(none, "b")
		if v, ok := byPoint.Get(none); !ok || v != "b" || byPoint.Len() != 1 {
			t.Errorf("Get of an absent key: %q, %v", v, ok)
		}
		grown := StructList[XStruct](child(s, "grown"))
		grown.Add(none)
		grown.Add(none)
		if grown.Len() != 1 || !grown.Contains(none) {
			t.Errorf("a set of what is absent: %s", grown)
		}
	}
	for _, opts := range [][]Option{nil, {Recycle}} {
		want, got := newStruct(allDesc, opts...), newStruct(allDesc, opts...)
		fill(want, emptyHandle(), emptyHandle(), emptyHandle())
		fill(got, XStruct{}, XStruct{}, XStruct{})
		if !bytes.Equal(want.m.Bytes(), got.m.Bytes()) {
			t.Errorf("zero handles give\n%s, absent ones\n%s", got.Format(allDesc), want.Format(allDesc))
		}
		want.Release()
		got.Release()
	}
	var orders map[string]XStruct
	if c := orders["none"].Child(field("self"), allDesc).Child(field("point"), allDesc); c.Valid() || c.Int32(pointDesc.named("x")) != 0 {
		t.Error("what is in what is missing is there")
	}
	d := XStruct{}.Child(defaultDesc.named("list1"), defaultDesc)
	if want := newStruct(defaultDesc).Child(defaultDesc.named("list1"), defaultDesc); Int64List(d).Len() != Int64List(want).Len() || Int64List(d).Len() == 0 {
		t.Errorf("a list with a default, of a zero handle: %d elements, not %d", Int64List(d).Len(), Int64List(want).Len())
	}
}

// TestStaleWhileFilling: what remembers where it was filled notices that its message is gone, also
// when the next message is at the same place.
func TestStaleWhileFilling(t *testing.T) {
	for _, opts := range [][]Option{nil, {Recycle}} {
		for _, again := range []bool{false, true} {
			s := newStruct(allDesc, opts...)
			points := StructList[XStruct](s.NewChild(allDesc.named("points"), allDesc, 5))
			points.At(0)
			points.At(1)
			d, f := stringsDesc()
			other := newStruct(d, opts...)
			texts := StringMap(other.NewChild(f, d, 0))
			texts.Put("a", "b")
			s.Release()
			other.Release()
			if again {
				next := newStruct(d, opts...)
				StringMap(next.NewChild(f, d, 0)).Put("a", "b")
				StructList[XStruct](newStruct(allDesc, opts...).NewChild(allDesc.named("points"), allDesc, 5)).At(0)
			}
			panics(t, "Put", panicStale, func() { texts.Put("c", "d") })
			panics(t, "Put of the same key", panicStale, func() { texts.Put("a", "d") })
			panics(t, "At", panicStale, func() { points.At(2) })
		}
	}
}

func stringsDesc() (*XDesc, XField) {
	d := newStructDesc("Texts")
	d.Define(XFieldDesc{ID: 1, Name: "m", Type: mapTypeOf(typeString, typeString)})
	return d, d.constant(0)
}

// plainState is the fmt.State of a verb without anything else, whose output nobody reads.
type plainState struct{}

func (plainState) Write(b []byte) (int, error) { return len(b), nil }
func (plainState) Width() (int, bool)          { return 0, false }
func (plainState) Precision() (int, bool)      { return 0, false }
func (plainState) Flag(int) bool               { return false }
