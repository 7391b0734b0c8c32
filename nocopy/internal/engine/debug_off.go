//go:build !nocopydebug

package engine

const debugging = false

// origin is what a build with the tag nocopydebug knows of where a message was made.
//
//lint:ignore U1000 embedded for the tag
type origin struct{}

// findWhere ends the text of a panic.
const findWhere = " (build with -tags nocopydebug to find where)"

func (*Message) track()   {}
func (*Message) untrack() {}

func (*Message) noteEnd() {}

func (*Message) whereEnded(uint64) string { return "" }

// Leaked returns where the messages were made that have not been released. It works only in builds
// with the tag nocopydebug; in others it returns nil.
func Leaked() []string { return nil }
