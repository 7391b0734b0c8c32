package compact_test

import (
	"encoding/hex"
	"os"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// TestCompactJava: doubles in fields, lists, sets and maps have the bytes that libthrift for
// Java writes, both ways. testdata/java says how they were made.
func TestCompactJava(t *testing.T) {
	text, err := os.ReadFile("testdata/java/doubles.txt")
	if err != nil {
		t.Fatal(err)
	}
	bytesOf := map[string]string{}
	for line := range strings.Lines(string(text)) {
		name, digits, _ := strings.Cut(strings.TrimSpace(line), " ")
		b, err := hex.DecodeString(digits)
		if err != nil {
			t.Fatal(err)
		}
		bytesOf[name] = string(b)
	}
	if len(bytesOf["compact"]) < 600 || len(bytesOf["binary"]) < 600 {
		t.Fatalf("the golden bytes are %q", bytesOf)
	}
	for _, w := range ways() {
		s, err := w.parse(orderDesc, []byte(bytesOf["compact"]))
		if err != nil {
			t.Fatalf("%s: %v", w.name, err)
		}
		if got := s.Message().Bytes(); string(got) != bytesOf["binary"] {
			t.Errorf("%s: in Thrift Binary it is\n%x, not\n%x", w.name, got, bytesOf["binary"])
		}
		s.Release()
	}
	s, err := thriftimpl.Parse(orderDesc, []byte(bytesOf["binary"]))
	if err != nil {
		t.Fatal(err)
	}
	checkCompact(t, "Java's", nocopy.Struct(s).Message(), []byte(bytesOf["compact"]))
}
