package testmode

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
)

// ownProcess is the variable of the environment that has the name of the process's only test.
const ownProcess = "NOCOPY_TEST_PROCESS"

// InOwnProcess reports whether this process runs test t only. If not, it starts such a process,
// beside other tests, and t fails if it fails there. It is the first call of a test that counts
// its process's memory, files or goroutines, or that reads messages after they were released:
//
//	if !testmode.InOwnProcess(t) {
//		return
//	}
func InOwnProcess(t *testing.T) bool {
	t.Helper()
	if os.Getenv(ownProcess) == t.Name() {
		return true
	}
	t.Parallel()
	_, subtests, _ := strings.Cut(flag.Lookup("test.run").Value.String(), "/")
	args := []string{"-test.run=^" + t.Name() + "$/" + subtests}
	flag.Visit(func(f *flag.Flag) {
		if name, ours := strings.CutPrefix(f.Name, "test."); !ours || name == "v" || name == "timeout" {
			args = append(args, fmt.Sprintf("-%s=%s", f.Name, f.Value))
		}
	})
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
	cmd.Env = append(os.Environ(), ownProcess+"="+t.Name(), fmt.Sprint("GOMAXPROCS=", runtime.GOMAXPROCS(0)))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	} else if testing.Verbose() {
		t.Logf("%s", out)
	}
	return false
}
