package fields_test

import (
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/render"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// TestDuplicateFields: Unset removes every occurrence of a field; Set and New replace all of them.
func TestDuplicateFields(t *testing.T) {
	const (
		medium1 = "\x08\x00\x04\x00\x00\x00\x01"
		large1  = "\x0a\x00\x05\x00\x00\x00\x00\x00\x00\x00\x01"
		text1   = "\x0b\x00\x07\x00\x00\x00\x01a"
		words1  = "\x0f\x00\x0e\x0b\x00\x00\x00\x01\x00\x00\x00\x01w"
		point1  = "\x0c\x00\x0b\x08\x00\x01\x00\x00\x00\x01\x00"
		unknown = "\x08\x00\x64\x00\x00\x00\x01"
	)
	var (
		medium, large, text   = fieldNamed(allDesc, "medium"), fieldNamed(allDesc, "large"), fieldNamed(allDesc, "text")
		words, point, allText = fieldNamed(allDesc, "words"), fieldNamed(allDesc, "point"), "{medium: 1, large: 1, text: \"a\", point: {x: 1}, words: [\"w\"]}"
	)
	for _, order := range []string{
		medium1 + large1 + text1 + point1 + words1 + medium1 + large1 + text1 + point1 + words1,
		words1 + point1 + text1 + large1 + medium1 + unknown + medium1 + large1 + text1 + point1 + words1,
		medium1 + medium1 + medium1 + large1 + large1 + text1 + text1 + words1 + words1 + words1 + point1 + point1,
		large1 + medium1 + large1 + medium1 + text1 + words1 + text1 + words1 + point1 + text1 + point1,
	} {
		t.Run(order, func(t *testing.T) {
			wire := []byte(order + "\x00")
			for _, w := range ways(len(wire)) {
				s, err := w.Parse(allDesc, wire)
				if err != nil {
					t.Fatal(err)
				}
				if got := render.Text(s, allDesc); got != allText {
					t.Fatalf("%x, %s: %s", order, w.Name, got)
				}
				for _, f := range []thriftimpl.Field{medium, large, text, words, point} {
					s.Unset(f)
				}
				again := mustParse(t, allDesc, s.Message().Bytes())
				if got := render.Text(again, allDesc); got != "{}" {
					t.Fatalf("%x, %s: all unset, %s is left", order, w.Name, got)
				}
				again.Release()
				s.SetInt64(large, 2)
				s.SetText(text, "b")
				nocopy.StringList(s.NewChild(words, allDesc, 1)).Set(0, "v")
				again = mustParse(t, allDesc, s.Message().Bytes())
				if got := render.Text(again, allDesc); got != `{large: 2, text: "b", words: ["v"]}` {
					t.Fatalf("%x, %s: set again: %s", order, w.Name, got)
				}
				again.Release()
				s.Release()
			}
		})
	}
}
