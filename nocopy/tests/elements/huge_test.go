package elements_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/internal/support"
)

// TestHugeTexts: a text is refused that is as long as an int can say on 32 bits, with what comes
// before it.
func TestHugeTexts(t *testing.T) {
	for short := range 12 {
		size := support.Be(1<<31 - 1 - short)
		for _, stream := range []string{
			"\x0b\x00\x63" + size + "text",
			sender + itemsOf + support.Be(1) + "\x0b\x00\x02" + size + "text",
		} {
			for _, limits := range []nocopy.Limits{{}, {MaxBytes: 1<<31 - 1}} {
				d := nocopy.NewElementDecoder[batch, item](strings.NewReader(stream), "items", limits)
				_, err := d.Next()
				if bad := (*nocopy.Error)(nil); !errors.As(err, &bad) {
					t.Errorf("%s bytes: %v", fmt.Sprint(1<<31-1-short), err)
				}
			}
		}
	}
}
