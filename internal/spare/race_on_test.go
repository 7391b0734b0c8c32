// raceEnabled tells tests that the race detector is on.

//go:build race

package spare

const raceEnabled = true // a sync.Pool then drops items on purpose
