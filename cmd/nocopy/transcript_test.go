package main

import (
	"bufio"
	"bytes"
	"context"
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

	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/capture/capturetest"
)

// A shellTest runs transcripts with the tool as users have it.
type shellTest struct {
	t   *testing.T
	dir string
	env []string
}

// bin is a folder with the tool, which the first test that needs it builds in the folder sources.
// It is built as releases are, but without -trimpath: that would compile all requirements again.
var bin, sources string

var build = sync.OnceValues(func() (out []byte, err error) {
	return exec.Command("go", "build", "-C", sources, "-ldflags=-s -w", "-o", filepath.Join(bin, "nocopy"), ".").CombinedOutput()
})

func TestMain(m *testing.M) {
	var err error
	if bin, err = os.MkdirTemp("", "nocopy"); err != nil {
		panic(err)
	}
	if sources, err = os.Getwd(); err != nil {
		panic(err)
	}
	code := m.Run()
	os.RemoveAll(bin)
	os.Exit(code)
}

// newShell returns a folder to run the tool in.
func newShell(t *testing.T) *shellTest {
	t.Helper()
	if out, err := build(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	// With a lookup of methods by name, by Kong's Parse or text/template, it would have 2 MB more.
	const most = 20_000_000
	if info, err := os.Stat(filepath.Join(bin, "nocopy")); err != nil || info.Size() > most {
		t.Errorf("the binary has %d bytes, more than %d (%v)", info.Size(), most, err)
	}
	return &shellTest{t, t.TempDir(), append(os.Environ(), "PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH"), "NO_COLOR=1")}
}

// quiet matches servers that print nothing, and the port.
var quiet = regexp.MustCompile(` -listen :(\d+) .*-q$`)

// quietly starts a server that prints nothing, and waits until it listens. It ends with the test.
func (s *shellTest) quietly(addr, name string, args ...string) {
	s.t.Helper()
	cmd := exec.Command(name, args...)
	var said bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = s.dir, s.env, &said, &said
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
		if said.Len() > 0 {
			s.t.Errorf("%s %v prints %s", name, args, said.String())
		}
	})
	for range 3000 {
		if nc, err := net.Dial("tcp", addr); err == nil {
			nc.Close()
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	s.t.Fatalf("%s %v does not listen", name, args)
}

// background starts a command, waits for its first line, and returns it. The command ends with the
// test.
func (s *shellTest) background(name string, args ...string) string {
	s.t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = s.dir, s.env
	r, w, err := os.Pipe()
	if err != nil {
		s.t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = w, w
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	w.Close()
	s.t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait(); r.Close() })
	line := make(chan string, 1)
	go func() {
		lines := bufio.NewReader(r)
		first, _ := lines.ReadString('\n')
		line <- first
		for {
			if _, err := lines.ReadString('\n'); err != nil {
				return
			}
		}
	}()
	select {
	case text := <-line:
		return text
	case <-time.After(time.Minute):
		s.t.Fatalf("%s %v prints nothing", name, args)
		return ""
	}
}

// run runs a command of a transcript and returns what it prints.
func (s *shellTest) run(command string) string {
	if line, ok := strings.CutSuffix(command, " &"); ok {
		if port := quiet.FindStringSubmatch(line); port != nil {
			s.quietly("127.0.0.1:"+port[1], "bash", "-c", "exec "+line)
			return ""
		}
		return s.background("bash", "-c", "exec "+line)
	}
	ctx, cancel := context.WithTimeout(s.t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", command)
	cmd.Dir, cmd.Env = s.dir, s.env
	out, _ := cmd.CombinedOutput()
	return string(out)
}

// matches reports whether output is as a transcript shows it, where … stands for anything.
func matches(shown, output string) bool {
	parts := strings.Split(strings.TrimSpace(shown), "…")
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	return regexp.MustCompile("^(?s:" + strings.Join(parts, ".*") + ")$").MatchString(strings.TrimSpace(output))
}

// shownBlock matches the transcripts in docs/tool.md, and files that it shows.
var shownBlock = regexp.MustCompile("(?ms)^```(console|(?:thrift|yaml) (\\S+))\n(.*?)^```$")

// transcript runs the page's transcripts. ports has the ports that replace those of the page.
// flags are added to calls.
func (s *shellTest) transcript(ports map[string]string, only func(command string) bool, flags string) {
	page, err := os.ReadFile("../../docs/tool.md")
	if err != nil {
		s.t.Fatal(err)
	}
	// TestDocumentIDL runs another part.
	before, rest, _ := strings.Cut(string(page), "<!-- transcript of TestDocumentIDL -->")
	_, after, _ := strings.Cut(rest, "<!-- end of TestDocumentIDL -->")
	commands := 0
	for _, block := range shownBlock.FindAllStringSubmatch(before+after, -1) {
		if block[2] != "" {
			for port, own := range ports {
				block[3] = strings.ReplaceAll(block[3], ":"+port, ":"+own)
			}
			if err := os.WriteFile(filepath.Join(s.dir, block[2]), []byte(block[3]), 0o600); err != nil {
				s.t.Fatal(err)
			}
			continue
		}
		for _, step := range strings.Split("\n"+block[3], "\n$ ")[1:] {
			for port, own := range ports {
				column := strings.Repeat(" ", 2+len(port)-len(own))
				step = strings.ReplaceAll(step, ":"+port+"  ", ":"+own+column)
				step = strings.ReplaceAll(step, ":"+port, ":"+own)
			}
			command, shown, _ := strings.Cut(step, "\n")
			if !only(command) {
				continue
			}
			commands++
			command = strings.Replace(command, "nocopy call ", "nocopy call "+flags, 1)
			if output := s.run(command); !matches(shown, output) {
				s.t.Errorf("$ %s\n%s\nthe page shows\n%s", command, output, shown)
			}
		}
	}
	if commands < 5 {
		s.t.Errorf("the page has %d commands", commands)
	}
}

// freePorts returns ports of this machine that are free.
func freePorts(t *testing.T, pages ...string) map[string]string {
	t.Helper()
	ports := map[string]string{}
	for _, page := range pages {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		_, ports[page], _ = net.SplitHostPort(l.Addr().String())
	}
	return ports
}

// thriftTest writes the IDL of Apache's test service to the folder.
func (s *shellTest) thriftTest() {
	s.t.Helper()
	dir, err := exec.CommandContext(s.t.Context(), "go", "-C", "../../interop", "list", "-m", "-f", "{{.Dir}}", "github.com/apache/thrift").Output()
	if err != nil {
		s.t.Fatal(err)
	}
	idl, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "test/ThriftTest.thrift"))
	if err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.dir, "ThriftTest.thrift"), idl, 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// capture writes the capture of packets that the page reads.
func (s *shellTest) capture() {
	s.t.Helper()
	c := new(capturetest.Capture)
	conn := c.Conn("10.0.0.1:50001", "10.0.0.2:4000")
	conn.Open()
	for _, turn := range []string{
		"\x00\x00\x00\x27\x80\x01\x00\x01\x00\x00\x00\x03put\x00\x00\x00\x01\x0b\x00\x01\x00\x00\x00\x01a\x0c\x00\x02\x0b\x00\x01\x00\x00\x00\x04lamp\x00\x00",
		"\x00\x00\x00\x10\x80\x01\x00\x02\x00\x00\x00\x03put\x00\x00\x00\x01\x00",
		"\x00\x00\x00\x18\x80\x01\x00\x01\x00\x00\x00\x03get\x00\x00\x00\x02\x0b\x00\x01\x00\x00\x00\x01b\x00",
		"\x00\x00\x00\x1c\x80\x01\x00\x02\x00\x00\x00\x03get\x00\x00\x00\x02\x0c\x00\x01\x0b\x00\x01\x00\x00\x00\x01b\x00\x00",
	} {
		from := capturetest.Client
		if turn[7] == 2 {
			from = capturetest.Server
		}
		conn.Send(from, []byte(turn))
	}
	conn.Close()
	if err := os.WriteFile(filepath.Join(s.dir, "capture.pcap"), c.PCAP(), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// TestTranscript runs docs/tool.md against interop's server of ours.
func TestTranscript(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	s.thriftTest()
	server := filepath.Join(t.TempDir(), "server")
	build := exec.CommandContext(t.Context(), "go", "-C", "../../interop", "build", "-trimpath", "-o", server, "./server")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	s.capture()
	ports := freePorts(t, "9090", "9091", "9092", "9093", "9094")
	if line := s.background(server, "--port", ports["9090"]); !strings.Contains(line, "port "+ports["9090"]) {
		t.Fatal(line)
	}
	s.transcript(ports, func(string) bool { return true }, "")
}

// TestTranscriptPython runs the calls of docs/tool.md against interop's server on Apache's Python
// library: on each transport, which the tool finds out.
func TestTranscriptPython(t *testing.T) {
	t.Parallel()
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	setup := exec.CommandContext(t.Context(), "../../interop/python/setup.sh", filepath.Join(cache, "nocopythrift", "interop-python"))
	var said bytes.Buffer
	setup.Stderr = &said
	python, err := setup.Output()
	if err != nil {
		t.Skipf("SKIPPED, nothing was tested against Apache Thrift's Python library: %s", said.String())
	}
	s := newShell(t)
	s.thriftTest()
	for _, how := range [][2]string{{"framed", "binary"}, {"buffered", "binary"}, {"framed", "compact"}, {"buffered", "compact"}, {"header", "binary"}, {"http", "binary"}} {
		own := *s
		t.Run(how[0]+" "+how[1], func(t *testing.T) {
			t.Parallel()
			own.t, own.env = t, append(slices.Clone(own.env), "NOCOPY_TIMEOUT=2m") // on a busy machine
			script, err := filepath.Abs("../../interop/python/server.py")
			if err != nil {
				t.Fatal(err)
			}
			flags := ""
			// Python's server takes one connection after the other, and five more may wait: on a busy
			// machine the tool, whose last way is HTTP, has not got through in two minutes
			if how[0] == "http" {
				flags = "-transport http "
			}
			line := own.background(strings.TrimSpace(string(python)), "-u", script, "--port", "0", "--transport", how[0], "--protocol", how[1])
			port := regexp.MustCompile(`\d+`).FindString(line)
			own.transcript(map[string]string{"9090": port}, func(command string) bool {
				return strings.Contains(command, ":"+port) && !strings.Contains(command, "-transport")
			}, flags)
		})
	}
}
