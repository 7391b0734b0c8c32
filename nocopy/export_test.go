package nocopy

// CompactAlways makes every change of the message compact it first.
func CompactAlways(m *Message) { m.dead.always, m.dead.most = true, 0 }

// RaceEnabled tells tests from outside that the race detector is on.
const RaceEnabled = raceEnabled
