// Package layout_test runs generated code with another layout of the index.
package layout_test

import (
	"os"
	"os/exec"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
)

// TestOtherLayout: generated code says nothing about the layout of the index. The tag
// nocopylayout gives entries a word more, makes fewer structs near, and the groups of wide structs
// smaller. Code that was generated before, that of each release, passes its tests unchanged.
func TestOtherLayout(t *testing.T) {
	t.Parallel()
	args := []string{"test", "-vet=off", "-tags", "nocopylayout", "./released/...", "./versions"}
	if testmode.Of(0, 1) == 1 {
		args = append(args, "./shapes") // all of that code's tests, in their short form
	}
	c := exec.Command("go", args...)
	c.Dir = "../../../../gen/internal"
	c.Env = append(os.Environ(), "NOCOPY_LONG=")
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
