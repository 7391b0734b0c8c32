package nocopy

import (
	"iter"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/render"
)

// StringMap is a map of strings to strings. If a key comes twice on the wire, the last pair
// counts, as with other Thrift libraries. Strings from it alias the message as those of fields do.
type StringMap engine.Struct

// Len returns the number of keys.
func (p StringMap) Len() int { return engine.Struct(p).MapLen() }

// String returns the pairs as compact, readable text.
func (p StringMap) String() string { return render.ContainerText(engine.Struct(p), "{}") }

// Equal reports whether p and m have the same keys and equal values, as messages.Equal does
// without options. The order does not matter.
func (p StringMap) Equal(m StringMap) bool {
	return render.EqualContainers(engine.Struct(p), engine.Struct(m))
}

// ThriftStruct returns the handle for packages that work on messages of any type.
func (p StringMap) ThriftStruct() engine.Struct { return engine.Struct(p) }

// Wire returns the map's wire bytes. They alias the message if they are in one piece; see
// [StructList.Wire].
func (p StringMap) Wire() []byte { return engine.Struct(p).ContainerWire() }

// Get returns the value of key k, and whether there is one.
func (p StringMap) Get(k string) (string, bool) {
	return engine.GetPair[string, string, engine.AsString, engine.AsString](engine.Struct(p), k)
}

// Put sets the value of key k, replacing an older one. It copies strings shorter than 4 KiB and
// refers to others.
func (p StringMap) Put(k, v string) { engine.Struct(p).PutText(k, v) }

// Delete removes key k and reports whether it was there.
func (p StringMap) Delete(k string) bool {
	return engine.DeleteKey[string, engine.AsString](engine.Struct(p), k)
}

// All iterates over keys and values in wire order.
func (p StringMap) All() iter.Seq2[string, string] {
	return func(yield func(string, string) bool) { engine.Struct(p).EachTextPair(yield) }
}

// AppendNew adds a pair of an empty key and an empty value. It does not look for an equal key.
func (p StringMap) AppendNew() (k, v string) {
	return engine.AppendNewPair[string, string, engine.AsString, engine.AsString](engine.Struct(p))
}
