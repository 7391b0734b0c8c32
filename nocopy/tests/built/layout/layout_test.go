// Package layout_test runs generated code with another layout of the index.
package layout_test

import (
	"os"
	"os/exec"
	"testing"
)

// TestOtherLayout: generated code says nothing about the layout of the index. The tag
// nocopylayout gives entries a word more, makes fewer structs near, and the groups of wide structs
// smaller. Code that was generated before, that of each release, passes its tests unchanged. CI's
// stage debug runs the tests of package shapes with this layout.
func TestOtherLayout(t *testing.T) {
	t.Parallel()
	c := exec.Command("go", "test", "-vet=off", "-tags", "nocopylayout", "./released/...", "./versions")
	c.Dir = "../../../../gen/internal"
	c.Env = append(os.Environ(), "NOCOPY_LONG=")
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
