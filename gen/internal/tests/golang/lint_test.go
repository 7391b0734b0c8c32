package golang_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/gen/golang"
)

// TestImportGroups: the standard library's packages come first, others after an empty line.
func TestImportGroups(t *testing.T) {
	for text, want := range map[string]string{
		"const i32 A = 1": `import (
	impl "github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)`,
		"struct S { 1: i32 a (vt.gt = \"0\") }\nservice V { void f() }\nconst list<i32> L = [1]": `import (
	"context"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"sync"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	impl "github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
	"github.com/nocopythrift/nocopythrift/nocopy/validate"
)`,
	} {
		src := generate(t, "namespace go x\n"+text+"\n")
		got, _, _ := strings.Cut(src[strings.Index(src, "import ("):], "\n)")
		if got += "\n)"; got != want {
			t.Errorf("%s: imports are\n%s\nwant\n%s", text, got, want)
		}
	}
}

// TestNoLint: generated code avoids constructs that linters complained about.
func TestNoLint(t *testing.T) {
	src := generate(t, `namespace go x
struct Order {
  1: string note (vt.not_contains = "x")
  2: string other (vt.not_in = "a", vt.not_in = "b")
}
union Either { 1: i32 a }
exception Odd { 1: i32 a }
service Orders { Order get(1: i64 id) throws (1: Odd odd) }
`)
	for _, bad := range []string{`\| 0\n`, `!\(!`, `\b[Aa] [AEIO][a-z]`} {
		if found := regexp.MustCompile(bad).FindString(src); found != "" {
			t.Errorf("%q in generated code", found)
		}
	}
	for _, want := range []string{
		"if validate.Contains(v, \"x\") {",
		"const _ = impl.NeedsNocopythriftV1 // undefined? go get github.com/nocopythrift/nocopythrift@" + golang.Version + "\n",
	} {
		if !strings.Contains(src, want) {
			t.Errorf("generated code lacks %q", want)
		}
	}
}
