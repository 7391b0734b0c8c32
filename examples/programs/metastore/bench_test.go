package main

import (
	"bufio"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestReplay: -bench compares equal work: both libraries read the same bytes, all of them.
func TestReplay(t *testing.T) {
	in, end := io.Pipe()
	addresses, out := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- replay(in, out) }()
	defer func() { end.Close(); <-ended }()
	line, err := bufio.NewReader(addresses).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	addr := strings.TrimSpace(line)
	for _, framed := range []bool{false, true} {
		ours, err := dialOurs(t.Context(), addr, framed)
		if err != nil {
			t.Fatal(err)
		}
		apache, err := dialApache(addr, framed)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int16{1000, 10_000} {
			a, err := ours(t.Context(), n)
			if err != nil {
				t.Fatal(err)
			}
			b, err := apache(t.Context(), n)
			if err != nil || a != b || a < 500*int(n) {
				t.Errorf("%d partitions sum up to %d, with Apache's library to %d (%v)", n, a, b, err)
			}
		}
	}
}

// TestReadme: the Go code that README.md shows is the proxy's, and at most 40 lines.
func TestReadme(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("proxy.go")
	if err != nil {
		t.Fatal(err)
	}
	code := regexp.MustCompile("(?s)```go\n(.*?)```").FindSubmatch(readme)
	if code == nil || strings.Count(string(code[1]), "\n") > 40 {
		t.Fatal("there is no code, or too much of it")
	}
	for part := range strings.SplitSeq(string(code[1]), "\n\n") {
		if !strings.Contains(string(source), strings.TrimSpace(part)) {
			t.Errorf("this is not in proxy.go:\n%s", part)
		}
	}
}
