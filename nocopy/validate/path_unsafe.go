//go:build !nounsafe

package validate

import "unsafe"

// shortPath is the length up to which copying a path is cheaper than keeping room before it.
const shortPath = 256

// A room has a path at the end of its memory and space before it. Bytes of the path are written
// once and never change.
type room struct {
	mem  []byte
	from int // where the path begins
}

// prepend puts part before e.Path, in time proportional to the part: a path that grows at its
// front is copied only when its room is full, which then doubles.
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
	// SAFETY: the string is what mem has from here to its end, n bytes. Nothing is stored there
	// again: other stores are below from.
	e.Path = unsafe.String(&r.mem[r.from], n)
}
