// Tests ask here whether the race detector is on: it is not.

//go:build !race

package engine

const raceEnabled = false
