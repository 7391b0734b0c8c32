package engine_test

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// TestNoGoMaps: goroutines that change a message at once could end the process, beyond recovery,
// by Go's maps.
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
