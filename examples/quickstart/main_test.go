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
		"by reference: 1 pieces, 10000 bytes", // the document, sent from where it lies
		`"thank you, Ada"`,                    // read in place
		"has read\n     message \"" + message, // and what was set arrived
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("output lacks %q:\n%s", want, out.String())
		}
	}
}
