package dynamic_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy/dynamic"
	"github.com/nocopythrift/nocopythrift/nocopy/messages"
	"github.com/nocopythrift/nocopythrift/nocopy/reflection"
)

const secrets = `
enum E { A = 1 }
struct Hidden { 1: map<string, i32> named } (nocopy.redact)
exception Denied { 1: string why (nocopy.redact), 2: i32 code }
struct User {
  1: string name
  2: i32 pin (nocopy.redact)
  3: E answer (nocopy.redact)
  4: map<string, list<i32>> pins (nocopy.redact)
  5: list<i8> digits (nocopy.redact)
  6: Hidden hidden
  7: list<Denied> denied
}
`

// TestRedactedTexts: for types without generated code, no text and no log contains redacted
// values, with any verb and handler.
func TestRedactedTexts(t *testing.T) {
	typ := mustStruct(t, text(t, secrets), "User")
	m, err := typ.FromMap(map[string]any{
		"name": "Ada", "pin": 1234567, "answer": 1, "pins": map[string][]int{"hush": {1}}, "digits": []int{1, 2},
		"hidden": map[string]any{"named": map[string]int{"hush": 7654321}},
		"denied": []any{map[string]any{"why": "hush", "code": 5}},
	})
	if err != nil {
		t.Fatal(err)
	}
	denied, err := m.Lookup("denied[0]")
	if err != nil {
		t.Fatal(err)
	}
	exception := dynamic.Exception{Message: denied.Message()}
	texts := map[string]string{"Error": exception.Error()}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x"} {
		texts[verb] = fmt.Sprintf(verb+" "+verb, m, exception)
	}
	for name, handler := range map[string]func(*bytes.Buffer) slog.Handler{
		"text": func(b *bytes.Buffer) slog.Handler { return slog.NewTextHandler(b, nil) },
		"JSON": func(b *bytes.Buffer) slog.Handler { return slog.NewJSONHandler(b, nil) },
	} {
		var b bytes.Buffer
		slog.New(handler(&b)).Info("user", "u", m, "e", exception)
		texts[name] = b.String()
		if !strings.Contains(b.String(), "Ada") || !strings.Contains(b.String(), "<redacted>") {
			t.Errorf("%s: %s", name, &b)
		}
	}
	for name, text := range texts {
		for _, secret := range []string{"1234567", "hush", fmt.Sprintf("%x", "hush"), "7654321"} {
			if strings.Contains(text, secret) {
				t.Errorf("%s: %s", name, text)
			}
		}
	}
	if got := fmt.Sprintf("%+v", exception); got != "Denied{\n  why: <redacted>\n  code: 5\n}" {
		t.Error(got)
	}
	if got := fmt.Sprintf("%#v", denied.Message()); got != "Denied{why: <redacted>, code: 5}" {
		t.Error(got)
	}
	for _, verb := range []string{"%v", "%+v", "%#v"} {
		if got := fmt.Sprintf(verb, dynamic.Message{}); got != "<none>" {
			t.Errorf("%s: %s", verb, got)
		}
	}
	if b, err := json.Marshal(m); err != nil || !strings.Contains(string(b), "hush") {
		t.Errorf("JSON has all: %s, %v", b, err)
	}
}

// TestErrorsWithoutValues: errors about values that do not fit contain neither the values nor keys
// of redacted maps.
func TestErrorsWithoutValues(t *testing.T) {
	typ := mustStruct(t, text(t, secrets), "User")
	m := typ.New()
	pins, err := m.New("pins")
	if err != nil {
		t.Fatal(err)
	}
	digits, err := m.New("digits")
	if err != nil {
		t.Fatal(err)
	}
	fromMap := func(fields map[string]any) error {
		_, err := typ.FromMap(fields)
		return err
	}
	maskSet := func(path string, v any) error { return messages.MustMask(m.ThriftDesc(), path).Set(m, v) }
	for want, err := range map[string]error{
		"User.pin: a number out of the range of i32":              m.Set("pin", int64(77<<40)),
		"User.pin: string instead of i32":                         m.Set("pin", "hush"),
		"User.answer: no value of E has this name":                m.Set("answer", "hush"),
		"a number out of the range of i8":                         digits.List().Append(7777),
		"string instead of list<i32>":                             pins.Map().Put("hush", "hush"),
		"User.pins: string instead of i32":                        fromMap(map[string]any{"pins": map[string]any{"hush": []any{"hush"}}}),
		"User.hidden.named: a number out of the range of i32":     fromMap(map[string]any{"hidden": map[string]any{"named": map[string]any{"hush": int64(77 << 40)}}}),
		"mask: pin: a string can't be set where the type is i32":  maskSet("pin", "hush"),
		"mask: digits[*]: the number is out of the range of i8":   maskSet("digits[*]", 7777),
		"mask: answer: a string can't be set where the type is E": maskSet("answer", "hush"),
	} {
		if err == nil || err.Error() != want {
			t.Errorf("%v, not %s", err, want)
		}
	}
	if _, err := pins.Map().PutNew("hush"); err != nil {
		t.Fatal(err)
	}
	for want, err := range map[string]error{
		"mask: pins: there are 0 elements":          maskSet("pins[*][3]", 1),
		"mask: pins: what is copied has 0 elements": copied(t, typ, "pins[*][0]", m),
	} {
		if err == nil || err.Error() != want {
			t.Errorf("%v, not %s", err, want)
		}
	}
}

// copied copies the parts that a mask selects from m to another message and returns the error. The
// lists of pins are empty in m, and have one element in the other message.
func copied(t *testing.T, typ dynamic.Type, path string, m dynamic.Message) error {
	t.Helper()
	to, err := typ.FromMap(map[string]any{"pins": map[string][]int{"hush": {1}}})
	if err != nil {
		t.Fatal(err)
	}
	return messages.MustMask(to.ThriftDesc(), path).Copy(to, m)
}

// TestNaNKeys: Go maps may have keys that are NaN, which only a loop finds.
func TestNaNKeys(t *testing.T) {
	typ := mustStruct(t, text(t, "struct Map { 1: map<double, list<i32>> m }"), "Map")
	for _, m := range []any{
		map[float64][]int{math.NaN(): {1}, 2: {2}, math.Float64frombits(0x7ff8000000000002): {3}},
		map[any]any{math.NaN(): []any{1}, 2.0: []any{2}, math.Float64frombits(0x7ff8000000000002): []any{3}},
	} {
		got, err := typ.FromMap(map[string]any{"m": m})
		if err != nil {
			t.Fatal(err)
		}
		again, err := typ.FromMap(dynamic.ToMap(got))
		if v, _ := got.Get("m"); err != nil || v.Map().Len() != 3 {
			t.Error(got, again, err)
		}
	}
}

// TestNil: nil, nil pointers and messages without a type give a panic that says why or, as
// values, an error.
func TestNil(t *testing.T) {
	typ := mustStruct(t, text(t, "struct Nil { 1: Nil n }"), "Nil")
	m := typ.New()
	var pointer *reflection.Message
	for name, f := range map[string]func(){
		"Of":         func() { reflection.Of(nil) },
		"Of pointer": func() { reflection.Of(pointer) },
		"TypeOf":     func() { dynamic.TypeOf(nil) },
		"ToMap":      func() { dynamic.ToMap(pointer) },
		"Merge":      func() { messages.Merge(m, pointer) },
		"CopyInto":   func() { messages.CopyInto(m, dynamic.Message{}) },
		"Keep":       func() { messages.MustMask(m.ThriftDesc(), "n").Keep(dynamic.Message{}) },
		"Set":        func() { _ = messages.MustMask(m.ThriftDesc(), "n").Set(nil, m) },
		"Equal":      func() { messages.Equal(m, pointer) },
	} {
		func() {
			defer func() {
				if p := fmt.Sprint(recover()); !strings.HasPrefix(p, "nocopy: a nil ") && !strings.HasPrefix(p, "nocopy: nil ") && p != "nocopy: a message of no type" {
					t.Errorf("%s: %s", name, p)
				}
			}()
			f()
		}()
	}
	for _, v := range []any{nil, pointer, dynamic.Message{}} {
		if err := m.Set("n", v); err == nil {
			t.Errorf("%T is set", v)
		}
		if _, err := typ.FromMap(map[string]any{"n": v}); err == nil && v != nil {
			t.Errorf("%T is set", v)
		}
	}
	if !messages.Equal(dynamic.Message{}, dynamic.Message{}) || messages.Equal(dynamic.Message{}, m) || messages.Equal(m, dynamic.Message{}) {
		t.Error("what is absent equals what is absent")
	}
	if v := (dynamic.Const{}).Value(); v.IsSet() {
		t.Error(v)
	}
}
