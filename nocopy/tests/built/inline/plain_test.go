package inline_test

import (
	"os/exec"
	"strings"
	"testing"
)

// plainMethods lists the methods of package plain that must be inlined into their callers.
const plainMethods = `Writer).Fit Writer).Bool Writer).Int8 Writer).Int16 Writer).Int32 Writer).Int64 Writer).Float64 Writer).UUID
	Writer).BoolValue Writer).Int8Value Writer).Int16Value Writer).Int32Value Writer).Int64Value Writer).Float64Value Writer).UUIDValue
	Writer).Struct Writer).Stop Writer).Enter Writer).Leave Writer).Element Writer).Binary Writer).BinaryValue
	Reader).Has Reader).Must Reader).Bool Reader).Int8 Reader).Int16 Reader).Int32 Reader).Int64
	Reader).Float64 Reader).UUID Reader).Stop Reader).Enter Reader).Leave`

// TestPlain: methods that write or read a scalar are inlined. Generated code imports thriftimpl,
// not this package; thriftimpl must therefore have inlined the methods itself.
func TestPlain(t *testing.T) {
	t.Parallel()
	for dir, text := range map[string]string{nocopy + "/internal/plain": "can inline (*", nocopy + "/thriftimpl": "inlining call to plain.(*"} {
		out, err := exec.Command("go", "build", "-trimpath", "-gcflags=-m", dir).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		for _, name := range strings.Fields(plainMethods) {
			if !strings.Contains(string(out), text+name+"\n") {
				t.Errorf("%s: (*%s is not inlined", dir, name)
			}
		}
	}
}
