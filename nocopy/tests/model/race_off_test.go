// Tests ask here whether the race detector is on: it is not.

//go:build !race

package model_test

const raceEnabled = false
