//go:build !nounsafe

package validate

import "unsafe"

// shortPath is the length up to which copying a path is cheaper than keeping space before it.
const shortPath = 256

// A room has a path at the end of its memory and free space before the path. Bytes of the path are
// written once and never change.
type room struct {
	mem  []byte
	from int // where the path begins
}

// prepend puts part before e.Path, in time proportional to the part. The path is copied only when
// its room is full; the room then doubles.
func (e *Error) prepend(part string) {
	n := len(part) + len(e.Path)
	if n <= shortPath {
		e.Path = part + e.Path
		return
	}
	if part == "" {
		return
	}
	r := e.room
	if r == nil || r.from < len(part) || unsafe.StringData(e.Path) != &r.mem[r.from] || len(r.mem)-r.from != len(e.Path) {
		r = &room{make([]byte, 2*n), 2*n - len(e.Path)}
		copy(r.mem[r.from:], e.Path)
		e.room = r
	}
	r.from -= len(part)
	copy(r.mem[r.from:], part)
	// SAFETY: the string is the last n bytes of mem, which begin at from. Nothing is stored there
	// again: later stores are below from.
	e.Path = unsafe.String(&r.mem[r.from], n)
}
