package hivekerberos_test

import (
	"database/sql"
	"os"
	"strings"
	"testing"

	_ "github.com/nocopythrift/nocopythrift/kerberos/hivekerberos"
)

// TestRealHive asks HiveServer2, after a login by Kerberos, who the client is.
func TestRealHive(t *testing.T) {
	dsn := os.Getenv("NOCOPY_HIVE_DSN")
	if !strings.Contains(dsn, "auth=KERBEROS") {
		t.Skip("SKIPPED: ../hive/hive.sh -kerberos auth-conf go test ./hivekerberos runs it, from the module's folder")
	}
	db, err := sql.Open("hive", dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var name, text string
	if err := db.QueryRowContext(t.Context(), "SELECT logged_in_user(), repeat('x', 300000)").Scan(&name, &text); err != nil || name != "ada" || len(text) != 300_000 {
		t.Errorf("%q, %d bytes: %v", name, len(text), err)
	}
	other, err := sql.Open("hive", strings.Replace(dsn, "localhost", "127.0.0.1", 1))
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if err := other.PingContext(t.Context()); err == nil || !strings.Contains(err.Error(), "does not know the service") {
		t.Error(err)
	}
}
