// The lists and maps of package nocopy, which imports this one, as far as these tests use them.

package engine

import (
	"encoding/binary"
	"iter"
)

type UUID [16]byte

type BoolList Struct

func (l BoolList) Len() int { return Struct(l).ListLen() }

func (l BoolList) Set(i int, v bool) {
	b := Struct(l).SetFixedAt(i, 1)
	b[0] = BoolByte(v)
}

func (l BoolList) Append(v bool) {
	b := Struct(l).GrowFixed(1, 1)
	b[0] = BoolByte(v)
}

type Int32List Struct

func (l Int32List) Len() int { return Struct(l).ListLen() }

func (l Int32List) At(i int) int32 { return Struct(l).Int32At(i) }

func (l Int32List) Set(i int, v int32) {
	b := Struct(l).SetFixedAt(i, 4)
	binary.BigEndian.PutUint32(b, uint32(v))
}

func (l Int32List) Append(v int32) {
	b := Struct(l).GrowFixed(1, 4)
	binary.BigEndian.PutUint32(b, uint32(v))
}

func (l Int32List) All() iter.Seq2[int, int32] {
	return func(yield func(int, int32) bool) {
		b := Struct(l).FixedBytes(4)
		for i := 0; len(b) >= 4; i++ {
			if !yield(i, int32(binary.BigEndian.Uint32(b))) {
				return
			}
			b = b[4:]
		}
	}
}

type Int64List Struct

func (l Int64List) Len() int { return Struct(l).ListLen() }

func (l Int64List) Append(v int64) {
	b := Struct(l).GrowFixed(1, 8)
	binary.BigEndian.PutUint64(b, uint64(v))
}

func (l Int64List) Truncate(n int) { Struct(l).DeleteFixed(n, l.Len(), 8) }

type StringList Struct

func (l StringList) Len() int { return Struct(l).ListLen() }

func (l StringList) At(i int) string { return Struct(l).TextAt(i) }

func (l StringList) Set(i int, v string) { Struct(l).SetTextAt(i, v) }

func (l StringList) Append(v string) { Struct(l).AppendText(v) }

func (l StringList) Truncate(n int) { Struct(l).DeleteRange(n, l.Len()) }

func (l StringList) AppendTo(dst []string) []string {
	for i := range l.Len() {
		dst = append(dst, l.At(i))
	}
	return dst
}

func (l StringList) Contains(v string) bool { return Struct(l).ContainsText(v) }

func (l StringList) Add(v string) {
	if !l.Contains(v) {
		l.Append(v)
	}
}

type BytesList Struct

func (l BytesList) Len() int { return Struct(l).ListLen() }

func (l BytesList) At(i int) []byte { return Struct(l).BytesAt(i) }

func (l BytesList) Set(i int, v []byte) { Struct(l).SetBytesAt(i, v) }

func (l BytesList) Append(v []byte) { Struct(l).AppendBytes(v) }

type StructList[S View] Struct

func (l StructList[S]) Len() int { return Struct(l).ListLen() }

func (l StructList[S]) Wire() []byte { return Struct(l).ContainerWire() }

func (l StructList[S]) At(i int) S { return S(Struct(l).StructAt(i)) }

func (l StructList[S]) Set(i int, v S) { Struct(l).SetViewAt(i, Struct(v)) }

func (l StructList[S]) Append(v S) { Struct(l).AppendView(Struct(v)) }

func (l StructList[S]) AppendNew() S { return S(Struct(l).AppendNewView(0)) }

func (l StructList[S]) Swap(i, j int) { Struct(l).Swap(i, j) }

func (l StructList[S]) Delete(i, j int) { Struct(l).DeleteRange(i, j) }

func (l StructList[S]) All() iter.Seq2[int, S] { return l.each }

func (l StructList[S]) each(yield func(int, S) bool) {
	n := l.Len()
	if n == 0 {
		return
	}
	s, stride := Struct(l).First()
	if stride == 0 {
		l.eachByAt(yield)
		return
	}
	for i := range n {
		if !yield(i, S(s)) {
			return
		}
		s = s.Next(stride)
	}
}

func (l StructList[S]) eachByAt(yield func(int, S) bool) {
	Struct(l).FillByIndex()
	for i := range l.Len() {
		if i >= l.Len() || !yield(i, l.At(i)) {
			return
		}
	}
}

func (l StructList[S]) Contains(v S) bool { return Struct(l).ContainsValue(Struct(v)) }

func (l StructList[S]) Add(v S) {
	if !l.Contains(v) {
		l.Append(v)
	}
}

type NestedList[C View] Struct

func (l NestedList[C]) Len() int { return Struct(l).ListLen() }

func (l NestedList[C]) At(i int) C { return C(Struct(l).ContainerAt(i)) }

func (l NestedList[C]) Set(i int, v C) { Struct(l).SetViewAt(i, Struct(v)) }

func (l NestedList[C]) Append(v C) { Struct(l).AppendView(Struct(v)) }

func (l NestedList[C]) NewAt(i, n int) C { return C(Struct(l).NewViewAt(i, n)) }

func (l NestedList[C]) AppendNew(n int) C { return C(Struct(l).AppendNewView(n)) }

func (l NestedList[C]) All() iter.Seq2[int, C] {
	return func(yield func(int, C) bool) {
		for i := range l.Len() {
			if i >= l.Len() || !yield(i, l.At(i)) {
				return
			}
		}
	}
}

func (l NestedList[C]) Contains(v C) bool { return Struct(l).ContainsValue(Struct(v)) }

type Map[K, V any, KC Codec[K], VC Codec[V]] Struct

type StructMap[K any, V View, KC Codec[K]] Struct

type NestedMap[K any, V View, KC Codec[K]] Struct

func (p Map[K, V, KC, VC]) Len() int { return Struct(p).MapLen() }

func (p Map[K, V, KC, VC]) Get(k K) (V, bool) {
	return GetPair[K, V, KC, VC](Struct(p), k)
}

func (p Map[K, V, KC, VC]) Put(k K, v V) { PutPair[K, V, KC, VC](Struct(p), k, v) }

func (p Map[K, V, KC, VC]) Delete(k K) bool { return DeleteKey[K, KC](Struct(p), k) }

func (p Map[K, V, KC, VC]) All() iter.Seq2[K, V] {
	return AllPairs[K, V, KC, VC](Struct(p))
}

func (p Map[K, V, KC, VC]) Append(v V) K { return AppendPair[K, V, KC, VC](Struct(p), v) }

func (p StructMap[K, V, KC]) Get(k K) (V, bool) {
	return GetPair[K, V, KC, AsView[V]](Struct(p), k)
}

func (p StructMap[K, V, KC]) Put(k K, v V) {
	PutView[K, KC](Struct(p), k, Struct(v))
}

func (p StructMap[K, V, KC]) PutNew(k K) V { return V(PutNew[K, KC](Struct(p), k, 0)) }

func (p StructMap[K, V, KC]) Delete(k K) bool { return DeleteKey[K, KC](Struct(p), k) }

func (p StructMap[K, V, KC]) All() iter.Seq2[K, V] {
	return AllPairs[K, V, KC, AsView[V]](Struct(p))
}

func (p NestedMap[K, V, KC]) Get(k K) (V, bool) {
	return GetPair[K, V, KC, AsView[V]](Struct(p), k)
}

func (p NestedMap[K, V, KC]) PutNew(k K, n int) V {
	return V(PutNew[K, KC](Struct(p), k, n))
}

func (p NestedMap[K, V, KC]) Delete(k K) bool { return DeleteKey[K, KC](Struct(p), k) }

func (p NestedMap[K, V, KC]) All() iter.Seq2[K, V] {
	return AllPairs[K, V, KC, AsView[V]](Struct(p))
}

type StringMap Struct

func (p StringMap) Len() int { return Struct(p).MapLen() }

func (p StringMap) Get(k string) (string, bool) {
	return GetPair[string, string, AsString, AsString](Struct(p), k)
}

func (p StringMap) Put(k, v string) { Struct(p).PutText(k, v) }

func (p StringMap) All() iter.Seq2[string, string] {
	return func(yield func(string, string) bool) { Struct(p).EachTextPair(yield) }
}
