package oldcode_test

import (
	"os/exec"
	"strings"
	"testing"
)

// TestOldGeneratedCode: the compiler's first error for code of earlier versions says what to do.
func TestOldGeneratedCode(t *testing.T) {
	for _, version := range []string{"v1", "v2", "v3"} {
		t.Run(version, func(t *testing.T) {
			out, err := exec.Command("go", "build", "./testdata/"+version).CombinedOutput()
			if err == nil {
				t.Fatal("it was compiled")
			}
			lines := strings.Split(string(out), "\n") // the first names the package
			if len(lines) < 2 || !strings.Contains(lines[1], "GenerateThisCodeAgainWithNocopyc") {
				t.Errorf("the compiler says:\n%s", out)
			}
		})
	}
}

// TestNewerGeneratedCode: the compiler's error for code that needs a newer library names the
// version that it needs.
func TestNewerGeneratedCode(t *testing.T) {
	out, err := exec.Command("go", "build", "./testdata/newer").CombinedOutput()
	if err == nil {
		t.Fatal("it was compiled")
	}
	if lines := strings.Split(string(out), "\n"); len(lines) < 2 || !strings.HasSuffix(lines[1], "undefined: impl.UpgradeNocopythriftToV1_999") {
		t.Errorf("the compiler says:\n%s", out)
	}
}
