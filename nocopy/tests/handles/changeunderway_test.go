package handles_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/internal/handles"
)

// TestNoGoMaps: messages use no Go maps. Goroutines that change a Go map at the same time can end
// the process, and no recover helps.
func TestNoGoMaps(t *testing.T) {
	known := map[reflect.Type]bool{reflect.TypeFor[schema.Struct](): true, reflect.TypeFor[schema.Type](): true}
	var walk func(path string, t reflect.Type)
	walk = func(path string, typ reflect.Type) {
		if known[typ] {
			return
		}
		known[typ] = true
		switch typ.Kind() {
		case reflect.Map:
			t.Errorf("%s is a Go map", path)
		case reflect.Pointer, reflect.Slice, reflect.Array:
			walk(path, typ.Elem())
		case reflect.Struct:
			for i := range typ.NumField() {
				walk(fmt.Sprint(path, ".", typ.Field(i).Name), typ.Field(i).Type)
			}
		}
	}
	walk("Message", reflect.TypeFor[engine.Message]())
	if len(known) < 20 {
		t.Errorf("of a Message only %d types are known", len(known))
	}
}

// TestChangeUnderWay: a change that begins while another one is under way panics, and the message
// can be changed afterwards. This only happens with several goroutines; the test instead marks a
// change as under way itself.
func TestChangeUnderWay(t *testing.T) {
	wire := handles.Wire()
	words := fieldNamed(allDesc, "words")
	list := func(s engine.Struct) nocopy.StringList { return nocopy.StringList(s.Child(words, allDesc)) }
	for name, change := range map[string]func(s engine.Struct){
		"Append":   func(s engine.Struct) { list(s).Append("more") },
		"Swap":     func(s engine.Struct) { list(s).Swap(0, 1) },
		"SortFunc": func(s engine.Struct) { list(s).SortFunc(strings.Compare) },
		"Delete":   func(s engine.Struct) { list(s).Delete(0, 1) },
		"DeleteFunc": func(s engine.Struct) {
			first := list(s).At(0)
			list(s).DeleteFunc(func(v string) bool { return v == first })
		},
		"NewChild": func(s engine.Struct) { s.NewChild(words, allDesc, 1) },
	} {
		t.Run(name, func(t *testing.T) {
			s := mustParse(t, allDesc, wire)
			defer s.Release()
			engine.Buffer(s.Message()).StartChange()
			func() {
				defer func() {
					want := "nocopy: " + allDesc.Name() + " was changed by several goroutines at once"
					if v := recover(); v != want {
						t.Errorf("panics with %v, not %q", v, want)
					}
				}()
				change(s)
			}()
			engine.Buffer(s.Message()).EndChange()
			change(s)
			s.Message().Finish()
		})
	}
}
