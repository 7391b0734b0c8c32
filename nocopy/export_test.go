package nocopy

// RaceEnabled tells tests from outside that the race detector is on.
const RaceEnabled = raceEnabled
