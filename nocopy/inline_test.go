package nocopy_test

import (
	"os/exec"
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
