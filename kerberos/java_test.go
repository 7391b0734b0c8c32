package kerberos

import (
	"bufio"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// peer returns a command of Apache's library for Java: see java/Peer.java.
func peer(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("java", append([]string{"-Djava.security.krb5.conf=" + os.Getenv("KRB5_CONFIG"), "-Xmx256m",
		"-cp", os.Getenv("NOCOPY_KERBEROS_JAVA"), "Peer"}, args...)...)
	cmd.Stderr = os.Stderr
	return cmd
}

// TestJava: Apache's TSaslClientTransport calls our server, and our client its
// TSaslServerTransport, with each quality. ./java.sh runs it.
func TestJava(t *testing.T) {
	if os.Getenv("NOCOPY_KERBEROS_JAVA") == "" {
		t.Skip("SKIPPED: ./java.sh runs it")
	}
	a, err := NewAcceptor(inKDC("server.keytab"))
	if err != nil {
		t.Fatal(err)
	}
	ada, err := FromKeytab(inKDC("client.keytab"), "ada")
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range []QOP{Auth, AuthInt, AuthConf} {
		for _, mutual := range []string{"true", "false"} {
			addr, log := serve(t, a, q)
			_, port, _ := net.SplitHostPort(addr)
			out, err := peer(t, "client", inKDC("client.keytab"), "ada", q.String(), port, mutual).Output()
			if err != nil || !strings.Contains(string(out), "ok") {
				t.Errorf("Java's client, %v, mutual %s: %v %s; our log: %s", q, mutual, err, out, &log.text)
			}
		}
		server := peer(t, "server", inKDC("server.keytab"), "store/localhost", q.String())
		stdout, err := server.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := server.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { server.Process.Kill(); server.Wait() })
		line, err := bufio.NewReader(stdout).ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		c, err := dial(t, net.JoinHostPort("127.0.0.1", strings.TrimSpace(line)), NewClient(ada, "store", "localhost", q))
		if err != nil {
			t.Errorf("Java's server, %v: %v", q, err)
			continue
		}
		for _, n := range []int{0, 1, 1000, 100_000, 2_000_000} {
			if err := roundTrip(t, c, []byte(strings.Repeat("x", n))); err != nil {
				t.Errorf("Java's server, %v, %d bytes: %v", q, n, err)
			}
		}
	}
}
