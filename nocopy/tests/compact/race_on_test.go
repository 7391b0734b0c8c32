// Tests ask here whether the race detector is on.

//go:build race

package compact_test

const raceEnabled = true
