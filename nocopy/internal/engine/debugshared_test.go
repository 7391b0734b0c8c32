package engine

import "testing"

// TestSharedState: with the tag nocopydebug, the end of a message notices a store into what all
// messages share.
func TestSharedState(t *testing.T) {
	if !debugging {
		t.Skip("only with the tag nocopydebug")
	}
	for name, c := range map[string]struct{ store, undo func() }{
		"seldom": {func() { noSeldom.indexNode++ }, func() { noSeldom.indexNode-- }},
		"edits":  {func() { noEdits[0].dead++ }, func() { noEdits[0].dead-- }},
	} {
		m := New(emptyDesc).Message()
		c.store()
		func() {
			defer func() {
				c.undo()
				if recover() == nil {
					t.Errorf("%s: a store was not noticed", name)
				}
			}()
			m.endMore()
		}()
		m.Release()
	}
}
