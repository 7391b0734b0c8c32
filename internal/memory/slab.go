package memory

import "sync"

// slab is the unused end of a garbage-collected slab.
type slab struct{ mem []byte }

// slabs holds what Receivers that wait for bytes, and small messages, have left of their slabs.
var slabs = sync.Pool{New: func() any { return new(slab) }}

// partOfSlab returns n bytes of a slab that messages share, contents undefined. n is at most
// smallPart.
func partOfSlab(n int) []byte {
	if Debugging {
		return fresh(n)
	}
	s := slabs.Get().(*slab)
	if len(s.mem) < n {
		s.mem = fresh(SlabSize)
	}
	part := s.mem[:n:n]
	s.mem = s.mem[n:]
	slabs.Put(s)
	return part
}

// shareRest lets other messages use the rest of a slab whose message has moved elsewhere.
func shareRest(mem []byte) {
	if !Debugging && len(mem) >= smallPart {
		slabs.Put(&slab{mem[:len(mem):len(mem)]})
	}
}

// restOfSlab returns the rest of a slab that is enough for many messages, or nil.
func restOfSlab() []byte {
	s := slabs.Get().(*slab)
	if len(s.mem) < smallPart {
		slabs.Put(s)
		return nil
	}
	return s.mem
}
