package nocopyotel_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/interop/otel/internal/greet"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/otel/nocopyotel"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
)

var update = flag.Bool("update", false, "TestJava writes what Java's clients send to testdata")

// javaSpan is a span in the form that the agent logs.
type javaSpan struct {
	TraceID, SpanID, ParentSpanID, Name string
	Kind                                int // 2: server, 3: client
}

// javaProgram is a Java program that runs with OpenTelemetry's agent.
type javaProgram struct {
	cmd *exec.Cmd
	out *bufio.Scanner
	err bytes.Buffer // its log, with its spans
}

func startJava(t *testing.T, args ...string) *javaProgram {
	t.Helper()
	p := &javaProgram{cmd: exec.Command("java", append([]string{
		"-javaagent:java/target/opentelemetry-javaagent.jar", "-Dotel.service.name=java", "-Dotel.traces.exporter=logging-otlp",
		"-Dotel.metrics.exporter=none", "-Dotel.logs.exporter=none", "-Dotel.bsp.schedule.delay=100",
		"-cp", "java/target/classes" + string(filepath.ListSeparator) + "java/target/lib/*", "trace.Main",
	}, args...)...)}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.out = bufio.NewScanner(out)
	p.cmd.Stderr = &p.err
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(2*time.Minute, func() { p.cmd.Process.Kill() })
	t.Cleanup(func() { timer.Stop(); p.cmd.Process.Kill(); p.cmd.Wait() })
	return p
}

// stop ends the program and returns its spans.
func (p *javaProgram) stop(t *testing.T) (spans []javaSpan) {
	t.Helper()
	p.cmd.Process.Signal(syscall.SIGTERM)
	p.cmd.Wait()
	for line := range strings.Lines(p.err.String()) {
		at := strings.Index(line, `{"resource"`)
		if at < 0 {
			continue
		}
		var logged struct {
			ScopeSpans []struct{ Spans []javaSpan }
		}
		if err := json.Unmarshal([]byte(line[at:]), &logged); err != nil {
			t.Fatal(err)
		}
		for _, s := range logged.ScopeSpans {
			spans = append(spans, s.Spans...)
		}
	}
	if len(spans) == 0 {
		t.Fatalf("Java has logged no spans:\n%s", &p.err)
	}
	return spans
}

// recorder forwards connections to a server and keeps the bytes that clients send, one piece per
// connection.
func recorder(t *testing.T, addr string) (port int, sent func() [][]byte) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var kept []*bytes.Buffer
	var all sync.WaitGroup
	all.Go(func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", addr)
			if err != nil {
				t.Error(err)
				return
			}
			b := new(bytes.Buffer)
			mu.Lock()
			kept = append(kept, b)
			mu.Unlock()
			all.Go(func() {
				io.Copy(io.MultiWriter(out, b), in)
				out.(*net.TCPConn).CloseWrite()
			})
			all.Go(func() {
				io.Copy(in, out)
				in.Close()
				out.Close()
			})
		}
	})
	return l.Addr().(*net.TCPAddr).Port, func() (list [][]byte) {
		l.Close()
		all.Wait()
		for _, b := range kept {
			list = append(list, b.Bytes())
		}
		return list
	}
}

// TestJava: a call from Java to a Go server and on to Java is one trace: framed or not, two-way
// and oneway, multiplexed and asynchronous. Java's libraries skip the field that the Go side has
// added.
func TestJava(t *testing.T) {
	if os.Getenv("NOCOPY_OTEL_JAVA") == "" {
		t.Skip("make otel runs this test: it needs Java, Maven and 30 MB from Maven Central")
	}
	for _, framed := range []bool{true, false} {
		t.Run(fmt.Sprintf("framed %t", framed), func(t *testing.T) {
			backend := startJava(t, "serve", fmt.Sprint(framed))
			var javaPort int
			if !backend.out.Scan() {
				t.Fatalf("Java does not start:\n%s", &backend.err)
			}
			if _, err := fmt.Sscanf(backend.out.Text(), "port %d", &javaPort); err != nil {
				t.Fatal(backend.out.Text())
			}
			tel := newTelemetry()
			opts := []rpc.Option{rpc.Interceptors(nocopyotel.Client(tel.Options))}
			if !framed {
				opts = append(opts, rpc.Unframed)
			}
			g := &greeter{relay: func(ctx context.Context, args greet.GreeterRelayArgs) (string, error) {
				return hello(ctx, greet.NewGreeterClient(dial(t, fmt.Sprint("127.0.0.1:", args.GetPort()), opts...)), args.GetName())
			}}
			p := greet.NewGreeterProcessor(g)
			srv := &rpc.Server{
				Processor:    rpc.Multiplexed(map[string]*rpc.Processor{"": p, "greeter": p}),
				Interceptors: []rpc.Interceptor{nocopyotel.Server(tel.Options)},
			}
			port, sent := recorder(t, serve(t, srv))
			client := startJava(t, "call", fmt.Sprint(framed), fmt.Sprint(port), fmt.Sprint(javaPort), fmt.Sprint(framed))
			var printed []string
			for client.out.Scan() {
				printed = append(printed, client.out.Text())
			}
			want := []string{
				"relay: java says hello ada", "relay?: Unknown", "hello: hello ada", "hello?: Unknown", "bug: TApplicationException",
				"after: hello ada again", "multiplexed: hello ada",
			}
			if framed {
				want = append(want, "async: hello async")
			}
			if got := strings.Join(printed, "\n"); got != strings.Join(want, "\n") {
				t.Fatalf("Java's client has printed\n%s\nwant\n%s\n%s", got, strings.Join(want, "\n"), &client.err)
			}
			client.cmd.Wait()
			java := append(client.stop(t), backend.stop(t)...)
			streams := sent()
			ours := tel.spans.GetSpans()
			checkTraces(t, java, ours, framed)
			for i, stream := range streams {
				if !bytes.Contains(stream, []byte("\x0d\x22\xb8\x0b\x0b\x00\x00\x00\x01\x00\x00\x00\x0btraceparent")) {
					t.Errorf("connection %d: no field 8888", i)
				}
				if *update {
					name := fmt.Sprintf("testdata/javaagent-%s-%d.bin", map[bool]string{true: "framed", false: "unframed"}[framed], i)
					if err := os.WriteFile(name, stream, 0o644); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
}

// checkTraces checks that every span of the Java client is the root of a trace. Its child is a
// server's span in Go. Relayed calls also have a client's span in Go and a server's span in Java.
func checkTraces(t *testing.T, java []javaSpan, ours tracetest.SpanStubs, framed bool) {
	t.Helper()
	type span struct{ trace, id, parent, kind string }
	var all []span
	for _, s := range java {
		parent := s.ParentSpanID
		if parent == "0000000000000000" {
			parent = ""
		}
		all = append(all, span{s.TraceID, s.SpanID, parent, fmt.Sprintf("java %d", s.Kind)})
	}
	for _, s := range ours {
		parent := ""
		if s.Parent.IsValid() {
			parent = s.Parent.SpanID().String()
		}
		all = append(all, span{s.SpanContext.TraceID().String(), s.SpanContext.SpanID().String(), parent, s.SpanKind.String()})
	}
	chains := map[string]int{}
	for _, root := range all {
		if root.parent != "" {
			continue
		}
		chain, id := root.kind, root.id
		for found := true; found; {
			found = false
			for _, s := range all {
				if s.parent == id {
					if s.trace != root.trace {
						t.Errorf("the trace of a child of %s is another", s.kind)
					}
					chain, id, found = chain+", "+s.kind, s.id, true
					break
				}
			}
		}
		chains[chain]++
	}
	want := map[string]int{"java 3, server, client, java 2": 2, "java 3, server": 6}
	if framed {
		want["java 3, server"]++ // the asynchronous call
	}
	if fmt.Sprint(chains) != fmt.Sprint(want) {
		t.Errorf("traces %v, want %v", chains, want)
	}
}
