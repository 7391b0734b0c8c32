package plain

import (
	"os/exec"
	"strings"
	"testing"
)

// TestInline: what writes or reads a scalar is compiled into its caller.
func TestInline(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("go", "build", "-trimpath", "-gcflags=-m", ".").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, name := range strings.Fields(`Writer).Fit Writer).Bool Writer).Int8 Writer).Int16 Writer).Int32 Writer).Int64 Writer).Float64 Writer).UUID
		Writer).Struct Writer).Enter Writer).Leave Reader).Has Reader).Must Reader).Bool Reader).Int8 Reader).Int16 Reader).Int32 Reader).Int64
		Reader).Float64 Reader).UUID Reader).Stop Reader).Enter Reader).Leave`) {
		if !strings.Contains(string(out), "can inline (*"+name+"\n") {
			t.Errorf("(*%s is not inlined", name)
		}
	}
}
