package gateway

import "testing"

// TestLoan: a loan gets at most a quarter of the free memory, and can shrink at any time.
func TestLoan(t *testing.T) {
	b := budget{free: 1000}
	x, y := loan{from: &b}, loan{from: &b}
	for _, step := range []struct {
		of   *loan
		n    int
		ok   bool
		free int
	}{
		{&x, 251, false, 1000}, {&x, 250, true, 750}, {&x, 251, false, 750}, {&y, 188, false, 750}, {&y, 187, true, 563},
		{&x, 10, true, 803}, {&x, 10, true, 803}, {&y, 248, false, 803}, {&y, 247, true, 743}, {&x, 0, true, 753}, {&y, 0, true, 1000},
	} {
		if ok := step.of.set(step.n); ok != step.ok || b.free != step.free {
			t.Errorf("a loan of %d: %v, %d are free; want %v, %d", step.n, ok, b.free, step.ok, step.free)
		}
	}
}
