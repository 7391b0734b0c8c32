package engine

import "github.com/nocopythrift/nocopythrift/internal/chain"

// toSend links at most so many pieces, of messages of at most so many bytes, since each piece
// takes up to 2 MiB of positions, of which there are 2 GiB. It copies the rest.
const (
	mostLinks  = 500
	mostLinked = 512 << 20
)

// toSend returns a message with the wire bytes that the message of s has now, and room for n bytes
// before them. s is the root, and finished. The message can be sent and released, and nothing
// else: it has no index. Pieces of 4 KiB and more are linked, but for memory of the caller's,
// which is copied, as smaller pieces are. Neither message sees changes of the other, and any
// number of goroutines may call toSend of one message.
func (s Struct) toSend(flags flag, limits Limits, n int) *Message {
	from := s.m
	r := from.rangeOf(from.root, from.desc.Type(), chain.Range{})
	m := takeParsed(from.desc, flags, limits)
	m.buf.Begin(flags&Recycle != 0, n)
	m.root = m.alloc(from.desc.Words())
	m.levelled = m.words // how deep structs are nested was found out when s was finished
	if from.pending&(carriesIndex|placedIndex) != 0 {
		m.guarded, m.pending = true, carriesIndex
	}
	if n := r.Len(); n < ReferSize || n > mostLinked {
		_, b := m.buf.Extend(r.Len())
		r.AppendTo(b[:0])
		m.buf.Close()
		return m
	}
	m.buf.Close()
	links := 0
	r.Pieces(func(at chain.Pos, mem []byte) bool {
		if len(mem) >= ReferSize && links < mostLinks && !from.buf.Foreign(at) {
			links++
			p := m.buf.Share(&from.buf, at, len(mem))
			m.buf.AddRoot(p, p+chain.Pos(len(mem)))
			return true
		}
		p, b := m.buf.Place(len(mem))
		copy(b, mem)
		m.buf.AddRoot(p, p+chain.Pos(len(mem)))
		return true
	})
	return m
}
