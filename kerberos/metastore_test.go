package kerberos

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy/dynamic"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// TestRealMetastore calls a Hive Metastore after a login by Kerberos, with the quality of
// protection that it has, which is in NOCOPY_METASTORE_QOP.
func TestRealMetastore(t *testing.T) {
	addr := os.Getenv("NOCOPY_METASTORE")
	if addr == "" {
		t.Skip("SKIPPED: ./metastore.sh runs it")
	}
	schema, err := dynamic.LoadText(map[string]string{"m.thrift": `
		exception AlreadyExists { 1: string message }
		struct Database { 1: string name, 2: string description, 3: string location }
		service ThriftHiveMetastore {
			list<string> get_all_databases()
			void create_database(1: Database database) throws (1: AlreadyExists o1)
		}`})
	if err != nil {
		t.Fatal(err)
	}
	service, err := schema.Service("ThriftHiveMetastore")
	if err != nil {
		t.Fatal(err)
	}
	var options []rpc.Option
	if file := os.Getenv("NOCOPY_METASTORE_CA"); file != "" {
		pem, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM(pem)
		options = append(options, rpc.TLS(&tls.Config{RootCAs: roots, ServerName: "localhost"}))
	}
	credentials, err := FromEnvironment()
	if err != nil {
		t.Fatal(err)
	}
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	login := NewClient(credentials, "hive", host, Auth|AuthInt|AuthConf)
	conn, err := dial(t, addr, login, options...)
	if err != nil {
		t.Fatal(err)
	}
	if want := os.Getenv("NOCOPY_METASTORE_QOP"); login.agreed.String() != want {
		t.Errorf("agreed on %v, not %s", login.agreed, want)
	}
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
