// Internals of this package for its tests.

package nocopykitex

// Held returns the number of slices of netpoll's buffers that messages hold.
func Held() int64 { return held.Load() }

// Forget sets Held to 0: held slices are left to the garbage collector.
func Forget() { held.Store(0) }

// Pieces returns the number of pieces of memory of encoded arguments.
func Pieces(a *Args) int { return len(a.body.wire) }
