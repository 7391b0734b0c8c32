// raceEnabled tells tests that the race detector is on.

//go:build race

package model_test

const raceEnabled = true
