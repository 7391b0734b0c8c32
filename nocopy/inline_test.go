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
		"XFar.Has", "XFar.Bool", "XFar.Int8", "XFar.Int16", "XFar.Int32", "XFar.Int64", "XFar.Float64", "XFar.UUID",
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
	for _, method := range []string{
		"XStruct.Has", "XStruct.Bool", "XStruct.Int32", "XStruct.Int64", "XStruct.Float64",
		"XFar.Has", "XFar.Bool", "XFar.Int8", "XFar.Int16", "XFar.Int32", "XFar.Int64", "XFar.Float64",
	} {
		t.Run(method, func(t *testing.T) {
			if !strings.Contains(says, "inlining call to nocopy."+method+"\n") {
				t.Errorf("no call of %s is inlined", method)
			}
		})
	}
	getters := regexp.MustCompile(`can inline \w+\.(Get|IsSet)\w+`).FindAllString(says, -1)
	if len(getters) < 50 {
		t.Errorf("only %d getters are inlined", len(getters))
	}
}
