// raceEnabled tells tests that the race detector is off.

//go:build !race

package model_test

const raceEnabled = false
