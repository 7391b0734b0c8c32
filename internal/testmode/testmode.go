// Package testmode tells tests whether to run in their short or in their long form.
//
// The short form of all tests takes about a minute and is the same every time. The long form, with
// NOCOPY_LONG in the environment, as in CI, has large inputs, more rounds, and new seeds each
// time.
package testmode

import (
	"math/rand/v2"
	"os"
	"runtime/debug"
	"testing"
)

// In the short form, unless GOGC is set, the garbage collector runs a quarter as often, also in
// compilers that tests run: it took a third of some packages' time. Tests of memory call it
// themselves.
func init() {
	if !Long && os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
		os.Setenv("GOGC", "400")
	}
}

// Instrumented reports whether the build allocates more than usual, and may disable pools.
const Instrumented = Race || Debug

// Long reports whether tests run in their long form.
var Long = os.Getenv("NOCOPY_LONG") != ""

// Seed returns a seed for random input, and logs it. It is fixed in the short form, and another
// one each time in the long form.
func Seed(t testing.TB) uint64 {
	seed := uint64(1)
	if Long {
		seed = rand.Uint64()
	}
	t.Log("seed", seed)
	return seed
}

// Of returns short in the short form, and long in the long form.
func Of(short, long int) int {
	if Long {
		return long
	}
	return short
}
