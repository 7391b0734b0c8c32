package audit_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/nocopythrift/nocopythrift/gen/audit"
)

func ExampleCompare() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	in := audit.Input{Old: filepath.Join(dir, "old.thrift"), New: filepath.Join(dir, "new.thrift")}
	os.WriteFile(in.Old, []byte("struct User { 1: i64 id, 2: string name }"), 0o666)
	os.WriteFile(in.New, []byte("struct User { 1: i64 id, 2: string full_name }"), 0o666)

	old, new, err := audit.Load(in)
	if err != nil {
		panic(err)
	}
	for _, f := range audit.Compare(old, new, audit.Options{}) {
		fmt.Printf("line %d: %s: %s (%s)\n", f.New.Line, f.Severity, f.Message, f.Breaks)
	}
	// Output: line 1: warning: field 2 of User renamed from name to full_name (breaks json, source)
}
