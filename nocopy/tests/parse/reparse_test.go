package parse_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
)

// TestReparseLacking: Reparse takes structs that lack required fields, as the parts of messages
// may that a program has built.
func TestReparseLacking(t *testing.T) {
	inner := "\x08\x00\x01\x00\x00\x00\x05\x00" // has no name
	for _, b := range []string{"\x00", inner, "\x0c\x00\x03" + inner + "\x00", "\x0f\x00\x04\x0c\x00\x00\x00\x02" + inner + "\x00\x00"} {
		if s, err := engine.Parse(strictDesc, []byte(b)); !errors.Is(err, nocopy.ErrMissingRequired) {
			s.Release()
			t.Errorf("Parse of %x: %v", b, err)
		}
		s := engine.Reparse(strictDesc, []byte(b), 64)
		if !s.Valid() {
			t.Fatalf("Reparse of %x: nothing", b)
		}
		if got := string(s.Message().Bytes()); got != b {
			t.Errorf("Reparse of %x: %x", b, got)
		}
		s.Release()
	}
	deep := nest(4, "\x0c\x00\x03", "\x00", "\x00")
	if s := engine.Reparse(strictDesc, bytes.Clone(deep), 4); s != (engine.Struct{}) {
		t.Error("Reparse of 5 structs in each other, where 4 are allowed")
	}
	if s := engine.Reparse(strictDesc, deep, 5); !s.Valid() {
		t.Error("Reparse of 5 structs: nothing")
	}
}
