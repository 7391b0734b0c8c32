package shared

import (
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// TestSharedTypes: a program that makes types as it goes costs no memory for each of them.
func TestSharedTypes(t *testing.T) {
	kept := func(types int) (n int) {
		var s Sizes
		for range types {
			s.Note(new(thriftimpl.Desc), 1<<20)
		}
		s.byType.Range(func(any, any) bool { n++; return true })
		return n
	}
	if few, many := kept(900), kept(5000); few != 900 || many > 1000 {
		t.Errorf("%d of 900 and %d of 5000 types", few, many)
	}
}
