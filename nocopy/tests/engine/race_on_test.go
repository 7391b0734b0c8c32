// raceEnabled tells tests whether the race detector is on. Here it is.

//go:build race

package engine_test

const raceEnabled = true
