package hive_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/hive"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// TestDSNCertificates: a data source name names files with the certificates to trust, and with the
// client's own. Wrong files are errors, which do not quote what is in them.
func TestDSNCertificates(t *testing.T) {
	server, _ := certificates(t)
	server.ClientAuth = tls.RequireAnyClientCert // httptest has none that is meant for clients
	key, err := x509.MarshalPKCS8PrivateKey(server.Certificates[0].PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file := func(name string, text []byte) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	block := func(kind string, b []byte) []byte { return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: b}) }
	certFile := file("cert.pem", block("CERTIFICATE", server.Certificates[0].Certificate[0]))
	keyFile := file("key.pem", block("PRIVATE KEY", key))
	secret := file("secret.pem", []byte("secret"))
	large := file("large.pem", make([]byte, 5<<20))
	dsn := func(parameters ...string) string {
		q := url.Values{}
		for i := 0; i < len(parameters); i += 2 {
			q.Set(parameters[i], parameters[i+1])
		}
		return "hive://" + good().Serve(t, &rpc.Server{TLS: server}) + "/?auth=NOSASL&" + q.Encode()
	}
	cfg, err := hive.ParseDSN(dsn("tls", "true", "tlsCA", certFile, "tlsCert", certFile, "tlsKey", keyFile))
	if err != nil {
		t.Fatal(err)
	}
	works(t, cfg)
	for want, name := range map[string]string{
		"certificate signed by unknown authority":      dsn("tls", "true", "tlsCert", certFile, "tlsKey", keyFile),
		"trusts: set Config.TLS.Certificates (tlsCert": dsn("tls", "true", "tlsCA", certFile),
		"need tls=true":                      dsn("tlsCA", certFile),
		"need tls=true ":                     dsn("tls", "false", "tlsCert", certFile, "tlsKey", keyFile),
		"has no effect with tls=skip-verify": dsn("tls", "skip-verify", "tlsCA", certFile),
		"need each other":                    dsn("tls", "true", "tlsCert", certFile),
		"need each other ":                   dsn("tls", "true", "tlsKey", keyFile),
		"tlsCA: open":                        dsn("tls", "true", "tlsCA", certFile+"x"),
		"has no certificate":                 dsn("tls", "true", "tlsCA", secret),
		"is larger than":                     dsn("tls", "true", "tlsCA", large),
		"tlsCert: open":                      dsn("tls", "true", "tlsCert", certFile+"x", "tlsKey", keyFile),
		"tlsKey: open":                       dsn("tls", "true", "tlsCert", certFile, "tlsKey", keyFile+"x"),
		"failed to find any PEM data":        dsn("tls", "true", "tlsCert", certFile, "tlsKey", secret),
	} {
		cfg, err := hive.ParseDSN(name)
		if err == nil {
			_, err = hive.Connect(t.Context(), cfg)
		}
		if err == nil || !strings.Contains(err.Error(), strings.TrimSpace(want)) || strings.Contains(strings.ReplaceAll(err.Error(), "secret.pem", ""), "secret") {
			t.Errorf("%s: %v", want, err)
		}
	}
}
