package zookeeper_test

import (
	"database/sql"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/hive"
)

// TestRealZooKeeper finds a real HiveServer2 in a real ZooKeeper: ./hive.sh -zookeeper starts
// both.
func TestRealZooKeeper(t *testing.T) {
	dsn := os.Getenv("NOCOPY_HIVE_DSN")
	if !strings.Contains(dsn, "discovery=zookeeper") {
		t.Skip("./hive.sh -zookeeper go test ./zookeeper runs it")
	}
	cfg, err := hive.ParseDSN(dsn)
	if err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Second) {
		addrs, err := cfg.Discover(t.Context())
		if len(addrs) == 1 && strings.HasSuffix(addrs[0], ":10000") {
			t.Log(addrs)
			break
		}
		if time.Now().After(end) { // the server listens before it registers
			t.Fatal(addrs, err)
		}
	}
	db, err := sql.Open("hive", dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var n int
	if err := db.QueryRow("SELECT 1").Scan(&n); err != nil || n != 1 {
		t.Error(n, err)
	}
}
