package engine

import (
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wireindex"
)

// branchDesc is a struct with a list of such structs, and one more.
var branchDesc = func() *schema.Struct {
	d := schema.NewStruct("Branch")
	d.Define(schema.FieldDesc{ID: 1, Name: "children", Type: schema.ListOf(schema.StructOf(d)), Req: schema.Optional},
		schema.FieldDesc{ID: 2, Name: "weight", Type: schema.TypeI32, Req: schema.Optional},
		schema.FieldDesc{ID: 3, Name: "more", Type: schema.StructOf(d), Req: schema.Optional})
	return d
}()

// overlapping returns a message of nested lists. Each claims to have elements elements, and its
// anchors name the same bytes for every third of them. A text of padding bytes is in the innermost
// struct or, with inMore, in the struct more there, which has an entry.
func overlapping(levels, elements, padding int, inMore bool) []byte {
	var begins []int // where the list's field begins
	data := []byte{}
	for range levels {
		begins = append(begins, len(data))
		data = append(data, byte(wire.List), 0, 1, byte(wire.Struct))
		data = append(wire.AppendBE32(data, uint32(elements)), 0) // the list, and an empty struct
	}
	more := len(data) + wire.FieldHeader
	if inMore {
		data = append(data, byte(wire.Struct), 0, 3, byte(wire.I32), 0, 2, 0, 0, 0, 5)
	}
	data = append(wire.AppendBE32(append(data, byte(wire.String), 0, 9), uint32(padding)), make([]byte, padding)...)
	values := levels
	if inMore {
		values++
		data = append(data, byte(wire.Stop))
	}
	moreEnd := len(data)
	inside := len(data)
	ends := make([]int, levels) // of the struct in each list
	for i := levels - 1; i >= 0; i-- {
		inside++ // its STOP
		ends[i] = inside
		inside++ // another empty struct
	}
	data = append(data, make([]byte, inside-len(data)+1)...)
	f := &branchDesc.Fields()[0]
	var entries, anchors []byte
	for i, at := range begins {
		body := at + wire.FieldHeader + wire.ListHeader
		first := values*wireindex.EntryBytes + len(anchors)
		for k := range elements - 1 {
			anchors = wireindex.AppendNumber(anchors, uint32([]int{body + 1, ends[i], body}[k%3]))
		}
		entries = wireindex.AppendNumber(wireindex.AppendNumber(entries, uint32(at+wire.FieldHeader)), uint32(ends[i]+1))
		entries = wireindex.AppendNumber(wireindex.AppendNumber(entries, f.Header()<<wireindex.StrideBits), f.Type.Hash())
		entries = wireindex.AppendNumber(entries, uint32(first))
	}
	if inMore {
		f := &branchDesc.Fields()[2]
		entries = wireindex.AppendNumber(wireindex.AppendNumber(entries, uint32(more)), uint32(moreEnd))
		entries = wireindex.AppendNumber(wireindex.AppendNumber(entries, f.Header()<<wireindex.StrideBits), f.Type.Hash())
		entries = wireindex.AppendNumber(entries, 0)
	}
	return withEntries(data, values, append(entries, anchors...))
}

// TestOverlappingElements: elements whose anchors say that they are the same bytes, in lists in
// each other, are not read more often than in proportion to the message's bytes.
func TestOverlappingElements(t *testing.T) {
	for _, opt := range []Option{ByIndex, RequireIndex} {
		wire := overlapping(12, 13, 4<<10, false)
		s, err := Parse(branchDesc, wire, opt)
		if err != nil {
			t.Fatal(err)
		}
		children, found := fieldNamed(branchDesc, "children"), 0
		var read func(s Struct)
		read = func(s Struct) {
			l := StructList[Struct](s.Child(children, branchDesc))
			for i := 1; i < l.Len(); i += 3 {
				if x := l.At(i); x.Valid() && found < 1e5 {
					found++
					read(x)
				}
			}
		}
		read(s)
		if most := mostRead * len(wire); found > most || found < 12 {
			t.Errorf("%d structs were read, at least 12 and at most %d", found, most)
		}
		if s.m.landing.err == nil {
			t.Error("nothing was found to be wrong")
		}
		s.Release()
	}
}
