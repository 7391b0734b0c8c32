package engine

import (
	"strings"
	"testing"
)

// TestChangeUnderWay: a change that begins while another one is under way panics, and the message
// can be changed afterwards. Only several goroutines bring that about, so the test notes the other
// change itself.
func TestChangeUnderWay(t *testing.T) {
	wire := fullWire(t)
	words := fieldNamed(allDesc, "words")
	list := func(s Struct) StringList { return StringList(s.Child(words, allDesc)) }
	for name, change := range map[string]func(s Struct){
		"Append":   func(s Struct) { list(s).Append("more") },
		"Swap":     func(s Struct) { list(s).Swap(0, 1) },
		"SortFunc": func(s Struct) { list(s).SortFunc(strings.Compare) },
		"Delete":   func(s Struct) { list(s).Delete(0, 1) },
		"NewChild": func(s Struct) { s.NewChild(words, allDesc, 1) },
	} {
		t.Run(name, func(t *testing.T) {
			s := mustParse(t, allDesc, wire)
			defer s.Release()
			s.m.buf.StartChange()
			func() {
				defer func() {
					want := "nocopy: " + allDesc.Name() + " was changed by several goroutines at once"
					if v := recover(); v != want {
						t.Errorf("panics with %v, not %q", v, want)
					}
				}()
				change(s)
			}()
			s.m.buf.EndChange()
			change(s)
			s.m.Finish()
		})
	}
}
