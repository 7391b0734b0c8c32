package shapes_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nocopythrift/nocopythrift/gen/internal/shapes"
	"github.com/nocopythrift/nocopythrift/nocopy"
)

const secret = "SECRET"

// secrets returns a struct whose redacted values all have the text secret, or the number 53535353.
func secrets(depth int) shapes.Secrets {
	s := shapes.NewSecrets()
	fill(s, depth)
	return s
}

func fill(s shapes.Secrets, depth int) {
	s.SetName("Ada")
	s.SetPin(secret)
	s.SetPassword(secret)
	s.SetPasswords([]string{secret})
	s.NewByName().Put(secret, secret)
	s.SetTokens([]string{secret})
	s.SetTyped(secret)
	s.NewCard().SetNumber(secret)
	s.NewCards(2).At(1).SetNumber(secret)
	s.NewWhere().SetX(53535353)
	s.SetPublic("public")
	s.SetNumber(53535353)
	if depth > 0 {
		fill(s.NewNested(1).At(0), depth-1)
		fill(s.NewNestedByNumber().PutNew(7), depth-1)
		fill(s.NewNestedByName().PutNew("k"), depth-1)
	}
}

// handlers has functions that return the log of a value.
var handlers = map[string]func(v any) string{
	"text": func(v any) string {
		var b bytes.Buffer
		slog.New(slog.NewTextHandler(&b, withoutTime)).Info("message", "v", v)
		return b.String()
	},
	"json": func(v any) string {
		var b bytes.Buffer
		slog.New(slog.NewJSONHandler(&b, withoutTime)).Info("message", "v", v)
		return b.String()
	},
}

// withoutTime omits the time, whose digits could be any.
var withoutTime = &slog.HandlerOptions{ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
	if len(groups) == 0 && a.Key == slog.TimeKey {
		return slog.Attr{}
	}
	return a
}}

// TestRedacted: redacted values are in no text of a message: not in String or any verb, not in
// logs, not in the error of an exception, and not in lists, maps and other structs. The message
// contains them.
func TestRedacted(t *testing.T) {
	key := shapes.NewKey()
	key.SetRaw([]byte(secret))
	rejected := shapes.NewRejected()
	rejected.SetReason("reason")
	rejected.SetToken(secret)
	card := shapes.NewCard()
	card.SetNumber(secret)
	s := secrets(2)
	parsed, err := shapes.ParseSecrets(s.Message().Bytes())
	if err != nil {
		t.Fatal(err)
	}
	lazy, err := shapes.ParseSecrets(s.Message().Bytes(), nocopy.Lazy)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []any{s, parsed, lazy, s.GetNested(), s.GetNestedByNumber(), s.GetCards(), key, rejected, card, []shapes.Secrets{s},
		s.Message(), parsed.Message(), lazy.Message(), struct{ S shapes.Secrets }{s}, fmt.Errorf("wrapped: %w", rejected), rejected.Error(), nocopy.Struct(s).Format(s.ThriftDesc())} {
		texts := []string{handlers["text"](v)}
		if _, ok := v.(slog.LogValuer); ok { // encoding/json includes everything
			texts = append(texts, handlers["json"](v))
		}
		for _, verb := range []string{"%v", "%+v", "%s", "%q", "%#v", "%d", "%x", "%40.60v"} {
			texts = append(texts, fmt.Sprintf(verb, v))
		}
		for i, text := range texts {
			if strings.Contains(text, secret) || strings.Contains(text, "53535353") || strings.Contains(text, fmt.Sprintf("%x", secret)) {
				t.Errorf("%T, %d: %s", v, i, text)
			}
		}
	}
	want := `{name: "Ada", pin: <redacted>, password: <redacted>, passwords: <redacted>, by_name: <redacted>, tokens: <redacted>, ` +
		`typed: <redacted>, card: <redacted>, cards: [<redacted>, <redacted>], where: <redacted>, public: "public", number: <redacted>}`
	if got := s.GetNested().At(0).GetNested().At(0).String(); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if got := key.String(); got != "{raw: <redacted>}" {
		t.Error(got)
	}
	if got := rejected.Error(); got != `Rejected{reason: "reason", token: <redacted>}` {
		t.Error(got)
	}
	if parsed.GetPin() != secret || parsed.GetNested().At(0).GetCard().GetNumber() != secret || !bytes.Contains(parsed.Message().Bytes(), []byte(secret)) {
		t.Error("the message has lost what is redacted")
	}
	unset := shapes.NewSecrets()
	unset.SetName("Ada")
	if got := unset.String(); strings.Contains(got, "pin") {
		t.Errorf("a field that is not set: %s", got)
	}
}

// TestIndented: %+v has a line for each field, and for each element that is a struct or container.
func TestIndented(t *testing.T) {
	o := shapes.NewOuter()
	o.NewOrigin().SetX(3)
	o.NewShape().SetLabel("label\n")
	l := o.NewLists()
	l.SetTexts([]string{"a", "b"})
	l.NewMatrix(2).NewAt(0, 3)
	l.NewPoints(2).At(1).SetY(4)
	l.NewDeep(1).NewAt(0, 1).PutNew("k", 1).At(0).SetX(1)
	l.NewShapes(0)
	want := `{
  origin: {
    x: 3
    y: 0
  }
  shape: {
    label: "label\n"
  }
  lists: {
    texts: ["a", "b"]
    points: [
      {
        x: 0
        y: 0
      }
      {
        x: 0
        y: 4
      }
    ]
    shapes: []
    matrix: [
      [0, 0, 0]
      []
    ]
    deep: [
      {
        "k": [
          {
            x: 1
            y: 0
          }
        ]
      }
    ]
  }
  after: 0
}`
	if diff := cmp.Diff(want, fmt.Sprintf("%+v", o)); diff != "" {
		t.Error(diff)
	}
	for verb, want := range map[string]string{"%v": o.String(), "%s": o.String(), "%q": fmt.Sprintf("%q", o.String()), "%#v": "Outer" + o.String(),
		"%.9v": o.String()[:9], "%x": fmt.Sprintf("%x", o.String())} {
		if got := fmt.Sprintf(verb, o); got != want {
			t.Errorf("%s: %s, want %s", verb, got, want)
		}
	}
	for _, text := range []string{fmt.Sprintf("%+v", shapes.Outer{}), fmt.Sprint(shapes.Outer{}), shapes.Outer{}.LogValue().String()} {
		if text != "<none>" {
			t.Errorf("the zero handle: %s", text)
		}
	}
	if got := fmt.Sprintf("%+v", shapes.NewEmpty()); got != "{}" {
		t.Errorf("an empty struct: %s", got)
	}
	if got := fmt.Sprintf("%+v", o.GetRefused()); got != "Refused{}" {
		t.Errorf("an absent struct: %s", got)
	}
}

// TestLogValue: a log has groups for structs, slices for lists and maps for maps.
func TestLogValue(t *testing.T) {
	f := shapes.NewPlainFields()
	f.SetFlag(true)
	f.SetLarge(math.MinInt64)
	f.SetReal(math.Inf(-1))
	f.SetText("text\n")
	f.SetBlob([]byte{0, 1, 0xff})
	f.SetColor(shapes.Color_GREEN)
	f.NewPoint().SetX(3)
	f.NewShape().NewOutline(1).At(0).SetY(2)
	f.SetNumbers([]int64{1, 2})
	f.SetWords([]string{"a", "b"})
	f.NewCounts().Put("one", 1)
	f.NewPoints(2).At(0).SetX(1)
	f.Message().Finish()
	want := `{"flag":true,"tiny":0,"small":0,"medium":0,"large":-9223372036854775808,"real":"-Inf","text":"text\n","blob":"0x0001ff",` +
		`"key":"00000000-0000-0000-0000-000000000000","color":"GREEN","point":{"x":3,"y":0},"shape":{"outline":[{"x":0,"y":2}]},` +
		`"numbers":[1,2],"words":["a","b"],"counts":{"one":1},"points":[{"x":1,"y":0},{"x":0,"y":0}]}`
	var row struct{ V json.RawMessage }
	log := handlers["json"](f)
	if err := json.Unmarshal([]byte(log), &row); err != nil || string(row.V) != want {
		t.Errorf("%v\n%s\nwant %s", err, row.V, want)
	}
	text := handlers["text"](f)
	for _, part := range []string{`v.flag=true`, `v.point.x=3`, `v.color=GREEN`, `v.numbers="[1 2]"`, `v.text="text\n"`} {
		if !strings.Contains(text, part) {
			t.Errorf("no %s in %s", part, text)
		}
	}
	m := shapes.NewMaps()
	m.NewByPoints().Append("v").SetX(1)
	m.NewDeep().PutNew(7, 1).NewAt(0, 1).PutNew("k").SetX(2)
	if got, want := handlers["json"](m), `"v":{"by_points":{"map[x:1 y:0]":"v"},"deep":{"7":[{"k":{"x":2,"y":0}}]}}`; !strings.Contains(got, want) {
		t.Errorf("%s\nwant %s", got, want)
	}
	f.SetColor(77)
	f.SetReal(1.5)
	if got := handlers["json"](f); !strings.Contains(got, `"color":77`) || !strings.Contains(got, `"real":1.5`) {
		t.Error(got)
	}
	var refused error = func() error { e := shapes.NewRefused(); e.SetReason("no"); return e }()
	if got := handlers["json"](refused); !strings.Contains(got, `"v":{"reason":"no","code":0}`) {
		t.Error(got)
	}
}

// TestLogValueBounded: the log of any message is short, and says what was omitted. It stays
// unchanged when the message is released and its memory is used again.
func TestLogValueBounded(t *testing.T) {
	f := shapes.NewPlainFields()
	f.SetText(strings.Repeat("é", 1<<20))
	f.SetBlob(bytes.Repeat([]byte{0xab}, 1<<20))
	f.NewNumbers(100_000)
	words := f.NewWords(1000)
	for i := range 1000 {
		words.Set(i, strings.Repeat("w", 1000))
	}
	counts := f.NewCounts()
	for i := range 1000 {
		counts.Put(fmt.Sprint(i, strings.Repeat("k", 300)), 1)
	}
	f.NewPoints(100_000)
	for name, h := range handlers {
		log := h(f)
		if len(log) > 24<<10 {
			t.Errorf("%s: a log of %d bytes", name, len(log))
		}
		for _, part := range []string{strings.Repeat("é", 128) + "… (2097152 bytes)", "… (1048576 bytes)", "… 99968 more"} {
			if !strings.Contains(log, part) {
				t.Errorf("%s: no %q in %.2000s", name, part, log)
			}
		}
	}
	wide := shapes.NewTree()
	for _, c := range wide.NewChildren(32).All() {
		c.SetName(strings.Repeat("n", 200))
		for _, c := range c.NewChildren(32).All() {
			c.SetName(strings.Repeat("n", 200))
		}
	}
	deep := shapes.NewChain()
	for at, i := deep, 0; i < 60; i++ {
		at.SetValue(int64(i))
		at = at.NewNext()
	}
	for name, h := range handlers {
		for _, v := range []any{wide, deep} {
			if log := h(v); len(log) > 24<<10 {
				t.Errorf("%s: a log of %d bytes of %T", name, len(log), v)
			}
		}
	}

	recycled, err := shapes.ParsePlainFields(f.Message().Bytes(), nocopy.Recycle)
	if err != nil {
		t.Fatal(err)
	}
	recycled.SetWords([]string{"first", "second"})
	v := recycled.LogValue()
	before := v.String()
	recycled.Release()
	other := shapes.NewPlainFields(nocopy.Recycle)
	other.SetText(strings.Repeat("z", 1<<20))
	if v.String() != before {
		t.Error("the log has changed after Release")
	}
	other.Release()
	if _, ok := any(f).(slog.LogValuer); !ok {
		t.Error("no slog.LogValuer")
	}
}
