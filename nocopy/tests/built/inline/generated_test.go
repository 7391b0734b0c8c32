package inline_test

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// TestInlineGenerated: the compiler inlines the generated getters, and all functions in them that
// read a scalar.
func TestInlineGenerated(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("go", "build", "-C", "../../../../gen/internal", "-gcflags=-m", "./shapes").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	says := string(out)
	for _, method := range []string{
		"Struct.Has", "Struct.Bool", "Struct.Int8", "Struct.Int16", "Struct.Int32", "Struct.Int64", "Struct.Float64",
	} {
		t.Run(method, func(t *testing.T) {
			if !strings.Contains(says, "inlining call to engine."+method+"\n") {
				t.Errorf("no call of %s is inlined", method)
			}
		})
	}
	getters := regexp.MustCompile(`can inline \w+\.(Get|IsSet)\w+`).FindAllString(says, -1)
	if len(getters) < 50 {
		t.Errorf("only %d getters are inlined", len(getters))
	}
}
