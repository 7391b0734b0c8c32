package idl_test

import (
	"math/rand/v2"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/gen/idl"
)

// TestCache changes files at random. What a Cache returns for each text is what Parse returns.
func TestCache(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, name := range []string{"../../shapes/shapes.thrift", "../../rules/rules.thrift"} {
		fine, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.SplitAfter(string(fine), "\n")
		var c idl.Cache
		for round := range 200 {
			i, j := r.IntN(len(lines)), r.IntN(len(lines))
			switch r.IntN(5) {
			case 0:
				lines[i], lines[j] = lines[j], lines[i]
			case 1:
				lines[i] = ""
			case 2:
				lines[i] += "/* a\n comment */ "
			case 3:
				lines[i] = "struct X {\n1: i32 x}\n" + lines[i]
			case 4: // all is right again
				lines = strings.SplitAfter("\n# "+string(fine), "\n")
			}
			src := []byte(strings.Join(lines, ""))
			want, wantErr := idl.Parse(name, src)
			got, gotErr := c.Parse(name, src)
			if !reflect.DeepEqual(gotErr, wantErr) {
				t.Fatalf("round %d: %v, want %v", round, gotErr, wantErr)
			}
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("round %d: another tree of\n%s", round, src)
			}
		}
	}
}

// TestCacheParses counts what is parsed: after a change of one definition, that one.
func TestCacheParses(t *testing.T) {
	var c idl.Cache
	src := "include \"a.thrift\"\n" + strings.Repeat("struct A { 1: i32 a }\n", 100) + "enum E { X }\n"
	if _, err := c.Parse("x.thrift", []byte(src)); err != nil || c.Parsed != 102 {
		t.Fatal(err, c.Parsed)
	}
	for _, to := range []string{"X, Y", "X, Y,", "X, Y, Z"} {
		c.Parsed = 0
		f, err := c.Parse("x.thrift", []byte("\n"+strings.Replace(src, "X", to, 1)))
		if err != nil || c.Parsed != 1 {
			t.Fatal(err, c.Parsed)
		}
		if got := f.Definitions[99].DefName().Pos.Line; got != 102 {
			t.Errorf("line %d", got)
		}
	}
}
