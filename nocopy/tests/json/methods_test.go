package nocopyjson_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/nocopyjson"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/json/shop"
)

// cart is a Go struct that contains messages.
type cart struct {
	Item  shop.Item            `json:"item"`
	Items []shop.Item          `json:"items"`
	Parts map[string]shop.Part `json:"parts"`
	Err   *shop.Refused        `json:"err"`
}

// ways has both versions of encoding/json.
var ways = []struct {
	name      string
	marshal   func(any) ([]byte, error)
	unmarshal func([]byte, any) error
}{
	{"v1", json.Marshal, json.Unmarshal},
	{"v2", func(v any) ([]byte, error) { return marshalV2(v) }, func(b []byte, v any) error { return unmarshalV2(b, v) }},
}

// TestMethods: encoding/json and its second version read and write messages anywhere in Go values.
func TestMethods(t *testing.T) {
	const text = `{"item":{"large":5,"point":{"x":1,"y":2}},"items":[{},{"text":"<é>"}],"parts":{"a":{"name":"n"}},"err":{"reason_text":"no","color":"RED"}}`
	for _, way := range ways {
		var c cart
		if err := way.unmarshal([]byte(" "+text), &c); err != nil {
			t.Fatalf("%s: %v", way.name, err)
		}
		if c.Item.GetPoint().GetY() != 2 || c.Items[1].GetText() != "<é>" || c.Parts["a"].Which() != shop.Part_Name || c.Err.GetColor() != shop.Color_RED {
			t.Errorf("%s: %+v", way.name, c)
		}
		want := text
		if way.name == "v1" { // it escapes characters with a meaning in HTML
			want = strings.NewReplacer("<", `\u003c`, ">", `\u003e`).Replace(text)
		}
		if out, err := way.marshal(c); err != nil || string(out) != want {
			t.Errorf("%s: %s, %v", way.name, out, err)
		}
		if out, err := way.marshal(&c.Item); err != nil || string(out) != `{"large":5,"point":{"x":1,"y":2}}` {
			t.Errorf("%s: %s, %v", way.name, out, err)
		}
		if out, err := way.marshal(cart{}); err != nil || !strings.HasPrefix(string(out), `{"item":null,`) {
			t.Errorf("%s: %s, %v", way.name, out, err)
		}
	}
}

// TestMethodsFail: an error leaves the message unchanged. Its offset counts from the beginning of
// the whole text or, with the first version in Go 1.26, of the value.
func TestMethodsFail(t *testing.T) {
	const text = `{"items": [{"large":1}, {"large":1.5}]}`
	for _, way := range ways {
		var c cart
		err := way.unmarshal([]byte(text), &c)
		var bad *nocopy.Error
		if !errors.As(err, &bad) || bad.Path != "Item.large" || !errors.Is(err, nocopyjson.ErrValue) {
			t.Fatalf("%s: %v", way.name, err)
		}
		if whole := strings.Index(text, "1.5"); bad.Offset != whole && (way.name == "v2" || bad.Offset != 9) {
			t.Errorf("%s: offset %d: %v", way.name, bad.Offset, err)
		}
		m := shop.NewItem()
		m.SetText("as before")
		if err := way.unmarshal([]byte(`{"large":1,"tiny":200}`), &m); !errors.Is(err, nocopyjson.ErrValue) || m.GetText() != "as before" {
			t.Errorf("%s: %v %v", way.name, m, err)
		}
		if err := way.unmarshal([]byte(`null`), &m); err != nil || m.Valid() {
			t.Errorf("%s: null: %v %v", way.name, m, err)
		}
	}
	b, err := marshalV2(badText())
	var bad *nocopy.Error
	if !errors.As(err, &bad) || bad.Path != "Item.items[0].counts[0]" || !errors.Is(err, nocopy.ErrUTF8) {
		t.Errorf("%s %v", b, err)
	}
	var m shop.Item
	for _, b := range [][]byte{nil, []byte("{"), []byte("nul"), []byte("{}{}")} {
		if err := m.UnmarshalJSON(b); err == nil || m.Valid() {
			t.Errorf("%q: %v", b, m)
		}
	}
}

// TestUnknownByMethods: both versions of encoding/json skip fields of a newer program, unless they
// are told to refuse them. If they allow duplicate names, skipped values may have some.
func TestUnknownByMethods(t *testing.T) {
	const text = `{"new":{"a":[1,{}]},"item":{"large":1,"newer":{"b":[{}],"c":null},"point":{"x":1,"z":"\ud800"}},"items":[{"no":1,"text":"t"}]}`
	want := `{large: 1, point: {x: 1}} {text: "t"}`
	read := func(c cart) string { return c.Item.String() + " " + c.Items[0].String() }
	for _, way := range ways {
		var c cart
		in := text
		if way.name == "v2" { // it treats surrogates differently
			in = strings.Replace(text, `\ud800`, "x", 1)
		}
		if err := way.unmarshal([]byte(in), &c); err != nil || read(c) != want {
			t.Errorf("%s: %s %v", way.name, read(c), err)
		}
	}
	in := []byte(strings.Replace(text, `\ud800`, "x", 1))
	var c cart
	err := unmarshalV2([]byte(`{"item":{"large":1,"newer":2}}`), &c, rejectUnknown)
	var bad *nocopy.Error
	if !errors.Is(err, nocopyjson.ErrUnknownField) || !errors.As(err, &bad) || bad.Offset != 19 || bad.Path != "Item" {
		t.Errorf("refused: %v", err)
	}
	if err := unmarshalV2(in, &c, rejectUnknown); err == nil {
		t.Error("the Go struct's unknown field is not refused")
	}
	for _, text := range []string{`{"item":{"no":1,"no":2}}`, `{"item":{"no":{"a":1,"a":2}}}`} {
		if err := json.Unmarshal([]byte(text), &c); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if err := unmarshalV2([]byte(text), &c); !errors.Is(err, nocopyjson.ErrUnknownField) && err == nil {
			t.Errorf("%s: not refused", text)
		}
		if err := unmarshalV2([]byte(text), &c, allowRepeated); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if err := nocopyjson.Unmarshal([]byte(text)[8:len(text)-1], &c.Item, nocopyjson.AllowUnknown); !errors.Is(err, nocopyjson.ErrDuplicate) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if err := json.Unmarshal([]byte(`{"item":{"large":1,"large":2}}`), &c); !errors.Is(err, nocopyjson.ErrDuplicate) {
		t.Error(err)
	}
	if err := json.Unmarshal([]byte(`{"item":{"no":`+strings.Repeat("[", 100)+strings.Repeat("]", 100)+`}}`), &c); !errors.Is(err, nocopy.ErrLimit) {
		t.Error(err)
	}
}

// TestInvalidUTF8: in both directions, encoding/json replaces bytes that are not UTF-8. So do its
// second version and package nocopyjson, with an option.
func TestInvalidUTF8(t *testing.T) {
	m, err := shop.ParseItem([]byte{0})
	if err != nil {
		t.Fatal(err)
	}
	m.SetText("a\xff\xe2\x82b\"é\xed\xa0\x80")
	m.NewCounts(1).Put("\xc0", 1)
	m.NewItems(1).At(0).SetBlob([]byte{0xff})
	const text = "a\ufffd\ufffd\ufffdb\"é\ufffd\ufffd\ufffd"
	for name, marshal := range map[string]func() ([]byte, error){
		"v1": func() ([]byte, error) { return json.Marshal(cart{Item: m}) },
		"v2": func() ([]byte, error) { return marshalV2(cart{Item: m}, allowInvalid) },
		"nocopyjson": func() ([]byte, error) {
			b, err := nocopyjson.Marshal(m, nocopyjson.ReplaceInvalidUTF8)
			return []byte(`{"Item":` + string(b) + "}"), err
		},
	} {
		b, err := marshal()
		var got struct {
			Item struct {
				Text   string
				Counts map[string]int
			}
		}
		if err == nil {
			err = json.Unmarshal(b, &got)
		}
		if err != nil || !utf8.Valid(b) || got.Item.Text != text || got.Item.Counts["\ufffd"] != 1 {
			t.Errorf("%s: %s %v", name, b, err)
		}
	}
	if b, err := marshalV2(m); !errors.Is(err, nocopy.ErrUTF8) {
		t.Errorf("%s %v", b, err)
	}
	if b, err := nocopyjson.Marshal(m); !errors.Is(err, nocopy.ErrUTF8) {
		t.Errorf("%s %v", b, err)
	}

	in := []byte(`{"item":{"text":"a` + "\xff\xe2\x82" + `b\"é` + "\xed\xa0\x80" + `","counts":{"` + "\xc0" + `":1},"words":["\ud800","\ud83d\ude00","x\udc00\ud800"]}}`)
	for name, unmarshal := range map[string]func(*cart) error{
		"v1": func(c *cart) error { return json.Unmarshal(in, c) },
		"v2": func(c *cart) error { return unmarshalV2(in, c, allowInvalid) },
		"nocopyjson": func(c *cart) error {
			return nocopyjson.Unmarshal(in[8:len(in)-1], &c.Item, nocopyjson.ReplaceInvalidUTF8)
		},
	} {
		var c cart
		err := unmarshal(&c)
		n, ok := c.Item.GetCounts().Get("\ufffd")
		words := fmt.Sprint(c.Item.GetWords())
		if err != nil || c.Item.GetText() != text || n != 1 || !ok || words != `["\ufffd", "😀", "x\ufffd\ufffd"]` && words != "[\"\ufffd\", \"😀\", \"x\ufffd\ufffd\"]" {
			t.Errorf("%s: %v %s %v", name, c.Item, words, err)
		}
	}
	var c cart
	if err := unmarshalV2(in, &c); err == nil {
		t.Error("not refused")
	}
	if err := nocopyjson.Unmarshal(in[8:len(in)-1], &c.Item); !errors.Is(err, nocopyjson.ErrSyntax) {
		t.Error(err)
	}

	// Keys that become equal are an error, even if one of them had no invalid bytes.
	for _, keys := range [][]string{{"\xff", "\xfe"}, {"\ufffd", "a", "\xff"}} {
		m := shop.NewItem()
		counts := m.NewCounts(2)
		text := `{"counts":{`
		for i, k := range keys {
			counts.Put(k, 1)
			text += []string{"", ","}[min(i, 1)] + `"` + k + `":1`
		}
		if b, err := nocopyjson.Marshal(m, nocopyjson.ReplaceInvalidUTF8); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("Item.counts[%d]: ", len(keys)-1)) || len(b) > 0 {
			t.Errorf("%q: %s %v", keys, b, err)
		}
		if err := nocopyjson.Unmarshal([]byte(text+"}}"), &m, nocopyjson.ReplaceInvalidUTF8); !errors.Is(err, nocopyjson.ErrDuplicate) {
			t.Errorf("%q: %v", keys, err)
		}
	}
}

// badText returns a message with a key that is not UTF-8.
func badText() shop.Item {
	m := shop.NewItem()
	m.NewItems(1).At(0).NewCounts(1).Put("a\xff", 1)
	return m
}

// TestArguments: the structs of a service's arguments and results are converted like others.
func TestArguments(t *testing.T) {
	args := shop.NewShopGetArgs()
	args.SetID(5)
	if b, err := nocopyjson.Marshal(args); err != nil || string(b) != `{"id":5}` {
		t.Errorf("%s %v", b, err)
	}
}

// TestNames: fields have the names in their annotations.
func TestNames(t *testing.T) {
	const text = `{"@id":1,"exact":"2","yes":"true","-":"d","a\"b\\":"q"}`
	n := shop.NewNamed()
	if err := nocopyjson.Unmarshal([]byte(text), &n); err != nil {
		t.Fatal(err)
	}
	n.SetSecret("secret")
	if b, err := n.MarshalJSON(); err != nil || string(b) != text {
		t.Errorf("%s %v", b, err)
	}
	for _, text := range []string{`{"id":1}`, `{"secret":"a"}`, `{"quoted":"a"}`, `{"dash":"a"}`, `{"":1}`} {
		if err := nocopyjson.Unmarshal([]byte(text), &n); !errors.Is(err, nocopyjson.ErrUnknownField) {
			t.Errorf("%s: %v", text, err)
		}
	}
	// Two fields with one name make every use return an error: no panic, and no partial text.
	c := shop.NewClash()
	if b, err := c.MarshalJSON(); err == nil || !strings.Contains(err.Error(), "fields first and second") || b != nil {
		t.Errorf("%s %v", b, err)
	}
	if err := nocopyjson.Unmarshal([]byte(`{"second":1}`), &c); err == nil || !strings.Contains(err.Error(), "fields first and second") {
		t.Error(err)
	}
}

// TestZeroValues: with ZeroValues unset fields are written, but in unions only the set field.
func TestZeroValues(t *testing.T) {
	m, err := shop.ParseItem([]byte{0})
	if err != nil {
		t.Fatal(err)
	}
	if b, err := nocopyjson.Marshal(m); err != nil || string(b) != `{}` {
		t.Errorf("%s %v", b, err)
	}
	const zeros = `{"flag":false,"tiny":0,"small":0,"medium":0,"large":"0","real":0,"text":"","blob":"",` +
		`"key":"00000000-0000-0000-0000-000000000000","color":0,"point":null,"part":null,"numbers":[],"words":[],` +
		`"counts":{},"places":{},"choices":{},"weights":{},"digests":{},"names":[],"paths":[],"inner":null,` +
		`"items":[],"limit":7,"origin":{"x":1,"y":0},"ids":{},"keys":{}}`
	b, err := nocopyjson.Marshal(m, nocopyjson.ZeroValues, nocopyjson.Int64Strings)
	if err != nil || string(b) != zeros {
		t.Errorf("%s %v", b, err)
	}
	if err := nocopyjson.Unmarshal(b, &m); err != nil || m.IsSetPoint() || !m.IsSetItems() || m.GetLimit() != 7 {
		t.Error(m, err)
	}
	m = shop.NewItem()
	m.NewPart().SetName("n")
	m.NewNames(1).AppendNew()
	if b, err = nocopyjson.Marshal(m, nocopyjson.ZeroValues); err != nil || !strings.Contains(string(b), `"part":{"name":"n"}`) {
		t.Errorf("%s %v", b, err)
	}
}

// TestAppend: the existing bytes stay, even after an error.
func TestAppend(t *testing.T) {
	m := shop.NewItem()
	m.NewNumbers(2).Set(1, -1<<63)
	got, err := nocopyjson.Append([]byte("x="), m, nocopyjson.Int64Strings)
	if want := `"numbers":["0","-9223372036854775808"]`; err != nil || !strings.HasPrefix(string(got), "x={") || !strings.Contains(string(got), want) {
		t.Errorf("%s %v", got, err)
	}
	if got, err := nocopyjson.Append([]byte("x="), badText()); err == nil || string(got) != "x=" {
		t.Errorf("%s %v", got, err)
	}
	if got, err := nocopyjson.Append([]byte("x="), shop.Item{}); err != nil || string(got) != "x=null" {
		t.Errorf("%s %v", got, err)
	}
	if got, err := nocopyjson.Append(nil, shop.NewItem().GetPoint()); err != nil || string(got) != "null" {
		t.Errorf("%s %v", got, err)
	}
	var b strings.Builder
	if err := nocopyjson.Write(&b, badText()); err == nil || b.Len() > 0 {
		t.Error(b.String(), err)
	}
	failure := errors.New("full")
	if err := nocopyjson.Write(failing{failure}, m); err != failure {
		t.Error(err)
	}
}

type failing struct{ error }

func (f failing) Write([]byte) (int, error) { return 0, f.error }

// TestLimitsOfText: Limits.MaxBytes bounds the text exactly to the byte. ZeroValues bounds it even
// without that.
func TestLimitsOfText(t *testing.T) {
	m := shop.NewItem()
	m.NewItems(1000)
	m.NewWords(1).Set(0, strings.Repeat("w", 1000))
	m.NewCounts(1).Put("k", 1)
	for _, opts := range [][]nocopy.Option{nil, {nocopyjson.ZeroValues}} {
		whole, err := nocopyjson.Marshal(m, opts...)
		if err != nil {
			t.Fatal(err)
		}
		for _, most := range []int{1, 40, len(whole) / 2, len(whole) - 1, len(whole), 0, -1} {
			b, err := nocopyjson.Append([]byte("x="), m, append(opts, nocopy.Limits{MaxBytes: most})...)
			if most <= 0 || most == len(whole) {
				if err != nil || string(b) != "x="+string(whole) {
					t.Errorf("%d: %v", most, err)
				}
				continue
			}
			var bad *nocopy.Error
			if !errors.Is(err, nocopy.ErrLimit) || !errors.As(err, &bad) || bad.Offset <= most || !strings.HasPrefix(bad.Path, "Item") || string(b) != "x=" {
				t.Errorf("%d: %v", most, err)
			}
		}
	}

	many, err := shop.ParseItem(append(append([]byte{15, 0, 23, 12, 0, 1, 0, 0}, make([]byte, 1<<16)...), 0))
	if err != nil || many.GetItems().Len() != 1<<16 {
		t.Fatal(many.GetItems().Len(), err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	b, err := nocopyjson.Marshal(many, nocopyjson.ZeroValues)
	runtime.ReadMemStats(&after)
	var bad *nocopy.Error
	if !errors.Is(err, nocopy.ErrLimit) || !errors.As(err, &bad) || !strings.HasPrefix(bad.Path, "Item.items[") || !strings.Contains(err.Error(), "Limits.MaxBytes") {
		t.Errorf("%d bytes, %v", len(b), err)
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > 160<<20 {
		t.Errorf("%d bytes allocated", took)
	}
	if b, err := nocopyjson.Marshal(many, nocopyjson.ZeroValues, nocopy.Limits{MaxBytes: 100 << 20}); err != nil || len(b) < 21<<20 {
		t.Errorf("%d bytes, %v", len(b), err)
	}
	if b, err := nocopyjson.Marshal(many); err != nil || len(b) > 1<<18 {
		t.Errorf("%d bytes, %v", len(b), err)
	}
}

// TestParts: a struct inside a message, edited or not, is written with the values that getters
// return.
func TestParts(t *testing.T) {
	var m shop.Item
	if err := nocopyjson.Unmarshal([]byte(`{"items":[{"text":"a"},{"text":"b"},{"text":"c"}],"counts":{"x":1,"y":2}}`), &m); err != nil {
		t.Fatal(err)
	}
	m.GetItems().At(1).SetText(strings.Repeat("long", 2000))
	m.GetItems().At(2).SetLarge(3)
	m.GetItems().At(2).SetText("d")
	m.GetItems().Swap(0, 2)
	m.GetCounts().Delete("x")
	m.GetCounts().Put("z", 3)
	b, err := nocopyjson.Marshal(m.GetItems().At(0))
	if err != nil || string(b) != `{"large":3,"text":"d"}` {
		t.Errorf("%s %v", b, err)
	}
	items := `"items":[{"large":3,"text":"d"},{"text":"` + strings.Repeat("long", 2000) + `"},{"text":"a"}]}`
	want := []string{`{"counts":{"y":2,"z":3},` + items, `{"counts":{"z":3,"y":2},` + items}
	if got, err := nocopyjson.Marshal(m); err != nil || !slices.Contains(want, string(got)) {
		t.Errorf("%s %v", got, err)
	}
}

// TestRepeatedOnTheWire: if a field or key came twice, the last one counts.
func TestRepeatedOnTheWire(t *testing.T) {
	wire := "\x0b\x00\x07\x00\x00\x00\x01a" + "\x0b\x00\x07\x00\x00\x00\x01b" +
		"\x0d\x00\x0f\x0b\x0a\x00\x00\x00\x02" + "\x00\x00\x00\x01k\x00\x00\x00\x00\x00\x00\x00\x01" + "\x00\x00\x00\x01k\x00\x00\x00\x00\x00\x00\x00\x02" +
		"\x0d\x00\x15\x0f\x08\x00\x00\x00\x02" + "\x08\x00\x00\x00\x00\x00\x00\x00\x01" + "\x08\x00\x00\x00\x00\x00\x00\x00\x02" +
		"\x08\x03\xe8\x00\x00\x00\x01" + "\x00"
	m, err := shop.ParseItem([]byte(wire))
	if err != nil {
		t.Fatal(err)
	}
	if b, err := m.MarshalJSON(); err != nil || string(b) != `{"text":"b","counts":{"k":2},"paths":[[[],2]]}` {
		t.Errorf("%s %v", b, err)
	}
}

// TestNil: nil arguments give a panic that says so.
func TestNil(t *testing.T) {
	var s *shop.Item
	m := shop.NewItem()
	for name, f := range map[string]func(){
		"message":       func() { nocopyjson.Marshal(nil) },
		"Writer":        func() { nocopyjson.Write(nil, m) },
		"Reader":        func() { nocopyjson.Read(nil, &m) },
		"handle":        func() { nocopyjson.Unmarshal([]byte("{}"), s) },
		"read handle":   func() { nocopyjson.Read(strings.NewReader("{}"), s) },
		"UnmarshalJSON": func() { s.UnmarshalJSON([]byte("null")) },
		"descriptor":    func() { nocopyjson.UnmarshalAs(nil, []byte("{}")) },
		"released": func() {
			gone := shop.NewItem()
			gone.Release()
			gone.MarshalJSON()
		},
	} {
		func() {
			defer func() {
				if text := fmt.Sprint(recover()); !strings.HasPrefix(text, "nocopy: ") {
					t.Errorf("%s: %q", name, text)
				}
			}()
			f()
		}()
	}
}

// TestLarge: a message that is too large for its memory to be kept, and the next message.
func TestLarge(t *testing.T) {
	text := `{"numbers":[` + strings.Repeat("-1,", 300_000) + `5]}`
	for range 3 {
		for _, opts := range [][]nocopy.Option{nil, {nocopy.Recycle}} {
			var m, small shop.Item
			if err := nocopyjson.Unmarshal([]byte(text), &m, opts...); err != nil {
				t.Fatal(err)
			}
			if err := nocopyjson.Unmarshal([]byte(`{"numbers":[7]}`), &small, opts...); err != nil {
				t.Fatal(err)
			}
			if b, err := nocopyjson.Marshal(m); err != nil || string(b) != text || small.GetNumbers().At(0) != 7 {
				t.Fatal(len(b), err, small)
			}
			m.Release()
			small.Release()
		}
	}
}
