package chain

import "testing"

// TestChangedAtOnce: where the Buffer contradicts itself, as after changes by two goroutines at
// once, the panic says that.
func TestChangedAtOnce(t *testing.T) {
	for name, f := range map[string]func(b *Buffer){
		"the open span": func(b *Buffer) { b.open = 99; b.Sync() },
		"a run's end":   func(b *Buffer) { b.root.last = 99; b.AddRoot(1, 2) },
		"the root":      func(b *Buffer) { b.root.first = 99; b.Seal() },
	} {
		func() {
			var b Buffer
			b.Reset(false)
			b.Begin(false, 0)
			at, _ := b.Place(8)
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
