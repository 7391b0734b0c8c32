package limits_test

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
)

// Products of counts and sizes must be right if an int has 32 bits. These tests also run there
// (.ci/run).

func TestHugeLimits(t *testing.T) {
	wire := []byte(structs(64))
	for _, l := range []engine.Limits{{MaxDepth: math.MaxInt}, {MaxDepth: 1 << 25}, {MaxBytes: math.MaxInt}, {MaxIndex: math.MaxInt}} {
		for _, w := range manyWays {
			s, err := w.Parse(allDesc, wire, l)
			if err != nil {
				t.Errorf("%+v, %s: %v", l, w.Name, err)
				continue
			}
			touchAll(s)
			s.Release()
		}
		_, err := engine.Parse(allDesc, []byte(times(testmode.Of(300_000, 3_000_000), self)), l)
		if err == nil {
			t.Errorf("%+v: no error", l)
		}
	}
}

// TestSameBlockManyTimes: blocks that are the same memory again and again, and in sum larger than
// the limit, are refused.
func TestSameBlockManyTimes(t *testing.T) {
	block := make([]byte, 16<<20)
	for _, n := range []int{7, 127, 128, 129, 255, 256, 257, 300, 3000} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			blocks := make([][]byte, n)
			for i := range blocks {
				blocks[i] = block
			}
			for _, opts := range [][]engine.Option{nil, {engine.Limits{MaxBytes: math.MaxInt}}} {
				if n < 65 && opts != nil {
					continue
				}
				var e *nocopy.Error
				if _, err := engine.ParseBlocks(allDesc, blocks, opts...); !errors.As(err, &e) || !errors.Is(err, nocopy.ErrLimit) {
					t.Errorf("%d blocks of 16 MiB, %v: %v", n, opts, err)
				}
			}
		})
	}
}
