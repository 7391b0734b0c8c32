package shell

import (
	"bytes"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/creack/pty"
)

// terminal returns a terminal, and a function that closes it and returns what was written to it.
func terminal(t *testing.T) (tty *os.File, written func() string) {
	t.Helper()
	ours, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	read := make(chan struct{})
	go func() {
		defer close(read)
		io.Copy(&b, ours) // ends with an error when tty is closed
	}()
	t.Cleanup(func() { tty.Close(); ours.Close() })
	return tty, func() string {
		tty.Close()
		<-read
		return b.String()
	}
}

// TestProgress: a terminal shows how far a command is after a second, and not when it prints
// something or is done. Other files show nothing.
func TestProgress(t *testing.T) {
	tty, written := terminal(t)
	var plain bytes.Buffer
	synctest.Test(t, func(t *testing.T) {
		var done atomic.Int64
		sh := Of(t.Context(), nil, tty, tty)
		p := sh.NewProgress("files", 40, done.Load)
		silent := Of(t.Context(), nil, io.Discard, &plain).NewProgress("files", 40, done.Load)
		early := sh.NewProgress("nothing of this", 40, done.Load)
		done.Store(11)
		time.Sleep(showAfter / 2)
		early.Done()
		time.Sleep(showAfter/2 + 3*showEvery)
		synctest.Wait()
		done.Store(40)
		time.Sleep(3 * showEvery)
		for _, p := range []*Progress{p, silent} {
			p.Print(func() { io.WriteString(sh.Out, "printed\n") })
			p.Done()
		}
	})
	io.WriteString(tty, "end")
	text := written()
	if !strings.Contains(text, "files [========                      ] 11/40") || !strings.Contains(text, strings.Repeat("=", barWidth)+"] 40/40") || strings.Contains(text, "nothing") {
		t.Errorf("the terminal has %q", text)
	}
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	if len(lines) != 3 || !strings.HasSuffix(lines[0], "\r\x1b[Kprinted") || !strings.HasSuffix(lines[2], "end") {
		t.Errorf("the terminal has %q", lines)
	}
	if plain.Len() > 0 {
		t.Errorf("a file has %q", plain.String())
	}
}
