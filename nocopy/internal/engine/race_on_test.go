// Tests ask here whether the race detector is on: it is.

//go:build race

package engine

const raceEnabled = true
