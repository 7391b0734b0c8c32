package nocopyjson_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/nocopyjson"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/json/shop"
)

// TestAccepted: texts of an Item, and the texts that are written for them.
func TestAccepted(t *testing.T) {
	for _, c := range []struct{ in, out string }{
		{` { } `, `{}`},
		{`{"flag":true,"color":null,"text":null}`, `{"flag":true}`},
		{`{"tiny":-128,"small":"-32768","medium":2147483647,"large":"-9223372036854775808"}`,
			`{"tiny":-128,"small":-32768,"medium":2147483647,"large":-9223372036854775808}`},
		{`{"tiny":1.0,"small":1e3,"medium":-2.50e1,"large":0.09223372036854775807e20}`,
			`{"tiny":1,"small":1000,"medium":-25,"large":9223372036854775807}`},
		{`{"large":-0,"medium":0e999999999999,"small":-0.0}`, `{"small":0,"medium":0,"large":0}`},
		{`{"real":1e21}`, `{"real":1e+21}`},
		{`{"real":0.00000012}`, `{"real":1.2e-7}`},
		{`{"real":-0}`, `{"real":-0}`},
		{`{"real":"1.5"}`, `{"real":1.5}`},
		{`{"real":123456789012}`, `{"real":123456789012}`},
		{`{"real":"NaN"}`, `{"real":"NaN"}`},
		{`{"real":"Infinity"}`, `{"real":"Infinity"}`},
		{`{"real":"-Infinity"}`, `{"real":"-Infinity"}`},
		{`{"text":"a\u0000\n\"\\\/\u00e9\ud83d\ude00<>&\u2028"}`, `{"text":"a\u0000\n\"\\/é😀<>&` + "\u2028" + `"}`},
		{`{"te\u0078t":"x"}`, `{"text":"x"}`},
		{`{"blob":"+/+/AA=="}`, `{"blob":"+/+/AA=="}`},
		{`{"blob":"-_-_AA"}`, `{"blob":"+/+/AA=="}`},
		{`{"blob":"+/\r\n+/\nAA=="}`, `{"blob":"+/+/AA=="}`},
		{`{"blob":"\n-_-_\r\n\nA\nA\n"}`, `{"blob":"+/+/AA=="}`},
		{`{"blob":"\n\r"}`, `{"blob":""}`},
		{`{"digests":{"A\u000aA=\r=":"00112233445566778899aabbccddeeff"}}`, `{"digests":{"AA==":"00112233-4455-6677-8899-aabbccddeeff"}}`},
		{`{"blob":""}`, `{"blob":""}`},
		{`{"key":"00112233-4455-6677-8899-AABBCCDDEEFF"}`, `{"key":"00112233-4455-6677-8899-aabbccddeeff"}`},
		{`{"color":"LIME"}`, `{"color":"GREEN"}`},
		{`{"color":1}`, `{"color":"RED"}`},
		{`{"color":-5}`, `{"color":-5}`},
		{`{"color":"77"}`, `{"color":77}`},
		{`{"point":{"y":2,"x":1},"part":{"at":{"x":1}}}`, `{"point":{"x":1,"y":2},"part":{"at":{"x":1}}}`},
		{`{"part":{"name":null,"parts":[{},{"name":"n"}]}}`, `{"part":{"parts":[{},{"name":"n"}]}}`},
		{`{"numbers":[],"words":["a","b"],"counts":{}}`, `{"numbers":[],"words":["a","b"],"counts":{}}`},
		{`{"words":["a","a","\u0061","b","a"]}`, `{"words":["a","b"]}`},
		{`{"counts":{"":1,"a":"2"}}`, `{"counts":{"":1,"a":2}}`},
		{`{"places":{"RED":{"x":1},"9":{"x":2},"2":{"x":3}}}`, `{"places":{"RED":{"x":1},"9":{"x":2},"GREEN":{"x":3}}}`},
		{`{"choices":{"true":[],"false":["x"]}}`, `{"choices":{"true":[],"false":["x"]}}`},
		{`{"weights":{"1.50":1,"NaN":2,"-Infinity":3,"-0":4,"0":5}}`, `{"weights":{"1.5":1,"NaN":2,"-Infinity":3,"-0":4,"0":5}}`},
		{`{"digests":{"AA":"00112233445566778899aabbccddeeff"}}`, `{"digests":{"AA==":"00112233-4455-6677-8899-aabbccddeeff"}}`},
		{`{"names":[[{"x":1},"a"],[{"x":1,"y":0},"b"]]}`, `{"names":[[{"x":1},"a"],[{"x":1,"y":0},"b"]]}`},
		{`{"paths":[[[1,2],3],[[],4]]}`, `{"paths":[[[1,2],3],[[],4]]}`},
		{`{"ids":{"1":2,"-1":"3"},"keys":{"00112233-4455-6677-8899-aabbccddeeff":true}}`, `{"ids":{"1":2,"-1":3},"keys":{"00112233-4455-6677-8899-aabbccddeeff":true}}`},
		{`{"items":[{"inner":{}},{}]}`, `{"items":[{"inner":{}},{}]}`},
	} {
		var m shop.Item
		if err := nocopyjson.Unmarshal([]byte(c.in), &m); err != nil {
			t.Errorf("%s: %v", c.in, err)
			continue
		}
		if out, err := nocopyjson.Marshal(m); err != nil || string(out) != c.out {
			t.Errorf("%s\nis written as\n%s %v, want\n%s", c.in, out, err, c.out)
		}
		if again, err := shop.ParseItem(m.Message().Bytes()); err != nil || again.String() != m.String() {
			t.Errorf("%s: %v %v", c.in, again, err)
		}
	}
}

// wrong has texts that are not an Item, with their errors. ^ marks the offset.
var wrong = []struct {
	text, path string
	err        error
}{
	{`^`, "Item", io.ErrUnexpectedEOF},
	{` ^`, "Item", io.ErrUnexpectedEOF},
	{`{"text":"a"^`, "Item", io.ErrUnexpectedEOF},
	{`{"text":^`, "Item.text", io.ErrUnexpectedEOF},
	{`{"items":[{"inner":{"numbers":[1,2^`, "Item.items[0].inner.numbers[2]", io.ErrUnexpectedEOF},
	{`^null`, "Item", nocopyjson.ErrValue},
	{`^[]`, "Item", nocopyjson.ErrValue},
	{`^"x"`, "Item", nocopyjson.ErrValue},
	{`{} ^{}`, "Item", nocopy.ErrTrailing},
	{`{}^x`, "Item", nocopy.ErrTrailing},
	{`{}^,`, "Item", nocopy.ErrTrailing},
	{`{"text" ^1}`, "Item.text", nocopyjson.ErrSyntax},
	{`{"text":tru^}`, "Item.text", nocopyjson.ErrSyntax},
	{`{t^ext:1}`, "Item", nocopyjson.ErrSyntax},
	{`{"text":"^` + "\xff" + `"}`, "Item.text", nocopyjson.ErrSyntax},
	{`{"text":"^` + "\xff" + `"}`, "Item.text", nocopy.ErrUTF8},
	{`{"items":[{"text":"aé^` + "\xc3" + `"}]}`, "Item.items[0].text", nocopy.ErrUTF8},
	{`{"counts":{"^` + "\xe2\x82" + `":1}}`, "Item.counts[0]", nocopy.ErrUTF8},
	{`{"no^` + "\x80" + `":1}`, "Item", nocopy.ErrUTF8},
	{`{"text":"^\ud800"}`, "Item.text", nocopyjson.ErrSyntax},
	{`{"numbers":[1^,]}`, "Item.numbers[1]", nocopyjson.ErrSyntax},
	{`{"numbers":[0^1]}`, "Item.numbers[1]", nocopyjson.ErrSyntax},
	{`{"flag":^1}`, "Item.flag", nocopyjson.ErrValue},
	{`{"flag":^"yes"}`, "Item.flag", nocopyjson.ErrValue},
	{`{"tiny":^128}`, "Item.tiny", nocopyjson.ErrValue},
	{`{"tiny":^"-129"}`, "Item.tiny", nocopyjson.ErrValue},
	{`{"small":^32768}`, "Item.small", nocopyjson.ErrValue},
	{`{"medium": ^2147483648}`, "Item.medium", nocopyjson.ErrValue},
	{`{"large":^9223372036854775808}`, "Item.large", nocopyjson.ErrValue},
	{`{"large":^1e99999999999999999999}`, "Item.large", nocopyjson.ErrValue},
	{`{"large":^1.5}`, "Item.large", nocopyjson.ErrValue},
	{`{"large":^1e-1}`, "Item.large", nocopyjson.ErrValue},
	{`{"large":^""}`, "Item.large", nocopyjson.ErrValue},
	{`{"large":^"+1"}`, "Item.large", nocopyjson.ErrValue},
	{`{"large":^"01"}`, "Item.large", nocopyjson.ErrValue},
	{`{"large":^" 1"}`, "Item.large", nocopyjson.ErrValue},
	{`{"large":^"1e"}`, "Item.large", nocopyjson.ErrValue},
	{`{"large":^true}`, "Item.large", nocopyjson.ErrValue},
	{`{"real":^1e999}`, "Item.real", nocopyjson.ErrValue},
	{`{"real":^"0x1p1"}`, "Item.real", nocopyjson.ErrValue},
	{`{"real":^"inf"}`, "Item.real", nocopyjson.ErrValue},
	{`{"text":^1}`, "Item.text", nocopyjson.ErrValue},
	{`{"blob":^"a"}`, "Item.blob", nocopyjson.ErrValue},
	{`{"blob":^"AA\n==="}`, "Item.blob", nocopyjson.ErrValue},
	{`{"blob":^"AA\t=="}`, "Item.blob", nocopyjson.ErrValue},
	{`{"blob":^"A\nA=\nA"}`, "Item.blob", nocopyjson.ErrValue},
	{`{"blob":^"+_=="}`, "Item.blob", nocopyjson.ErrValue},
	{`{"key":^"0011"}`, "Item.key", nocopyjson.ErrValue},
	{`{"color":^"PINK"}`, "Item.color", nocopyjson.ErrValue},
	{`{"color":^1.5}`, "Item.color", nocopyjson.ErrValue},
	{`{"point":^[]}`, "Item.point", nocopyjson.ErrValue},
	{`{"point":{"y":2^}}`, "Item.point.x", nocopy.ErrMissingRequired},
	{`{"point":{"x":^null}}`, "Item.point.x", nocopyjson.ErrValue},
	{`{"part":{"name":"a",^"at":{"x":1}}}`, "Item.part.at", nocopyjson.ErrValue},
	{`{"numbers":[1,^null]}`, "Item.numbers[1]", nocopyjson.ErrValue},
	{`{"numbers":^{}}`, "Item.numbers", nocopyjson.ErrValue},
	{`{"counts":{"a":1,^"a":2}}`, "Item.counts[1]", nocopyjson.ErrDuplicate},
	{`{"counts":{"a":1,^"\u0061":2}}`, "Item.counts[1]", nocopyjson.ErrDuplicate},
	{`{"counts":{"a":^null}}`, "Item.counts[0]", nocopyjson.ErrValue},
	{`{"places":{"GREEN":{"x":1},^"LIME":{"x":2}}}`, "Item.places[1]", nocopyjson.ErrDuplicate},
	{`{"ids":{"1":1,^"1.0":2}}`, "Item.ids[1]", nocopyjson.ErrDuplicate},
	{`{"choices":{^"yes":[]}}`, "Item.choices[0]", nocopyjson.ErrValue},
	{`{"names":[[{"x":1},"a"],[^{"x":1},"b"]]}`, "Item.names[1]", nocopyjson.ErrDuplicate},
	{`{"names":[^1]}`, "Item.names[0]", nocopyjson.ErrValue},
	{`{"names":[[^]]}`, "Item.names[0]", nocopyjson.ErrValue},
	{`{"names":[[{"x":1}^]]}`, "Item.names[0]", nocopyjson.ErrValue},
	{`{"names":[[{"x":1},"a",^"b"]]}`, "Item.names[0]", nocopyjson.ErrValue},
	{`{"text":"a",^"text":"b"}`, "Item.text", nocopyjson.ErrDuplicate},
	{`{"text":null,^"text":"b"}`, "Item.text", nocopyjson.ErrDuplicate},
	{`{"text":"a",^"Text":"b"}`, "Item", nocopyjson.ErrUnknownField},
	{`{"inner":{^"no\u0020such":{}}}`, "Item.inner", nocopyjson.ErrUnknownField},
}

// checkError compares an error with the expected one, whose offset is that of ^ in text.
func checkError(t *testing.T, err error, text, path string, want error) {
	t.Helper()
	var bad *nocopy.Error
	if !errors.As(err, &bad) || !errors.Is(err, want) || bad.Path != path || bad.Offset != strings.IndexByte(text, '^') {
		t.Errorf("%s: %v, want %s: %v", text, err, path, want)
	}
}

func TestRefused(t *testing.T) {
	for _, c := range wrong {
		m := shop.NewItem()
		m.SetText("as before")
		err := nocopyjson.Unmarshal([]byte(strings.Replace(c.text, "^", "", 1)), &m)
		checkError(t, err, c.text, c.path, c.err)
		if m.GetText() != "as before" {
			t.Errorf("%s: half applied: %v", c.text, m)
		}
	}
}

// TestUnknown: with AllowUnknown unknown fields are skipped, but errors in them are not.
func TestUnknown(t *testing.T) {
	var m shop.Item
	text := `{"no":[{"a":1,"b":[null,"x",{}]}],"text":"a","point":{"x":1,"z":null}}`
	if err := nocopyjson.Unmarshal([]byte(text), &m, nocopyjson.AllowUnknown); err != nil || m.String() != `{text: "a", point: {x: 1}}` {
		t.Error(m, err)
	}
	for _, c := range []struct {
		text string
		err  error
	}{
		{`{"no":{"a":1,^"a":2}}`, nocopyjson.ErrDuplicate},
		{`{"no":1,^"no":2}`, nocopyjson.ErrDuplicate},
		{`{"no":{"a":tru^}}`, nocopyjson.ErrSyntax},
		{`{"no":[1^`, io.ErrUnexpectedEOF},
		{`{"no":` + strings.Repeat("[", 64) + `^[]}`, nocopy.ErrLimit},
	} {
		err := nocopyjson.Unmarshal([]byte(strings.Replace(c.text, "^", "", 1)), &m, nocopyjson.AllowUnknown)
		checkError(t, err, c.text, "Item", c.err)
	}
	deep := `{"no":` + strings.Repeat("[", 64) + strings.Repeat("]", 64) + `}`
	if err := nocopyjson.Unmarshal([]byte(deep), &m, nocopyjson.AllowUnknown); err != nil {
		t.Error(err)
	}
	if err := nocopyjson.Unmarshal([]byte(`{"no`+strings.Repeat("x", 1000)+`":1}`), &m); len(err.Error()) > 200 {
		t.Error(err)
	}
}

// TestLimits: texts, messages, nesting and indexes are bounded, and errors have the place.
func TestLimits(t *testing.T) {
	nested := func(n int, cut string) string {
		return strings.Repeat(`{"next":`, n-1) + cut + "{}" + strings.Repeat("}", n-1)
	}
	var n shop.Node
	for most, opts := range map[int][]nocopy.Option{64: nil, 7: {nocopy.Limits{MaxDepth: 7}}, 1000: {nocopy.Limits{MaxDepth: 1000}}} {
		if err := nocopyjson.Unmarshal([]byte(nested(most, "")), &n, opts...); err != nil {
			t.Errorf("%d deep: %v", most, err)
		}
		text := nested(most+1, "^")
		err := nocopyjson.Unmarshal([]byte(strings.Replace(text, "^", "", 1)), &n, opts...)
		checkError(t, err, text, "Node"+strings.Repeat(".next", most), nocopy.ErrLimit)
	}
	err := nocopyjson.Unmarshal([]byte(strings.Repeat(`{"nodes":[`, 1<<20)), &n)
	checkError(t, err, strings.Repeat(`{"nodes":[`, 64)+"^", "Node"+strings.Repeat(".nodes[0]", 64), nocopy.ErrLimit)

	var m shop.Item
	text := `{"numbers":[1,2,3,4,5,6,7,8]}`
	size := 3 + 5 + 8*8 + 1
	if err := nocopyjson.Unmarshal([]byte(text), &m, nocopy.Limits{MaxBytes: size}); err != nil {
		t.Error(err)
	}
	err = nocopyjson.Unmarshal([]byte(text), &m, nocopy.Limits{MaxBytes: size - 1})
	checkError(t, err, `{"numbers":[1,2,3,4,5,6,7,8]}^`, "Item", nocopy.ErrLimit)
	err = nocopyjson.Unmarshal([]byte(text), &m, nocopy.Limits{MaxBytes: 40})
	checkError(t, err, `{"numbers":[1,2,3,4,5^,6,7,8]}`, "Item.numbers[5]", nocopy.ErrLimit)
	err = nocopyjson.Unmarshal([]byte(text), &m, nocopy.Limits{MaxBytes: 20})
	checkError(t, err, "^", "Item", nocopy.ErrLimit)
	if err = nocopyjson.Read(strings.NewReader(text), &m, nocopy.Limits{MaxBytes: 20}); !errors.Is(err, nocopy.ErrLimit) {
		t.Error(err)
	}

	items := `{"items":[` + strings.Repeat("{},", 999) + "{}]}"
	err = nocopyjson.Unmarshal([]byte(items), &m, nocopy.Limits{MaxIndex: 4 << 10})
	var bad *nocopy.Error
	if !errors.As(err, &bad) || !errors.Is(err, nocopy.ErrLimit) || bad.Offset < 9 || bad.Offset > 600 || !strings.HasPrefix(bad.Path, "Item.items") {
		t.Error(err)
	}
}

// TestManyKeys: duplicate keys are found among any number of keys, on every level.
func TestManyKeys(t *testing.T) {
	for _, n := range []int{1, 2, 11, 12, 13, 14, 31, 1000, 100_000} {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `"%d":%d,`, i, i)
		}
		var m shop.Item
		good := `{"counts":{` + b.String() + `"x":0},"ids":{` + b.String() + `"-1":0}}`
		if err := nocopyjson.Unmarshal([]byte(good), &m); err != nil || m.GetCounts().Len() != n+1 || m.GetIds().Len() != n+1 {
			t.Fatal(n, err)
		}
		for _, again := range []int{0, n / 2, n - 1} {
			text := fmt.Sprintf(`{"ids":{"-1":0},"counts":{%s^"%d":0}}`, b.String(), again)
			err := nocopyjson.Unmarshal([]byte(strings.Replace(text, "^", "", 1)), &m)
			var bad *nocopy.Error
			if !errors.As(err, &bad) || !errors.Is(err, nocopyjson.ErrDuplicate) || bad.Offset != strings.IndexByte(text, '^') || bad.Path != fmt.Sprintf("Item.counts[%d]", n) {
				t.Fatal(n, err)
			}
		}
	}
}
