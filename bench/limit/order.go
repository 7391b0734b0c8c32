package limit

import (
	"io"

	"github.com/bytedance/gopkg/lang/dirtmake"

	"github.com/nocopythrift/nocopythrift/bench/data"
	"github.com/nocopythrift/nocopythrift/bench/peer"
)

// orderRows returns the rows for values that are set in another order than the message's. They are
// set in Go slices, which are then written in the message's order. limit makes slices and buffer
// anew for every message, limit/reuse has the same for all.
func orderRows(set func(data.Catalog) data.Catalog) []peer.Row {
	return []peer.Row{
		{Peer: "limit", Make: func() peer.Step {
			return func(w io.Writer) uint64 {
				c := set(data.Catalog{})
				n := size(&c)
				return write(w, Append(dirtmake.Bytes(n, n), &c))
			}
		}},
		{Peer: "limit/reuse", Make: func() peer.Step {
			var c data.Catalog
			var kept []byte
			return func(w io.Writer) uint64 {
				c = set(c)
				out := Append(kept, &c)
				kept = out[:cap(out)]
				return write(w, out)
			}
		}},
	}
}

// setFields sets the fields of the items in v's order, and uses again what c has.
func setFields(c data.Catalog, v *data.FieldOrder) data.Catalog {
	c.Items = slice(c.Items, len(v.Items))
	for _, o := range v.Order {
		it, from := &c.Items[o.Index], &v.Items[o.Index]
		switch o.Field {
		case 0:
			it.ID = from.ID
		case 1:
			it.Name = from.Name
		case 2:
			it.Desc = from.Desc
		case 3:
			it.Count = from.Count
		case 4:
			it.Price = from.Price
		case 5:
			it.OK = from.OK
		}
	}
	return c
}

// setWords sets the words in v's order, and uses again what c has.
func setWords(c data.Catalog, v *data.WordOrder) data.Catalog {
	c.Words = slice(c.Words, len(v.Words))
	for _, i := range v.Order {
		c.Words[i] = v.Words[i]
	}
	return c
}

// editRows are the rows of many edits at random places: notes and buffer are made anew for every
// message, or are the same for all.
func editRows(v *data.Edits, wire []byte) []peer.Row {
	return []peer.Row{
		{Peer: "limit", Make: func() peer.Step {
			return func(w io.Writer) uint64 {
				notes := noteItems(nil, wire)
				n := len(wire) + noteEdits(notes, v.Edits)
				return write(w, putEdited(dirtmake.Bytes(n, n), wire, notes, v.Edits))
			}
		}},
		{Peer: "limit/reuse", Make: func() peer.Step {
			var notes []note
			var kept []byte
			return func(w io.Writer) uint64 {
				notes = noteItems(notes, wire)
				kept = room(kept, 0, len(wire)+noteEdits(notes, v.Edits))
				return write(w, putEdited(kept, wire, notes, v.Edits))
			}
		}},
	}
}

// note holds the places of an item's fields ID, Name and Desc in the message, and the number of
// the last edit of each, from 1, or 0 if there is none.
type note struct{ at, edit [3]uint32 }

// noteItems returns the places of the fields of b's items, without edits, in the memory of notes.
func noteItems(notes []note, b []byte) []note {
	p := field(b, 0, kList|1)
	notes = slice(notes, count(b, p+1))
	p += 5
	for i := range notes {
		var it note
		for b[p] != tStop {
			switch header(b, p) {
			case kI64 | 1:
				it.at[0], p = uint32(p), p+11
			case kString | 2:
				it.at[1], p = uint32(p), p+7+count(b, p+3)
			case kString | 3:
				it.at[2], p = uint32(p), p+7+count(b, p+3)
			case kI32 | 4:
				p += 7
			case kDouble | 5:
				p += 11
			case kBool | 6:
				p += 4
			default:
				p = skip(b, p+3, b[p])
			}
		}
		notes[i] = it
		p++
	}
	return notes
}

// noteEdits adds the edits to notes, and returns by how much the message can grow at most.
func noteEdits(notes []note, edits []data.ItemEdit) (longer int) {
	for i := range edits {
		e := &edits[i]
		notes[e.Index].edit[e.Field] = uint32(i + 1)
		longer += len(e.Text)
	}
	return longer
}

// putEdited writes the message in with the edits of notes at the beginning of b, which has room
// for it, and returns it. Items must have all their fields, in the order of
// their ids.
func putEdited(b, in []byte, notes []note, edits []data.ItemEdit) []byte {
	n, from := 0, 0 // the bytes before from are written
	for i := range notes {
		it := &notes[i]
		if e := it.edit[0]; e != 0 {
			p := int(it.at[0])
			n += copy(b[n:], in[from:p])
			n, from = putI64(b, n, 1, edits[e-1].Number), p+11
		}
		if e := it.edit[1]; e != 0 {
			p := int(it.at[1])
			n += copy(b[n:], in[from:p])
			n, from = putString(b, n, 2, edits[e-1].Text), p+7+count(in, p+3)
		}
		if e := it.edit[2]; e != 0 {
			p := int(it.at[2])
			n += copy(b[n:], in[from:p])
			n, from = putString(b, n, 3, edits[e-1].Text), p+7+count(in, p+3)
		}
	}
	n += copy(b[n:], in[from:])
	return b[:n]
}
