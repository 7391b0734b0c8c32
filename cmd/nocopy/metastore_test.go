package main

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/kerberos"
	"github.com/nocopythrift/nocopythrift/nocopy/dynamic"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

const metastoreIDL = `
	exception AlreadyExistsException { 1: string message }
	struct Database { 1: string name, 2: string description, 3: string locationUri }
	service ThriftHiveMetastore {
		list<string> get_all_databases()
		void create_database(1: Database database) throws (1: AlreadyExistsException o1)
	}`

// realMetastore returns the address of the metastore that kerberos/metastore.sh has started, and
// the file with its certificate, "" without TLS.
func realMetastore(t *testing.T) (addr, ca string) {
	t.Helper()
	addr = os.Getenv("NOCOPY_METASTORE")
	if addr == "" {
		t.Skip("SKIPPED: ../../kerberos/metastore.sh runs it")
	}
	return addr, os.Getenv("NOCOPY_METASTORE_CA")
}

// TestRealMetastore: commands call a Hive Metastore in Kerberos mode.
func TestRealMetastore(t *testing.T) {
	addr, ca := realMetastore(t)
	flags := []string{"-idl", write(t, "hms.thrift", metastoreIDL), "-timeout", "1m", "-sasl", "GSSAPI", "-sasl-service"}
	if ca != "" {
		flags = append([]string{"-ca", ca}, flags...)
	}
	call := func(service string) (out, errs string, code int) {
		return nocopy(t, "", append([]string{"call", addr, "get_all_databases"}, append(flags, service)...)...)
	}
	if out, errs, code := call("hive"); code != 0 || !strings.Contains(out, `"default"`) {
		t.Errorf("%d %s%s", code, out, errs)
	}
	for service, want := range map[string]string{
		"store": "the server's log says why", // its principal is hive/localhost
		"hiv":   "the KDC does not know the service",
	} {
		if _, errs, code := call(service); code != 1 || !strings.Contains(errs, want) {
			t.Errorf("%s: %d %s; want %q", service, code, errs, want)
		}
	}
}

// TestRealMetastoreClient: a client of package rpc calls it, with the quality of protection in
// NOCOPY_METASTORE_QOP and no other.
func TestRealMetastoreClient(t *testing.T) {
	addr, ca := realMetastore(t)
	schema, err := dynamic.LoadText(map[string]string{"hms.thrift": metastoreIDL})
	if err != nil {
		t.Fatal(err)
	}
	service, err := schema.Service("ThriftHiveMetastore")
	if err != nil {
		t.Fatal(err)
	}
	credentials, err := kerberos.FromEnvironment()
	if err != nil {
		t.Fatal(err)
	}
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	qop := map[string]kerberos.QOP{"auth": kerberos.Auth, "auth-int": kerberos.AuthInt, "auth-conf": kerberos.AuthConf}[os.Getenv("NOCOPY_METASTORE_QOP")]
	options := []rpc.Option{rpc.SASL(kerberos.NewClient(credentials, "hive", host, qop))}
	if ca != "" {
		pem, err := os.ReadFile(ca)
		if err != nil {
			t.Fatal(err)
		}
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM(pem)
		options = append(options, rpc.TLS(&tls.Config{RootCAs: roots, ServerName: host}))
	}
	conn, err := rpc.Dial(t.Context(), "tcp", addr, options...)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	metastore := service.Client(conn)
	call := func(method string, database map[string]any) (string, error) {
		args, err := metastore.NewArgs(method)
		if err == nil && database != nil {
			err = args.Set("database", database)
		}
		if err != nil {
			return "", err
		}
		result, err := metastore.Call(t.Context(), method, args)
		return result.String(), err
	}
	if text, err := call("create_database", map[string]any{"name": "shop", "description": strings.Repeat("x", 4000)}); err != nil {
		t.Error(text, err)
	}
	if text, err := call("create_database", map[string]any{"name": "shop"}); err == nil || !strings.Contains(err.Error(), "shop already exists") {
		t.Error(text, err)
	}
	for range 100 { // each message has a number
		if text, err := call("get_all_databases", nil); err != nil || !strings.Contains(text, `"default", "shop"`) {
			t.Fatal(text, err)
		}
	}
}
