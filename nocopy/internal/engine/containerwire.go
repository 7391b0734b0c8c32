package engine

import "github.com/nocopythrift/nocopythrift/internal/chain"

// ContainerWire returns the wire bytes of a list, set or map: an alias if they are in one piece,
// else a copy; nil if it is absent. What is being built in it is completed.
func (s Struct) ContainerWire() []byte {
	s = s.orAbsent()
	s.alive()
	if s.m.isEmpty() {
		return nil
	}
	t := s.typ()
	if s.m.pending&byIndex != 0 && !s.m.fillByIndex(s.entry()) {
		return nil
	}
	if b, ok := s.WireIn(t); ok {
		s.m.buf.Lend()
		return b[:len(b):len(b)]
	}
	return s.m.rangeOf(s.entry(), t, chain.Range{}).AppendTo(nil)
}
