package nocopy

import (
	"reflect"
	"runtime"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// TestHeldMessage: how much memory a small parsed message takes that is held, besides its bytes,
// and in how many objects. Most of it is Message itself.
func TestHeldMessage(t *testing.T) {
	const most = 696
	if size := reflect.TypeFor[Message]().Size(); !debugging && size > most {
		t.Errorf("a Message has %d bytes, more than %d", size, most)
	}
	if raceEnabled || debugging {
		return // they make messages larger
	}
	root := schema.NewStruct("Small")
	inner := schema.NewStruct("Sub")
	inner.Define(optionals(3, schema.TypeString)...)
	root.Define(append(optionals(8, schema.TypeI64), XFieldDesc{ID: 9, Name: "sub", Type: inner.Type()})...)
	s := newStruct(root)
	for i := range 8 {
		s.SetInt64(root.Field(i), int64(i))
	}
	s.NewChild(root.Field(8), root, 0).SetText(inner.Field(1), "text")
	wire := s.m.AppendTo(nil)
	s.Release()
	held := make([]XStruct, 1000)
	var before, after runtime.MemStats
	bytes, objects := uint64(1<<40), uint64(1<<40)
	for range 3 { // other goroutines may allocate
		clear(held)
		runtime.GC()
		runtime.GC() // no message waits in a pool
		runtime.ReadMemStats(&before)
		for i := range held {
			held[i], _ = parseStruct(root, wire)
		}
		runtime.ReadMemStats(&after)
		bytes = min(bytes, (after.TotalAlloc-before.TotalAlloc)/uint64(len(held)))
		objects = min(objects, (after.Mallocs-before.Mallocs)/uint64(len(held)))
	}
	t.Logf("%d bytes in %d objects", bytes, objects)
	if bytes > 832 || objects > 2 {
		t.Errorf("a held message takes %d bytes in %d objects", bytes, objects)
	}
	runtime.KeepAlive(held)
}
