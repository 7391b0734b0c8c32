// Tests ask here whether the race detector is on: it is not.

//go:build !race

package engine_test

const raceEnabled = false
