package main

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	name := filepath.Join(t.TempDir(), "invoices")
	for range 2 {
		if err := run(nil, name, 20, 0, false); err != nil {
			t.Fatal(err)
		}
	}
	var out strings.Builder
	if err := run(&out, name, 0, 33, true); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"party 33, of some length, as names of companies have buys from party 34, of some length",
		"line 150 of 300: article 150 of invoice 33\n",
		"for three fields of a random invoice\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
	if err := run(&out, name, 0, 41, false); err == nil {
		t.Error("an invoice is found that there is not")
	}
}
