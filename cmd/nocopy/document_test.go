package main

import (
	"bytes"
	"context"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/shell"
)

// TestDocumentIDL runs the commands of docs/tool.md that need no server, on the file that it
// shows, and compares what they print.
func TestDocumentIDL(t *testing.T) {
	text, err := os.ReadFile("../../docs/tool.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, ok := strings.Cut(string(text), "<!-- transcript of TestDocumentIDL -->")
	if !ok {
		t.Fatal("docs/tool.md has no such transcript")
	}
	section, _, _ = strings.Cut(section, "<!-- end of TestDocumentIDL -->")
	t.Chdir(t.TempDir())
	for _, block := range regexp.MustCompile("(?ms)^```thrift (\\S+)\n(.*?)^```$").FindAllStringSubmatch(section, -1) {
		if err := os.WriteFile(block[1], []byte(block[2]), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	commands := 0
	for _, block := range regexp.MustCompile("(?ms)^```console\n(.*?)^```$").FindAllStringSubmatch(section, -1) {
		for _, part := range strings.Split("\n"+block[1], "\n$ nocopy ")[1:] {
			line, want, _ := strings.Cut(part, "\n")
			var out bytes.Buffer
			run(strings.Fields(line), shell.Of(context.Background(), strings.NewReader(""), &out, &out))
			if have := strings.TrimSpace(out.String()); have != strings.TrimSpace(want) {
				t.Errorf("nocopy %s prints\n%s\nwant\n%s", line, have, want)
			}
			commands++
		}
	}
	if commands < 8 {
		t.Errorf("only %d commands", commands)
	}
}
