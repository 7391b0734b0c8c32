package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestOutputs: no command overwrites a file that it reads, or another file that it writes,
// whatever its names are.
func TestOutputs(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	texts := map[string]string{
		"base.thrift": "struct B {}", "shop.thrift": "include \"base.thrift\"\nservice S { void get(1: base.B b) }", "args": `{"b": {}}`,
		"index.html": "service S {}", "shop.bundle": "service S {}", "user/nocopy/user.nocopy.go": "struct U {}", "cert": "", "nocopy.yaml": "idl: [shop.thrift]\n",
	}
	t.Setenv("NOCOPY_PROJECT", at("nocopy.yaml"))
	if err := os.MkdirAll(at("user/nocopy"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range texts {
		if err := os.WriteFile(at(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"link": "base.thrift", "link.bundle": "shop.thrift"} {
		if err := os.Symlink(to, at(link)); err != nil {
			t.Fatal(err)
		}
	}
	bench := func(flags ...string) []string {
		return append([]string{"bench", "127.0.0.1:1", "S.get", "b={}", "-idl", at("shop.thrift")}, flags...)
	}
	for _, c := range []struct {
		want string
		args []string
	}{
		{"shop.thrift would be overwritten", bench("-csv", at("shop.thrift"))}, {"base.thrift would be overwritten", bench("-html", at("base.thrift"))},
		{"nocopy.yaml would be overwritten", bench("-csv", at("nocopy.yaml"))},
		{"link would be overwritten", bench("-hdr", at("link"))}, {"args would be overwritten", bench("-d", "@"+at("args"), "-csv", at("args"))},
		{"args would be overwritten", []string{"bench", "127.0.0.1:1", "S.get", "b=@" + at("args"), "-idl", at("shop.thrift"), "-csv", at("args")}}, {"new would be written twice", bench("-csv", at("new"), "-hdr", at("new"))},
		{"new-2 would be written twice", bench("-csv", at("new-2"), "-hdr", at("new"), "-c", "1,2")}, {"cert would be overwritten", bench("-tls", "-cert", at("cert"), "-key", at("cert"), "-html", at("cert"))},
		{"link.bundle would be overwritten", []string{"bundle", at("shop.thrift"), "-o", at("link.bundle")}}, {"shop.bundle would be overwritten", []string{"bundle", at("shop.bundle"), "-o", at("shop.bundle")}},
		{"index.html would be overwritten", []string{"doc", at("index.html"), "-o", dir}}, {"user.nocopy.go would be overwritten", []string{"gen", at("user/nocopy/user.nocopy.go"), "-o", dir}},
	} {
		if out, errs, code := nocopy(t, "", c.args...); code == 0 || out != "" || !strings.Contains(errs, c.want) {
			t.Errorf("%v: %d %s%s, want %q", c.args, code, out, errs, c.want)
		}
	}
	for name, text := range texts {
		if now := readFile(t, at(name)); now != text {
			t.Errorf("%s is now %.200s", name, now)
		}
	}
}
