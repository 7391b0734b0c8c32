// Tests ask here whether the race detector is on: it is.

//go:build race

package nocopy

const raceEnabled = true
