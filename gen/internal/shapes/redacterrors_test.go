package shapes_test

import (
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/gen/internal/shapes"
	"github.com/nocopythrift/nocopythrift/internal/jsontext"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/messages"
	"github.com/nocopythrift/nocopythrift/nocopy/nocopyjson"
	"github.com/nocopythrift/nocopythrift/nocopy/reflection"
)

// In secretJSON the bytes of secretBytes occur only in redacted values.
const (
	secretBytes = "#QZ"
	secretJSON  = `{"name":"ada","pin":"#QZ\u0051\\Q","password":"ZQ#","passwords":["Q","Z#"],"by_name":{"ZZ":"Q","Q#":"Z"},` +
		`"tokens":["Z","QQ"],"typed":"#","card":{"number":"QZ"},"cards":[{"number":"Z"},{}],` +
		`"nested":[{"pin":"#\"Q","card":{"number":"#"}}],"nested_by_number":{"1":{"tokens":["Q"]}},"nested_by_name":{"x":{"by_name":{"Q":"Z"}}}}`
)

// secretReaders read JSON. Their errors must not contain redacted values.
var secretReaders = map[string]func(text string) error{
	"Unmarshal": func(text string) error { var s shapes.Secrets; return nocopyjson.Unmarshal([]byte(text), &s) },
	"AllowUnknown": func(text string) error {
		var s shapes.Secrets
		return nocopyjson.Unmarshal([]byte(text), &s, nocopyjson.AllowUnknown, nocopy.Recycle)
	},
	"UnmarshalFrom": func(text string) error {
		d := new(jsontext.Decoder)
		d.Reset(strings.NewReader(`[0, ` + text + `]`))
		for range 2 {
			if _, err := d.ReadToken(); err != nil {
				return err
			}
		}
		var s shapes.Secrets
		return s.UnmarshalJSONFrom(d)
	},
}

// TestRedactedJSON: no error about a JSON text contains redacted values.
func TestRedactedJSON(t *testing.T) {
	broken := []string{secretJSON}
	for i := range secretJSON {
		broken = append(broken, secretJSON[:i], secretJSON[:i]+secretJSON[i+1:])
		for _, more := range []string{`"`, `\`, "{", "}", "[", "]", ",", ":", "7", "null", "\x00", "\xff", `\u`, `"a",`, `{"a":[`} {
			broken = append(broken, secretJSON[:i]+more+secretJSON[i:])
		}
	}
	broken = append(broken,
		`{"cards":[{"QQQ":1}]}`, `{"card":{"number":1,"ZZ":2}}`, `{"by_name":{"Q":"a","Q":"b"}}`, `{"where":{"Q":1}}`, `{"where":{"x":"Q"}}`,
		`{"pin":Q}`, `{"pin":{"Q":1}}`, `{"number":1Q}`, `{"number":"Q"}`, `{"tokens":{"Q":"Z"}}`, `{"tokens":["\uQ"]}`, `{"tokens":["\ud800\u#Z"]}`,
	)
	for name, read := range secretReaders {
		failed := 0
		for _, text := range broken {
			if err := read(text); err != nil {
				failed++
				if strings.ContainsAny(err.Error(), secretBytes) {
					t.Errorf("%s of %s: %v", name, text, err)
				}
			}
		}
		if failed < len(broken)/2 {
			t.Errorf("%s: %d of %d failed", name, failed, len(broken))
		}
	}
	// A redacted struct
	var card shapes.Card
	for _, text := range []string{`{"Q":1}`, `{Q`, `{"number":"Q`, `{"number":"1",Z`, `{"number":"a"Q`} {
		if err := nocopyjson.Unmarshal([]byte(text), &card); err == nil || strings.ContainsAny(err.Error(), secretBytes) {
			t.Errorf("%s: %v", text, err)
		}
	}
	// Texts of types without redacted fields are quoted
	var p shapes.Point
	for text, want := range map[string]string{`{"x":Q}`: "'Q'", `{"Q":1}`: `"Q"`} {
		if err := nocopyjson.Unmarshal([]byte(text), &p); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestRedactedErrors: errors of setting fields by name contain neither keys nor values of redacted
// fields.
func TestRedactedErrors(t *testing.T) {
	schema := loadShapes(t)
	typ, err := schema.Struct("Secrets")
	if err != nil {
		t.Fatal(err)
	}
	card, err := schema.Struct("Card")
	if err != nil {
		t.Fatal(err)
	}
	type m = map[string]any
	var all []error
	for _, fields := range []m{
		{"pin": []string{"Q"}}, {"by_name": m{"Q": 1}}, {"by_name": m{"QZ": m{"Z": "#"}}}, {"by_name": map[any]any{"Q": "#", 7: "Z"}},
		{"tokens": m{"Q": 1}}, {"card": m{"Q": 1}}, {"cards": []any{m{"number": m{"Q": "Z"}}}}, {"cards": []any{m{"QZ": nil}}},
		{"where": m{"x": "Q"}}, {"where": m{"Q": 1}}, {"number": "Q"}, {"number": 53e53}, {"nested": []any{m{"by_name": m{"Q": 5}}}},
		{"nested_by_name": m{"x": m{"where": m{"x": int64(5353 << 32)}}}},
	} {
		_, err := typ.FromMap(fields)
		all = append(all, err)
	}
	for _, fields := range []m{{"Q": 1}, {"number": m{"Q": 1}}} {
		_, err := card.FromMap(fields)
		all = append(all, err)
	}
	s := secrets(1)
	s.GetByName().Put("Q", "Z")
	for name, v := range map[string]any{"pin": 5353, "number": "Q", "where": "Q", "typed": 53.53} {
		all = append(all, reflection.Of(s).Set(name, v))
	}
	for path, v := range map[string]any{
		"number": "Q", "pin": 5353, `nested[0].number`: "Q", `nested_by_name["k"].where.x`: "Q", `by_name["a"]`: 5353, "cards[*].number": 5353,
	} {
		mask, err := messages.NewMask(s.ThriftDesc(), path)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, mask.Set(s, v))
	}
	for i, err := range all {
		if err == nil || strings.ContainsAny(err.Error(), secretBytes) {
			t.Errorf("%d: %v", i, err)
			continue
		}
		for _, number := range []string{"53", "e+", "2299"} { // 5353, 53e53, 5353 << 32
			if strings.Contains(err.Error(), number) {
				t.Errorf("%d: %v", i, err)
			}
		}
	}
	// Errors show fields that are not redacted
	if _, err := typ.FromMap(m{"nested_by_name": m{"Q": m{"name": 5}}}); err == nil || !strings.Contains(err.Error(), `["Q"].name: int`) {
		t.Error(err)
	}
}
