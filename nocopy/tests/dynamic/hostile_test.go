package dynamic_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/gen/schema"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/dynamic"
)

// doubling returns structs S0 to Sn. Each except the first contains the previous one twice.
func doubling(n int) string {
	return "struct S0 { 1: required list<i32> a }\n" + repeat(n, func(i int) string {
		return fmt.Sprintf("struct S%d { 1: required S%d a, 2: required S%d b }\n", i+1, i, i)
	})
}

// TestEmpty: the size of an empty message is bounded.
func TestEmpty(t *testing.T) {
	typ, err := text(t, doubling(15)).Struct("S15")
	if err != nil {
		t.Fatal(err)
	}
	m := typ.New()
	defer m.Release()
	if n := len(m.Message().Bytes()); n < schema.MaxEmpty/2 || n > schema.MaxEmpty {
		t.Errorf("%d bytes", n)
	}
}

// TestMistakes: errors have positions.
func TestMistakes(t *testing.T) {
	for src, want := range map[string]string{
		"struct A { 1: i32 a 1: i32 b }":             "a.thrift:1:21: A: fields a and b have the same id 1",
		"struct A {\n  1: B b }":                     "a.thrift:2:6: unknown type B",
		"struct A { 1: i32 a = 'x' }":                "a.thrift:1:23: cannot use the string \"x\" as i32",
		"struct":                                     "a.thrift:1:7: ",
		"include 'b.thrift'":                         "a.thrift:1:1: cannot find include file \"b.thrift\"",
		"include 'a.thrift'":                         "a.thrift:1:1: include cycle: a.thrift → a.thrift",
		"\xff\xfes\x00":                              "a.thrift:1:1: the file is UTF-16",
		doubling(40):                                 "a.thrift:17:8: an empty S16 takes more than 512 KiB, which required fields and defaults add up to",
		"struct A { 1: A a = {} }":                   "a.thrift:1:12: the default of field a is too large or contains itself",
		"const i32 A = " + strings.Repeat("[", 1000): "a.thrift:1:215: nested more than 200 deep",
		"struct A { 1: required B b } struct B { 1: required A a }": "a.thrift:1:41: required field a makes every A contain another A without end",
		ids(40):                            "a.thrift:33:8: A32: between the ids of fields there are more than 2097152 others",
		strings.Repeat("struct A {", 1000): "a.thrift:1:",
	} {
		_, err := dynamic.LoadText(map[string]string{"a.thrift": src})
		var list dynamic.Errors
		if !errors.As(err, &list) || !strings.HasPrefix(err.Error(), want) || len(list) > 100 {
			t.Errorf("%.100s: %.300v", src, err)
		}
	}
}

func repeat(n int, f func(i int) string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(f(i))
	}
	return b.String()
}

// ids returns structs with ids from the lowest to the highest.
func ids(n int) string {
	return repeat(n, func(i int) string { return fmt.Sprintf("struct A%d { -32768: i8 a, 32767: i8 b }\n", i) })
}

// TestHostileIDL: any text takes time and memory proportional to its size.
func TestHostileIDL(t *testing.T) {
	n := 3_000
	for name, src := range map[string]string{
		"a chain of structs":   repeat(n, func(i int) string { return fmt.Sprintf("struct C%d { 1: C%d c }\n", i, i+1) }) + fmt.Sprintf("struct C%d {}", n),
		"a circle of structs":  repeat(n, func(i int) string { return fmt.Sprintf("struct R%d { 1: R%d c }\n", i, (i+1)%n) }),
		"a chain of services":  repeat(n, func(i int) string { return fmt.Sprintf("service S%d extends S%d {}\n", i, i+1) }) + fmt.Sprintf("service S%d {}", n),
		"many of one type":     "typedef " + strings.Repeat("map<i32, list<", 90) + "i32" + strings.Repeat(">>", 90) + " T\nstruct M {" + repeat(n, func(i int) string { return fmt.Sprintf("%d: T f%d ", i+1, i) }) + "}",
		"many structs of many": "struct W {" + repeat(n, func(i int) string { return fmt.Sprintf("%d: optional i8 f%d ", i+1, i) }) + "}\nstruct X {" + repeat(n, func(i int) string { return fmt.Sprintf("%d: W f%d ", i+1, i) }) + "}",
		"defaults":             "struct D {" + repeat(n, func(i int) string { return fmt.Sprintf("%d: list<D> f%d = [{}, {}] ", i+1, i) }) + "}",
		"errors":               strings.Repeat("struct A { 1: B b }\n", n),
		"brackets":             strings.Repeat("([{<", n),
		"a long name":          "struct " + strings.Repeat("a", 1<<19) + " { 1: x y }",
		"defaults of defaults": "struct E0 { 1: i32 a }\n" + repeat(20, func(i int) string {
			return fmt.Sprintf("struct E%d { 1: list<E%d> a = [{}, {}, {}] }\n", i+1, i)
		}),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		s, err := dynamic.LoadText(map[string]string{"a.thrift": src})
		if err == nil {
			for _, typ := range s.Structs() {
				m := typ.New()
				_ = dynamic.ToMap(m)
				if got, err := typ.Parse(m.Message().Bytes()); err != nil || got.String() != m.String() {
					t.Fatalf("%s: %v", name, err)
				}
				break
			}
		} else if len(err.Error()) > 1<<20 {
			t.Errorf("%s: an error of %d bytes", name, len(err.Error()))
		}
		runtime.ReadMemStats(&after)
		// Quadratic growth would exceed this
		if used := after.TotalAlloc - before.TotalAlloc; used > 32<<20+uint64(len(src))*1600 {
			t.Errorf("%s: %d bytes took %d", name, len(src), used)
		}
	}
}

// TestValues: values that do not fit give errors with paths, and no message.
func TestValues(t *testing.T) {
	s := text(t, `
struct Line { 1: string article, 2: i8 count }
union U { 1: i32 a, 2: string b }
enum Color { RED }
struct Order { 1: list<Line> lines, 2: map<string, Line> named, 3: U u, 4: Color c, 5: set<i32> ids, 6: map<Line, i32> keyed, 7: Order next, 8: uuid id, 9: bool b, 10: map<i32, list<U>> deep }
`)
	typ := mustStruct(t, s, "Order")
	type m = map[string]any
	var endless m = m{}
	endless["next"] = endless
	for _, test := range []struct {
		fields m
		want   string
	}{
		{m{"none": 1}, "Order.none: not found"},
		{m{"lines": 1}, "Order.lines: int instead of list<Line>"},
		{m{"lines": []any{m{"article": "a"}, m{"count": 200}}}, "Order.lines[1].count: a number out of the range of i8"},
		{m{"lines": []any{nil}}, "Order.lines[0]: <nil> instead of Line"},
		{m{"named": m{"x": m{"count": "y"}}}, `Order.named["x"].count: string instead of i8`},
		{m{"named": []any{}}, "Order.named: []interface {} instead of map<string, Line>"},
		{m{"u": m{"a": 1, "b": "x"}}, "Order.u: more than one field of a union"},
		{m{"c": "BLUE"}, "Order.c: no value of Color has this name"},
		{m{"ids": []int64{1, 2, 3_000_000_000}}, "Order.ids[2]: a number out of the range of i32"},
		{m{"ids": []any{1.5}}, "Order.ids[0]: float64 instead of i32"},
		{m{"keyed": m{"a": 1}}, `Order.keyed["a"]: string instead of Line`},
		{m{"keyed": []dynamic.Pair{{Key: m{"article": 1}, Value: 2}}}, `.article: int instead of string`},
		{m{"deep": map[any]any{7: []any{m{"a": true}}}}, "Order.deep[7][0].a: bool instead of i32"},
		{m{"next": mustStruct(t, s, "Line").New()}, "Order.next: reflection.Message instead of Order"},
		{endless, "nested more than 1000 deep"},
	} {
		got, err := typ.FromMap(test.fields)
		var at *dynamic.ValueError
		if !errors.As(err, &at) || !strings.Contains(err.Error(), test.want) || got.Valid() {
			t.Errorf("%s: %v", test.want, err)
		}
	}
	deep := m{}
	for range 100 {
		deep = m{"next": deep}
	}
	if _, err := typ.FromMap(deep); !errors.Is(err, nocopy.ErrLimit) {
		t.Error(err)
	}
	got, err := typ.FromMap(m{"lines": nil, "ids": []float64{1, 2, 1}, "named": map[string]map[string]int{"x": {"count": 3}}, "u": m{"b": "z"}, "c": 0})
	if want := `{c: RED, named: {"x": {count: 3}}, u: {b: "z"}, ids: [1, 2], b: false, id: 00000000-0000-0000-0000-000000000000}`; err != nil || len(got.String()) != len(want) {
		t.Errorf("%v, %v", got, err)
	}
}

// TestReleased: use of a released message panics, as with generated types.
func TestReleased(t *testing.T) {
	typ := mustStruct(t, text(t, "struct Rel { 1: string s }"), "Rel")
	m := typ.New(nocopy.Recycle)
	m.Release()
	for name, f := range map[string]func(){
		"Get": func() { m.Get("s") }, "Set": func() { m.Set("s", "x") }, "ToMap": func() { dynamic.ToMap(m) },
		"zero type": func() { dynamic.Type{}.New() },
	} {
		func() {
			defer func() {
				if p := fmt.Sprint(recover()); !strings.HasPrefix(p, "nocopy: ") {
					t.Errorf("%s: %s", name, p)
				}
			}()
			f()
		}()
	}
}
