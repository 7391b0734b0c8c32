package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestSignals: Ctrl-C ends each command with the exit code 130, whatever it waits for or reads.
// SIGTERM is the usual end of one that serves.
func TestSignals(t *testing.T) {
	t.Parallel()
	// Under nohup, programs that tests start would ignore SIGHUP, too. They do not inherit this.
	hangUp := make(chan os.Signal, 1)
	signal.Notify(hangUp, syscall.SIGHUP)
	t.Cleanup(func() { signal.Stop(hangUp) })
	s := newShell(t)
	idl := write(t, "shop.thrift", shopIDL)
	server, _ := start(t, "mock", "-idl", idl, "-listen", "127.0.0.1:0")
	silent := answerWith(t, func([]byte) []byte { return nil }, true)
	line := `{"method": "ping", "result": null}` + "\n"
	// A FIFO that is always ready, one to which nothing is written, and one with half of a line
	endless, stuck, half := filepath.Join(s.dir, "endless"), filepath.Join(s.dir, "stuck"), filepath.Join(s.dir, "half")
	for _, name := range []string{endless, stuck, half} {
		if err := syscall.Mkfifo(name, 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := os.OpenFile(name, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		if name == half {
			f.WriteString(line[:len(line)/2])
		}
		if name == endless {
			f.WriteString(line)
			go func() {
				for {
					if _, err := f.WriteString(line); err != nil {
						return
					}
				}
			}()
		}
	}
	for _, c := range []struct {
		sent syscall.Signal
		code int
		args []string
	}{
		{syscall.SIGINT, 130, []string{"replay", endless, server}},
		{syscall.SIGINT, 130, []string{"replay", stuck, server}},
		{syscall.SIGINT, 130, []string{"replay", half, server}},
		{syscall.SIGINT, 130, []string{"replay", "-", server}},
		{syscall.SIGINT, 130, []string{"call", server, "-calls", stuck}},
		{syscall.SIGINT, 130, []string{"call", server, "ping", "-d", "-"}},
		{syscall.SIGINT, 130, []string{"call", silent, "ping", "-timeout", "50s"}},
		{syscall.SIGINT, 130, []string{"call", silent, "ping", "-raw", "-transport", "framed", "-protocol", "binary", "-timeout", "50s"}},
		{syscall.SIGINT, 130, []string{"bench", server, "Shop.ping", "-duration", "50s"}},
		{syscall.SIGINT, 130, []string{"mock", "-idl", idl, "-listen", "127.0.0.1:0"}},
		{syscall.SIGINT, 130, []string{"record", server, "-listen", "127.0.0.1:0"}},
		{syscall.SIGINT, 130, []string{"console", server, "-listen", "127.0.0.1:0"}},
		{syscall.SIGINT, 130, []string{"fmt"}},
		{syscall.SIGINT, 1, []string{"record", server, "-idl", idl, "-fail", "-listen", "127.0.0.1:0"}},
		{syscall.SIGHUP, 0, []string{"record", server, "-idl", idl, "-verify", "-listen", "127.0.0.1:0"}},
		{syscall.SIGTERM, 0, []string{"mock", "-idl", idl, "-listen", "127.0.0.1:0"}},
		{syscall.SIGTERM, 143, []string{"call", silent, "ping", "-timeout", "50s"}},
	} {
		t.Run(strings.Join(c.args[:1], " "), func(t *testing.T) {
			t.Parallel()
			code, said := -1, ""
			// Until it is at it, or as good as. One that has not begun is ended by the signal itself
			for after := time.Second; code < 0 && after < time.Minute; after *= 4 {
				code, said = interrupted(t, s, after, c.sent, c.args)
			}
			if code != c.code || strings.Contains(said, "context") || strings.Contains(said, "JSON") {
				t.Errorf("nocopy %v: exit code %d, want %d\n%s", c.args, code, c.code, said)
			}
		})
	}
}

// interrupted runs the tool, sends it a signal after so long, and returns its exit code, −1 if the
// signal has ended it, and what it has said.
func interrupted(t *testing.T, s *shellTest, after time.Duration, sent syscall.Signal, args []string) (code int, stderr string) {
	cmd := exec.CommandContext(t.Context(), filepath.Join(bin, "nocopy"), args...)
	cmd.Dir, cmd.Env = s.dir, s.env
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = io.Discard, &said
	if _, err := cmd.StdinPipe(); err != nil { // which stays open
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(after)
	cmd.Process.Signal(sent)
	ended := make(chan struct{})
	go func() { cmd.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(time.Minute):
		cmd.Process.Kill()
		t.Fatalf("nocopy %v goes on", args)
	}
	return cmd.ProcessState.ExitCode(), said.String()
}
