//go:build !race

package nocopy

const raceEnabled = false
