package thriftdump

import (
	"bytes"
	"os"
	"testing"
)

// TestColors: output to a pipe or file has no colours, nor to a terminal if NO_COLOR is set.
func TestColors(t *testing.T) {
	t.Setenv("NO_COLOR", "")
	t.Setenv("TERM", "xterm")
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	if colors(w) || colors(new(bytes.Buffer)) {
		t.Error("a pipe has colours")
	}
	terminal, err := os.OpenFile("/dev/tty", os.O_WRONLY, 0)
	if err != nil {
		if terminal, err = os.OpenFile("/dev/ptmx", os.O_RDWR, 0); err != nil {
			t.Skip("no terminal: ", err)
		}
	}
	defer terminal.Close()
	if !colors(terminal) {
		t.Error("a terminal has no colours")
	}
	t.Setenv("NO_COLOR", "1")
	if colors(terminal) {
		t.Error("NO_COLOR is set, and there are colours")
	}
	t.Setenv("NO_COLOR", "")
	t.Setenv("TERM", "dumb")
	if colors(terminal) {
		t.Error("a dumb terminal has colours")
	}
}
