package limits_test

import (
	"bytes"
	"io"
	"reflect"
	"strconv"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// In steady state nothing is allocated: not for parsing, reading, building, editing or sending.

// messageShape is a kind of message and the operations on it.
type messageShape struct {
	name              string
	desc              *schema.Struct
	build, read, edit func(s engine.Struct)
}

var sink int // depends on everything that was read

var shapesInUse = []messageShape{
	{"request", requestDesc, buildRequest, readRequest, func(s engine.Struct) {
		s.SetText(fieldNamed(requestDesc, "token"), "another token")
		s.SetInt64(fieldNamed(requestDesc, "id"), 3)
		s.Child(fieldNamed(requestDesc, "caller"), requestDesc).SetText(fieldNamed(callerDesc, "host"), "elsewhere")
		s.Unset(fieldNamed(requestDesc, "user"))
	}},
	{"business", businessDesc, buildBusiness, readBusiness, func(s engine.Struct) {
		items := nocopy.StructList[engine.Struct](s.Child(fieldNamed(businessDesc, "items"), businessDesc))
		items.At(3).SetText(fieldNamed(itemDesc, "sku"), "replaced")
		items.AppendNew().SetInt32(fieldNamed(itemDesc, "count"), 1)
		totals := nocopy.Map[string, int64, engine.AsString, engine.AsInt64](s.Child(fieldNamed(businessDesc, "totals"), businessDesc))
		totals.Put(keys[3], 5)
		totals.Put("a new key", 6)
		totals.Delete(keys[4])
		nocopy.StringList(s.Child(fieldNamed(businessDesc, "tags"), businessDesc)).Set(1, "tag")
		nocopy.StringList(s.Child(fieldNamed(businessDesc, "tags"), businessDesc)).Append("tag")
		nocopy.Int64List(s.Child(fieldNamed(businessDesc, "times"), businessDesc)).Append(1)
		nocopy.StringList(s.Child(fieldNamed(businessDesc, "unique"), businessDesc)).Add("unique")
	}},
}

func buildRequest(s engine.Struct) {
	s.SetInt64(fieldNamed(requestDesc, "id"), 1<<40)
	s.SetText(fieldNamed(requestDesc, "user"), "somebody@example.com")
	s.SetText(fieldNamed(requestDesc, "method"), "Catalogue.Search")
	s.SetText(fieldNamed(requestDesc, "token"), "0123456789abcdef0123456789abcdef")
	caller := s.NewChild(fieldNamed(requestDesc, "caller"), requestDesc, 0)
	caller.SetText(fieldNamed(callerDesc, "service"), "frontend.checkout")
	caller.SetText(fieldNamed(callerDesc, "host"), "host-17.example.com")
	caller.SetInt32(fieldNamed(callerDesc, "pid"), 4711)
	s.SetBool(fieldNamed(requestDesc, "flag"), true)
	s.SetInt16(fieldNamed(requestDesc, "small"), 16)
	s.SetFloat64(fieldNamed(requestDesc, "score"), 0.5)
	s.SetInt32(fieldNamed(requestDesc, "color"), 2)
}

func readRequest(s engine.Struct) {
	sink += int(s.Int64(fieldNamed(requestDesc, "id"))) + len(s.Text(fieldNamed(requestDesc, "user"))) + len(s.Text(fieldNamed(requestDesc, "method")))
	sink += len(s.Text(fieldNamed(requestDesc, "token"))) + int(s.Int16(fieldNamed(requestDesc, "small"))) + int(s.Float64(fieldNamed(requestDesc, "score")))
	caller := s.Child(fieldNamed(requestDesc, "caller"), requestDesc)
	sink += len(caller.Text(fieldNamed(callerDesc, "service"))) + len(caller.Text(fieldNamed(callerDesc, "host"))) + int(caller.Int32(fieldNamed(callerDesc, "pid")))
	if s.Bool(fieldNamed(requestDesc, "flag")) {
		sink += int(s.Int32(fieldNamed(requestDesc, "color")))
	}
}

func readBusiness(s engine.Struct) {
	for _, item := range (nocopy.StructList[engine.Struct](s.Child(fieldNamed(businessDesc, "items"), businessDesc))).All() {
		sink += len(item.Text(fieldNamed(itemDesc, "sku"))) + int(item.Int32(fieldNamed(itemDesc, "count")))
		labels := nocopy.StringMap(item.Child(fieldNamed(itemDesc, "labels"), itemDesc))
		for k, v := range labels.All() {
			sink += len(k) + len(v)
		}
		v, _ := labels.Get(keys[1])
		sink += len(v) + labels.Len()
		for _, price := range nocopy.Int64List(item.Child(fieldNamed(itemDesc, "prices"), itemDesc)).All() {
			sink += int(price)
		}
	}
	totals := nocopy.Map[string, int64, engine.AsString, engine.AsInt64](s.Child(fieldNamed(businessDesc, "totals"), businessDesc))
	for _, v := range totals.All() {
		sink += int(v)
	}
	for _, k := range keys {
		v, _ := totals.Get(k)
		sink += int(v) + totals.Len()
	}
	times := nocopy.Int64List(s.Child(fieldNamed(businessDesc, "times"), businessDesc))
	for i := range times.Len() {
		sink += int(times.At(i))
	}
	for _, tag := range nocopy.StringList(s.Child(fieldNamed(businessDesc, "tags"), businessDesc)).All() {
		sink += len(tag)
	}
	for k, v := range (nocopy.StructMap[int32, engine.Struct, engine.AsInt32](s.Child(fieldNamed(businessDesc, "byNumber"), businessDesc))).All() {
		sink += int(k) + int(v.Int32(fieldNamed(callerDesc, "pid")))
	}
	for _, row := range (nocopy.NestedList[nocopy.Int32List](s.Child(fieldNamed(businessDesc, "matrix"), businessDesc))).All() {
		for _, v := range row.All() {
			sink += int(v)
		}
	}
	if (nocopy.StringList(s.Child(fieldNamed(businessDesc, "unique"), businessDesc))).Contains(keys[7]) {
		sink++
	}
}

func TestAllocations(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	if debugging {
		t.Skip("with nocopydebug nothing is used twice")
	}
	if !aliasing {
		t.Skip("built with nounsafe, every string is a copy")
	}
	for _, shape := range shapesInUse {
		s := engine.New(shape.desc)
		shape.build(s)
		wire := bytes.Clone(s.Message().Bytes())
		s.Release()
		t.Logf("%s: %d bytes", shape.name, len(wire))
		out := make([]byte, 0, 2*len(wire))
		reader := bytes.NewReader(wire)
		half := [][]byte{wire[:len(wire)/2], wire[len(wire)/2:]}
		var kept, keptBuilt engine.Message
		for name, run := range map[string]func(opts ...engine.Option){
			"parse, edit, forward in a Message variable": func(opts ...engine.Option) {
				s, err := engine.ParseInto(shape.desc, &kept, wire, opts)
				if err != nil {
					t.Fatal(err)
				}
				shape.edit(s)
				shape.read(s)
				kept.WriteTo(io.Discard)
				kept.Reset()
			},
			"build and send a Message variable": func(opts ...engine.Option) {
				shape.build(engine.NewInto(shape.desc, &keptBuilt, opts))
				keptBuilt.WriteTo(io.Discard)
			},
			"parse": func(opts ...engine.Option) { mustParse(t, shape.desc, wire, opts...).Release() },
			"parse and read": func(opts ...engine.Option) {
				s := mustParse(t, shape.desc, wire, opts...)
				shape.read(s)
				s.Release()
			},
			"parse, edit, forward": func(opts ...engine.Option) {
				s := mustParse(t, shape.desc, wire, opts...)
				shape.edit(s)
				out = s.Message().AppendTo(out[:0])
				s.Message().WriteTo(io.Discard)
				s.Release()
			},
			"parse two blocks": func(opts ...engine.Option) {
				s, err := engine.ParseBlocks(shape.desc, half, opts...)
				if err != nil {
					t.Fatal(err)
				}
				shape.read(s)
				s.Release()
			},
			"receive, edit, forward": func(opts ...engine.Option) {
				reader.Reset(wire)
				s, err := engine.Read(shape.desc, reader, len(wire), opts...)
				if err != nil {
					t.Fatal(err)
				}
				shape.edit(s)
				s.Message().WriteFrame(io.Discard)
				s.Release()
			},
			"build and send": func(opts ...engine.Option) {
				s := engine.New(shape.desc, opts...)
				shape.build(s)
				out = s.Message().AppendTo(out[:0])
				s.Message().WriteTo(io.Discard)
				s.Release()
			},
			"link": func(opts ...engine.Option) { linkAll(t, shape.desc, wire, opts...) },
			"clone": func(opts ...engine.Option) {
				s := mustParse(t, shape.desc, wire, opts...)
				shape.edit(s)
				c := s.Clone(shape.desc)
				s.Release()
				c.Release()
			},
			"sets and maps of structs": func(opts ...engine.Option) { addAll(opts...) },
			"build, edit, read": func(opts ...engine.Option) {
				s := engine.New(shape.desc, opts...)
				shape.build(s)
				shape.edit(s)
				shape.read(s)
				s.Message().WriteTo(io.Discard)
				s.Release()
			},
		} {
			recycle := []engine.Option{engine.Recycle}
			// A clone does not recycle. A slab is allocated for hundreds of small ones.
			if n := allocsPerRun(func() { run(recycle...) }); n != 0 && (name != "clone" || n >= .01) {
				t.Errorf("%s, recycled: %s: %v allocations", shape.name, name, n)
			}
			// Slabs are allocated now and then: one for many messages.
			if n := allocsPerRun(func() { run() }); n >= 0.2 {
				t.Errorf("%s: %s: %v allocations", shape.name, name, n)
			}
		}
	}
}

// addAll adds structs to a set, and puts structs into a map as keys.
func addAll(opts ...engine.Option) {
	s, key := engine.New(allDesc, opts...), engine.New(pointDesc, opts...)
	set := nocopy.StructList[engine.Struct](s.NewChild(fieldNamed(allDesc, "grown"), allDesc, 0))
	for i := range 2 * len(keys) {
		key.SetInt32(fieldNamed(pointDesc, "x"), int32(i/2))
		set.Add(key)
	}
	byPoint := nocopy.Map[engine.Struct, string, engine.AsView[engine.Struct], engine.AsString](s.NewChild(fieldNamed(allDesc, "byPoint"), allDesc, 0))
	for i, v := range keys {
		key.SetInt32(fieldNamed(pointDesc, "x"), int32(i/2))
		byPoint.Put(key, v)
		_, _ = byPoint.Get(key)
	}
	s.Message().WriteTo(io.Discard)
	key.Release()
	s.Release()
}

// holderDesc has fields for copies of the messages that shapesInUse makes.
var holderDesc = schema.NewStruct("Holder")

func init() {
	holderDesc.Define(
		schema.FieldDesc{ID: 1, Name: "Request", Type: schema.StructOf(requestDesc)},
		schema.FieldDesc{ID: 2, Name: "RequestList", Type: schema.ListOf(schema.StructOf(requestDesc))},
		schema.FieldDesc{ID: 3, Name: "Business", Type: schema.StructOf(businessDesc)},
		schema.FieldDesc{ID: 4, Name: "BusinessList", Type: schema.ListOf(schema.StructOf(businessDesc))},
	)
}

// linkAll puts a message into another one: into a field and a list, over values that were set
// before, and after edits. It also copies a struct within the other message.
func linkAll(t *testing.T, d *schema.Struct, wire []byte, opts ...engine.Option) {
	s := mustParse(t, d, wire, opts...)
	field, list := fieldNamed(holderDesc, d.Name()), fieldNamed(holderDesc, d.Name()+"List")
	h := engine.New(holderDesc, opts...)
	h.SetChild(field, holderDesc, s)
	h.SetChild(field, holderDesc, s)
	l := nocopy.StructList[engine.Struct](h.NewChild(list, holderDesc, 1))
	l.Set(0, s)
	l.Append(s)
	if d == requestDesc {
		s.SetText(fieldNamed(d, "token"), "another token")
	} else {
		nocopy.StringList(s.Child(fieldNamed(d, "tags"), d)).Append("tag")
	}
	l.Set(0, s)
	l.Append(h.Child(field, holderDesc))
	h.Message().WriteTo(io.Discard)
	s.Release()
	h.Release()
}

// TestMessageSize: a message takes no more memory than the size class of the allocator that it is
// in. The next class has 64 bytes more.
func TestMessageSize(t *testing.T) {
	const class = 704
	if size := reflect.TypeFor[engine.Message]().Size(); size > class && !debugging && strconv.IntSize == 64 {
		t.Errorf("a Message has %d bytes, more than %d", size, class)
	}
}
