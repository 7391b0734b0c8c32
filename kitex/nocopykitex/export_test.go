// What tests of this package see of its inside.

package nocopykitex

// Held returns how many slices of netpoll's buffers are held by messages that recycle.
func Held() int64 { return held.Load() }
