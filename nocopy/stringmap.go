package nocopy

import (
	"iter"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
)

// StringMap is a map of strings to strings. If a key comes twice on the wire, the last pair
// counts, as with other Thrift libraries. Strings from it alias the message as those of fields do.
type StringMap engine.Struct

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

// DeleteFunc removes the pairs for which del returns true, as maps.DeleteFunc does.
//
// First DeleteFunc calls del for each pair that All yields; then it removes pairs. So del sees all
// of them, and if it panics nothing is removed. It may change values. It must not add or delete
// keys: DeleteFunc panics if the map has another number of keys afterwards.
func (p StringMap) DeleteFunc(del func(key, value string) bool) {
	engine.DeletePairs[string, string, engine.AsString, engine.AsString](engine.Struct(p), del)
}

// All iterates over keys and values in wire order.
func (p StringMap) All() iter.Seq2[string, string] {
	return func(yield func(string, string) bool) { engine.Struct(p).EachTextPair(yield) }
}

// AppendNew adds a pair of an empty key and an empty value. It does not look for an equal key.
func (p StringMap) AppendNew() (k, v string) {
	return engine.AppendNewPair[string, string, engine.AsString, engine.AsString](engine.Struct(p))
}
