// raceEnabled tells tests that the race detector is off.

//go:build !race

package spare

const raceEnabled = false
