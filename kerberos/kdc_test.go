package kerberos

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// TestKDC runs TestBesideKDC beside a real KDC, if one is installed.
func TestKDC(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("./kdc.sh", os.Args[0], "-test.run=^TestBesideKDC$", "-test.v")
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 3 || errors.Is(err, exec.ErrNotFound) {
		t.Skipf("SKIPPED: %s", out)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if !strings.Contains(string(out), "--- PASS: TestBesideKDC/down") {
		t.Errorf("not all was tested:\n%s", out)
	}
}

// inKDC returns the path of a file that kdc.sh has written.
func inKDC(name string) string { return filepath.Join(os.Getenv("NOCOPY_KDC"), name) }

// TestBesideKDC: logins with tickets of a real KDC, and the errors of those that fail. ./kdc.sh
// runs it.
func TestBesideKDC(t *testing.T) {
	if os.Getenv("NOCOPY_KDC") == "" {
		t.Skip("SKIPPED: TestKDC runs it")
	}
	a, err := NewAcceptor(inKDC("server.keytab"))
	if err != nil {
		t.Fatal(err)
	}
	addr, _ := serve(t, a, Auth|AuthInt|AuthConf)
	fromKeytab := func(t *testing.T, principal string) *Credentials {
		c, err := FromKeytab(inKDC("client.keytab"), principal)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	t.Run("keytab", func(t *testing.T) {
		c := fromKeytab(t, "ada")
		for _, q := range []QOP{Auth, AuthInt, AuthConf} {
			client, err := dial(t, addr, NewClient(c, "store", "localhost", q))
			if err != nil {
				t.Fatal(err)
			}
			if err := roundTrip(t, client, []byte("value")); err != nil {
				t.Error(q, err)
			}
		}
	})
	t.Run("udp", func(t *testing.T) {
		conf, err := os.ReadFile(os.Getenv("KRB5_CONFIG"))
		if err != nil {
			t.Fatal(err)
		}
		other := filepath.Join(t.TempDir(), "krb5.conf")
		if err := os.WriteFile(other, bytes.Replace(conf, []byte("udp_preference_limit = 1"), []byte("udp_preference_limit = 1465"), 1), 0o600); err != nil {
			t.Fatal(err)
		}
		t.Setenv("KRB5_CONFIG", other)
		if _, err := dial(t, addr, NewClient(fromKeytab(t, "ada"), "store", "localhost", Auth)); err != nil {
			t.Error(err)
		}
	})
	t.Run("realms", func(t *testing.T) { testRealms(t, fromKeytab) })
	t.Run("cache", func(t *testing.T) { testCache(t, addr) })
	t.Run("errors", func(t *testing.T) { testKDCErrors(t, addr, fromKeytab(t, "ada@TEST.EXAMPLE")) })
	t.Run("down", func(t *testing.T) { // the last one
		b, err := os.ReadFile(inKDC("kdc.pid"))
		if err != nil {
			t.Fatal(err)
		}
		pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
		if err != nil {
			t.Fatal(err)
		}
		had := fromKeytab(t, "ada")
		if _, err := dial(t, addr, NewClient(had, "store", "localhost", Auth)); err != nil {
			t.Fatal(err)
		}
		syscall.Kill(pid, syscall.SIGKILL)
		// A client that has a ticket needs no KDC
		if _, err := dial(t, addr, NewClient(had, "store", "localhost", Auth)); err != nil {
			t.Error(err)
		}
		_, err = dial(t, addr, NewClient(fromKeytab(t, "ada"), "store", "localhost", Auth))
		if err == nil || !errors.Is(err, rpc.ErrLogin) || !strings.Contains(err.Error(), "no KDC answers") {
			t.Error(err)
		}
	})
}

// testRealms: a service of another realm, which krb5.conf names, or only the KDC knows.
func testRealms(t *testing.T, fromKeytab func(*testing.T, string) *Credentials) {
	conf, err := os.ReadFile(os.Getenv("KRB5_CONFIG"))
	if err != nil {
		t.Fatal(err)
	}
	const mapping = "far.test = OTHER.EXAMPLE"
	for _, without := range []string{"", mapping} {
		path := filepath.Join(t.TempDir(), "krb5.conf")
		if err := os.WriteFile(path, bytes.Replace(conf, []byte(without), nil, 1), 0o600); err != nil {
			t.Fatal(err)
		}
		t.Setenv("KRB5_CONFIG", path)
		got, err := fromKeytab(t, "ada").ticket(t.Context(), "store/far.test")
		if err != nil || got.ticket.Realm != "OTHER.EXAMPLE" || got.realm != "TEST.EXAMPLE" {
			t.Errorf("without %q: a ticket of %q: %v", without, got.ticket.Realm, err)
		}
	}
}

// kinit gets tickets for ada.
func kinit(t *testing.T, args ...string) {
	t.Helper()
	out, err := exec.Command("kinit", append(args, "-kt", inKDC("client.keytab"), "ada")...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

func testCache(t *testing.T, addr string) {
	if _, err := FromCache(""); err == nil || !strings.Contains(err.Error(), "run kinit") {
		t.Error(err)
	}
	t.Setenv("KRB5CCNAME", "KCM:")
	if _, err := FromCache(""); err == nil || !strings.Contains(err.Error(), "of the kind KCM are not supported") {
		t.Error(err)
	}
	t.Setenv("KRB5CCNAME", "FILE:"+inKDC("cache"))
	kinit(t)
	c, err := FromEnvironment()
	if err != nil {
		t.Fatal(err)
	}
	client := NewClient(c, "store", "localhost", AuthConf)
	connection, err := dial(t, addr, client)
	if err != nil {
		t.Fatal(err)
	}
	if err := roundTrip(t, connection, []byte("x")); err != nil {
		t.Error(err)
	}
	kinit(t, "-l", "1s")
	for range 60 {
		if _, err := FromCache(""); err != nil {
			break
		}
		time.Sleep(time.Second) // the tickets expire
	}
	if _, err := dial(t, addr, client); err == nil || !strings.Contains(err.Error(), "run kinit again") {
		t.Error(err)
	}
	kinit(t)
	if _, err := dial(t, addr, client); err != nil {
		t.Errorf("new tickets were not taken up: %v", err)
	}
}

func testKDCErrors(t *testing.T, addr string, ada *Credentials) {
	fails := func(c *Client, want string) {
		t.Helper()
		if _, err := dial(t, addr, c); !errors.Is(err, rpc.ErrLogin) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, not %q", err, want)
		}
	}
	fails(NewClient(ada, "store", "127.0.0.1", Auth), "the KDC does not know the service")
	fails(NewClient(ada, "stor", "localhost", Auth), "the KDC does not know the service")
	if _, err := FromKeytab(inKDC("client.keytab"), "eve"); err == nil || !strings.Contains(err.Error(), "klist -k") {
		t.Error(err)
	}
	// The key of another principal
	wrong, err := FromKeytab(inKDC("old.keytab"), "store/localhost")
	if err != nil {
		t.Fatal(err)
	}
	fails(NewClient(wrong, "store", "localhost", Auth), "write a new keytab")
	old, err := NewAcceptor(inKDC("old.keytab"))
	if err != nil {
		t.Fatal(err)
	}
	at, log := serve(t, old, Auth)
	if _, err := dial(t, at, NewClient(ada, "store", "localhost", Auth)); !errors.Is(err, rpc.ErrLogin) {
		t.Error(err)
	}
	log.await(t, "klist -kte")

	conf, err := os.ReadFile(os.Getenv("KRB5_CONFIG"))
	if err != nil {
		t.Fatal(err)
	}
	// A realm that no KDC is named for, and one that the KDC does not have
	kinit(t)
	for text, want := range map[string]string{
		strings.Replace(string(conf), "  TEST.EXAMPLE = {", "  OTHER.EXAMPLE = {", 1):     "krb5.conf names no KDC for this realm",
		strings.ReplaceAll(string(conf), "localhost = TEST.EXAMPLE", "localhost = OTHER"): "domain_realm",
	} {
		other := filepath.Join(t.TempDir(), "krb5.conf")
		if err := os.WriteFile(other, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		t.Setenv("KRB5_CONFIG", other)
		c, err := FromKeytab(inKDC("client.keytab"), "ada@TEST.EXAMPLE")
		if err != nil {
			t.Fatal(err)
		}
		fails(NewClient(c, "store", "localhost", Auth), want)
	}
}

// TestFiles: errors of files say which one, and what to do.
func TestFiles(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	t.Setenv("KRB5_CONFIG", file("krb5.conf", "[libdefaults]\n default_realm = X\n"))
	for name, c := range map[string]struct {
		err  func() error
		want string
	}{
		"no keytab":       {func() error { _, err := NewAcceptor(filepath.Join(dir, "none")); return err }, "no such file"},
		"a bad keytab":    {func() error { _, err := NewAcceptor(file("bad", "\x05\x02\x7f\xff\xff\xff")); return err }, "malformed"},
		"an empty keytab": {func() error { _, err := NewAcceptor(file("empty", "\x05\x02")); return err }, "has no keys"},
		"a bad cache":     {func() error { _, err := FromCache(file("cc", "\x05\x04\x00")); return err }, "kinit"},
		"an empty cache":  {func() error { _, err := FromCache(file("cc0", "")); return err }, "kinit"},
	} {
		if err := c.err(); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), dir) {
			t.Errorf("%s: %v", name, err)
		}
	}
	t.Setenv("KRB5_CONFIG", filepath.Join(dir, "none"))
	if _, err := FromKeytab("x", "ada"); err == nil || !strings.Contains(err.Error(), "KRB5_CONFIG") {
		t.Error(err)
	}
}

// TestSlowKDC: a KDC that does not answer makes nobody wait longer than a context says.
func TestSlowKDC(t *testing.T) {
	t.Parallel()
	c := newCredentials()
	c.turn <- struct{}{} // another goroutine waits for the KDC
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.ticket(ctx, "a/b"); !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "no KDC answers") {
		t.Error(err)
	}
}
