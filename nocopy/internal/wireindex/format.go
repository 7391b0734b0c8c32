package wireindex

import (
	"encoding/binary"
	"sort"

	"github.com/nocopythrift/nocopythrift/internal/entry"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// Header is the field header of an index.
const Header = uint32(wire.String)<<16 | uint32(1<<16+entry.IndexID)

// Sizes of the parts of an index, and of messages with an index, in bytes.
const (
	MinIndexed = 4 << 10 // the smallest message with an index

	EntryBytes     = 20
	EntryEndAt     = 4
	EntryFieldAt   = 8
	EntryTypesAt   = 12
	EntryAnchorsAt = 16

	AnchorBytes = 4
	StrideBits  = 5
	MaxStride   = 20 // the largest stride of an entry

	BitsPerNumber = 28
	maxIndexed    = 1<<BitsPerNumber - 1       // the largest message with an index
	MostIndexed   = maxIndexed - maxIndexed>>6 // the largest size of the rest of such a message

	TrailerBytes = 20
	Version      = 1
	Magic        = "nIDX"
)

// Index is a wire index that was found in the bytes of a message.
type Index struct {
	Bytes []byte // entries, anchors and trailer
	N     int    // entries
	At    int    // offset of its field header in the message
}

// Find returns the index at the end of the message b, and whether there is one. It checks the
// lengths in the index against the message.
func Find(b []byte) (x Index, ok bool) {
	end := len(b) - 1
	if end < wire.FieldHeader+wire.TextHeader+TrailerBytes || b[end] != byte(wire.Stop) {
		return x, false
	}
	t := b[end-TrailerBytes : end]
	n, size := Number(t), uint64(Number(t[8:]))
	if string(t[16:]) != Magic || Number(t[12:]) != Version || int(Number(t[4:])) != len(b) ||
		size > uint64(end-wire.FieldHeader-wire.TextHeader) || uint64(n)*EntryBytes+TrailerBytes > size {
		return x, false
	}
	x.At = end - int(size) - wire.FieldHeader - wire.TextHeader
	head := b[x.At:]
	if wire.HeaderAt(head, 0) != Header || uint64(wire.BE32(head[wire.FieldHeader:])) != size {
		return x, false
	}
	x.Bytes, x.N = head[wire.FieldHeader+wire.TextHeader:][:size], int(n)
	return x, true
}

// Number returns the number in the first 4 bytes of b.
func Number(b []byte) uint32 {
	x := wire.BE32(b)
	x = x&0x7f007f | x&0x7f007f00>>1
	return x&0x3fff | x&0x3fff0000>>2
}

// AppendNumber appends a number of 28 bits.
func AppendNumber(dst []byte, x uint32) []byte {
	return append(dst, byte(x>>21&0x7f), byte(x>>14&0x7f), byte(x>>7&0x7f), byte(x&0x7f))
}

// PutNumber stores a number of 28 bits.
func PutNumber(b []byte, x uint32) { AppendNumber(b[:0:4], x) }

// EntryField returns the field header and the stride in an entry.
func EntryField(entry []byte) (header uint32, stride uint8) {
	x := Number(entry[EntryFieldAt:])
	return x >> StrideBits, uint8(x & (1<<StrideBits - 1))
}

// Entry returns the bytes of entry i.
func (x *Index) Entry(i int) []byte { return x.Bytes[i*EntryBytes:][:EntryBytes] }

// Offset returns the offset of the value of entry i. If there is no such entry, it returns an
// offset after all values.
func (x *Index) Offset(i int) int {
	if i >= x.N {
		return int(^uint(0) >> 1)
	}
	return int(Number(x.Bytes[i*EntryBytes:]))
}

// Seek returns the number of the first entry from i on whose value is at this offset or later.
func (x *Index) Seek(i, offset int) int {
	if x.Offset(i) >= offset {
		return i
	}
	return i + 1 + sort.Search(max(x.N-i-1, 0), func(k int) bool { return x.Offset(i+1+k) >= offset })
}

// Anchor returns anchor i of the list of an entry. It reports whether there is such an anchor in
// the index.
func (x *Index) Anchor(e []byte, i int) (offset int, ok bool) {
	at := uint64(Number(e[EntryAnchorsAt:])) + uint64(i)*AnchorBytes
	if at+AnchorBytes > uint64(len(x.Bytes)-TrailerBytes) {
		return 0, false
	}
	return int(Number(x.Bytes[at:])), true
}

// FieldEntry returns the 8 bytes that an entry has for a field with this header, whose type has
// this hash: the header without a stride, and the hash.
func FieldEntry(header, hash uint32) uint64 {
	b := AppendNumber(AppendNumber(nil, header<<StrideBits), hash>>(32-BitsPerNumber))
	return uint64(wire.BE32(b))<<32 | uint64(wire.BE32(b[4:]))
}

// EntryOf returns the FieldEntry of the field of an entry's value.
func EntryOf(entry []byte) uint64 {
	const stride = (1<<StrideBits - 1) << 32
	return binary.BigEndian.Uint64(entry[EntryFieldAt:]) &^ stride
}

// Check compares the index with all of the message b, which is known to be valid. skip returns the
// offset after the value of a type at an offset in b. Check knows no types: there may be entries
// for fields that the root's type does not have. It returns the offset of a value that does not
// fit, and whether all do.
func (x *Index) Check(b []byte, skip func(b []byte, at int, t wire.Type) int) (at int, ok bool) {
	c := check{x: x, b: b, skip: skip}
	at, ok = c.structure(0)
	return at, ok && at == len(b) && c.k == x.N
}

// check is a Check that is under way.
type check struct {
	x    *Index
	b    []byte
	skip func(b []byte, at int, t wire.Type) int
	k    int // the next entry
}

// structure compares the entries of the values in the struct at offset i. It returns the offset
// after the struct; or the offset of the value that does not fit, and false.
func (c *check) structure(i int) (int, bool) {
	for c.b[i] != byte(wire.Stop) {
		header, at := wire.HeaderAt(c.b, i), i+wire.FieldHeader
		if c.x.Offset(c.k) != at {
			i = c.skip(c.b, at, wire.Type(header>>16))
			continue
		}
		entry := c.x.Entry(c.k)
		c.k++
		end := int(Number(entry[EntryEndAt:]))
		if h, _ := EntryField(entry); h != header || end > len(c.b) {
			return i, false
		}
		next, ok := c.value(wire.Type(header>>16), at, end, entry)
		if !ok || next != end {
			return i, false
		}
		i = end
	}
	return i + 1, true
}

// value does as structure, for the value of type t at an offset that this entry is for.
func (c *check) value(t wire.Type, at, end int, entry []byte) (int, bool) {
	inner := c.x.Offset(c.k) < end
	anchors := Number(entry[EntryAnchorsAt:]) != 0
	switch {
	case t == wire.Struct && inner:
		return c.structure(at)
	case t != wire.List && t != wire.Set || !anchors && !inner:
		return c.skip(c.b, at, t), true
	}
	elem, n, stride := wire.Type(c.b[at]), int(wire.BE32(c.b[at+1:])), uint8(0)
	_, stride = EntryField(entry)
	if stride > MaxStride {
		return at, false
	}
	at += wire.ListHeader
	ok := true
	for i := range n {
		if anchors && i > 0 && i&(1<<stride-1) == 0 {
			if a, found := c.x.Anchor(entry, i>>stride-1); !found || a != at {
				return at, false
			}
		}
		if elem == wire.Struct && c.x.Offset(c.k) < end {
			if at, ok = c.structure(at); !ok {
				return at, false
			}
			continue
		}
		at = c.skip(c.b, at, elem)
	}
	return at, true
}
