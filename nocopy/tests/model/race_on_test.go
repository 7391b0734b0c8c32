// Tests ask here whether the race detector is on: it is.

//go:build race

package model_test

const raceEnabled = true
