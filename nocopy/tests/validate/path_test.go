//go:build !nounsafe

package validate_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy/validate"
)

// TestDeepPathCost: the path of an error in a deeply nested message takes memory, and therefore
// time, proportional to its length, not to the square.
func TestDeepPathCost(t *testing.T) {
	const levels = 60_000
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	err := validate.Value("count", "a value > 0", 0)
	for range levels {
		err = validate.In("next", err)
	}
	runtime.ReadMemStats(&after)
	path := strings.Repeat("next.", levels) + "count"
	if took := after.TotalAlloc - before.TotalAlloc; took > 20*uint64(len(path)) {
		t.Errorf("%d bytes for a path of %d", took, len(path))
	}
	if got := err.Error(); got != path+": expected a value > 0, got 0" {
		t.Errorf("%.40s", got)
	}
}
