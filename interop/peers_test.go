// Our programs against those in the folders java, node, rust and cpp, which use Apache Thrift's
// libraries for these languages. Only with NOCOPY_INTEROP=1 ("make interop"): the programs have to
// be built.

package interop_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/interop"
	"github.com/nocopythrift/nocopythrift/interop/thrifttest"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// peer is the programs in one language.
type peer struct {
	folder  string
	thrift  string // the language and version of its library
	servers []program
	clients []program
}

// program is a server or a client of a peer, run with --kind.
type program struct {
	kind       string
	name       string // of the library's class, for the table
	transports []string
	// The flags that it takes: --old (headers that are not strict), --idle, --max-frame, --describe
	old, idle, frames, describes bool
	without                      string // a method that it must not be called with
	// What it does wrong: the name of a check, or the start of it, and why it fails. These checks
	// must fail.
	defects map[string]string
}

var (
	both     = []string{"framed", "buffered"}
	withHTTP = []string{"framed", "buffered", "http"}
)

// build returns the folder with the peer's programs, or skips the test.
func (p peer) build(t *testing.T) string {
	t.Helper()
	if os.Getenv("NOCOPY_INTEROP") == "" {
		t.Skipf("SKIPPED, nothing was tested against %s: NOCOPY_INTEROP is not set (make interop)", p.folder)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	setup := exec.Command("./setup.sh", p.folder, filepath.Join(cache, "nocopythrift", "interop"))
	var complaints bytes.Buffer
	setup.Stderr = io.MultiWriter(&complaints, os.Stderr) // it says what it is at
	out, err := setup.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) && (exit.ExitCode() == 3 || exit.ExitCode() == 4) {
		t.Skipf("SKIPPED, nothing was tested against %s: %s", p.folder, complaints.String())
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, complaints.String())
	}
	return strings.TrimSpace(string(out))
}

// test runs everything with a peer and logs what was run.
func (p peer) test(t *testing.T) {
	dir := p.build(t)
	for _, s := range p.servers {
		t.Run("server/"+s.kind, func(t *testing.T) { s.testServer(t, p.thrift, filepath.Join(dir, "server")) })
	}
	for _, c := range p.clients {
		t.Run("client/"+c.kind, func(t *testing.T) { c.testClient(t, p.thrift, filepath.Join(dir, "client")) })
	}
}

// outcome is the results of checks, by their names.
type outcome map[string]error

// judge fails the test if other checks have failed than those that are to fail. It logs a row for
// the table of interop/README.md.
func (p program) judge(t *testing.T, library string, ran []string, all outcome) {
	t.Helper()
	failed := map[string]int{} // known defect: how often
	for _, name := range slices.Sorted(maps.Keys(all)) {
		err := all[name]
		if err == nil {
			continue
		}
		known := ""
		for d := range p.defects {
			if strings.HasPrefix(name, d) {
				known = d
			}
		}
		if known == "" {
			t.Errorf("%s: %v", name, err)
			continue
		}
		failed[known]++
		why, _, _ := strings.Cut(err.Error(), "\n")
		t.Logf("known: %s: %s", name, why)
	}
	var what []string
	for _, d := range slices.Sorted(maps.Keys(p.defects)) {
		if failed[d] == 0 {
			t.Errorf("%s has not failed, but is known to: %s", d, p.defects[d])
		}
		what = append(what, fmt.Sprintf("%s (%d)", d, failed[d]))
	}
	if len(what) == 0 {
		what = []string{"none"}
	}
	t.Logf("ran: %s", strings.Join(ran, ", "))
	t.Logf("| %s | %s | %s | %d | %s |", library, p.name, strings.Join(p.transports, ", "), len(all), strings.Join(what, ", "))
}

// testServer calls a peer's server with our client.
func (p program) testServer(t *testing.T, library, path string) {
	all, ran := outcome{}, []string{}
	begin := func(args ...string) *server {
		return start(t, exec.Command(path, append([]string{"--kind=" + p.kind, "--port=0"}, args...)...))
	}
	variant := func(transport, protocol string, args ...string) {
		name := strings.TrimSpace(transport + " " + protocol + " " + strings.Join(args, " "))
		ran = append(ran, name)
		s := begin(append(args, "--transport="+transport, "--protocol="+protocol)...)
		out := p.callAll(t, s.port, transport, protocol)
		for method, err := range failures(out) {
			all[method+", "+name] = err
		}
		if len(args) == 0 && transport != "http" { // where a connection does not matter
			for check, err := range hardships(t, s.port, transport, protocol) {
				all[check+", "+name] = err
			}
		}
		s.stop()
		if p.describes && len(args) == 0 {
			bundle := bundleFor(t, protocol)
			s := begin("--transport="+transport, "--protocol="+protocol, "--describe="+bundle)
			all["nocopy.describe, "+name] = checkDescribed(t, s.port, transport, protocol, bundle)
			s.stop()
		}
	}
	for _, transport := range p.transports {
		for _, protocol := range protocols {
			variant(transport, protocol)
		}
		if p.old && transport != "http" && transport != "header" {
			variant(transport, "binary", "--old")
		}
	}
	if p.idle {
		s := begin("--transport=buffered", "--idle=300")
		all["a call after the server has closed the idle connection"] = callAfterPause(t, s.port)
		ran = append(ran, "idle connections")
		s.stop()
	}
	if p.frames {
		s := begin("--transport=framed", "--max-frame=65536")
		all["a frame that is too large for the server"] = largeFrame(t, s.port)
		ran = append(ran, "frames of at most 64 KiB")
		s.stop()
	}
	p.judge(t, library, ran, all)
}

// callAll calls every method with our client program, or with its code if one is to be left out,
// and returns what was printed.
func (p program) callAll(t *testing.T, port, transport, protocol string) string {
	if p.without == "" {
		_, out := runOurs(t, "--host=127.0.0.1", "--port="+port, "--transport="+transport, "--protocol="+protocol)
		return out
	}
	leaveOut := func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
		if c.Method.Name == p.without {
			return &rpc.ApplicationException{Type: rpc.UnknownMethod, Message: "it is not called"}
		}
		return next(ctx, c)
	}
	c, err := interop.Dial(t.Context(), "tcp", net.JoinHostPort("127.0.0.1", port), transport, protocol,
		rpc.PoolSize(1), rpc.Interceptors(leaveOut))
	if err != nil {
		return err.Error()
	}
	defer c.Close()
	var out bytes.Buffer
	interop.Run(t.Context(), c, interop.Multiplexed(protocol), time.Minute, &out)
	return out.String()
}

// logged matches lines of the log, which may come in the middle of others.
var logged = regexp.MustCompile(`\d{4}/\d\d/\d\d \d\d:\d\d:\d\d (WARN|ERROR) .*\n`)

// failures returns the methods that our client program has called, with the error of each.
func failures(out string) outcome {
	all := outcome{}
	lines := strings.Split(logged.ReplaceAllString(out, ""), "\n")
	for i, line := range lines {
		method, _, ok := strings.Cut(line, "(")
		if ok && !strings.Contains(method, " ") && all[method] == nil {
			all[method] = nil
		}
		if line == "*** FAILURE ***" && i > 0 && i+1 < len(lines) {
			method, _, _ := strings.Cut(lines[i-1], "(")
			all[method] = errors.New(lines[i+1])
		}
	}
	if len(all) < len(methods) {
		all["all methods"] = fmt.Errorf("only %d methods were called: %.5000s", len(all), out)
	}
	return all
}

// testClient lets a peer's client call our server.
func (p program) testClient(t *testing.T, library, path string) {
	all, ran := outcome{}, []string{}
	run := func(port, what string, args ...string) {
		_, out := runProgram(t, path, append([]string{"--kind=" + p.kind, "--host=127.0.0.1", "--port=" + port}, args...)...)
		name := strings.Join(strings.Fields(strings.ReplaceAll(strings.Join(args, " "), "--", "")), " ")
		ran = append(ran, what)
		n := 0
		for line := range strings.Lines(out) {
			line = strings.TrimSpace(line)
			if check, ok := strings.CutSuffix(line, " ok"); ok {
				n++
				all[check+", "+name] = nil
			} else if check, ok := strings.CutSuffix(line, " *** FAILURE ***"); ok {
				_, after, _ := strings.Cut(out, line)
				all[check+", "+name] = fmt.Errorf("%.1000s", strings.TrimSpace(after))
				n++
			}
		}
		if n == 0 {
			all["the program, "+name] = fmt.Errorf("it has printed %.5000s", out)
		}
	}
	for _, transport := range p.transports {
		for _, protocol := range protocols {
			s := startOurs(t, transport, protocol)
			variants := []string{""}
			if p.old && transport != "header" && protocol != "compact" && protocol != "multic" {
				variants = append(variants, "--old")
			}
			for _, old := range variants {
				run(s.port, strings.TrimSpace(transport+" "+protocol+" "+strings.TrimPrefix(old, "--")),
					append(strings.Fields(old), "--transport="+transport, "--protocol="+protocol)...)
			}
			run(s.port, "8 clients "+transport+" "+protocol, "--test=concurrent", "--transport="+transport, "--protocol="+protocol)
			s.stop()
		}
	}
	handler := thrifttest.NewThriftTestProcessor(&interop.Handler{Out: io.Discard})
	for _, transport := range p.transports {
		if transport == "http" {
			continue
		}
		port := serveDynamic(t, &rpc.Server{Processor: handler, IdleTimeout: 300 * time.Millisecond})
		run(port, "idle "+transport, "--test=idle", "--transport="+transport)
		port = serveDynamic(t, &rpc.Server{Processor: handler, MaxFrame: 1 << 16})
		run(port, "messages of at most 64 KiB "+transport, "--test=frames", "--transport="+transport)
	}
	p.judge(t, library, ran, all)
}

// closesOnUnknownService is an exception that several libraries need.
var closesOnUnknownService = map[string]string{"unknown service": "the multiplexing processor closes the connection without an answer"}

// TestPython: the checks that python/client.py and our client program do not make, with the server
// in python.
func TestPython(t *testing.T) {
	if os.Getenv("NOCOPY_INTEROP") == "" {
		t.Skip("SKIPPED, of Python only what other tests do was tested: NOCOPY_INTEROP is not set (make interop)")
	}
	all, ran := outcome{}, make(chan string, 64)
	var mu sync.Mutex
	t.Run("server", func(t *testing.T) {
		withPython(t, func(t *testing.T, python, transport, protocol string) {
			s := start(t, exec.Command(python, "-B", "python/server.py",
				"--host=127.0.0.1", "--port=0", "--transport="+transport, "--protocol="+protocol))
			got := failures(program{}.callAll(t, s.port, transport, ourName(protocol)))
			if transport != "http" { // where a connection does not matter
				maps.Copy(got, hardships(t, s.port, transport, ourName(protocol)))
			}
			mu.Lock()
			defer mu.Unlock()
			for name, err := range got {
				all[name+", "+transport+" "+protocol] = err
			}
			ran <- transport + " " + protocol
		})
	})
	close(ran)
	var variants []string
	for name := range ran {
		variants = append(variants, name)
	}
	program{name: "TThreadedServer, THttpServer", transports: interop.Transports, defects: map[string]string{
		"unknown service": closesOnUnknownService["unknown service"],
		"unknown fields":  "TBinaryProtocol, not the accelerated one, decodes what it skips, and bytes may be no UTF-8",
	}}.judge(t, "Python, thrift 0.25.0", variants, all)
}

func TestJava(t *testing.T) {
	nonblocking := func(kind, name string) program {
		return program{kind: kind, name: name, transports: []string{"framed"}, old: true, frames: true, describes: true, defects: closesOnUnknownService}
	}
	peer{
		folder: "java",
		thrift: "Java, libthrift 0.25.0",
		servers: []program{
			{kind: "threadpool", name: "TThreadPoolServer", transports: both, old: true, idle: true, frames: true, describes: true, defects: closesOnUnknownService},
			{kind: "servlet", name: "TServlet", transports: []string{"http"}, describes: true},
			nonblocking("nonblocking", "TNonblockingServer"), nonblocking("hsha", "THsHaServer"), nonblocking("selector", "TThreadedSelectorServer"),
		},
		clients: []program{
			{kind: "sync", name: "client", transports: withHTTP, old: true},
			{kind: "async", name: "asynchronous client", transports: []string{"framed"}, old: true, defects: map[string]string{
				"the connection after an exception": "TAsyncMethodCall closes the socket when a call ends with an exception, a declared one too",
			}},
		},
	}.test(t)
}

func TestNode(t *testing.T) {
	const noType = "the library answers with TApplicationException's type unknown (0), for lack of a better one"
	const minusZero = "binary.js writes -0 as 0"
	defects := map[string]string{
		"unknown service": closesOnUnknownService["unknown service"],
		"UNKNOWN_METHOD":  noType,
		"INTERNAL_ERROR":  noType,
		"-0":              minusZero,
	}
	web := map[string]string{"testOneway": "the response to a oneway call never comes"}
	peer{
		folder: "node",
		thrift: "Node, thrift 0.24.0",
		servers: []program{
			{kind: "net", name: "createMultiplexServer", transports: []string{"framed", "buffered", "header"}, old: true, idle: true, frames: true, describes: true, defects: defects},
			{kind: "web", name: "createWebServer", transports: []string{"http"}, without: "testOneway", describes: true, defects: web},
		},
		clients: []program{{kind: "promises", name: "client, promises", transports: interop.Transports, old: true, defects: map[string]string{"-0": minusZero}}},
	}.test(t)
}

func TestRust(t *testing.T) {
	const closes = "the server answers and closes the connection"
	peer{
		folder: "rust",
		thrift: "Rust, thrift 0.25.0",
		servers: []program{{kind: "pool", name: "TServer", transports: both, old: true, defects: map[string]string{
			"unknown method":        closes,
			"unknown oneway method": closes,
			"unknown service":       closes,
			"INTERNAL_ERROR":        "an error that a handler makes of a text has TApplicationException's type unknown (0)",
		}}},
		clients: []program{{kind: "sync", name: "client", transports: both, old: true}},
	}.test(t)
}

func TestCpp(t *testing.T) {
	defects := map[string]string{
		"testUuid":        "release 0.17 does not know the type",
		"unknown service": "the server answers and closes the connection",
		"INTERNAL_ERROR":  "the answer to an undeclared exception has TApplicationException's type unknown (0)",
	}
	threads := func(kind, name string) program {
		return program{kind: kind, name: name, transports: []string{"framed", "buffered", "header"}, old: true, idle: true, frames: true, describes: true, defects: defects}
	}
	web := program{kind: "threaded", name: "TThreadedServer, THttpServer", transports: []string{"http"}, without: "testOneway", describes: true, defects: map[string]string{
		"testUuid": defects["testUuid"], "testOneway": "the response to a oneway call never comes",
	}}
	nonblocking := program{kind: "nonblocking", name: "TNonblockingServer", transports: []string{"framed"}, old: true, frames: true, without: "testUuid", describes: true}
	nonblocking.defects = maps.Clone(defects)
	delete(nonblocking.defects, "unknown service")
	nonblocking.defects["fields nested deeper"] = "a call that can't be parsed is not answered, and the connection stays open"
	peer{
		folder:  "cpp",
		thrift:  "C++, libthrift 0.17",
		servers: []program{threads("threaded", "TThreadedServer"), threads("threadpool", "TThreadPoolServer"), nonblocking, web},
		clients: []program{{kind: "sync", name: "client", transports: interop.Transports, old: true}},
	}.test(t)
}
