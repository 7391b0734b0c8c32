// Package wireindex defines the format of the index that a message may carry in its own bytes. It
// tells a reader where the large values are. Package nocopy writes such indexes, and checks
// everything that it reads from one against the message.
//
// The index is the value of the root's last field, a binary with the id -32000. Every Thrift
// library skips it as an unknown field. A reader finds it from the message's end:
//
//	0b 8300 <length of what follows up to the STOP>
//	entries   20 bytes for each large struct, list, set or map, in the order of the message
//	anchors   4 bytes each: offsets of elements
//	trailer   20 bytes
//	00        STOP of the root
//
// Each number has 28 bits in 4 bytes, 7 bits per byte, the high bits first. The index is therefore
// ASCII, and valid text for libraries that decode even the fields that they skip. (Apache Thrift's
// Python library does.) Messages of 256 MiB and more have no index.
//
// An entry is:
//
//	offset   of the value in the message, after its field header
//	end      offset of what follows
//	field    the value's field header, and in the low 5 bits the stride of a list with anchors:
//	         log₂ of how many elements there are for each
//	types    hash of the wire types that the value is made of, FNV-1a
//	anchors  of a list that has them, the offset in the index of the first; else 0
//
// Anchor i of a list is the offset of element (i+1)·2^stride. The entries of the values nested in
// a value follow its own entry. Values nested in maps, unions and lists of lists have no entries.
//
// The trailer is:
//
//	count    how many entries there are
//	message  length of the whole message, index and STOP included
//	index    length of the index, as before it
//	version  1
//	magic    "nIDX"
package wireindex
