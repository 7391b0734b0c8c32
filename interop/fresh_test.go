package interop_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestFresh: the committed package thrifttest equals the output of nocopyc for the Apache
// module's ThriftTest.thrift.
func TestFresh(t *testing.T) {
	out := t.TempDir()
	idl := filepath.Join(apacheModule(t), "test", "ThriftTest.thrift")
	if b, err := exec.Command("go", "run", "github.com/nocopythrift/nocopythrift/gen/nocopyc", "-o", out, idl).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, b)
	}
	want, err := os.ReadFile(filepath.Join(out, "thrifttest", "ThriftTest.go"))
	if err != nil {
		t.Fatal(err)
	}
	have, err := os.ReadFile("thrifttest/ThriftTest.go")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(have)); diff != "" {
		t.Errorf("not fresh (run make gen):\n%.5000s", diff)
	}
}

// apacheModule returns the folder of the Apache Thrift module.
func apacheModule(t *testing.T) string {
	t.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/apache/thrift").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(dir))
}
