package nocopyjson_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/nocopyjson"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/json/shop"
)

// TestNoOptions: a pointer to Limits is refused, although the compiler accepts it as an option. A
// nil option has no effect, nor have options of messages that mean nothing for JSON.
func TestNoOptions(t *testing.T) {
	m := shop.NewItem()
	for what, use := range map[string]func(o nocopy.Option) error{
		"Marshal":   func(o nocopy.Option) error { _, err := nocopyjson.Marshal(m, o); return err },
		"Unmarshal": func(o nocopy.Option) error { return nocopyjson.Unmarshal([]byte("{}"), &m, o) },
	} {
		for _, o := range []nocopy.Option{nil, nocopy.Lazy, nocopy.Limits{MaxBytes: 1000}, nocopyjson.AllowUnknown} {
			if err := use(o); err != nil {
				t.Errorf("%s with %v: %v", what, o, err)
			}
		}
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.HasPrefix(got, "nocopy: an Option is a pointer") {
					t.Errorf("%s with a pointer: panic %s", what, got)
				}
			}()
			use(&nocopy.Limits{MaxBytes: 1})
		}()
	}
}
