package interop_test

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/interop"
	apache "github.com/nocopythrift/nocopythrift/interop/internal/apache/thrifttest"
)

// Handlers that have one fault each.
type (
	wrongNumber    struct{ apacheHandler }
	wrongStruct    struct{ apacheHandler }
	wrongList      struct{ apacheHandler }
	wrongMap       struct{ apacheHandler }
	noException    struct{ apacheHandler }
	wrongException struct{ apacheHandler }
	sleeping       struct{ apacheHandler }
)

func (wrongNumber) TestI64(_ context.Context, v int64) (int64, error) { return v ^ 1<<40, nil }

func (wrongStruct) TestNest(_ context.Context, v *apache.Xtruct2) (*apache.Xtruct2, error) {
	v.StructThing.I32Thing++
	return v, nil
}

func (wrongList) TestList(_ context.Context, v []int32) ([]int32, error) { return append(v, 1), nil }

func (wrongMap) TestMapMap(context.Context, int32) (map[int32]map[int32]int32, error) {
	return map[int32]map[int32]int32{-4: {-4: -4}, 4: {4: 4}}, nil
}

func (noException) TestException(context.Context, string) error { return nil }

func (wrongException) TestMultiException(_ context.Context, arg0, arg1 string) (*apache.Xtruct, error) {
	return nil, &apache.Xception{ErrorCode: 1002, Message: "This is an Xception"}
}

func (sleeping) TestEnum(_ context.Context, v apache.Numberz) (apache.Numberz, error) {
	time.Sleep(2 * shortTimeout)
	return v, nil
}

// shortTimeout is how long a call to a sleeping server may take.
const shortTimeout = 3 * time.Second

func TestExitCodes(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		handler apache.ThriftTest
		want    int
	}{
		"right":           {apacheHandler{}, 0},
		"wrong number":    {wrongNumber{}, 1},
		"wrong struct":    {wrongStruct{}, 2},
		"wrong list":      {wrongList{}, 4},
		"wrong map":       {wrongMap{}, 4},
		"no exception":    {noException{}, 8},
		"wrong exception": {wrongException{}, 8},
		// The calls after one that never ends are not made, and so count as failed.
		"asleep": {sleeping{}, 128 | 2 | 4 | 8 | 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			port := startApache(t, "framed", "binary", test.handler)
			args := []string{"--host=127.0.0.1", "--port", port, "--transport", "framed"}
			if name == "asleep" {
				args = append(args, "--timeout", shortTimeout.String())
			}
			code, out := runOurs(t, args...)
			if code != test.want || strings.Contains(out, "*** FAILURE ***") != (test.want != 0) {
				t.Errorf("exit code %d, want %d:\n%s", code, test.want, out)
			}
		})
	}
}

func TestClientWithoutServer(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	l.Close()
	code, out := runOurs(t, "--host=127.0.0.1", "--port="+port)
	// Apache's test runner tries again when it reads the second of these.
	if code != interop.FailedToPrepare || !strings.Contains(out, "Connect failed: ") || !strings.Contains(out, "Could not connect to") {
		t.Errorf("exit code %d: %s", code, out)
	}
}

func TestCommandLines(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"server", "client"} {
		path := filepath.Join(programs, program)
		for _, help := range []string{"--help", "-h"} {
			code, out := runProgram(t, path, help)
			for _, flag := range []string{"port", "transport", "protocol", "domain-socket"} {
				if !strings.Contains(out, "-"+flag) {
					t.Errorf("%s %s does not mention --%s", program, help, flag)
				}
			}
			if code != 0 || !strings.HasPrefix(out, "Allowed options:") {
				t.Errorf("%s %s: exit code %d: %s", program, help, code, out)
			}
		}
		wrong := map[string]int{"server": 1, "client": interop.FailedToPrepare}[program]
		for _, args := range []string{"--transport=smoke", "--protocol=morse", "--port=66000", "--port=x", "--tea", "stray"} {
			if code, out := runProgram(t, path, args); code != wrong || out == "" {
				t.Errorf("%s %s: exit code %d, want %d: %s", program, args, code, wrong, out)
			}
		}
	}
}

func TestServerWithoutPort(t *testing.T) {
	t.Parallel()
	s := startOurs(t, "framed", "binary")
	code, out := runProgram(t, filepath.Join(programs, "server"), "--port="+s.port)
	if code != 1 || !strings.Contains(out, "address already in use") {
		t.Errorf("exit code %d: %s", code, out)
	}
}

func TestDomainSocket(t *testing.T) {
	t.Parallel()
	socket := filepath.Join(t.TempDir(), "ThriftTest")
	s := startOurs(t, "framed", "multi", "--domain-socket="+socket)
	code, out := runOurs(t, "--domain-socket="+socket, "--transport=buffered", "--protocol=multi", "--testloops=2")
	if code != 0 || strings.Count(out, "testVoid()") != 2 {
		t.Errorf("exit code %d: %s", code, out)
	}
	if code := s.stop(); code != 0 {
		t.Errorf("interrupted, the server ends with exit code %d", code)
	}
	if _, err := os.Stat(socket); err == nil {
		t.Error("the socket is still there")
	}
}

// TestServerPrints tests the output of the servers of other languages.
func TestServerPrints(t *testing.T) {
	t.Parallel()
	s := startOurs(t, "buffered", "multi")
	dialApache(t, s.port, "buffered", "multi").callEverything()
	if code := s.stop(); code != 0 {
		t.Errorf("interrupted, the server ends with exit code %d", code)
	}
	out := s.out.String()
	for _, line := range []string{
		`Starting the server \[multi/buffered\] on port \d+`,
		`testVoid\(\)`,
		`testString\("thing"\)`,
		`testBool\(true\)`,
		`testByte\(-128\)`,
		`testI32\(2147483647\)`,
		`testI64\(-9223372036854775808\)`,
		`testDouble\(-5\.325098\)`,
		`testBinary\(000102[0-9a-f]+fdfeff\)`,
		`testUuid\(00112233-4455-6677-8899-aabbccddeeff\)`,
		`testStruct\({"thing", 42, 4242, 424242}\)`,
		`testNest\({1, {"thing", 42, 4242, 424242}, 5}\)`,
		`testMap\({.*-3 => 4.*}\)`,
		`testStringMap\({.*a => 2.*}\)`,
		`testSet\({1, 2, 42}\)`,
		`testList\({1, 2, 42, 2}\)`,
		`testEnum\(8\)`,
		`testTypedef\(-9223372036854775808\)`,
		`testMapMap\(42\)`,
		`testInsanity\(\)`,
		`testMulti\(\)`,
		`testException\(Xception\)`,
		`testMultiException\(success, foobar\)`,
		`testOneway\(1\): Sleeping\.\.\.`,
		`testOneway\(1\): done sleeping!`,
		`testString\("foobar"\)`,
		`done\.`,
	} {
		if !regexp.MustCompile(`(?m)^` + line + `$`).MatchString(out) {
			t.Errorf("no line is %s", line)
		}
	}
}
