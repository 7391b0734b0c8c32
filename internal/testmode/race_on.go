//go:build race

package testmode

// Race reports whether the race detector is on.
const Race = true
