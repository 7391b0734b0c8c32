package kerberos

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// writeConf writes krb5.conf and other files into a folder, for which %s stands in them.
func writeConf(t *testing.T, files map[string]string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(strings.ReplaceAll(text, "%s", dir)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("KRB5_CONFIG", filepath.Join(dir, "krb5.conf"))
}

// TestIncludes: files that krb5.conf includes count, and of several values the first one.
func TestIncludes(t *testing.T) {
	writeConf(t, map[string]string{
		"krb5.conf": "# comment\nincludedir %s/d\n[libdefaults]\n default_realm = LATE\n clockskew = 10\ninclude\t%s/more\n A = {\n  clockskew = 30\n }\n clockskew = 20\n" +
			"[realms]\n B = {\n  kdc = b\n }\n[capaths]\n A = {\n  B = .\n }\n",
		"more":       "[domain_realm]\n .x = X\n .x = Y\n",
		"d/realm":    "[libdefaults]\n default_realm = EARLY\n default_ccache_name = FILE:%{TEMP}/cc_%{uid}\n[realms]\n A = {\n  kdc = a:1\n }\n",
		"d/a.b.conf": "[domain_realm]\n h = H\n",
		"d/old.rpm~": "[libdefaults]\n default_realm = OLD\n",
		"d/.x.conf":  "[libdefaults]\n default_realm = HIDDEN\n",
	})
	conf, cache, err := readConfig()
	if err != nil {
		t.Fatal(err)
	}
	if d := conf.LibDefaults; d.DefaultRealm != "EARLY" || d.Clockskew.Seconds() != 10 || cache != "FILE:%{TEMP}/cc_%{uid}" {
		t.Errorf("%+v, cache %s", d, cache)
	}
	if len(conf.Realms) != 2 || conf.ResolveRealm("h") != "H" || conf.ResolveRealm("a.x") != "X" {
		t.Errorf("%+v %+v", conf.Realms, conf.DomainRealm)
	}
}

// TestConfErrors: what a krb5.conf asks for in vain is an error that names it.
func TestConfErrors(t *testing.T) {
	for text, want := range map[string]string{
		"include %s/none\n":                                  "include %s/none: open %s/none",
		"includedir %s/none\n":                               "includedir %s/none: open %s/none",
		"include %s/krb5.conf\n":                             "within each other",
		"module %s/x.so:x\n":                                 "modules are not supported",
		"[libdefaults]\n default_ccache_name = KCM:\n":       "of the kind KCM are not supported, which default_ccache_name in krb5.conf names",
		"[libdefaults]\n default_ccache_name = /a/%{home}\n": "/a/%{home}",
		"[libdefaults]\n default_ccache_name = %s/cc\n":      "there is no ticket cache %s/cc",
		"[libdefaults]\n nonsense\n":                         "nonsense",
	} {
		writeConf(t, map[string]string{"krb5.conf": text})
		t.Setenv("KRB5CCNAME", "")
		_, err := FromCache("")
		if want = strings.ReplaceAll(want, "%s", filepath.Dir(os.Getenv("KRB5_CONFIG"))); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "kerberos: kerberos:") {
			t.Errorf("%q: %v", text, err)
		}
	}
	writeConf(t, map[string]string{"krb5.conf": "#" + strings.Repeat("x", maxConf)})
	if _, _, err := readConfig(); err == nil || !strings.Contains(err.Error(), fmt.Sprint(maxConf)) {
		t.Error(err)
	}
}

// TestPrincipalOf: hosts are in lower case, and without the dot of a name of DNS.
func TestPrincipalOf(t *testing.T) {
	if got := principalOf("Store", "Node1.Example.COM."); got != "Store/node1.example.com" {
		t.Error(got)
	}
}
