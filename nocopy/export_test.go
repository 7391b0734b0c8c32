// What tests outside of the package need of its inside.

package nocopy

// CompactAlways makes every change of the message compact it first.
func CompactAlways(m *Message) { m.dead.everyChange, m.maybeFull = true, true }

// RaceEnabled tells tests from outside that the race detector is on.
const RaceEnabled = raceEnabled
