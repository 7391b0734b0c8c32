package interop_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/interop/thrifttest"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
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

// quick are the protocols that the short form of the tests runs over each transport.
var quick = map[string][]string{
	"framed":   {"binary", "multi", "accel", "multia", "compact", "accelc"},
	"buffered": {"multi", "accel", "multic", "multiac"},
	"header":   {"binary", "multic"},
	"http":     {"multi", "compact"},
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
		// Those with accel or an a in multi are the same protocols by the library's C extension.
		for _, protocol := range []string{"binary", "multi", "accel", "multia", "compact", "multic", "accelc", "multiac"} {
			if transport == "header" && ourName(protocol) != protocol {
				continue // THeaderProtocol chooses the class
			}
			if !testmode.Long && !slices.Contains(quick[transport], protocol) {
				continue
			}
			t.Run(transport+"/"+protocol, func(t *testing.T) {
				t.Parallel()
				test(t, interpreter, transport, protocol)
			})
		}
	}
}

// ourName returns the name that our programs have for one of Python's protocols.
func ourName(protocol string) string {
	name := map[string]string{"accel": "binary", "multia": "multi", "accelc": "compact", "multiac": "multic"}[protocol]
	return cmp.Or(name, protocol)
}

// TestOurClientAgainstPython calls servers that return their IDL. Those of TestPython do not.
func TestOurClientAgainstPython(t *testing.T) {
	t.Parallel()
	withPython(t, func(t *testing.T, python, transport, protocol string) {
		bundle := bundleFor(t, ourName(protocol))
		s := start(t, exec.Command(python, "-B", "python/server.py",
			"--host=127.0.0.1", "--port=0", "--transport="+transport, "--protocol="+protocol, "--describe="+bundle))
		callEverything(t, s.port, transport, ourName(protocol))
		if err := checkDescribed(t, s.port, transport, ourName(protocol), bundle); err != nil {
			t.Error(err)
		}
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

// TestSharedMemoryAgainstPython: a server that knows nothing of shared memory answers the call
// that asks for it as any method that it does not know, and the connection is used.
func TestSharedMemoryAgainstPython(t *testing.T) {
	t.Parallel()
	withPython(t, func(t *testing.T, python, transport, protocol string) {
		if transport != "framed" || protocol != "binary" && protocol != "multi" {
			return // clients ask over such connections only
		}
		path := filepath.Join(t.TempDir(), "s")
		start(t, exec.Command(python, "-B", "python/server.py", "--domain-socket="+path, "--transport=framed", "--protocol="+protocol))
		var dialled atomic.Int32
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		cl, err := rpc.Dial(ctx, "unix", path, rpc.CopyFromPeer, rpc.PoolSize(1),
			rpc.Dialer(func(ctx context.Context, network, addr string) (net.Conn, error) {
				dialled.Add(1)
				return new(net.Dialer).DialContext(ctx, network, addr)
			}))
		if err != nil {
			t.Fatal(err)
		}
		defer cl.Close()
		thing := strings.Repeat("thing ", 20_000)
		res, err := thrifttest.NewThriftTestClient(cl).TestString(ctx, func(args thrifttest.ThriftTestTestStringArgs) { args.SetThing(thing) })
		if err != nil || res.GetSuccess() != thing {
			t.Errorf("%d bytes, %v", len(res.GetSuccess()), err)
		}
		if n := dialled.Load(); n != 1 {
			t.Errorf("%d connections", n)
		}
	})
}
