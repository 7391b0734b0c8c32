// Servers on Apache's libraries that return their IDL, by the files in the folder reflection and,
// for Go, by package describe.

package interop_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apache/thrift/lib/go/thrift"

	"github.com/nocopythrift/nocopythrift/interop"
	"github.com/nocopythrift/nocopythrift/nocopy/apachethrift/describe"
	"github.com/nocopythrift/nocopythrift/nocopy/dynamic"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// tool builds the tool, once, as releases are built, and returns its path.
var tool = sync.OnceValues(func() (string, error) {
	path := filepath.Join(programs, "nocopy")
	out, err := exec.Command("go", "-C", "../cmd/nocopy", "build", "-trimpath", "-ldflags=-s -w", "-o", path, ".").CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%w\n%s", err, out)
	}
	return path, err
})

// runTool runs the tool and returns what it prints.
func runTool(ctx context.Context, args ...string) (string, error) {
	path, err := tool()
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env = append(os.Environ(), "NOCOPY_TIMEOUT=2m")
	out, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("nocopy %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return string(out), err
}

// bundles writes the bundles of servers that multiplex and of others, once, with the tool.
var bundles = sync.OnceValues(func() (map[bool]string, error) {
	apache, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/apache/thrift").Output()
	if err != nil {
		return nil, err
	}
	idl := filepath.Join(strings.TrimSpace(string(apache)), "test", "ThriftTest.thrift")
	paths := map[bool]string{false: filepath.Join(programs, "test.bundle"), true: filepath.Join(programs, "multi.bundle")}
	if _, err := runTool(context.Background(), "bundle", idl, "-o", paths[false], "-service", "ThriftTest"); err != nil {
		return nil, err
	}
	_, err = runTool(context.Background(), "bundle", idl, "-o", paths[true], "-service", "ThriftTest:ThriftTest", "-service", "SecondService:SecondService")
	return paths, err
})

// bundleFor returns the path of the bundle for a server.
func bundleFor(t *testing.T, protocol string) string {
	t.Helper()
	paths, err := bundles()
	if err != nil {
		t.Fatal(err)
	}
	return paths[interop.Multiplexed(protocol)]
}

// checkDescribed returns what is wrong with a server that is to return the bundle at path. The
// tool describes and calls the server, and has no other IDL.
func checkDescribed(t *testing.T, port, transport, protocol, path string) error {
	addr := net.JoinHostPort("127.0.0.1", port)
	if err := checkReplies(t.Context(), addr, transport, protocol, path); err != nil {
		return err
	}
	how := map[string]string{"framed": "framed", "buffered": "unframed", "header": "theader", "http": "http"}[transport]
	encoding := "binary"
	if isCompact(protocol) {
		encoding = "compact"
	}
	way := []string{"-transport", how, "-protocol", encoding}
	told, err := runTool(t.Context(), append([]string{"describe", addr}, way...)...)
	if err != nil {
		return err
	}
	if want, err := runTool(t.Context(), "describe", path); err != nil || told != "# "+how+" "+encoding+"\n"+want {
		return fmt.Errorf("the server is described as\n%swant\n%s(%v)", told, want, err)
	}
	calls := map[string]string{"ThriftTest.testString": "\"lamp\"\n"}
	if interop.Multiplexed(protocol) {
		calls["SecondService.secondtestString"] = `"testString(\"lamp\")"` + "\n"
	}
	for method, want := range calls {
		if out, err := runTool(t.Context(), append([]string{"call", addr, method, "thing=lamp"}, way...)...); err != nil || out != want {
			return fmt.Errorf("%s returns %s, %v", method, out, err)
		}
	}
	return nil
}

// checkReplies compares replies, all on one connection, with the bundle at path.
func checkReplies(ctx context.Context, addr, transport, protocol, path string) error {
	bundle, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	c, err := interop.Dial(ctx, "tcp", addr, transport, protocol, rpc.PoolSize(1))
	if err != nil {
		return err
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	service, unknown := rpc.Caller(c), "nocopy.describes"
	if interop.Multiplexed(protocol) { // then a service has no such method
		service, unknown = rpc.MultiplexedCaller(c, "ThriftTest"), rpc.DescribeMethod
	}
	success := append(append([]byte{12, 0, 0}, bundle...), 0)
	const none, some = "\x00", "\x08\x00\x01\x00\x00\x00\x05\x0f\x00\x02\x0c\x00\x00\x00\x02\x00\x00\x00"
	for _, args := range []string{none, some} {
		if b, err := dynamic.CallRaw(ctx, c, rpc.DescribeMethod, []byte(args)); err != nil || !bytes.Equal(b, success) {
			return fmt.Errorf("the reply is %q, %v\nwant %q", b, err, success)
		}
		var answer *rpc.ApplicationException
		if _, err := dynamic.CallRaw(ctx, service, unknown, []byte{0}); !errors.As(err, &answer) {
			return fmt.Errorf("%s: %w", unknown, err)
		}
		if b, err := dynamic.CallRaw(ctx, service, "testVoid", []byte{0}); err != nil || !bytes.Equal(b, []byte{0}) {
			return fmt.Errorf("testVoid: %q, %w", b, err)
		}
	}
	return nil
}

// TestDescribedGo: servers on Apache's Go library return their IDL.
func TestDescribedGo(t *testing.T) {
	t.Parallel()
	matrix(t, func(t *testing.T, transport, protocol string) {
		path := bundleFor(t, protocol)
		bundle, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		port := startApache(t, transport, protocol, apacheHandler{}, func(p thrift.TProcessor) thrift.TProcessor {
			described, err := describe.Processor(p, bundle)
			if err != nil {
				t.Fatal(err)
			}
			return described
		})
		if err := checkDescribed(t, port, transport, protocol, path); err != nil {
			t.Error(err)
		}
		callEverything(t, port, transport, protocol)
	})
}

// TestDescribedGoErrors: bytes that are no bundle are refused before a server serves.
func TestDescribedGoErrors(t *testing.T) {
	t.Parallel()
	bundle, err := os.ReadFile(bundleFor(t, "binary"))
	if err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string][]byte{
		"empty": nil, "IDL": []byte("service S {}"), "cut": bundle[:len(bundle)-1], "cut in a text": bundle[:len(bundle)/2],
		"another type": {8, 0, 1, 0, 0, 0, 5, 0}, "a count": {15, 0, 1, 12, 0x7f, 0xff, 0xff, 0xff, 0}, "a negative count": {15, 0, 1, 12, 0xff, 0xff, 0xff, 0xff, 0},
		"a length": {11, 0, 1, 0x7f, 0xff, 0xff, 0xff, 0}, "deep": bytes.Repeat([]byte{12, 0, 1}, 1<<16),
	} {
		if p, err := describe.Processor(thrift.NewTMultiplexedProcessor(), b); p != nil || err == nil || !strings.HasPrefix(err.Error(), "this is no bundle: ") {
			t.Errorf("%s: %v, %v", name, p, err)
		}
	}
	defer func() {
		if v := recover(); v != "nocopy: describe.Processor with a nil TProcessor" {
			t.Errorf("panic %v", v)
		}
	}()
	describe.Processor(nil, bundle)
}

// TestReflectionPage: servers of ours and on Apache's library reply with the bytes that
// docs/reflection.md shows.
func TestReflectionPage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/reflection.md")
	if err != nil {
		t.Fatal(err)
	}
	var shown [][]byte
	for _, block := range regexp.MustCompile("(?ms)^```hex\n(.*?)^```$").FindAllSubmatch(page, -1) {
		b, err := hex.DecodeString(strings.Join(strings.Fields(regexp.MustCompile(" *#.*").ReplaceAllString(string(block[1]), "")), ""))
		if err != nil {
			t.Fatal(err)
		}
		shown = append(shown, b)
	}
	if len(shown) != 4 {
		t.Fatalf("the page shows %d messages", len(shown))
	}
	file := filepath.Join(t.TempDir(), "s.thrift")
	if err := os.WriteFile(file, []byte("service S { i32 f() }"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := runTool(t.Context(), "bundle", file, "-o", file+".bundle"); err != nil {
		t.Fatal(err)
	}
	bundle, err := os.ReadFile(file + ".bundle")
	if reply := shown[1]; err != nil || !bytes.Equal(bundle, reply[bytes.Index(reply, []byte("\x0f\x00\x01")):len(reply)-1]) {
		t.Errorf("the bundle is %q, %v", bundle, err)
	}
	processor := rpc.NewProcessor("S", nil).WithIDL("S", rpc.IDLFile{Path: "s.thrift", Text: "service S { i32 f() }"})
	ours := serveDynamic(t, &rpc.Server{Processor: processor, Describe: true})
	for i, protocol := range []string{"binary", "compact"} {
		apache := startApache(t, "framed", protocol, apacheHandler{}, func(p thrift.TProcessor) thrift.TProcessor {
			p, err := describe.Processor(p, bundle)
			if err != nil {
				t.Fatal(err)
			}
			return p
		})
		for name, port := range map[string]string{"ours": ours, "Apache's": apache} {
			reply, err := ask(net.JoinHostPort("127.0.0.1", port), shown[2*i])
			if want := shown[2*i+1]; err != nil || !bytes.Equal(reply, want) {
				t.Errorf("%s, %s: the reply is\n% x\n(%v), the page shows\n% x", name, protocol, reply, err, want)
			}
		}
	}
}

// ask sends a frame, and returns the one that comes back.
func ask(addr string, message []byte) ([]byte, error) {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(time.Minute))
	if _, err := c.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(message))), message...)); err != nil {
		return nil, err
	}
	var length [4]byte
	if _, err := io.ReadFull(c, length[:]); err != nil {
		return nil, err
	}
	reply := make([]byte, min(binary.BigEndian.Uint32(length[:]), 1<<20))
	_, err = io.ReadFull(c, reply)
	return reply, err
}

// TestReflectionFiles: a user reads each file before copying it.
func TestReflectionFiles(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("reflection/*.*")
	if err != nil || len(files) < 4 {
		t.Fatal(err, files)
	}
	for _, name := range append(files, "../nocopy/apachethrift/describe/describe.go") {
		if text, err := os.ReadFile(name); err != nil || bytes.Count(text, []byte("\n")) > 100 {
			t.Errorf("%s has more than 100 lines (%v)", name, err)
		}
	}
}
