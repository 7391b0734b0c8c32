package passed

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/shell"
)

type command interface{ Run(*shell.Shell) error }

// TestCommands tests the output and the exit code of each command, by the names of this tool.
func TestCommands(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"old.thrift": "struct S { 1: i32 a }\n", "new.thrift": "struct S { 1: i64 a }\n", "bad.thrift": "struct S { 1: J a }\n",
		"ok.thrift":          "struct S {\n  1: i32 a\n}\n",
		"good/sub/ok.thrift": "struct S {\n  1: i32 a\n}\n", "good/.hidden/bad.thrift": "struct",
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	args := func(text string) Args { return Args{strings.Fields(text)} }
	for _, c := range []struct {
		cmd  command
		want string
		code int
	}{
		{&Gen{args("-o out ok.thrift")}, "", 0},
		{&Gen{args("-h")}, "nocopy gen -o DIR", 0},
		{&Gen{args("ok.thrift")}, "nocopy: -o DIR, or -check, is missing; see nocopy gen -h", 2},
		{&Check{args("ok.thrift")}, "", 0},
		{&Check{args("bad.thrift")}, "bad.thrift:1:15: unknown type J", 1},
		{&Check{args("-h")}, "Example: nocopy check", 0},
		{&Check{args("")}, "no .thrift file is given; see nocopy check -h", 2},
		{&Audit{Args: args("old.thrift new.thrift")}, "error: ", 100},
		{&Audit{Args: args("old.thrift new.thrift --format json")}, `"errors": 1`, 100},
		{&Audit{Args: args("-format=yaml old.thrift new.thrift")}, `nocopy: -format must be one of "text","json","github" but got "yaml"; see nocopy audit -h`, 2},
		{&Audit{Args: args("-format github old.thrift new.thrift")}, "::error file=new.thrift,line=1,col=12,title=field-type-changed::type of field 1 a of S changed from i32 to i64 (", 100},
		{&Audit{Args: args("-format github -warnings off old.thrift bad.thrift")}, "::error file=bad.thrift,line=1,col=15,title=compile::unknown type J\n", 1},
		{&Fmt{args("-check -format github old.thrift ok.thrift")}, "::error file=old.thrift,line=1,col=1,title=format::not formatted: nocopy fmt -w old.thrift\n", 100},
		{&Fmt{args("-format yaml ok.thrift")}, `nocopy: -format must be one of "text","json","github" but got "yaml"; see nocopy fmt -h`, 2},
		{&Fmt{args("-check -format json old.thrift ok.thrift")}, "[\n  \"old.thrift\"\n]\n", 100},
		{&Check{args("-format json ok.thrift")}, "[]\n", 0},
		{&Check{args("-format json bad.thrift")}, "\"file\": \"bad.thrift\",\n    \"line\": 1,\n    \"column\": 15,\n    \"severity\": \"error\",\n    \"message\": \"unknown type J\"\n  }\n]\n", 1},
		{&Check{args("-format json none")}, "\"severity\": \"error\",\n    \"message\": \"cannot read none: ", 1},
		{&Check{args("-format github bad.thrift")}, "::error file=bad.thrift,line=1,col=15,title=compile::unknown type J\n", 1},
		{&Check{args("-format yaml bad.thrift")}, `nocopy: -format must be one of "text","json","github" but got "yaml"; see nocopy check -h`, 2},
		{&Audit{Args: args("old.thrift")}, "nocopy: NEW is missing: \"old.thrift\" is OLD; see nocopy audit -h", 2},
		{&Fmt{args("-check old.thrift ok.thrift")}, "old.thrift\n", 100},
		{&Fmt{args("-h")}, "nocopy fmt -w idl", 0},
		{&Fmt{args("none.thrift")}, "nocopy: ", 1},
		{&Fmt{args("-x")}, "nocopy: unknown flag -x; see nocopy fmt -h", 2},
		{&Audit{Args: args("old.thrift none.thrift")}, "nocopy: none.thrift: ", 1},
		{&Audit{Args: args("-h")}, "Exit codes: 0 nothing is broken, 100 there are errors, 1 files are missing or", 0},
		{&Check{args(".")}, "bad.thrift:1:15: unknown type J", 1},
		{&Check{args("good -I .")}, "", 0},
		{&Check{args("none")}, "cannot read none: no such file", 1},
		{&Gen{args("good -o out2")}, "", 0},
	} {
		var out bytes.Buffer
		err := c.cmd.Run(&shell.Shell{In: strings.NewReader(""), Out: &out, Err: &out})
		if code := shell.CodeOf(err); code != c.code || !strings.Contains(out.String(), c.want) || c.want == "" && out.Len() > 0 {
			t.Errorf("%T %+v: exit code %d, want %d\n%s\nwant %s", c.cmd, c.cmd, code, c.code, out.String(), c.want)
		}
	}
	if _, err := os.Stat("out/ok/ok.go"); err != nil {
		t.Error(err)
	}
}
