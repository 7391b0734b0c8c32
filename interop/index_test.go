// Other libraries read messages that carry an index.

package interop_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/thrift/lib/go/thrift"

	apache "github.com/nocopythrift/nocopythrift/interop/internal/apache/thrifttest"
	"github.com/nocopythrift/nocopythrift/interop/thrifttest"
	"github.com/nocopythrift/nocopythrift/nocopy"
)

// indexedInsanity returns a message with an index, and what indexed.py and Indexed.java print of
// it.
func indexedInsanity(t *testing.T) (wire []byte, printed string) {
	v := thrifttest.NewInsanity(nocopy.WithIndex)
	defer v.Release()
	v.NewUserMap(1).Put(thrifttest.Numberz_EIGHT, 8000000000)
	list := v.NewXtructs(3000)
	var out strings.Builder
	fmt.Fprintln(&out, 1, int64(8000000000), 3000, 0)
	for i := range list.Len() {
		x := list.At(i)
		x.SetStringThing(fmt.Sprint("element-", i))
		x.SetByteThing(int8(i % 100))
		x.SetI32Thing(int32(i))
		x.SetI64Thing(int64(i) << 32)
		fmt.Fprintln(&out, x.GetStringThing(), i%100, i, int64(i)<<32)
	}
	wire = v.Message().AppendTo(nil)
	s, err := thrifttest.ParseInsanity(wire, nocopy.RequireIndex)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Release()
	if err := s.Message().Index(); err != nil {
		t.Fatal(err)
	}
	return wire, out.String()
}

// TestIndexedInGo: Apache Thrift's Go library reads a message with an index as one without.
func TestIndexedInGo(t *testing.T) {
	wire, want := indexedInsanity(t)
	in := &thrift.TMemoryBuffer{Buffer: bytes.NewBuffer(wire)}
	v := apache.NewInsanity()
	if err := v.Read(context.Background(), thrift.NewTBinaryProtocolConf(in, nil)); err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	fmt.Fprintln(&got, len(v.UserMap), v.UserMap[apache.Numberz_EIGHT], len(v.Xtructs), in.Len())
	for _, x := range v.Xtructs {
		fmt.Fprintln(&got, x.StringThing, x.ByteThing, x.I32Thing, x.I64Thing)
	}
	if got.String() != want {
		t.Errorf("Apache's library reads\n%.500s not\n%.500s", got.String(), want)
	}
}

// inFile runs a program with a file of the message, and returns what it prints.
func inFile(t *testing.T, wire []byte, name string, args ...string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "insanity")
	if err := os.WriteFile(file, wire, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(name, append(args, file)...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

// TestIndexedInPython does so with the Python library, in Python and with its C extension.
func TestIndexedInPython(t *testing.T) {
	wire, want := indexedInsanity(t)
	interpreter, err := python()
	if err != nil {
		t.Skipf("SKIPPED, nothing was tested against Apache Thrift's Python library: %v", err)
	}
	if got := inFile(t, wire, interpreter, "-B", "python/indexed.py"); got != want+want {
		t.Errorf("Apache's library reads\n%.500s not\n%.500s", got, want)
	}
}

// TestIndexedInJava does so with the Java library, if NOCOPY_INTEROP is set.
func TestIndexedInJava(t *testing.T) {
	dir := peer{folder: "java"}.build(t)
	wire, want := indexedInsanity(t)
	if got := inFile(t, wire, filepath.Join(dir, "indexed")); got != want {
		t.Errorf("Apache's library reads\n%.500s not\n%.500s", got, want)
	}
}
