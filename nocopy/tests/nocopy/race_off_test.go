// raceEnabled tells tests whether the race detector is on.

//go:build !race

package nocopy_test

const raceEnabled = false
