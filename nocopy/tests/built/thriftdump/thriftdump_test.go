package thriftdump_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const good = "\x0a\x00\x01\x00\x00\x00\x00\x00\x00\x12\x67\x00"

// TestRun: arguments, output and exit codes.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	command := filepath.Join(dir, "thriftdump.exe") // Windows needs the extension
	if out, err := exec.Command("go", "build", "-o", command, "github.com/nocopythrift/nocopythrift/nocopy/inspect/thriftdump").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	run := func(stdin string, args ...string) (code int, stdout, stderr string) {
		cmd := exec.Command(command, args...)
		var out, errs bytes.Buffer
		cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &errs
		if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
			return -1, "", err.Error()
		}
		return cmd.ProcessState.ExitCode(), out.String(), errs.String()
	}
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
		stdout, stderr string // parts of the expected texts
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
		{nil, "", 2, "", "thriftdump: one file is needed, or - for standard input; see thriftdump -h\n"},
		{[]string{"a", "b"}, "", 2, "", "one file is needed"},
		{[]string{"-nothing"}, "", 2, "", "thriftdump: unknown flag -nothing; see thriftdump -h\n"},
		{[]string{"-h"}, "", 0, "Usage: thriftdump", ""},
		{[]string{"-", "-format", "json"}, good, 0, `"value":4711`, ""},
		{[]string{"-format", "yaml", "-"}, good, 2, "", "-format must be one of"},
	} {
		code, stdout, stderr := run(c.stdin, c.args...)
		if code != c.code || !strings.Contains(stdout, c.stdout) || !strings.Contains(stderr, c.stderr) || code == 0 && c.stderr == "" && stderr != "" {
			t.Errorf("%q: exit code %d\n%s\n%s", c.args, code, stdout, stderr)
		}
	}
	_, stdout, _ := run(good, "-json", "-")
	if stdout == "" {
		t.Error("-json prints nothing")
	}
	for line := range strings.Lines(stdout) {
		var row map[string]any
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Errorf("%v: %s", err, line)
		}
	}
}
