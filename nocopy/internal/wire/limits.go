package wire

// The limits of messages. All that reads messages has the same: package nocopy, JSON, Apache's
// library, the compact protocol, calls. docs/internals.md has a table of them.
const (
	DefaultMaxBytes = 100 << 20 // the value of a MaxBytes of 0 in nocopy.Limits
	DefaultMaxDepth = 64        // the value of a MaxDepth of 0
	MostDepth       = 1 << 16   // the largest MaxDepth: more takes too much stack
)
