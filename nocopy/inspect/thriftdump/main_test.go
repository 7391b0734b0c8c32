package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const good = "\x0a\x00\x01\x00\x00\x00\x00\x00\x00\x12\x67\x00"

// TestRun: arguments, output and exit codes.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		os.MkdirAll(filepath.Dir(file), 0o777)
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return file
	}
	idl := write("order.thrift", "include \"types.thrift\"\nstruct Order { 1: types.ID id, 2: types.Money price }\n")
	write("types/types.thrift", "typedef i64 ID\nstruct Money { 1: required i64 cents }\n")
	types := filepath.Join(dir, "types")
	bad := write("bad.thrift", "struct {")
	file := write("good.bin", good)
	for _, c := range []struct {
		args           []string
		stdin          string
		code           int
		stdout, stderr string // what is in them
	}{
		{[]string{file}, "", 0, "1: i64 4711", ""},
		{[]string{"-"}, good + good, 0, "12                                       struct", ""},
		{[]string{"-"}, "", 0, "", ""},
		{[]string{"-idl", idl, "-I", types, "-type", "Order", file}, "", 0, "1 id: i64 4711", ""},
		{[]string{"-idl", idl, "-I", types, "-type", "types.Money", "-"}, good, 0, "1 cents: i64 4711", ""},
		{[]string{"-idl", idl, "-I", types, "-type", "types.Money", "-"}, "\x00", 1, "FAULT at offset 0, Money.cents: required field is missing", "malformed at offset 0"},
		{[]string{"-json", "-"}, good, 0, `"value":4711`, ""},
		{[]string{"-form", "framed-struct", "-"}, "\x00\x00\x00\x01\x00", 0, "frame of 1 bytes", ""},
		{[]string{"-max", "1", "-"}, "\x0b\x00\x01\x00\x00\x00\x03abc\x00", 0, `"a"… 3 bytes`, ""},
		{[]string{"-max", "0", "-"}, "\x0b\x00\x01\x00\x00\x00\x64" + strings.Repeat("a", 100) + "\x00", 0, strings.Repeat("a", 100), ""},
		{[]string{"-"}, good[:5], 1, "FAULT at offset 5, 1: unexpected EOF", "malformed at offset 5"},
		{[]string{filepath.Join(dir, "nothing")}, "", 1, "", "no such file"},
		{[]string{"-idl", bad, "-"}, good, 1, "", "bad.thrift:1:"},
		{[]string{"-idl", idl, "-"}, good, 1, "", "give the directory that it is in with -I"},
		{[]string{"-idl", idl, "-I", types, "-type", "Nothing", "-"}, good, 1, "", `no struct or service "Nothing"`},
		{[]string{"-type", "Order", "-"}, good, 2, "", "-type needs -idl"},
		{[]string{"-form", "json", "-"}, good, 2, "", "is no form"},
		{nil, "", 2, "", "usage:"},
		{[]string{"a", "b"}, "", 2, "", "usage:"},
		{[]string{"-nothing"}, "", 2, "", "thriftdump: flag provided but not defined: -nothing; see thriftdump -help\n"},
		{[]string{"-h"}, "", 0, "", "usage:"},
	} {
		var stdout, stderr bytes.Buffer
		code := run(c.args, strings.NewReader(c.stdin), &stdout, &stderr)
		if code != c.code || !strings.Contains(stdout.String(), c.stdout) || !strings.Contains(stderr.String(), c.stderr) || code == 0 && c.stderr == "" && stderr.Len() > 0 {
			t.Errorf("%q: exit code %d\n%s\n%s", c.args, code, stdout.String(), stderr.String())
		}
	}
	var stdout bytes.Buffer
	run([]string{"-json", "-"}, strings.NewReader(good), &stdout, &stdout)
	for line := range strings.Lines(stdout.String()) {
		var row map[string]any
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Errorf("%v: %s", err, line)
		}
	}
}

// TestColors: a pipe and a file have no colours, nor has a terminal if NO_COLOR is set.
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
