package nocopy_test

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// compilerSays returns what the compiler reports of inlining in a package.
func compilerSays(t *testing.T, pkg string) string {
	t.Helper()
	out, err := exec.Command("go", "build", "-gcflags=-m", pkg).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

// TestInline: what reads a scalar is compiled into its caller.
func TestInline(t *testing.T) {
	t.Parallel()
	says := compilerSays(t, ".")
	for _, name := range []string{
		"XStruct.Has", "XStruct.Bool", "XStruct.Int8", "XStruct.Int16", "XStruct.Int32", "XStruct.Int64", "XStruct.Float64", "XStruct.UUID",
		"BoolList.At", "Int8List.At", "Int16List.At", "Int32List.At", "Int64List.At", "Float64List.At", "UUIDList.At",
	} {
		t.Run(name, func(t *testing.T) {
			if !strings.Contains(says, "can inline "+name+"\n") {
				t.Errorf("%s is not inlined", name)
			}
		})
	}
}

// TestInlineGenerated: so are the getters that the generator writes, down to the load.
func TestInlineGenerated(t *testing.T) {
	t.Parallel()
	says := compilerSays(t, "../gen/internal/shapes")
	for _, method := range []string{"Bool", "Int8", "Int16", "Int32", "Int64", "Float64", "Has"} {
		t.Run(method, func(t *testing.T) {
			if !strings.Contains(says, "inlining call to nocopy.XStruct."+method+"\n") {
				t.Errorf("no call of XStruct.%s is inlined", method)
			}
		})
	}
	getters := regexp.MustCompile(`can inline \w+\.(Get|IsSet)\w+`).FindAllString(says, -1)
	if len(getters) < 50 {
		t.Errorf("only %d getters are inlined", len(getters))
	}
}
