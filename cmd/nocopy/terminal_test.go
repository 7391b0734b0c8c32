package main

import (
	"context"
	"errors"
	"io"
	"net"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/shell"
)

// onTerminal runs the tool with a terminal as its standard error, until stop is called, which
// returns all that the terminal has. shown waits for a text after what there was at its last call.
func onTerminal(t *testing.T, in io.Reader, out io.Writer, args ...string) (shown func(want string) string, stop func() string) {
	t.Helper()
	ours, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	var b lockedBuffer
	read, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(read)
		io.Copy(&b, ours) // ends with an error when tty is closed
	}()
	ctx, cancel := context.WithCancel(t.Context())
	sh := shell.Of(ctx, in, out, tty)
	sh.ErrColor = false
	go func() {
		defer close(ended)
		run(args, sh)
	}()
	stop = func() string {
		cancel()
		<-ended
		tty.Close()
		<-read
		ours.Close()
		return b.String()
	}
	had := 0
	shown = func(want string) string {
		t.Helper()
		for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
			if text := b.String(); strings.Contains(text[had:], want) {
				had = len(text)
				return text
			}
		}
		t.Fatalf("the terminal has no %q: %q", want, b.String())
		return ""
	}
	return shown, stop
}

// broken is a Writer that fails.
type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("the disk is full") }

// TestMessagesWithProgress: what commands say while they show their progress has lines of its own.
func TestMessagesWithProgress(t *testing.T) {
	t.Parallel()
	server, _ := start(t, "mock", "-idl", write(t, "shop.thrift", shopIDL), "-listen", "127.0.0.1:0")
	// check looks for progress that is left on a line when another text is written to it.
	check := func(what, text string) {
		t.Helper()
		left := regexp.MustCompile(`(lines|calls recorded) [-|/\\] \d+\r\x1b\[K`).ReplaceAllString(text, "")
		if bad := regexp.MustCompile(`(lines|calls recorded) [-|/\\] \d+.*`).FindString(left); bad != "" {
			t.Errorf("the terminal has %q while %s", bad, what)
		}
	}
	lines, in := io.Pipe()
	calling, endCalls := onTerminal(t, lines, io.Discard, "call", server, "-calls", "-", "-v")
	recording, endRecord := onTerminal(t, nil, broken{}, "record", server, "-listen", "127.0.0.1:0", "-o", "-", "-timeout", "5s")
	calling("lines |")
	for line, said := range map[string]string{`{"method": "none"}`: "method none: not found", `{"method": "ping"}`: "# framed binary, "} {
		if _, err := io.WriteString(in, line+"\n"); err != nil {
			t.Fatal(err)
		}
		calling(said)
		calling("lines ")
	}
	in.Close()
	check("calls are made", endCalls())
	addr := listening.FindString(recording("calls recorded |"))
	addr = addr[strings.LastIndex(addr, " ")+1:]
	nocopy(t, "", "call", addr, "ping")
	recording("the disk is full")
	recording("calls recorded ")
	if c, err := net.Dial("tcp", addr); err != nil {
		t.Error(err)
	} else {
		io.WriteString(c, strings.Repeat("\xff", 64))
		io.Copy(io.Discard, c)
		c.Close()
		recording("level=WARN")
	}
	check("calls are recorded", endRecord())
}
