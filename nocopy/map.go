package nocopy

import "github.com/nocopythrift/nocopythrift/nocopy/internal/engine"

// Map is a map whose values are scalars, enums, strings, binaries or uuids. (A map of strings to
// strings is a StringMap.) KC and VC encode keys and values. If a key comes twice on the wire, the
// last pair counts, as with other Thrift libraries.
//
// Thrift allows keys that are structs or containers. Such keys are equal if their wire bytes are.
// They can be changed through their handles; the next lookup compares their current bytes. Len,
// All, text and logs therefore include every pair, even if keys are equal at the moment. A lookup
// finds the last of equal keys. JSON and package messages, which need distinct keys, take that one
// too.
type Map[K, V any, KC engine.Codec[K], VC engine.Codec[V]] engine.Struct

// StructMap is a map whose values are structs of type V.
type StructMap[K any, V View, KC engine.Codec[K]] engine.Struct

// NestedMap is a map whose values are lists, sets or maps of type V.
type NestedMap[K any, V View, KC engine.Codec[K]] engine.Struct

// Get returns the value of key k, and whether there is one.
func (p Map[K, V, KC, VC]) Get(k K) (V, bool) {
	return engine.GetPair[K, V, KC, VC](engine.Struct(p), k)
}

// Put sets the value of key k, replacing an older one. It copies strings and binaries shorter than
// 4 KiB and refers to others; binaries among these must not change until the message is
// released.
func (p Map[K, V, KC, VC]) Put(k K, v V) { engine.PutPair[K, V, KC, VC](engine.Struct(p), k, v) }

// Append adds a pair of an empty key and the value v, and returns the key to be filled. Use it for
// keys that are structs or containers.
func (p Map[K, V, KC, VC]) Append(v V) K { return engine.AppendPair[K, V, KC, VC](engine.Struct(p), v) }

// Get returns the value of key k, and whether there is one. If not, the value is absent.
func (p StructMap[K, V, KC]) Get(k K) (V, bool) {
	return engine.GetPair[K, V, KC, engine.AsView[V]](engine.Struct(p), k)
}

// Put sets the value of key k to a copy of v, replacing an older one.
func (p StructMap[K, V, KC]) Put(k K, v V) {
	engine.PutView[K, KC](engine.Struct(p), k, engine.Struct(v))
}

// PutNew sets the value of key k to an empty struct, replacing an older one, and returns it to be
// filled.
func (p StructMap[K, V, KC]) PutNew(k K) V { return V(engine.PutNew[K, KC](engine.Struct(p), k, 0)) }

// Get returns the value of key k, and whether there is one. If not, the value is empty and can't
// be changed.
func (p NestedMap[K, V, KC]) Get(k K) (V, bool) {
	return engine.GetPair[K, V, KC, engine.AsView[V]](engine.Struct(p), k)
}

// Put sets the value of key k to a copy of v, replacing an older one.
func (p NestedMap[K, V, KC]) Put(k K, v V) {
	engine.PutView[K, KC](engine.Struct(p), k, engine.Struct(v))
}

// PutNew sets the value of key k to a list of n elements (or a map with room for n pairs),
// replacing an older one, and returns it to be filled.
func (p NestedMap[K, V, KC]) PutNew(k K, n int) V {
	return V(engine.PutNew[K, KC](engine.Struct(p), k, n))
}
