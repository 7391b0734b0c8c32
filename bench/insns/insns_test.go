package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/bench/data"
)

// TestTable: the table has a row for each step of each workload, and is as it would be written.
func TestTable(t *testing.T) {
	release, rows, err := read(table)
	if err != nil {
		t.Fatal(err)
	}
	steps := 0
	for _, w := range data.All() {
		if _, ok := warmUps[w.Name]; ok {
			steps += takeStepsOf(w, 0)
		}
	}
	if len(rows) != steps || steps < 29 {
		t.Errorf("the table has %d rows, there are %d steps", len(rows), steps)
	}
	if got := string(format(release, rows)); got != table {
		t.Errorf("it would be written as\n%s", got)
	}
}

// TestCompare: rows that have changed by more than 1 %, or are not in both tables, are errors.
func TestCompare(t *testing.T) {
	was := []row{{"a", 1000}, {"b", 1000}}
	for _, c := range []struct {
		now     []row
		changed string
	}{
		{[]row{{"a", 1010}, {"b", 990}}, ""},
		{[]row{{"a", 1011}, {"b", 989}}, "2 rows"},
		{[]row{{"a", 1000}}, "1 rows"},
		{[]row{{"a", 1000}, {"b", 1000}, {"c", 1}}, "1 rows"},
	} {
		var out strings.Builder
		err := compare(&out, was, c.now)
		if (err == nil) != (c.changed == "") || err != nil && !strings.HasPrefix(err.Error(), c.changed) {
			t.Errorf("%v: %v", c.now, err)
		}
		if n := strings.Count(out.String(), "\n"); n < 3 {
			t.Errorf("%d lines: %s", n, out.String())
		}
	}
}

// TestDumped: files by callgrind are read; those without a row's counts are recognized.
func TestDumped(t *testing.T) {
	file := filepath.Join(t.TempDir(), "out.1")
	for text, want := range map[string]row{
		"desc: Trigger: Client Request: B/parse 1000\nevents: Ir\nfn=(1)\n1 2\ntotals: 835499\n": {"B/parse", 835},
		"desc: Trigger: Program termination\ntotals: 5\n":                                        {},
	} {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if got, err := dumped(file); err != nil || got != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}
