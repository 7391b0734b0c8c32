package dynamic_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/dynamic"
	"github.com/nocopythrift/nocopythrift/nocopy/nocopyjson"
	"github.com/nocopythrift/nocopythrift/nocopy/reflection"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/rpctest"
)

const anythingIDL = `
enum Color { RED = 1, GREEN = 2 }
struct Item { 1: required string name, 2: optional i32 count }
union Choice { 1: i32 num, 2: string text, 3: list<Choice> many }
struct All {
  1: optional bool flag, 2: optional i8 tiny, 3: optional i16 small, 4: optional i32 medium, 5: optional i64 large,
  6: optional double real, 7: optional string text, 8: optional binary blob, 9: optional uuid key, 10: optional Color color,
  11: optional Item item, 12: optional Choice choice, 13: optional list<i32> numbers, 14: optional set<string> words,
  15: optional list<Item> items, 16: optional map<string, i64> counts, 17: optional map<i64, string> names,
  18: optional map<Color, Item> byColor, 19: optional map<bool, double> byBool, 20: optional map<double, i8> byReal,
  21: optional map<uuid, bool> byKey, 22: optional map<Item, i32> byItem, 23: optional list<list<string>> grid,
  24: optional All next, 25: optional map<list<i32>, string> byList, 26: optional list<i8> bytes,
  27: optional map<string, i32> secret (nocopy.redact)
}
service Anything { All get(1: All a) }
`

type (
	named     string
	namedBool bool
	namedInt  uint16
)

// values has Go values for fields of All, and the field's JSON after setting it, or "" if the
// value is refused.
var values = []struct {
	field string
	v     any
	want  string
}{
	{"flag", true, `true`}, {"flag", namedBool(true), `true`}, {"flag", 1, ``}, {"flag", "true", ``},
	{"tiny", 127, `127`}, {"tiny", uint8(127), `127`}, {"tiny", uint8(128), ``}, {"tiny", -128.0, `-128`}, {"tiny", 1.5, ``},
	{"tiny", json.Number("12"), `12`}, {"tiny", json.Number("1.2e1"), `12`}, {"tiny", json.Number("300"), ``}, {"tiny", json.Number("x"), ``},
	{"small", namedInt(7), `7`}, {"small", "7", ``}, {"small", true, ``},
	{"large", int8(-3), `-3`}, {"large", uint64(math.MaxInt64), `9223372036854775807`}, {"large", uint64(1) << 63, ``},
	{"large", float64(1 << 53), `9007199254740992`}, {"large", float64(1<<53 + 2), ``}, {"large", float32(5), `5`}, {"large", math.NaN(), ``},
	{"large", json.Number("9223372036854775807"), `9223372036854775807`}, {"large", json.Number("9223372036854775808"), ``},
	{"large", json.Number(""), ``}, {"large", json.Number("1.5"), ``}, {"large", []byte{1}, ``},
	{"real", 3, `3`}, {"real", uint(3), `3`}, {"real", int64(1 << 53), `9007199254740992`}, {"real", int64(1<<53 + 1), ``}, {"real", int64(math.MaxInt64), ``},
	{"real", int64(math.MinInt64), `-9223372036854776000`}, {"real", float32(0.5), `0.5`}, {"real", json.Number("0.1"), `0.1`}, {"real", json.Number("1e999"), ``},
	{"real", "3", ``}, {"real", nil, ``},
	{"text", "t", `"t"`}, {"text", []byte("t"), `"t"`}, {"text", named("t"), `"t"`}, {"text", json.Number("1"), ``}, {"text", 1, ``},
	{"blob", []byte{1}, `"AQ=="`}, {"blob", "\x01", `"AQ=="`}, {"key", nocopy.UUID{}, `"00000000-0000-0000-0000-000000000000"`}, {"key", "x", ``},
	{"color", "GREEN", `"GREEN"`}, {"color", 2, `"GREEN"`}, {"color", named("RED"), `"RED"`}, {"color", json.Number("1"), `"RED"`}, {"color", 1.0, `"RED"`},
	{"color", "BLUE", ``}, {"color", "1", ``},
	{"item", map[string]any{"name": "a", "count": nil}, `{"name":"a"}`}, {"item", map[string]string{"name": "a"}, `{"name":"a"}`},
	{"item", map[string]any{}, `{"name":""}`}, {"item", map[string]any{"nam": "a"}, ``}, {"item", map[string]any{"name": 1}, ``}, {"item", []any{}, ``},
	{"item", map[int]any{}, ``}, {"item", 1, ``},
	{"choice", map[string]any{"num": 1}, `{"num":1}`}, {"choice", map[string]any{"num": 1, "text": "x"}, ``},
	{"choice", map[string]any{"many": []any{map[string]any{"num": 1}, map[named]any{"text": "x"}}}, `{"many":[{"num":1},{"text":"x"}]}`},
	{"numbers", []int32{1, 2}, `[1,2]`}, {"numbers", [2]any{1, 2.0}, `[1,2]`}, {"numbers", []any{}, `[]`}, {"numbers", []int32(nil), `[]`},
	{"numbers", []any{1, "x"}, ``}, {"numbers", map[int]int{}, ``}, {"numbers", []any{nil}, ``},
	{"words", []string{"a", "b", "a"}, `["a","b"]`}, {"words", []any{"a", []byte("a")}, `["a"]`},
	{"items", []map[string]any{{"name": "a"}, nil}, `[{"name":"a"},{"name":""}]`}, {"items", []any{map[string]any{"name": "a"}, 3}, ``},
	{"counts", map[string]any{"a": 1, "b": json.Number("2")}, `{"a":1,"b":2}`}, {"counts", map[string]int{"a": 1}, `{"a":1}`},
	{"counts", map[named]uint8{"a": 1}, `{"a":1}`}, {"counts", []dynamic.Pair{{Key: "a", Value: 1}, {Key: "a", Value: 2}}, `{"a":2}`},
	{"counts", map[int]int{1: 1}, ``}, {"counts", map[string]any{"a": nil}, ``},
	{"names", map[int]string{5: "x"}, `{"5":"x"}`}, {"names", map[string]any{"5": "x", "-7": "y"}, `{"-7":"y","5":"x"}`},
	{"names", map[any]any{5: "x", "6": "y", 7.0: "z"}, `{"5":"x","6":"y","7":"z"}`}, {"names", map[string]any{"x": "x"}, ``}, {"names", map[string]any{"": "x"}, ``},
	{"names", map[string]any{"9223372036854775808": "x"}, ``}, {"names", map[json.Number]any{"5": "x"}, `{"5":"x"}`}, {"names", map[float64]string{1.5: "x"}, ``},
	{"byColor", map[string]any{"RED": map[string]any{"name": "r"}, "2": map[string]any{"name": "g"}}, `{"GREEN":{"name":"g"},"RED":{"name":"r"}}`},
	{"byColor", map[int32]any{1: map[string]any{}}, `{"RED":{"name":""}}`}, {"byColor", map[string]any{"BLUE": map[string]any{}}, ``},
	{"byBool", map[string]any{"true": 1, "false": 0.5}, `{"false":0.5,"true":1}`}, {"byBool", map[bool]int{true: 1}, `{"true":1}`}, {"byBool", map[string]int{"yes": 1}, ``},
	{"byReal", map[string]any{"0.5": 1}, `{"0.5":1}`}, {"byReal", map[int]any{3: 1}, `{"3":1}`}, {"byReal", map[string]int{"x": 1}, ``},
	{"byKey", map[string]bool{"00112233-4455-6677-8899-aabbccddeeff": true}, `{"00112233-4455-6677-8899-aabbccddeeff":true}`}, {"byKey", map[string]bool{"x": true}, ``},
	{"byItem", []dynamic.Pair{{Key: map[string]any{"name": "a"}, Value: 1}, {Key: map[string]any{"name": "a"}, Value: 2}}, `[[{"name":"a"},2]]`},
	{"byItem", []dynamic.Pair{{Key: map[string]any{"name": 1}, Value: 1}}, ``}, {"byItem", []dynamic.Pair{{Key: nil, Value: 1}}, ``},
	{"byList", []dynamic.Pair{{Key: []any{1, 2}, Value: "x"}, {Key: [0]int{}, Value: "y"}}, `[[[1,2],"x"],[[],"y"]]`},
	{"grid", [][]string{{"a"}, nil}, `[["a"],[]]`}, {"grid", []any{[]any{"a", 1}}, ``}, {"bytes", []byte{1, 127}, `[1,127]`}, {"bytes", []byte{128}, ``},
	{"next", map[string]any{"next": map[string]any{"large": json.Number("1")}}, `{"next":{"large":1}}`}, {"next", map[string]any{"next": map[string]any{"none": 1}}, ``},
}

// TestSameValues: Set, SetID, FromMap and Return accept the same Go values, and so do lists and
// maps for their elements, keys and values. Refused values change nothing.
func TestSameValues(t *testing.T) {
	s := text(t, anythingIDL)
	typ := mustStruct(t, s, "All")
	service, err := s.Service("Anything")
	if err != nil {
		t.Fatal(err)
	}
	var toReturn map[string]any
	client := service.Client(rpctest.Serve(t, &rpc.Server{Processor: service.Processor(func(ctx context.Context, c *dynamic.Call) error { return c.Return(toReturn) })}))
	for _, test := range values {
		check := func(way string, m dynamic.Message, err error) {
			t.Helper()
			if test.want == "" {
				if err == nil {
					t.Errorf("%s: %s = %#v is accepted: %v", way, test.field, test.v, m)
				}
				return
			}
			got, _ := nocopyjson.Marshal(m)
			if want := `{"` + test.field + `":` + test.want + "}"; err != nil || string(got) != want {
				t.Errorf("%s: %s = %#v: %s, %v, want %s", way, test.field, test.v, got, err, want)
			}
		}
		m := typ.New()
		err := m.Set(test.field, test.v)
		check("Set", m, err)
		var at *reflection.FieldError
		if err != nil && (!errors.As(err, &at) || at.Field != test.field || m.String() != "{}") {
			t.Errorf("Set: %s = %#v: %v, then %v", test.field, test.v, err, m)
		}
		if test.v == nil {
			continue // FromMap does not set the field
		}
		fields := map[string]any{test.field: test.v}
		m, err = typ.FromMap(fields)
		check("FromMap", m, err)
		toReturn = fields
		args, _ := client.NewArgs("get")
		r, err := client.Call(t.Context(), "get", args)
		if err == nil {
			v, _ := r.Get("success")
			check("Return", v.Message(), nil)
		} else {
			check("Return", m, err)
		}
		r.Release()

		// As an element, value or key
		v, _ := typ.New().Get(test.field)
		holder := mustStruct(t, text(t, anythingIDL+"struct H { 1: list<"+v.Type().String()+"> l (a = \""+test.field+"\"), 2: map<i8, "+
			v.Type().String()+"> m }"), "H").New()
		for name, set := range map[string]func() error{
			"Append": func() error { v, _ := holder.New("l"); return v.List().Append(test.v) },
			"Put":    func() error { v, _ := holder.New("m"); return v.Map().Put("7", test.v) },
		} {
			err := set()
			if (err == nil) != (test.want != "") {
				t.Errorf("%s: %s = %#v: %v", name, test.field, test.v, err)
			}
		}
		list, _ := holder.Get("l")
		pairs, _ := holder.Get("m")
		if n := map[bool]int{true: 1}[test.want != ""]; list.List().Len() != n || pairs.Map().Len() != n {
			t.Errorf("%s = %#v: %v", test.field, test.v, holder)
		}
		if b, _ := nocopyjson.Marshal(holder); test.want != "" && string(b) != `{"l":[`+test.want+`],"m":{"7":`+test.want+`}}` {
			t.Errorf("%s = %#v: %s", test.field, test.v, b)
		}
	}
}

// TestSetErrors: an error gives the place of the fault in the value, but nothing about redacted
// values.
func TestSetErrors(t *testing.T) {
	m := mustStruct(t, text(t, anythingIDL), "All").New()
	for _, test := range []struct {
		field string
		v     any
		want  string
	}{
		{"items", []any{map[string]any{}, map[string]any{"count": "x"}}, "All.items[1].count: string instead of i32"},
		{"byColor", map[string]any{"RED": 1}, `All.byColor["RED"]: int instead of Item`},
		{"names", map[string]any{"x": "x"}, `All.names["x"]: a text that is no i64`},
		{"secret", map[string]any{"hidden": "x"}, "All.secret: string instead of i32"},
		{"next", map[string]any{"secret": map[string]any{"hidden": "x"}}, "All.next.secret: string instead of i32"},
		{"next", map[string]any{"none": 1}, "All.next.none: not found; the fields are flag, tiny, small, "},
		{"items[0].count", 1, "All.items[0].count: not found: items is a field, and only Lookup follows a path from there"},
		{"item.count", 1, "All.item.count: not found: item is a field, and only Lookup follows a path from there"},
		{"itm.count", 1, "All.itm.count: not found; the fields are flag, tiny, small, "},
		{"itm", 1, "All.itm: not found; the fields are flag, tiny, small, "},
	} {
		if err := m.Set(test.field, test.v); err == nil || !strings.HasPrefix(err.Error(), test.want) || len(err.Error()) > 300 {
			t.Errorf("%s = %v: %v", test.field, test.v, err)
		}
	}
	endless := []any{nil}
	endless[0] = dynamic.Pair{Key: "x"}
	loop := map[string]any{}
	loop["next"] = loop
	if err := m.Set("next", loop); !errors.Is(err, nocopy.ErrLimit) {
		t.Error(err)
	}
	if err := m.Set("grid", []any{endless}); err == nil || m.String() != "{}" {
		t.Error(m, err)
	}
	v, err := m.New("secret")
	if err != nil {
		t.Fatal(err)
	}
	if err := v.Map().Put("hidden", []string{"hidden"}); err == nil || strings.Contains(err.Error(), "hidden") {
		t.Error(err)
	}
	if _, _, err := v.Map().Get(struct{}{}); err == nil {
		t.Error("a struct is a key of type string")
	}
}

// TestJSONMethods: encoding/json reads into dynamic messages, even if they are part of Go values.
func TestJSONMethods(t *testing.T) {
	typ := mustStruct(t, text(t, anythingIDL), "All")
	m := typ.New()
	first := m
	if err := m.Set("large", 1); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(`{"large":77,"none":{},"item":{"name":"a","none":1}}`), &m); err != nil {
		t.Fatal(err)
	}
	if b, err := json.Marshal(m); err != nil || string(b) != `{"large":77,"item":{"name":"a"}}` || first.String() != "{large: 1}" {
		t.Errorf("%s %v; %v", b, err, first)
	}
	holder := struct {
		A dynamic.Message
		B *dynamic.Message
	}{typ.New(), &m}
	if err := json.NewDecoder(bytes.NewReader([]byte(`{"A":{"text":"a` + "\xff" + `"},"B":{"tiny":1},"C":1}`))).Decode(&holder); err != nil || holder.A.String() != `{text: "a`+"\ufffd"+`"}` || m.String() != "{tiny: 1}" {
		t.Error(holder, err)
	}
	for in, want := range map[string]error{
		`{"tiny":300}`: nocopyjson.ErrValue, `{"item":{}}`: nocopy.ErrMissingRequired, `[]`: nocopyjson.ErrValue,
	} {
		if err := json.Unmarshal([]byte(in), &m); !errors.Is(err, want) || m.String() != "{tiny: 1}" {
			t.Errorf("%s: %v, %v", in, m, err)
		}
	}
	for range 2 { // the second time into an absent struct
		if err := json.Unmarshal([]byte(`{"A":null}`), &holder); err != nil || holder.A.Valid() {
			t.Error(holder.A, err)
		}
		if err := json.Unmarshal([]byte(`{"A":{"tiny":2}}`), &holder); err != nil || holder.A.String() != "{tiny: 2}" {
			t.Error(holder.A, err)
		}
	}
	var none dynamic.Message
	for _, in := range []string{"{}", "null"} {
		if err := json.Unmarshal([]byte(in), &none); in == "{}" && !errors.Is(err, reflection.ErrNoType) || none.Valid() {
			t.Errorf("%s: %v", in, err)
		}
	}
	if err := json.Unmarshal([]byte(`{"A":{}}`), new(struct{ A dynamic.Message })); !errors.Is(err, reflection.ErrNoType) {
		t.Error(err)
	}
	order := mustStruct(t, text(t, anythingIDL), "Item").New()
	if err := json.Unmarshal([]byte(`{"name":"x"}`), &order); err != nil || order.String() != `{name: "x"}` {
		t.Error(order, err)
	}
}
