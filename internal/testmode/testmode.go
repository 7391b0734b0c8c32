// Package testmode tells tests how much they are to do.
//
// Without further ado they take about a minute in all, and do the same every time. With
// NOCOPY_LONG in the environment, as in CI, they also have large inputs, more rounds, and other
// seeds each time.
package testmode

import (
	"math/rand/v2"
	"os"
	"testing"
)

// Long reports whether tests do all that they can.
var Long = os.Getenv("NOCOPY_LONG") != ""

// Seed returns a seed for random input, and logs it: always the same one, or another each time if
// Long.
func Seed(t testing.TB) uint64 {
	seed := uint64(1)
	if Long {
		seed = rand.Uint64()
	}
	t.Log("seed", seed)
	return seed
}

// Of returns short, or long if Long.
func Of(short, long int) int {
	if Long {
		return long
	}
	return short
}
