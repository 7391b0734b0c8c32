package main

import (
	"bytes"
	"regexp"
	"testing"
)

func TestRun(t *testing.T) {
	var out bytes.Buffer
	if err := run(&out, 0); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`^An order of 500 lines: 2\d{4} bytes of Thrift Binary\.\n`,
		`build and encode +\d+\.\d µs +\d+ allocs +\d+\.\d µs +\d+ allocs +\d+\.\d × as fast\n`,
		`receive and read all +\d`,
		`receive, edit, forward +\d`,
		`found the same values\.\n`, `wrote 2 values anew`,
	} {
		if !regexp.MustCompile(want).MatchString(out.String()) {
			t.Errorf("output lacks %s:\n%s", want, out.String())
		}
	}
}

// TestForwarded: a forwarded order differs only in the edited line.
func TestForwarded(t *testing.T) {
	ours := &nocopyThrift{}
	wire, err := ours.build()
	if err != nil {
		t.Fatal(err)
	}
	wire = bytes.Clone(wire)
	forwarded, err := ours.editAndForward(wire)
	if err != nil {
		t.Fatal(err)
	}
	if want := len(wire) + len(newArticle) - len(article(lineCount/2)); len(forwarded) != want {
		t.Errorf("%d bytes were forwarded, want %d", len(forwarded), want)
	}
}
