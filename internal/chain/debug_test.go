package chain

import (
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/memory"
)

// TestSharedZeros: with the tag nocopydebug, Free notices a store into what all Buffers share.
func TestSharedZeros(t *testing.T) {
	if !memory.Debugging {
		t.Skip("only with the tag nocopydebug")
	}
	for name, c := range map[string]struct{ store, undo func() }{
		"edits": {func() { noEdits.spanOrder.n++ }, func() { noEdits.spanOrder.n-- }},
		"nodes": {func() { noNodes[0].at++ }, func() { noNodes[0].at-- }},
	} {
		var b Buffer
		b.Refer([]byte{0}, false, false)
		b.Seal()
		c.store()
		func() {
			defer func() {
				c.undo()
				if recover() == nil {
					t.Errorf("%s: a store was not noticed", name)
				}
			}()
			b.Free()
		}()
		b.Free()
	}
}
