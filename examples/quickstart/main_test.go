package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	var out bytes.Buffer
	if err := run(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"by reference: 1 piece, 10000 bytes,", // the document, sent from where it lies
		"(4 are the frame's length) in 1 piece\n",
		"by reference: 0 pieces, 0 bytes,",
		"up to 2 KiB a received message is copied with the new string in it",
		`"thank you, Ada"`,                    // read in place
		"has read\n     message \"" + message, // and what was set arrived
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("output lacks %q:\n%s", want, out.String())
		}
	}
}
