package shapes_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/gen/internal/shapes"
)

// TestReleasedWhileIterating: a loop over a map panics with one of our texts when the message is
// released in it, even if the map was changed before.
func TestReleasedWhileIterating(t *testing.T) {
	for name, loop := range map[string]func(m shapes.Maps){
		"structs": func(m shapes.Maps) {
			m.GetPointByNumber().Delete(1)
			for range m.GetPointByNumber().All() {
				m.Release()
			}
		},
		"texts": func(m shapes.Maps) {
			m.GetToTexts().Delete("1")
			for range m.GetToTexts().All() {
				m.Release()
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			built := message()
			built.SetToTextsMap(map[string]string{"1": "a", "2": "b", "3": "c"})
			m, err := shapes.ParseMaps(built.AppendTo(nil))
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if r := fmt.Sprint(recover()); !strings.HasPrefix(r, "nocopy: ") {
					t.Errorf("panics with %s", r)
				}
			}()
			loop(m)
		})
	}
}
