package nocopy

import "github.com/nocopythrift/nocopythrift/internal/entry"

// A message may carry an index of its own wire bytes, which tells a reader where its large values
// are. It is the value of the last field of the root, a binary of id -32000, which every Thrift
// library skips as a field that it does not know. It is found from the message's end. All numbers
// are big-endian.
//
//	0b 8300 <length of what follows up to the STOP>
//	entries   20 bytes for each large struct, list, set or map, in the order of the message
//	anchors   4 bytes each: offsets of elements
//	trailer   20 bytes
//	00        STOP of the root
//
// An entry is:
//
//	offset   4 bytes: of the value in the message, after its field header
//	end      4 bytes: offset of what follows
//	header   3 bytes: the value's field header
//	stride   1 byte: of a list with anchors, log₂ of how many elements there are for each
//	types    4 bytes: hash of the wire types that the value is made of, see typeHash
//	anchors  4 bytes: of a list that has them, the offset in the index of the first; else 0
//
// Anchor i of a list is the offset of element (i+1)·2^stride. The entries of values in a value are
// those after its own. Maps, unions, and lists of lists have no entries for what is in them.
//
// The trailer is:
//
//	count    4 bytes: how many entries there are
//	message  4 bytes: length of the whole message, index and STOP included
//	index    4 bytes: length of the index, as before it
//	version  4 bytes: 1
//	magic    4 bytes: "nIDX"
//
// Nothing in an index is believed that is not compared with the message where it is used: see
// opened.go.

// indexHeader is the field header of an index.
const indexHeader = uint32(WireString)<<16 | uint32(1<<16+entry.IndexID)

const (
	minIndexed = 4 << 10 // the least bytes of a message with an index

	entryBytes     = 20
	entryEndAt     = 4
	entryHeadAt    = 8
	entryStrideAt  = 11
	entryTypesAt   = 12
	entryAnchorsAt = 16

	anchorBytes = 4
	maxStride   = 20 // the most that an entry's stride may be

	trailerBytes = 20
	indexVersion = 1
	indexMagic   = 0x6e494458
)

// wireIndex is the index in the bytes of a message.
type wireIndex struct {
	bytes []byte // entries, anchors and trailer
	n     int    // entries
	at    int    // offset in the message of the field header
}

// findWireIndex returns the index at the end of the message b, having compared the lengths in it
// with those of the message. It reports whether there is one.
func findWireIndex(b []byte) (x wireIndex, ok bool) {
	end := len(b) - 1
	if end < fieldHeader+textHeader+trailerBytes || b[end] != byte(WireStop) {
		return x, false
	}
	t := b[end-trailerBytes : end]
	n, size := be32(t), uint64(be32(t[8:]))
	if be32(t[16:]) != indexMagic || be32(t[12:]) != indexVersion || uint64(be32(t[4:])) != uint64(len(b)) ||
		size > uint64(end-fieldHeader-textHeader) || uint64(n)*entryBytes+trailerBytes > size {
		return x, false
	}
	x.at = end - int(size) - fieldHeader - textHeader
	head := b[x.at:]
	if headerAt(head, 0) != indexHeader || uint64(be32(head[fieldHeader:])) != size {
		return x, false
	}
	x.bytes, x.n = head[fieldHeader+textHeader:][:size], int(n)
	return x, true
}

// entry returns the bytes of entry i.
func (x *wireIndex) entry(i int) []byte { return x.bytes[i*entryBytes:][:entryBytes] }

// offset returns the offset of the value of entry i, or one after every value if there is no such
// entry.
func (x *wireIndex) offset(i int) int {
	if i >= x.n {
		return int(^uint(0) >> 1)
	}
	return int(be32(x.bytes[i*entryBytes:]))
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
	at := uint64(be32(e[entryAnchorsAt:])) + uint64(i)*anchorBytes
	if at+anchorBytes > uint64(len(x.bytes)-trailerBytes) {
		return 0, false
	}
	return int(be32(x.bytes[at:])), true
}

// typeHash returns a hash of the wire types that a value of type t is made of: its own and those
// of its elements, keys and values, but not of the fields of structs.
func (t *XType) typeHash() uint32 {
	h := (2166136261 ^ uint32(t.wire)) * 16777619
	for _, inside := range []*XType{t.key, t.elem} {
		if inside != nil {
			h = (h ^ inside.typeHash()) * 16777619
		}
	}
	return h
}
