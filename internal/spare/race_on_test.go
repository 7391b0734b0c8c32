//go:build race

package spare

const raceEnabled = true // a sync.Pool drops things on purpose
