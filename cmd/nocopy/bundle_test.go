package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	described "github.com/nocopythrift/nocopythrift/internal/description"
)

// shopFiles are a project with two services. One inherits from an included file.
func shopFiles() map[string]string {
	return map[string]string{
		"nocopy.yaml":            "idl: [idl]\ninclude: [third]\n",
		"idl/shop.thrift":        "include \"common/base.thrift\"\ninclude \"money.thrift\"\n" + strings.Replace(projectShop, "Shop {", "Shop extends base.Base { money.Amount price()", 1),
		"idl/common/base.thrift": "service Base { void ping() }",
		"third/money.thrift":     "struct Amount { 1: i64 cents }",
	}
}

// TestBundle: a bundle has the files that are named, and those that they include. It stands for
// them. The same files give the same bytes.
func TestBundle(t *testing.T) {
	newProject(t, shopFiles())
	want(t, 0, "", "", "bundle", "-o", "all.bundle")
	want(t, 0, "", "", "bundle", "idl", "-I", "third", "-o", "again.bundle")
	want(t, 0, "", "", "bundle", "idl/shop.thrift", "idl/common/base.thrift", "-I", "third", "-o", "order.bundle")
	all := readFile(t, "all.bundle")
	if readFile(t, "again.bundle") != all || readFile(t, "order.bundle") != all {
		t.Error("the bytes differ")
	}
	for name, text := range shopFiles() {
		base := filepath.Base(name)
		if has := strings.Contains(all, text) && strings.Contains(all, base); has != (base != "nocopy.yaml") {
			t.Errorf("the bundle has %s: %v", name, has)
		}
	}
	if dir, err := os.Getwd(); err != nil || strings.Contains(all, filepath.Base(dir)) || strings.Contains(all, "third") {
		t.Errorf("the bundle tells where the files are: %q, %v", all, err)
	}
	// With a server's names, and without what no service needs
	want(t, 0, "", "", "bundle", "idl/shop.thrift", "-service", "shop:Shop", "-service=base.Base", "-o", "server.bundle")
	newProject(t, map[string]string{"all.bundle": all, "server.bundle": readFile(t, "server.bundle")})
	const services = "service Base {\n  void ping()\n}\nservice Shop extends Base {\n  Amount price()\n  Order getOrder(1: i64 id)\n  void ping()\n}"
	want(t, 0, services, "", "describe", "all.bundle")
	want(t, 0, services, "", "describe", "-idl", "all.bundle")
	want(t, 0, "struct Amount {\n  1: i64 cents\n}", "", "describe", "all.bundle", "Amount")
	const multiplexed = `service Shop extends Base { // multiplexed as "shop"`
	if out, errs, code := nocopy(t, "", "describe", "server.bundle"); code != 0 || !strings.HasPrefix(out, multiplexed) {
		t.Errorf("%d %s%s", code, out, errs)
	}
	if out, errs, code := nocopy(t, "", "describe", "all.bundle", "-save", "saved"); code != 0 || strings.Count(out, "\n") != 3 {
		t.Errorf("%d %s%s", code, out, errs)
	}
	for name, text := range shopFiles() {
		name = strings.TrimPrefix(strings.TrimPrefix(name, "idl/"), "third/")
		if name != "nocopy.yaml" && readFile(t, filepath.Join("saved", name)) != text {
			t.Errorf("%s has been saved with another text", name)
		}
	}
	want(t, 0, "", "", "bundle", "saved", "-o", "saved.bundle")
	if readFile(t, "saved.bundle") != all {
		t.Error("a bundle of the saved files has other bytes")
	}
	// A mock is called by the names of the bundle, and returns the IDL in its turn.
	addr, _ := start(t, "mock", "-idl", "server.bundle", "-listen", "127.0.0.1:0")
	for _, args := range [][]string{{"shop:price"}, {"Shop.price"}, {"price", "-idl", "server.bundle"}, {"shop:price", "-idl", "all.bundle"}} {
		if out, errs, code := nocopy(t, "", append([]string{"call", addr}, args...)...); code != 0 || !strings.Contains(out, `"cents": `) {
			t.Errorf("%v: %d %s%s", args, code, out, errs)
		}
	}
}

// TestBundleAgainst: what a bundle has is compared with what is there.
func TestBundleAgainst(t *testing.T) {
	newProject(t, shopFiles())
	want(t, 0, "", "", "bundle", "-o", "old.bundle")
	want(t, 0, "", "", "audit", "-against", "old.bundle")
	if err := os.WriteFile("idl/shop.thrift", []byte(strings.Replace(readFile(t, "idl/shop.thrift"), "email", "mail", 1)), 0o666); err != nil {
		t.Fatal(err)
	}
	const renamed = "idl/shop.thrift:4:36: warning: field 2 of Order renamed from email to mail [field-renamed; breaks json, source; old: old.bundle:shop.thrift:4:36]"
	want(t, 0, renamed, "", "audit", "-against", "old.bundle")
	want(t, 0, renamed, "", "audit", "idl/shop.thrift", "-against", "old.bundle")
	want(t, 0, renamed, "", "audit", "old.bundle", "idl")
	want(t, 100, strings.Replace(renamed, "warning", "error", 1), "", "audit", "-against", "old.bundle", "-warnings", "error")
	if err := os.WriteFile("nocopy.yaml", []byte(readFile(t, "nocopy.yaml")+"\naudit: {baseline: old.bundle}\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	want(t, 0, renamed, "", "audit")
	if err := os.Mkdir("empty", 0o777); err != nil {
		t.Fatal(err)
	}
	want(t, 1, "", "nocopy: there are no .thrift files in empty", "audit", "idl", "-against", "empty")
}

// TestBundleErrors: what no client could read is not written.
func TestBundleErrors(t *testing.T) {
	large := "// " + strings.Repeat("x", 1<<20) + "\nservice S {}"
	newProject(t, map[string]string{
		"shop.thrift": shopIDL, "none.thrift": "struct S {}", "bad.thrift": "struct", "latin.thrift": "// \xe9\nservice S {}", "large.thrift": large,
		"a/shop.thrift": shopIDL, "b/shop.thrift": "service Base {}", "up/above.thrift": "include \"../x.thrift\" service S {}", "dirs/in/y": "", "dirs/x.thrift": "",
		"q.thrift": "service Q { i32 f() }", "z/other.thrift": "service Q { i32 g() }",
		"round.thrift": "include \"about.thrift\" service S {}", "about.thrift": "include \"round.thrift\"",
	})
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("absolute.thrift", []byte("include \""+filepath.ToSlash(dir)+"/none.thrift\" service S {}"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"-o x.bundle", 2, "no file is given"},
		{"shop.thrift", 2, "missing flags: -out=FILE"},
		{"shop.thrift -o x.bin", 2, "the name of a bundle ends with .bundle"},
		{"shop.thrift -o no/x.bundle", 1, "no such file"},
		{"nothing.thrift -o x.bundle", 1, "no such file"},
		{"none.thrift -o x.bundle", 1, "the IDL has no service"},
		{"bad.thrift -o x.bundle", 1, "bad.thrift:1:7: "},
		{"latin.thrift -o x.bundle", 1, "latin.thrift is not UTF-8"},
		{"large.thrift -o x.bundle", 1, "clients would refuse it: "},
		{"round.thrift -o x.bundle", 1, "cycle"},
		{"absolute.thrift -o x.bundle", 1, "include it by a relative path, or use -I"},
		{"up/above.thrift -I dirs/in -o x.bundle", 1, "include it by a relative path, or use -I"},
		{"shop.thrift -o x.bundle -service Shops", 1, "service Shops: not found, did you mean Shop?"},
		{"shop.thrift -o x.bundle -service \x1b[2Jx:Shop", 1, `"\x1b[2Jx:Shop": names have no control characters`},
		{"a/shop.thrift b/shop.thrift -o x.bundle", 1, "service shop.Base is defined by several files"},
		{"a/shop.thrift b/shop.thrift -o x.bundle -service x:Base", 1, "service Base is defined by several files: a/shop.thrift, b/shop.thrift\n"},
		{"q.thrift z -o x.bundle", 1, "q.thrift and z/other.thrift both have a service Q, and clients could not tell them apart: rename one, or leave it out with -service"},
		{"z q.thrift -o x.bundle -service one:q.Q -service two:other.Q", 1, "both have a service Q"},
	} {
		if out, errs, code := nocopy(t, "", append([]string{"bundle"}, strings.Fields(c.args)...)...); code != c.code || out != "" || !strings.Contains(errs, c.want) || len(errs) > 1<<12 {
			t.Errorf("%s: %d %s%.1000s", c.args, code, out, errs)
		}
	}
	if _, err := os.Stat("x.bundle"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a bundle has been written: %v", err)
	}
}

// TestHostileBundles: a bundle is a stranger's file. It is refused, or harms nothing.
func TestHostileBundles(t *testing.T) {
	secret := write(t, "secret.thrift", "struct Secret { 1: string found }")
	dir := newProject(t, map[string]string{"new/s.thrift": "service S {}"})
	services := []described.Service{{Service: "S", File: "s.thrift"}}
	of := func(path, text string) []byte {
		return described.Append(nil, services, []described.File{{Path: path, Text: text}})
	}
	good := of("s.thrift", "service S {}")
	many := make([]described.File, 1001)
	for i := range many {
		many[i].Path = strings.Repeat("a", i)
	}
	for name, c := range map[string]struct {
		bundle []byte
		want   string
	}{
		"empty":           {nil, "this is no bundle: "},
		"IDL":             {[]byte("service S {}"), "this is no bundle: "},
		"no files":        {described.Append(nil, services, nil), "it has no files"},
		"cut":             {good[:len(good)-1], "this is no bundle: "},
		"more":            {append(good[:len(good):len(good)], 0), "this is no bundle: "},
		"huge":            {bytes.Repeat([]byte{0}, 3<<20), "more than Limits.MaxBytes = 2097152"},
		"large":           {of("s.thrift", strings.Repeat(" ", 1<<20)), "larger than 1048576 bytes"},
		"many files":      {described.Append(nil, nil, many), "more than 1000"},
		"a count":         {binary.BigEndian.AppendUint32([]byte{15, 0, 2, 12}, 1<<31-1), "this is no bundle: "},
		"deep":            {bytes.Repeat([]byte{12, 0, 9}, 1<<18), "this is no bundle: "},
		"another service": {described.Append(nil, []described.Service{{Service: "T", File: "s.thrift"}}, []described.File{{Path: "s.thrift", Text: "service S {}"}}), "service s.T: "},
		"another file":    {described.Append(nil, []described.Service{{Service: "S", File: "t.thrift"}}, []described.File{{Path: "s.thrift", Text: "service S {}"}}), "service t.S: "},
		"twice":           {described.Append(nil, services, []described.File{{Path: "s.thrift"}, {Path: "s.thrift"}}), "two of its files are called \"s.thrift\""},
		"one name": {described.Append(nil, []described.Service{{Name: "one", Service: "S", File: "s.thrift"}, {Name: "two", Service: "S", File: "t.thrift"}},
			[]described.File{{Path: "s.thrift", Text: "service S {}"}, {Path: "t.thrift", Text: "service S {}"}}), "it has two services with the name S, in s.thrift and t.thrift"},
		"absolute": {of("s.thrift", "include \""+filepath.ToSlash(secret)+"\" service S {}"), "make the bundle anew with nocopy bundle"},
		"above":    {of("s.thrift", "include \"../new/s.thrift\" service S {}"), "make the bundle anew with nocopy bundle"},
		"circle":   {of("s.thrift", "include \"s.thrift\" service S {}"), "cycle"},
		"terminal": {of("s.thrift", "\x1b]0;evil\x07 service S {}"), "s.thrift:1:1: "},
	} {
		if err := os.WriteFile("b.bundle", c.bundle, 0o666); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{
			{"describe", "b.bundle"}, {"describe", "b.bundle", "-save", "into"}, {"call", "127.0.0.1:1", "S.f", "-idl", "b.bundle"},
			{"mock", "-idl", "b.bundle"}, {"audit", "new", "-against", "b.bundle"},
		} {
			out, errs, code := nocopy(t, "", args...)
			if code != 1 || !strings.Contains(errs, c.want) || strings.ContainsAny(out+errs, "\x1b\x07") || len(errs) > 1<<12 {
				t.Errorf("%s: nocopy %s: %d %s%.1000s", name, strings.Join(args, " "), code, out, errs)
			}
		}
	}
	for _, path := range []string{"../s.thrift", filepath.Join(dir, "evil.thrift"), "a/../../evil.thrift", "a\\..\\..\\evil.thrift", "a\x00.thrift", ".git/x.thrift", "a/.ssh/x.thrift", ".thrift", "x.sh", "Makefile"} {
		if err := os.WriteFile("b.bundle", described.Append(nil, nil, []described.File{{Path: path, Text: "service S {}"}}), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, errs, code := nocopy(t, "", "describe", "b.bundle", "-save", filepath.Join("saved", strings.Repeat("x", len(path)))); code != 1 || errs == "" {
			t.Errorf("%q is saved: %d %s", path, code, errs)
		}
	}
	found, err := filepath.Glob("*")
	if err != nil || strings.Join(found, " ") != "b.bundle new" {
		t.Errorf("there are %v, %v", found, err)
	}
	for name, want := range map[string]string{"pipe.bundle": "not a regular file", "none.bundle": "no such file", "new": "no .thrift"} {
		if name == "pipe.bundle" && os.Symlink(os.DevNull, name) != nil {
			continue
		}
		if _, errs, code := nocopy(t, "", "describe", "-idl", name); name != "new" && (code != 1 || !strings.Contains(errs, want)) {
			t.Errorf("%s: %d %s", name, code, errs)
		}
	}
	if _, errs, code := nocopy(t, "", "describe", "-idl", "b.bundle", "-idl", "new/s.thrift"); code != 1 || !strings.Contains(errs, "a bundle goes with no other -idl") {
		t.Errorf("%d %s", code, errs)
	}
}
