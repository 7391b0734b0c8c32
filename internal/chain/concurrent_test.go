package chain

import "testing"

// TestChangedAtOnce: if the Buffer contradicts itself, as after changes by two goroutines at once,
// the panic says so. Nothing loops for ever.
func TestChangedAtOnce(t *testing.T) {
	for name, f := range map[string]func(b *Buffer){
		"the open span": func(b *Buffer) { b.open = 99; b.Sync() },
		"a run's end":   func(b *Buffer) { b.root.last = 99; b.AddRoot(1, 2) },
		"the root":      func(b *Buffer) { b.root.first = 99; b.Seal() },
		"a run that is after itself": func(b *Buffer) {
			b.span(b.root.last).next = b.root.first
			b.Seal()
		},
		"a content that is after itself": func(b *Buffer) {
			s := b.nodes[1].content.first
			b.span(s).next = s
			b.Seal()
		},
		"the same, and few nodes in one span": func(b *Buffer) {
			b.root.first = b.root.last
			s := b.nodes[1].content.first
			b.span(s).next = s
			b.Seal()
		},
		"a node in its own content": func(b *Buffer) {
			*b.span(b.nodes[1].content.first) = span{from: b.nodes[1].at, to: b.nodes[1].at + 8}
			b.Seal()
		},
	} {
		func() {
			var b Buffer
			b.Reset(false)
			first, _ := b.Place(8)
			b.AddRoot(first, first+8)
			at, _ := b.Place(8)
			b.AddRoot(at, at+8)
			n := b.AddReplace(at, at+4)
			from, _ := b.Place(2)
			b.AddContent(n, from, from+2)
			defer func() {
				if v := recover(); v != changedAtOnce {
					t.Errorf("%s: panic %v", name, v)
				}
			}()
			f(&b)
		}()
	}
}
