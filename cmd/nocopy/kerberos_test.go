package main

import (
	"context"
	"crypto/tls"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/kerberos"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// TestKerberosFlags: what is missing for a login by Kerberos is said, without a KDC.
func TestKerberosFlags(t *testing.T) {
	t.Setenv("KRB5_CLIENT_KTNAME", "")
	t.Setenv("KRB5CCNAME", filepath.Join(t.TempDir(), "none"))
	config := write(t, "krb5.conf", "[libdefaults]\n default_realm = TEST.EXAMPLE\n")
	t.Setenv("KRB5_CONFIG", config)
	open := fleet(t, &rpc.Server{})
	for _, c := range []struct {
		code  int
		want  string
		addr  string
		flags []string
	}{
		{2, "needs -sasl-service NAME", open, []string{"-sasl", "GSSAPI"}},
		{2, "-sasl-service needs -sasl GSSAPI", open, []string{"-sasl", "PLAIN", "-user", "a", "-sasl-service", "hive"}},
		{2, "KRB5_CLIENT_KTNAME", open, []string{"-sasl", "GSSAPI", "-sasl-service", "hive", "-user", "ada"}},
		{2, "krb5.conf says which realm", open, []string{"-sasl", "GSSAPI", "-sasl-service", "hive/_HOST@TEST.EXAMPLE"}},
		{2, "neither NAME nor NAME/HOST", open, []string{"-sasl", "GSSAPI", "-sasl-service", "hive/"}},
		{2, "NAME/HOST is needed for a unix socket", "/tmp/none.sock", []string{"-sasl", "GSSAPI", "-sasl-service", "hive"}},
		{2, "is not HOST:PORT", "tcp://localhost", []string{"-sasl", "GSSAPI", "-sasl-service", "hive"}},
		{2, "-sasl does not go with", open, []string{"-sasl", "GSSAPI", "-sasl-service", "hive", "-transport", "http"}},
		{1, "run kinit", open, []string{"-sasl", "gssapi", "-sasl-service", "hive"}},
		{1, "run kinit", open, []string{"-sasl", "GSSAPI", "-sasl-service", "hive/h", "-transport", "framed", "-protocol", "binary"}},
	} {
		out, errs, code := nocopy(t, "", append([]string{"call", c.addr, "ping"}, c.flags...)...)
		if code != c.code || !strings.Contains(errs, c.want) || out != "" {
			t.Errorf("%s %v: %d %s%s; want %d, %q", c.addr, c.flags, code, out, errs, c.code, c.want)
		}
	}
	t.Setenv("KRB5_CONFIG", config+".none")
	t.Setenv("KRB5CCNAME", write(t, "cache", "x"))
	if _, errs, code := nocopy(t, "", "call", open, "ping", "-sasl", "GSSAPI", "-sasl-service", "hive"); code != 1 || !strings.Contains(errs, "copy the file of the cluster") {
		t.Errorf("%d %s", code, errs)
	}
}

// TestKerberosProject: a file of a project logs the user in only where that was allowed. A server
// could use the login at another one, whose service the file names.
func TestKerberosProject(t *testing.T) {
	t.Setenv("KRB5_CLIENT_KTNAME", "")
	t.Setenv("KRB5CCNAME", filepath.Join(t.TempDir(), "none"))
	file := func(service string) string {
		return "idl: shop.thrift\ntargets: {t: {address: \"hms.invalid:1\", sasl: gssapi, sasl-service: " + service + "}, plain: {address: \"hms.invalid:1\"}}\n"
	}
	newProject(t, map[string]string{"shop.thrift": projectShop, "nocopy.yaml": file("hive"), "krb5.conf": ""})
	t.Setenv("KRB5_CONFIG", "krb5.conf")
	const asked = "this would log in by Kerberos at hms.invalid:1, sasl-service "
	says := func(target, text string) {
		t.Helper()
		if _, errs, code := nocopy(t, "", "call", target, "getOrder", "id=1"); code == 0 || !strings.Contains(errs, text) {
			t.Errorf("%d %s; want %q", code, errs, text)
		}
	}
	says("t", asked+"hive: if that is right, allow it with nocopy config -allow t")
	want(t, 0, "allowed: a login by Kerberos to hms.invalid:1, sasl-service hive", "", "config", "-allow", "t")
	says("t", "run kinit")
	if err := os.WriteFile("nocopy.yaml", []byte(file("hive/other.invalid")), 0o600); err != nil {
		t.Fatal(err)
	}
	says("t", asked+"hive/other.invalid")
	// Another user of the machine may be there
	for _, addr := range []string{"127.0.0.1:1", "unix:/tmp/none.sock"} {
		if err := os.WriteFile("nocopy.yaml", []byte(strings.Replace(file("hive/other.invalid"), "hms.invalid:1", addr, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		says("t", "this would log in by Kerberos at "+addr+", sasl-service hive/other.invalid")
	}
	t.Setenv("NOCOPY_SASL", "GSSAPI")
	says("plain", "this would log in by Kerberos at hms.invalid:1")
}

// TestKerberos runs TestBesideKDC beside a real KDC, if one is installed.
func TestKerberos(t *testing.T) {
	cmd := exec.Command("../../kerberos/kdc.sh", os.Args[0], "-test.run=^TestBesideKDC$", "-test.v")
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 3 || errors.Is(err, exec.ErrNotFound) {
		t.Skipf("SKIPPED: %s", out)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if !strings.Contains(string(out), "--- PASS: TestBesideKDC") {
		t.Errorf("not all was tested:\n%s", out)
	}
}

// TestBesideKDC: commands log in with tickets of a real KDC. TestKerberos runs it.
func TestBesideKDC(t *testing.T) {
	kdc := os.Getenv("NOCOPY_KDC")
	if kdc == "" {
		t.Skip("SKIPPED: TestKerberos runs it")
	}
	acceptor, err := kerberos.NewAcceptor(filepath.Join(kdc, "server.keytab"))
	if err != nil {
		t.Fatal(err)
	}
	login := func(qop kerberos.QOP, who string) func(context.Context, string) rpc.SASLServer {
		return func(_ context.Context, mechanism string) rpc.SASLServer {
			if mechanism != kerberos.Mechanism {
				return nil
			}
			return acceptor.NewServer(qop, func(principal, as string) error {
				if principal != who || as != "" {
					return errors.New("not on the list")
				}
				return nil
			})
		}
	}
	pair, cert, _ := certificate(t)
	const ada = "ada@TEST.EXAMPLE"
	sealed, signed := fleet(t, &rpc.Server{SASL: login(kerberos.AuthConf, ada)}), fleet(t, &rpc.Server{SASL: login(kerberos.AuthInt, ada)})
	encrypted := fleet(t, &rpc.Server{SASL: login(kerberos.Auth, ada), TLS: &tls.Config{Certificates: []tls.Certificate{pair}}})
	closed := fleet(t, &rpc.Server{SASL: login(kerberos.Auth, "bob@TEST.EXAMPLE")})
	check := func(addr, text string, flags ...string) {
		t.Helper()
		out, errs, code := nocopy(t, "", append([]string{"call", addr, "ping", "-timeout", "1m"}, flags...)...)
		if text == "" && (code != 0 || out != "\"pong\"\n") || text != "" && (code != 1 || !strings.Contains(errs, text)) {
			t.Errorf("%v: %d %s%s; want %q", flags, code, out, errs, text)
		}
	}
	as := []string{"-sasl", "GSSAPI", "-sasl-service", "store/localhost"}
	check(sealed, "run kinit", as...)
	t.Setenv("KRB5_CLIENT_KTNAME", "FILE:"+filepath.Join(kdc, "client.keytab"))
	check(sealed, "", as...)
	check(strings.Replace(sealed, "127.0.0.1", "localhost", 1), "", "-sasl", "GSSAPI", "-sasl-service", "store")
	check(signed, "", append(as, "-transport", "theader", "-protocol", "compact")...)
	check(encrypted, "", append(as, "-ca", cert)...)
	check(sealed, "-sasl-service NAME/HOST names another host", "-sasl", "GSSAPI", "-sasl-service", "store")
	check(closed, "the server's log says why", as...)
	check(sealed, "-sasl GSSAPI -sasl-service NAME", "-sasl", "PLAIN", "-user", "ada")
	check(fleet(t, &rpc.Server{}), "leave -sasl away", as...)

	recorder, stop := start(t, append([]string{"record", sealed, "-listen", "127.0.0.1:0", "-o", filepath.Join(t.TempDir(), "calls.jsonl")}, as...)...)
	check(recorder, "")
	stop()
	if out, errs, code := nocopy(t, "", append([]string{"bench", sealed, "ping", "-n", "20", "-c", "4", "-warmup", "0"}, as...)...); code != 0 {
		t.Errorf("bench: %d %s%s", code, out, errs)
	}
	if out, errs, code := nocopy(t, "", append([]string{"describe", sealed}, as...)...); code != 0 || !strings.Contains(out, "service Fleet") {
		t.Errorf("describe: %d %s%s", code, out, errs)
	}

	text, err := os.ReadFile(filepath.Join(kdc, "kdc.pid"))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	process, err := os.FindProcess(pid)
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Kill(); err != nil {
		t.Fatal(err)
	}
	check(sealed, "no KDC answers", as...)
}
