package nocopy

import "github.com/nocopythrift/nocopythrift/internal/chain"

// containerWire returns the wire bytes of a list, set or map: an alias if they are in one piece,
// else a copy; nil if it is absent. What is being built in it is completed.
func (s XStruct) containerWire() []byte {
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

// Wire returns the list's wire bytes. They alias the message if they are in one piece; see
// [StructList.Wire].
func (l BoolList) Wire() []byte { return XStruct(l).containerWire() }

// Wire returns the list's wire bytes. They alias the message if they are in one piece; see
// [StructList.Wire].
func (l BytesList) Wire() []byte { return XStruct(l).containerWire() }

// Wire returns the list's wire bytes. They alias the message if they are in one piece; see
// [StructList.Wire].
func (l EnumList[E]) Wire() []byte { return XStruct(l).containerWire() }

// Wire returns the list's wire bytes. They alias the message if they are in one piece; see
// [StructList.Wire].
func (l Float64List) Wire() []byte { return XStruct(l).containerWire() }

// Wire returns the list's wire bytes. They alias the message if they are in one piece; see
// [StructList.Wire].
func (l Int16List) Wire() []byte { return XStruct(l).containerWire() }

// Wire returns the list's wire bytes. They alias the message if they are in one piece; see
// [StructList.Wire].
func (l Int32List) Wire() []byte { return XStruct(l).containerWire() }

// Wire returns the list's wire bytes. They alias the message if they are in one piece; see
// [StructList.Wire].
func (l Int64List) Wire() []byte { return XStruct(l).containerWire() }

// Wire returns the list's wire bytes. They alias the message if they are in one piece; see
// [StructList.Wire].
func (l Int8List) Wire() []byte { return XStruct(l).containerWire() }

// Wire returns the list's wire bytes. They alias the message if they are in one piece; see
// [StructList.Wire].
func (l NestedList[C]) Wire() []byte { return XStruct(l).containerWire() }

// Wire returns the list's wire bytes. They alias the message if they are in one piece; see
// [StructList.Wire].
func (l StringList) Wire() []byte { return XStruct(l).containerWire() }

// Wire returns the list's wire bytes: the type and number of its elements, then the elements. It
// returns nil if the list is absent, or invalid in a message parsed with ByIndex. Wire completes
// what is being built in the list.
//
// The bytes alias the message if they are in one piece. Otherwise, as in a message that was
// received in blocks or edited, they are a copy. They must not be changed. They are valid until
// the next change of the message and, with Recycle, until Release.
//
// Used as keys of a Go map, the bytes tell lists apart: lists of one type with the same bytes are
// equal. Equal lists may still differ in bytes, for example in the order of fields.
func (l StructList[S]) Wire() []byte { return XStruct(l).containerWire() }

// Wire returns the list's wire bytes. They alias the message if they are in one piece; see
// [StructList.Wire].
func (l UUIDList) Wire() []byte { return XStruct(l).containerWire() }

// Wire returns the map's wire bytes. They alias the message if they are in one piece; see
// [StructList.Wire].
func (p Map[K, V, KC, VC]) Wire() []byte { return XStruct(p).containerWire() }

// Wire returns the map's wire bytes. They alias the message if they are in one piece; see
// [StructList.Wire].
func (p NestedMap[K, V, KC]) Wire() []byte { return XStruct(p).containerWire() }

// Wire returns the map's wire bytes. They alias the message if they are in one piece; see
// [StructList.Wire].
func (p StringMap) Wire() []byte { return XStruct(p).containerWire() }

// Wire returns the map's wire bytes. They alias the message if they are in one piece; see
// [StructList.Wire].
func (p StructMap[K, V, KC]) Wire() []byte { return XStruct(p).containerWire() }
