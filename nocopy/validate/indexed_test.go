package validate_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/validate/internal/shop"
)

// TestIndexed: Validate gives the same result for a message that is read by its own index.
func TestIndexed(t *testing.T) {
	for name, spoil := range map[string]func(o shop.Order){
		"right":    func(shop.Order) {},
		"id":       func(o shop.Order) { o.SetID("no") },
		"count":    func(o shop.Order) { o.GetLines().At(70).UnsetCount() },
		"article":  func(o shop.Order) { o.GetLines().At(99).SetArticle("") },
		"lines":    func(o shop.Order) { o.GetLines().AppendNew() },
		"key":      func(o shop.Order) { o.GetLabels().Put("", "x") },
		"label":    func(o shop.Order) { o.GetLabels().Put("label 9", strings.Repeat("x", 21)) },
		"no lines": func(o shop.Order) { o.NewLines(0); o.GetLabels().Put("large", strings.Repeat("x", 5000)) },
	} {
		made := shop.NewOrder(nocopy.WithIndex)
		made.SetID("AB-1")
		lines := made.NewLines(100)
		for i := range 100 {
			lines.At(i).SetArticle(fmt.Sprint("article ", strings.Repeat("x", 60), i))
			lines.At(i).SetCount(int32(i + 1))
		}
		labels := made.NewLabels()
		for i := range 20 {
			labels.Put(fmt.Sprint("label ", i), "x")
		}
		spoil(made)
		want, wire := fmt.Sprint(made.Validate()), made.Message().AppendTo(nil)
		if (name == "right") != (want == "<nil>") {
			t.Errorf("%s: %s", name, want)
		}
		for _, opt := range []nocopy.Option{nocopy.Lazy, nocopy.ByIndex, nocopy.RequireIndex, nocopy.WithIndex} {
			o, err := shop.ParseOrder(wire, opt)
			if err != nil {
				t.Fatal(err)
			}
			if err := o.Validate(); fmt.Sprint(err) != want {
				t.Errorf("%s: %v, not %s", name, err, want)
			}
			if !bytes.Equal(o.Message().Bytes(), wire) {
				t.Errorf("%s: it has changed", name)
			}
			o.Release()
		}
		made.Release()
	}
}

// TestIndexedInvalid: with an index, invalid values read as absent, also in Validate.
// Message.Index returns the error.
func TestIndexedInvalid(t *testing.T) {
	made := shop.NewOrder(nocopy.WithIndex)
	defer made.Release()
	made.SetID("AB-1")
	lines := made.NewLines(100)
	for i := range 100 {
		lines.At(i).SetArticle(fmt.Sprint("article ", strings.Repeat("x", 60), i))
		lines.At(i).SetCount(int32(i + 1))
	}
	wire := made.Message().AppendTo(nil)
	at := bytes.Index(wire, []byte("x70"))
	wire[at+3] = 1 // not a wire type
	o, err := shop.ParseOrder(wire, nocopy.RequireIndex)
	if err != nil {
		t.Fatal(err)
	}
	defer o.Release()
	if err := o.Validate(); err != nil {
		t.Error(err)
	}
	if o.Message().Index() == nil {
		t.Error("Index finds nothing")
	}
}
