package interop_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// python makes the virtual environment, once, and returns its interpreter.
var python = sync.OnceValues(func() (string, error) {
	// The directory stays: the next run need not download anything.
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	setup := exec.Command("python/setup.sh", filepath.Join(cache, "nocopythrift", "interop-python"))
	var complaints bytes.Buffer
	setup.Stderr = &complaints
	out, err := setup.Output()
	if err != nil {
		return "", setupError{err, strings.TrimSpace(complaints.String())}
	}
	return strings.TrimSpace(string(out)), nil
})

type setupError struct {
	error
	said string
}

// withPython runs a test with the interpreter, or skips it where there is none.
func withPython(t *testing.T, test func(t *testing.T, python, transport, protocol string)) {
	interpreter, err := python()
	var setup setupError
	var exit *exec.ExitError
	if errors.As(err, &setup) && errors.As(setup.error, &exit) && (exit.ExitCode() == 3 || exit.ExitCode() == 4) {
		t.Skipf("SKIPPED, nothing was tested against Apache Thrift's Python library: %s", setup.said)
	}
	if err != nil {
		t.Fatal(err, setup.said)
	}
	for _, transport := range transports {
		// accel and multia are the same protocols by the library's C extension.
		for _, protocol := range []string{"binary", "multi", "accel", "multia"} {
			t.Run(transport+"/"+protocol, func(t *testing.T) {
				t.Parallel()
				test(t, interpreter, transport, protocol)
			})
		}
	}
}

// ourName returns the name that our programs have for one of Python's protocols.
func ourName(protocol string) string {
	if strings.HasPrefix(protocol, "multi") {
		return "multi"
	}
	return "binary"
}

func TestOurClientAgainstPython(t *testing.T) {
	t.Parallel()
	withPython(t, func(t *testing.T, python, transport, protocol string) {
		s := start(t, exec.Command(python, "-B", "python/server.py",
			"--host=127.0.0.1", "--port=0", "--transport="+transport, "--protocol="+protocol))
		callEverything(t, s.port, transport, ourName(protocol))
	})
}

func TestPythonAgainstOurServer(t *testing.T) {
	t.Parallel()
	withPython(t, func(t *testing.T, python, transport, protocol string) {
		s := startOurs(t, transport, ourName(protocol))
		code, out := runProgram(t, python, "-B", "python/client.py",
			"--host=127.0.0.1", "--port="+s.port, "--transport="+transport, "--protocol="+protocol)
		if code != 0 || strings.Contains(out, "FAILURE") {
			t.Errorf("exit code %d:\n%s", code, out)
		}
	})
}
