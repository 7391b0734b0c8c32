package limits_test

import (
	"bytes"
	"reflect"
	"runtime"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// TestHeldMessage: how much memory a small message takes that is held, and in how many objects: a
// parsed one without its bytes. Most of it is Message itself.
func TestHeldMessage(t *testing.T) {
	const most = 696
	if size := reflect.TypeFor[engine.Message]().Size(); !debugging && size > most {
		t.Errorf("a Message has %d bytes, more than %d", size, most)
	}
	if raceEnabled || debugging {
		return // they make messages larger
	}
	root := schema.NewStruct("Small")
	inner := schema.NewStruct("Sub")
	inner.Define(optionals(3, schema.TypeString)...)
	root.Define(append(optionals(8, schema.TypeI64), schema.FieldDesc{ID: 9, Name: "sub", Type: inner.Type()},
		schema.FieldDesc{ID: 10, Name: "subs", Type: schema.ListOf(inner.Type())})...)
	dict := schema.NewStruct("Labels")
	dict.Define(schema.FieldDesc{ID: 1, Name: "all", Type: schema.MapOf(schema.TypeString, schema.TypeString)})
	build := func(opts ...engine.Option) engine.Struct {
		s := engine.New(root, opts...)
		for i := range 8 {
			s.SetInt64(root.Field(i), int64(i))
		}
		s.NewChild(root.Field(8), root, 0).SetText(inner.Field(1), "text")
		s.Message().Finish()
		return s
	}
	s := build()
	wire := s.Message().AppendTo(nil)
	s.NewChild(root.Field(9), root, 25)
	long := s.Message().AppendTo(nil)
	s.Release()
	src, _ := engine.Parse(root, wire)
	for _, c := range []struct {
		name           string
		make           func() engine.Struct
		bytes, objects uint64
	}{
		{"parsed", func() engine.Struct { s, _ := engine.Parse(root, wire); return s }, 832, 2},
		// Message and index, which has grown while it was parsed
		{"parsed, a long list", func() engine.Struct { s, _ := engine.Parse(root, long); return s }, 1408, 2},
		{"read", func() engine.Struct { // with its bytes, which are a part of a slab
			s, _ := engine.Read(root, bytes.NewReader(wire), len(wire))
			return s
		}, 1100, 3},
		{"cloned", func() engine.Struct { return src.Clone(root) }, 1400, 3},
		// A frame, the block and its bytes, too
		{"built and compacted", func() engine.Struct {
			s := build()
			s.Message().Compact()
			return s
		}, 1200, 6},
		{"built with a copy, and compacted", func() engine.Struct { // which a parser has indexed
			s := engine.New(root)
			s.SetChild(root.Field(8), root, src.Child(root.Field(8), root))
			s.Message().Compact()
			return s
		}, 1300, 6},
		{"with a map, and compacted", func() engine.Struct { // the filter for its keys is gone
			s := engine.New(dict)
			nocopy.StringMap(s.NewChild(dict.Field(0), dict, 0)).Put("key", "value")
			s.Message().Compact()
			return s
		}, 1400, 8},
		{"recycled and compacted", func() engine.Struct {
			s := build(engine.Recycle)
			s.Message().Compact()
			return s
		}, 1200, 6},
		{"edited and compacted", func() engine.Struct {
			s, _ := engine.Parse(root, wire)
			s.Child(root.Field(8), root).SetText(inner.Field(2), longText)
			s.Message().Compact()
			return s
		}, 16 << 10, 32},
	} {
		t.Run(c.name, func(t *testing.T) {
			bytes, objects := heapOf(c.make)
			t.Logf("%d bytes in %d objects", bytes, objects)
			if bytes > c.bytes || objects > c.objects {
				t.Errorf("a held message takes %d bytes in %d objects", bytes, objects)
			}
		})
	}
}

// heapOf returns how much of the heap a message takes that make makes, and in how many objects.
func heapOf(make func() engine.Struct) (bytes, objects uint64) {
	var held [1000]engine.Struct
	var before, after runtime.MemStats
	bytes, objects = 1<<40, 1<<40
	for range 3 { // other goroutines may allocate
		clear(held[:])
		runtime.GC()
		runtime.GC() // no message waits in a pool
		runtime.ReadMemStats(&before)
		for i := range held {
			held[i] = make()
		}
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&after)
		bytes = min(bytes, (after.HeapAlloc-before.HeapAlloc)/uint64(len(held)))
		objects = min(objects, (after.HeapObjects-before.HeapObjects)/uint64(len(held)))
	}
	runtime.KeepAlive(&held)
	return bytes, objects
}
