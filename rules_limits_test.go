package nocopythrift_test

import (
	"go/ast"
	"strings"
	"testing"
)

// TestDefaultLimits: the defaults of nocopy.Limits stand once, in limits.go of package wire, and
// all that reads messages takes them from there.
func TestDefaultLimits(t *testing.T) {
	const home = "nocopy/internal/wire/limits.go"
	found := 0
	sources(t, "nocopy", func(name string, src []byte) {
		if strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, "nocopy/tests/") || generated(src) {
			return
		}
		ast.Inspect(parse(src), func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || len(spec.Names) != 1 || len(spec.Values) != 1 {
				return true
			}
			id, value := spec.Names[0].Name, textOf(src, spec.Values[0])
			bytes := value == "100 << 20"
			if !bytes && !(value == "64" && strings.HasSuffix(strings.ToLower(id), "depth")) {
				return true
			}
			switch {
			case name == home:
				found++
			default:
				t.Errorf("%s: %s = %s is in %s, too", name, id, value, home)
			}
			return true
		})
	})
	if found != 2 {
		t.Errorf("%s has %d defaults", home, found)
	}
}
