package nocopythrift_test

import (
	"regexp"
	"strings"
	"testing"
)

// TestWords: package index owns the words of entries. The engine and the parser ask its types
// about them, and do no arithmetic on bits. Fewer than 20 places read words as they are, most of
// them so that the compiler inlines them or checks bounds once; each has a comment that says so,
// or is generated.
func TestWords(t *testing.T) {
	raw := regexp.MustCompile(`\bi?x\.Words\[`)
	bits := regexp.MustCompile(`1 ?<< ?31($|[^ -]| [^-])|int32\(w(ord)?\) <`)
	places := 0
	for _, dir := range []string{"nocopy/internal/engine", "nocopy/internal/parse", "nocopy/internal/render"} {
		sources(t, dir, func(name string, src []byte) {
			if strings.HasSuffix(name, "_test.go") {
				return
			}
			places += len(raw.FindAllIndex(src, -1))
			for line := range strings.Lines(string(src)) {
				if code, comment, _ := strings.Cut(line, "//"); bits.MatchString(code) && comment == "" {
					t.Errorf("%s: %s", name, strings.TrimSpace(line))
				}
			}
		})
	}
	if places >= 20 {
		t.Errorf("%d places in the engine and the parser read words of the index as they are", places)
	}
}
