package interop_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/interop"
)

// programs is the folder in which the commands have been built.
var programs string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "interop")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		if out, err := exec.Command("go", "build", "-o", dir, "./server", "./client").CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "%v\n%s", err, out)
			return 1
		}
		programs = dir
		flag.Set("test.parallel", "32") // they sleep most of the time; the command line wins
		return m.Run()
	}())
}

// output is a buffer that a program may write to while a test reads it.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(b)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// server is a program that was started.
type server struct {
	port string
	out  output
	stop func() (exitCode int) // interrupts it
}

// start starts a server program whose first line ends with the port. It ends with the test at the
// latest.
func start(t *testing.T, cmd *exec.Cmd) *server {
	t.Helper()
	s := new(server)
	r, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = &s.out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(r)
	first, err := lines.ReadString('\n')
	io.WriteString(&s.out, first)
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		io.Copy(&s.out, lines)
	}()
	s.stop = sync.OnceValue(func() int {
		cmd.Process.Signal(os.Interrupt)
		giveUp := time.AfterFunc(60*time.Second, func() { cmd.Process.Kill() })
		defer giveUp.Stop()
		<-drained
		cmd.Wait()
		return cmd.ProcessState.ExitCode()
	})
	t.Cleanup(func() {
		s.stop()
		if t.Failed() {
			t.Logf("%s printed:\n%.10000s", filepath.Base(cmd.Path), s.out.String())
		}
	})
	words := strings.Fields(first)
	if err != nil || len(words) == 0 {
		s.stop()
		t.Fatalf("%s has not said where it listens (%v): %s", filepath.Base(cmd.Path), err, s.out.String())
	}
	s.port = words[len(words)-1]
	return s
}

// startOurs starts our server program.
func startOurs(t *testing.T, transport, protocol string, args ...string) *server {
	t.Helper()
	args = append([]string{"--port=0", "--transport=" + transport, "--protocol=" + protocol}, args...)
	return start(t, exec.Command(filepath.Join(programs, "server"), args...))
}

// runOurs runs our client program and returns its exit code and what it printed.
func runOurs(t *testing.T, args ...string) (int, string) {
	t.Helper()
	return runProgram(t, filepath.Join(programs, "client"), args...)
}

func runProgram(t *testing.T, program string, args ...string) (int, string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, program, args...).CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if exit != nil {
		return exit.ExitCode(), string(out)
	}
	return 0, string(out)
}

// callEverything runs our client program, which must find no fault with the server.
func callEverything(t *testing.T, port, transport, protocol string) {
	t.Helper()
	code, out := runOurs(t, "--host=127.0.0.1", "--port="+port, "--transport="+transport, "--protocol="+protocol)
	if code != 0 || strings.Contains(out, "FAILURE") {
		t.Errorf("exit code %d:\n%s", code, out)
	}
	for _, method := range methods {
		if !strings.Contains(out, method+"(") {
			t.Errorf("%s was not called", method)
		}
	}
	if second := strings.Contains(out, "secondtestString("); second != (interop.Multiplexed(protocol)) {
		t.Errorf("SecondService was called: %v", second)
	}
}

var methods = []string{"testVoid", "testString", "testBool", "testByte", "testI32", "testI64", "testDouble", "testBinary", "testUuid",
	"testStruct", "testNest", "testMap", "testStringMap", "testSet", "testList", "testEnum", "testTypedef", "testMapMap",
	"testInsanity", "testMulti", "testException", "testMultiException", "testOneway"}
