package nocopyc_test

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestAudit(t *testing.T) {
	files(t, "old.thrift", "struct S { 1: i32 a, 2: i32 b = 1 }", "new.thrift", "struct S {\n 2: i32 b = 2 }", "bad.thrift", "struct",
		"::warning::.thrift", "struct", "$'.thrift", "struct S {\n 1: i32 a\n}\n")
	removed := "new.thrift:1:8: error: field 1 a of S removed [field-removed; breaks json, source; old: old.thrift:1:12]\n"
	changed := "new.thrift:2:2: warning: default of field 2 b of S changed from 1 to 2 [default-changed; compatible; old: old.thrift:1:22]\n"
	for _, test := range []struct {
		args           string
		code           int
		stdout, stderr string
	}{
		{"audit old.thrift new.thrift", 1, removed + changed, ""},
		{"audit -warnings=off old.thrift new.thrift", 1, removed, ""},
		{"audit old.thrift new.thrift -wire", 0, "", ""},
		{"audit -format github old.thrift new.thrift", 1, "::error file=new.thrift,line=1,col=8,title=field-removed::field 1 a of S removed (breaks json, source; old: old.thrift:1:12)\n" +
			"::warning file=new.thrift,line=2,col=2,title=default-changed::default of field 2 b of S changed from 1 to 2 (compatible; old: old.thrift:1:22)\n", ""},
		{"fmt -l -format github new.thrift", 0, "::error file=new.thrift,line=2,col=1,title=format::not formatted: nocopyc fmt -w new.thrift\n", ""},
		// A file's name at the beginning of a line of the log could be a command of GitHub's.
		{"fmt -format github -check ::warning::.thrift", 2, "::error file=%3A%3Awarning%3A%3A.thrift,line=1,col=7,title=compile::unexpected end of file, expected a name\n", ""},
		{"audit -format github old.thrift ::warning::.thrift", 2, "::error file=%3A%3Awarning%3A%3A.thrift,line=1,col=7,title=compile::unexpected end of file, expected a name\n", ""},
		{"fmt -check -format github no.thrift", 2, "::error title=nocopy::stat no.thrift: no such file or directory\n", ""},
		{"fmt -check -format github $'.thrift", 1, "::error file=$'.thrift,line=2,col=1,title=format::not formatted: nocopyc fmt -w '$'\\''.thrift'\n", ""},
		{"fmt -format yaml new.thrift", 2, "", "nocopyc: -format must be one of \"text\",\"json\",\"github\" but got \"yaml\"; see nocopyc fmt -h\n"},
		{"audit old.thrift", 2, "", "nocopyc: NEW is missing: \"old.thrift\" is OLD; see nocopyc audit -h\n"},
		{"audit -x", 2, "", "nocopyc: unknown flag -x; see nocopyc audit -h\n"},
		{"audit -x -help", 2, "", "nocopyc: unknown flag -x"},
		{"audit", 2, "", "nocopyc: OLD and NEW are needed"},
		{"audit old.thrift new.thrift bad.thrift", 2, "", "nocopyc: \"bad.thrift\" is one operand too many: OLD and NEW are files"},
		// The flag of earlier versions.
		{"-audit old.thrift new.thrift", 1, removed + changed, ""},
		{"--audit -warnings off old.thrift new.thrift", 1, removed, ""},
		{"-audit old.thrift new.thrift -warnings=error", 1, removed + strings.Replace(changed, "warning", "error", 1), ""},
		{"-warnings error -audit new.thrift new.thrift", 0, "", ""},
		{"-audit old.thrift -wire new.thrift", 0, "", ""},
		{"-audit old.thrift old.thrift", 0, "", ""},
		{"-audit old.thrift bad.thrift", 2, "", "bad.thrift:1:7: unexpected end of file, expected a name\n"},
		{"-audit old.thrift no.thrift", 2, "", "nocopyc: no.thrift: "},
		{"-audit old.thrift", 2, "", "nocopyc: NEW is missing: \"old.thrift\" is OLD; see nocopyc audit -h\n"},
		{"-audit -warnings x a b", 2, "", "nocopyc: -warnings is on, off or error"},
		{"-audit -x", 2, "", "nocopyc: unknown flag -x; see nocopyc audit -h\n"},
		{"-audit -- old.thrift new.thrift", 1, removed + changed, ""},
	} {
		code, stdout, stderr := nocopyc(strings.Fields(test.args)...)
		if code != test.code || stdout != test.stdout || !strings.HasPrefix(stderr, test.stderr) || test.stderr == "" && stderr != "" {
			t.Errorf("%s: exit code %d, stdout:\n%sstderr:\n%s", test.args, code, stdout, stderr)
		}
	}
}

// TestHelp: help goes to standard output.
func TestHelp(t *testing.T) {
	for _, args := range []string{"-h", "audit -h", "audit --help", "-audit -help", "fmt -help", "fmt x -h", "help", "help audit", "help fmt"} {
		if code, stdout, stderr := nocopyc(strings.Fields(args)...); code != 0 || stderr != "" || !strings.HasPrefix(stdout, "Usage: nocopyc") || !strings.Contains(stdout, "\n  -h, -help ") {
			t.Errorf("%s: exit code %d, %s%s", args, code, stdout, stderr)
		}
	}
}

func TestAuditJSON(t *testing.T) {
	files(t, "old.thrift", "struct S { 1: i32 a }", "new.thrift", "struct S { 1: i32 b }")
	code, stdout, _ := nocopyc("audit", "-json", "old.thrift", "new.thrift")
	if _, same, _ := nocopyc("audit", "-format", "json", "old.thrift", "new.thrift"); same != stdout {
		t.Errorf("-format json prints %s, -json %s", same, stdout)
	}
	type place struct {
		File         string
		Line, Column int
	}
	var report struct {
		Old, New         string
		Errors, Warnings int
		Findings         []struct {
			Severity, Kind, Symbol, Message                  string
			Breaks                                           []string
			WireCompatible, JSONCompatible, SourceCompatible bool
			Old, New                                         place
		}
	}
	if err := json.Unmarshal([]byte(stdout), &report); err != nil || code != 0 || report.Warnings != 1 || len(report.Findings) != 1 {
		t.Fatalf("exit code %d, %v:\n%s", code, err, stdout)
	}
	f := report.Findings[0]
	if f.Kind != "field-renamed" || !f.WireCompatible || f.JSONCompatible || f.SourceCompatible ||
		f.Old != (place{"old.thrift", 1, 12}) || f.New != (place{"new.thrift", 1, 12}) || strings.Join(f.Breaks, ",") != "json,source" {
		t.Errorf("%+v", f)
	}
	if _, stdout, _ = nocopyc("audit", "-json", "old.thrift", "old.thrift"); !strings.Contains(stdout, `"findings": []`) {
		t.Error(stdout)
	}
}
