package main

import (
	"reflect"
	"runtime"
	"testing"

	"github.com/nocopythrift/nocopythrift/bench/data"
	"github.com/nocopythrift/nocopythrift/bench/limit"
)

// TestParsed: how much memory a parsed message takes beside its bytes, and in how many objects.
func TestParsed(t *testing.T) {
	most := map[string]int{"B": 832, "C1K": 1408, "C4K": 2688}
	for _, w := range data.All() {
		if most[w.Name] == 0 {
			continue
		}
		wire, v := limit.Append(nil, data.Message(w.New())), reflect.New(reflect.TypeOf(w.Kind).Elem()).Interface()
		const n = 2000
		cost := func(way string) (bytes, objects int) {
			before := heap()
			held := hold(way, v, wire, n)
			after := heap()
			runtime.KeepAlive(held)
			return int(after.HeapAlloc - before.HeapAlloc), int(after.HeapObjects - before.HeapObjects)
		}
		cost("parsed") // what is made once, such as the descriptors of the types
		bytes, objects := cost("parsed")
		lessBytes, lessObjects := cost("bytes")
		// The runtime's own goroutines allocate, too: a few objects, among thousands.
		bytes = (bytes - lessBytes + n/2) / n
		objects = (objects - lessObjects + n/2) / n
		t.Logf("%s: %d bytes in %d objects", w.Name, bytes, objects)
		if bytes > most[w.Name] || objects > 2 {
			t.Errorf("%s: more than %d bytes in 2 objects", w.Name, most[w.Name])
		}
		delete(most, w.Name)
	}
	if len(most) > 0 {
		t.Errorf("there is no workload %v", most)
	}
}
