package nocopy

import "github.com/nocopythrift/nocopythrift/internal/entry"

// The words of the fields that an XRow writes.

// at returns the word of field f of the struct of entry e.
func (r *XRow) at(e uint32, f XField) uint32 {
	if int32(f) < 0 {
		return r.wideAt(e, f)
	}
	return r.idx[e+f.Word()]
}

//go:noinline
func (r *XRow) wideAt(e uint32, f XField) uint32 {
	return tableAt(r.idx, r.idx[e+tableWord], f)
}

// set sets the word of field f of the struct that is being written.
func (r *XRow) set(f XField, word uint32) {
	if int32(f) < 0 {
		r.setWide(f, word)
	} else {
		r.idx[r.e+uint32(f>>entry.WordShift)] = word
	}
}

//go:noinline
func (r *XRow) setWide(f XField, word uint32) { r.idx[r.wideWord(r.e, f)] = word }

// word returns the index of the word of field f of the struct that is being written.
func (r *XRow) word(f XField) uint32 { return r.wordIn(r.e, f) }

// wordIn returns the index of the word of field f of the struct of entry e.
func (r *XRow) wordIn(e uint32, f XField) uint32 {
	if int32(f) < 0 {
		return r.wideWord(e, f)
	}
	return e + f.Word()
}

// wideWord returns the index of the word of field f of the wide struct of entry e, having added it
// to the struct's table if need be. The word stays where it is until another field is added.
func (r *XRow) wideWord(e uint32, f XField) uint32 {
	n, span := f.Word(), f.Words()
	t := r.idx[e+tableWord]
	if span <= flatSpan {
		t, at := r.addToFlat(t, n, span)
		r.idx[e+tableWord] = t
		return at
	}
	t, outer := r.addToFlat(t, n>>chunkLog, entry.Chunks(span))
	r.idx[e+tableWord] = t
	inner, at := r.addToFlat(r.idx[outer], n&chunkMask, chunkSpan)
	r.idx[outer] = inner
	return at
}

// addToFlat returns where word n is in table t of one level, for span words, having added it if
// need be, and the number of the table then. A t of 0 is an empty table.
func (r *XRow) addToFlat(t, n, span uint32) (table, at uint32) {
	room := entry.BareTable(span) + max(r.m.tableSlots, leastSlots)
	if t != 0 {
		if at := addToSet(r.idx[t:][:r.idx[t+tableRoom]], n); at != 0 {
			return t, t + at
		}
		room = roomForMore(r.idx[t:], span)
		r.m.tableSlots = min(room-entry.BareTable(span), mostSlots)
	}
	to := r.spare
	if to != 0 && r.idx[to+tableRoom] >= room {
		clear(r.idx[to+tableUsed : to+r.idx[to+tableRoom]])
		r.spare = 0
	} else {
		to = r.alloc(int(room))
		r.idx[to+tableRoom] = room
		r.tables = true
	}
	fillTable(r.idx, to, t, span)
	if t != 0 {
		r.spare = t
	}
	return to, to + addToSet(r.idx[to:][:r.idx[to+tableRoom]], n)
}
