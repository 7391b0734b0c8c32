package jsonvalue

import (
	"bytes"
	"testing"
	"unicode/utf8"
)

// TestPlainPrefix: wherever in texts of any length a byte stands that needs an escape, or is no
// ASCII, the plain bytes before it are told.
func TestPlainPrefix(t *testing.T) {
	for n := range 40 {
		text := bytes.Repeat([]byte("~"), n)
		if got := plainPrefix(text); got != n {
			t.Errorf("%d of %d plain bytes", got, n)
		}
		for i := range n {
			for c := range 256 {
				text[i] = byte(c)
				want := n
				if c < 0x20 || c >= utf8.RuneSelf || c == '"' || c == '\\' {
					want = i
				}
				if got := plainPrefix(text); got != want {
					t.Fatalf("%d of %q, not %d", got, text, want)
				}
			}
			text[i] = ' '
		}
	}
}
