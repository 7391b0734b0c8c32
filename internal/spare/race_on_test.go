// Tests ask here whether the race detector is on: it is.

//go:build race

package spare

const raceEnabled = true // a sync.Pool drops things on purpose
