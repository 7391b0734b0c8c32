package idlfmt_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/gen/idlfmt"
)

func TestPieces(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{"a\n b\nc\n", "a\nb\nc\n", `"a\n" "a\n"; " b\n" "b\n"; "c\n" "c\n"; `},
		{"a {b\n c}\n", "a {\n  b\n  c\n}\n", `"a {b\n" "a {\n  b\n"; " c}\n" "  c\n}\n"; `},
		{"a\n\n\n\nb", "a\n\nb\n", `"a\n" "a\n"; "\n" "\n"; "\n\nb" "b\n"; `},
		{"a\nb\n", "a\n\nb\n", `"a\n" "a\n"; "b\n" "\nb\n"; `},
		{"a\n\n\n", "a\n", `"a\n" "a\n"; "\n" ""; "\n" ""; `},
		{"", "", ""},
	} {
		var got strings.Builder
		for old, new := range idlfmt.Pieces(c.old, c.new) {
			fmt.Fprintf(&got, "%q %q; ", old, new)
		}
		if got.String() != c.want {
			t.Errorf("%q, %q: %s, want %s", c.old, c.new, &got, c.want)
		}
	}
}
