// Tests ask here whether the race detector is on: it is.

//go:build race

package engine_test

const raceEnabled = true
