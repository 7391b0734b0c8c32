package chain

import (
	"reflect"

	"github.com/nocopythrift/nocopythrift/internal/memory"
)

// Reset empties the Buffer for a new message. With recycle, its blocks come from pools and go back
// there at the next Reset or Free. Without recycle, a block is used again only if no part of it
// was lent or shared; otherwise it is left to the garbage collector.
func (b *Buffer) Reset(recycle bool) {
	if !b.IsReady(recycle) {
		b.start(recycle)
	}
	b.Use()
}

// start empties a Buffer in any state, and makes its tables if it has none.
func (b *Buffer) start(recycle bool) {
	if len(b.spans) == 0 {
		b.spans, b.nodes, b.pieces = append(b.few.spans[:0], span{}), noNodes[:], b.few.pieces[:0]
		b.edits = &noEdits
	}
	b.Start(recycle)
	b.reset()
	b.mostSpans = fewSpans
}

// reset removes the spans, nodes and pieces, and all other facts about the message except those
// about its memory.
func (b *Buffer) reset() {
	b.spans, b.nodes, b.pieces = b.spans[:1], b.nodes[:1], b.pieces[:0]
	if e := b.edits; e.order.n|e.spanOrder.n != 0 || e.parts != nil {
		e.order.reset()
		e.spanOrder.reset()
		e.parts = nil
	}
	b.root, b.open, b.owner = run{}, 0, 0
	b.size, b.headroom = 0, 0
	b.sealed, b.framed = false, false
}

// Begin is Reset and OpenRoot: it empties the Buffer, and opens the run of a new message at the
// tail, after headroom free bytes.
func (b *Buffer) Begin(recycle bool, headroom int) {
	if !b.Rebuild(recycle, headroom) {
		b.Reset(recycle)
		b.OpenRoot(headroom)
		return
	}
	at := b.Tail()
	b.spans = append(b.spans, span{from: at, to: at})
	b.root, b.open, b.headroom = run{1, 1}, 1, uint32(headroom)
}

// BeginIn is Begin for a Buffer that recycles. The message begins in the memory of c, which is
// from HoldOwned. Bytes that do not fit there go into blocks of the Buffer's own.
func (b *Buffer) BeginIn(c memory.Chunk, headroom int) {
	b.Reset(true)
	b.Space.BeginIn(c)
	b.OpenRoot(headroom)
}

// OwnPiece returns the owner of the memory passed to BeginIn, and where the message is in it: n
// bytes, beginning at byte at. The owner is nil if any part of the message is elsewhere. The
// Buffer must be sealed.
func (b *Buffer) OwnPiece() (owner memory.Owner, at, n int) {
	if len(b.pieces) != 1 {
		return nil, 0, 0
	}
	return b.OwnerOf(b.pieces[0].from, b.pieces[0].to)
}

// Refer empties the Buffer and makes mem, the caller's memory, the whole message, without copying
// it. It returns the position of the first byte, and seals the message. With own, the Buffer may
// store into mem.
func (b *Buffer) Refer(mem []byte, recycle, own bool) Pos {
	if !b.CanReferAgain(mem, recycle) {
		return b.referAnew(mem, recycle, own)
	}
	b.ReferAgain(mem, own)
	end := FirstPos + Pos(len(mem))
	b.spans[1].to, b.pieces[0].to, b.size = end, end, len(mem)
	return FirstPos
}

// referAnew is Refer for a Buffer that cannot reuse the tables of an earlier call.
func (b *Buffer) referAnew(mem []byte, recycle, own bool) Pos {
	b.Reset(recycle)
	p := b.ReferTo(mem, own)
	b.SetRoot(p, p+Pos(len(mem)))
	return p
}

// Free empties the Buffer and gives its blocks back, except what the state of its Space keeps for
// the next message.
func (b *Buffer) Free() {
	if memory.Debugging {
		checkShared()
	}
	e := memory.Edited
	if len(b.nodes) == 1 {
		if e = memory.Appended; b.sealed && len(b.spans) == 2 && b.spans[1].from == FirstPos {
			if e = memory.Unchanged; b.OnlyReferred() {
				b.Forget()
				return
			}
		}
	}
	switch b.Space.Free(e) {
	case memory.ReadyToRefer: // Refer makes the span longer
		if e != memory.Unchanged { // else the tables are so already
			b.reset()
			b.SetRoot(FirstPos, FirstPos)
		}
	case memory.Ready:
		b.reset()
		b.mostSpans = fewSpans
	case memory.ReadyToBuild:
		b.reset()
	}
}

// checkShared panics if something was stored into what all Buffers share, which must stay zero.
func checkShared() {
	memory.CheckZeroes()
	for _, v := range []any{noEdits, noNodes} {
		if !reflect.ValueOf(v).IsZero() {
			panic("nocopy: internal error: stored into what all Buffers share")
		}
	}
}

// Shrink gives up the tables, which may have grown larger than the next messages need. The Buffer
// must be free.
func (b *Buffer) Shrink() {
	b.Space.Shrink()
	b.spans, b.nodes, b.pieces, b.edits = nil, nil, nil, &noEdits
}
