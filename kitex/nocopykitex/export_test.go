// What tests of this package see of its inside.

package nocopykitex

// Held returns how many slices of netpoll's buffers are held by messages.
func Held() int64 { return held.Load() }

// Forget makes Held 0: what is held is left to the garbage collector.
func Forget() { held.Store(0) }

// Pieces returns of how many pieces of memory encoded arguments are.
func Pieces(a *Args) int { return len(a.body.wire) }
