package nocopy

import (
	"encoding/binary"

	"github.com/nocopythrift/nocopythrift/internal/entry"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// A message may carry an index of its own wire bytes, the wire index, which tells a reader where
// its large values are. It is the value of the last field of the root, a binary of id -32000,
// which every Thrift library skips as a field that it does not know. It is found from the
// message's end.
//
//	0b 8300 <length of what follows up to the STOP>
//	entries   20 bytes for each large struct, list, set or map, in the order of the message
//	anchors   4 bytes each: offsets of elements
//	trailer   20 bytes
//	00        STOP of the root
//
// Each number has 28 bits in 4 bytes, 7 bits in each, the high ones first: so the index is ASCII,
// and passes for text with libraries that decode what they skip. (Apache Thrift's Python library
// does.) Messages of 256 MiB and more have none.
//
// An entry is:
//
//	offset   of the value in the message, after its field header
//	end      offset of what follows
//	field    the value's field header, and in the low 5 bits the stride of a list with anchors:
//	         log₂ of how many elements there are for each
//	types    hash of the wire types that the value is made of, see typeHash
//	anchors  of a list that has them, the offset in the index of the first; else 0
//
// Anchor i of a list is the offset of element (i+1)·2^stride. The entries of values in a value are
// those after its own. Maps, unions, and lists of lists have no entries for what is in them.
//
// The trailer is:
//
//	count    how many entries there are
//	message  length of the whole message, index and STOP included
//	index    length of the index, as before it
//	version  1
//	magic    "nIDX"
//
// Nothing in an index is believed that is not compared with the message where it is used: see
// landing.go.

// indexHeader is the field header of an index.
const indexHeader = uint32(WireString)<<16 | uint32(1<<16+entry.IndexID)

const (
	minIndexed = 4 << 10 // the least bytes of a message with an index

	entryBytes     = 20
	entryEndAt     = 4
	entryFieldAt   = 8
	entryTypesAt   = 12
	entryAnchorsAt = 16

	anchorBytes = 4
	strideBits  = 5
	maxStride   = 20 // the most that an entry's stride may be

	bitsPerNumber = 28
	maxIndexed    = 1<<bitsPerNumber - 1       // the most bytes of a message with an index
	mostIndexed   = maxIndexed - maxIndexed>>6 // likewise, without the index

	trailerBytes = 20
	indexVersion = 1
	indexMagic   = "nIDX"
)

// wireIndex is a wire index that was found in the bytes of a message.
type wireIndex struct {
	bytes []byte // entries, anchors and trailer
	n     int    // entries
	at    int    // offset in the message of the field header
}

// findWireIndex returns the index at the end of the message b, having compared the lengths in it
// with those of the message. It reports whether there is one.
func findWireIndex(b []byte) (x wireIndex, ok bool) {
	end := len(b) - 1
	if end < wire.FieldHeader+wire.TextHeader+trailerBytes || b[end] != byte(WireStop) {
		return x, false
	}
	t := b[end-trailerBytes : end]
	n, size := indexNumber(t), uint64(indexNumber(t[8:]))
	if string(t[16:]) != indexMagic || indexNumber(t[12:]) != indexVersion || int(indexNumber(t[4:])) != len(b) ||
		size > uint64(end-wire.FieldHeader-wire.TextHeader) || uint64(n)*entryBytes+trailerBytes > size {
		return x, false
	}
	x.at = end - int(size) - wire.FieldHeader - wire.TextHeader
	head := b[x.at:]
	if wire.HeaderAt(head, 0) != indexHeader || uint64(wire.BE32(head[wire.FieldHeader:])) != size {
		return x, false
	}
	x.bytes, x.n = head[wire.FieldHeader+wire.TextHeader:][:size], int(n)
	return x, true
}

// indexNumber returns the number in the first 4 bytes of b.
func indexNumber(b []byte) uint32 {
	x := wire.BE32(b)
	x = x&0x7f007f | x&0x7f007f00>>1
	return x&0x3fff | x&0x3fff0000>>2
}

// appendIndexNumber appends a number of 28 bits.
func appendIndexNumber(dst []byte, x uint32) []byte {
	return append(dst, byte(x>>21&0x7f), byte(x>>14&0x7f), byte(x>>7&0x7f), byte(x&0x7f))
}

// putIndexNumber stores a number of 28 bits.
func putIndexNumber(b []byte, x uint32) { appendIndexNumber(b[:0:4], x) }

// entryField returns the field header that an entry has, and the stride.
func entryField(entry []byte) (header uint32, stride uint8) {
	x := indexNumber(entry[entryFieldAt:])
	return x >> strideBits, uint8(x & (1<<strideBits - 1))
}

// entry returns the bytes of entry i.
func (x *wireIndex) entry(i int) []byte { return x.bytes[i*entryBytes:][:entryBytes] }

// offset returns the offset of the value of entry i, or one after every value if there is no such
// entry.
func (x *wireIndex) offset(i int) int {
	if i >= x.n {
		return int(^uint(0) >> 1)
	}
	return int(indexNumber(x.bytes[i*entryBytes:]))
}

// seek returns the number of the first entry from i on whose value is at this offset or later.
func (x *wireIndex) seek(i, offset int) int {
	if x.offset(i) >= offset {
		return i
	}
	lo, hi := i, x.n // entry lo is before the offset
	for step := 1; lo+step < hi; step *= 2 {
		if x.offset(lo+step) >= offset {
			hi = lo + step
			break
		}
		lo += step
	}
	for lo+1 < hi {
		if mid := int(uint(lo+hi) / 2); x.offset(mid) < offset {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi
}

// anchor returns anchor i of the list of an entry. It reports whether there is such an anchor in
// the index.
func (x *wireIndex) anchor(e []byte, i int) (offset int, ok bool) {
	at := uint64(indexNumber(e[entryAnchorsAt:])) + uint64(i)*anchorBytes
	if at+anchorBytes > uint64(len(x.bytes)-trailerBytes) {
		return 0, false
	}
	return int(indexNumber(x.bytes[at:])), true
}

// typeHash returns a hash of the wire types that a value of type t is made of: its own and those
// of its elements, keys and values, but not of the fields of structs.
func (t *XType) typeHash() uint32 { return t.hash() >> (32 - bitsPerNumber) }

func (t *XType) hash() uint32 {
	h := (2166136261 ^ uint32(t.wire)) * 16777619
	for _, inside := range []*XType{t.key, t.elem} {
		if inside != nil {
			h = (h ^ inside.hash()) * 16777619
		}
	}
	return h
}

// inEntry returns what an entry has of a field with this header and type: the field header without
// a stride, and the hash, as 8 bytes.
func inEntry(header uint32, t *XType) uint64 {
	b := appendIndexNumber(appendIndexNumber(nil, header<<strideBits), t.typeHash())
	return uint64(wire.BE32(b))<<32 | uint64(wire.BE32(b[4:]))
}

// isOf reports whether an entry is for a value of this field and its type.
func (f *field) isOf(entry []byte) bool {
	const stride = (1<<strideBits - 1) << 32
	return binary.BigEndian.Uint64(entry[entryFieldAt:])&^stride == f.inEntry
}
