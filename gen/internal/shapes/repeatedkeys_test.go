package shapes_test

import (
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/gen/internal/shapes"
	"github.com/nocopythrift/nocopythrift/nocopy/messages"
	"github.com/nocopythrift/nocopythrift/nocopy/nocopyjson"
	"github.com/nocopythrift/nocopythrift/nocopy/reflection"
)

// TestRepeatedKeys: if a scalar or text key comes twice, the first pair is ignored everywhere. If
// a key that is a struct comes twice, both pairs are counted and shown, and the last one is found,
// written as JSON and compared.
func TestRepeatedKeys(t *testing.T) {
	const (
		twice  = "\x0b\x0b\x00\x00\x00\x02\x00\x00\x00\x01k\x00\x00\x00\x01a\x00\x00\x00\x01k\x00\x00\x00\x01b"
		points = "\x0c\x0b\x00\x00\x00\x02\x08\x00\x01\x00\x00\x00\x07\x00\x00\x00\x00\x01a\x08\x00\x01\x00\x00\x00\x07\x00\x00\x00\x00\x01b"
	)
	m, err := shapes.ParseMaps([]byte("\x0d\x00\x07" + twice + "\x0d\x00\x0b" + points + "\x00"))
	if err != nil {
		t.Fatal(err)
	}
	count := func(name string) (counted, yielded int) {
		v, err := reflection.Of(m).Get(name)
		if err != nil {
			t.Fatal(err)
		}
		for range v.Map().All() {
			yielded++
		}
		return v.Map().Len(), yielded
	}
	all := 0
	for range m.GetByPoints().All() {
		all++
	}
	if n, yielded := count("by_points"); n != 2 || yielded != 2 || m.GetByPoints().Len() != 2 || all != 2 {
		t.Errorf("of structs: Len %d and %d, All %d and %d", n, m.GetByPoints().Len(), yielded, all)
	}
	if n, yielded := count("by_texts"); n != 1 || yielded != 1 || m.GetByTexts().Len() != 1 {
		t.Errorf("of texts: Len %d and %d, All %d", n, m.GetByTexts().Len(), yielded)
	}
	if got, want := m.String(), `by_texts: {"k": "b"}, by_points: {{x: 7}: "a", {x: 7}: "b"}`; !strings.Contains(got, want) {
		t.Error(got)
	}
	if got := handlers["json"](m); !strings.Contains(got, `"a"`) || strings.Count(got, `"b"`) != 2 {
		t.Error(got)
	}
	for k := range m.GetByPoints().All() {
		if v, ok := m.GetByPoints().Get(k); v != "b" || !ok {
			t.Errorf("%v is %q", k, v)
		}
	}
	text, err := nocopyjson.Marshal(m)
	if want := `{"by_texts":{"k":"b"},"by_points":[[{"x":7},"b"]]}`; err != nil || string(text) != want {
		t.Errorf("%s, %v", text, err)
	}
	var once shapes.Maps
	if err := nocopyjson.Unmarshal(text, &once); err != nil || !messages.Equal(m, once) {
		t.Errorf("%v does not equal %v; %v", m, once, err)
	}
}
