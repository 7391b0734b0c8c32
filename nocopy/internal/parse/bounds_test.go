package parse

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// These tests look at the memory that a parser takes for bytes of a hostile sender.

// TestForeseenIndex: the index does not become larger than its limit for elements that have not
// been parsed yet.
func TestForeseenIndex(t *testing.T) {
	d := schema.NewStruct("Lists")
	d.Define(schema.FieldDesc{ID: 1, Name: "lists", Type: schema.ListOf(schema.ListOf(schema.TypeI32))})
	const n = 4 * manyElements
	b := binary.BigEndian.AppendUint32([]byte{byte(wire.List), 0, 1, byte(wire.List)}, n)
	b = append(b, bytes.Repeat([]byte{byte(wire.I32), 0, 0, 0, 0}, n)...)
	p := parserFor(append(b, 0))
	p.Reset(len(b), Settings{MaxDepth: MaxDepth, MaxIndex: 4 * n})
	if p.Root(d); !p.Full() {
		t.Errorf("a large message fits in a small index: %v", p.Err)
	}
	if len(p.x.Words) > int(p.MaxWords) {
		t.Errorf("an index of %d words; the limit is %d", len(p.x.Words), p.MaxWords)
	}
	p.Drop()
}

// duplicates is a Host that counts the values that do not count.
type duplicates struct {
	Host
	n int
}

func (s *duplicates) NoteDuplicate(wire.Type, uint32) (at, end uint32) { s.n++; return 0, 0 }

// TestWideManyTimes: fields of a wide struct that come again and again, in any order, take no more
// memory than twice as many fields as there are.
func TestWideManyTimes(t *testing.T) {
	const n, times = 1100, 10 * 1100
	var fields []schema.FieldDesc
	for i := range n {
		fields = append(fields, schema.FieldDesc{ID: int16(i + 1), Name: fmt.Sprint("f", i), Type: schema.TypeI8})
	}
	d := schema.NewStruct("Wide")
	d.DefineWide(fields...)
	p, host := parserFor(append(bytes.Repeat([]byte{byte(wire.I8), 0, 2, 7, byte(wire.I8), 0, 1, 7}, times/2), 0)), new(duplicates)
	p.msg = host
	if p.Root(d); p.Err != nil || host.n != times-2 {
		t.Errorf("%d values do not count: %v", host.n, p.Err)
	}
	if cap(p.present) > 5*n {
		t.Errorf("memory for %d fields", cap(p.present))
	}
	p.Drop()
}

// TestRoomForEdits: bytes in pieces are parsed where they lie only if there are positions left for
// edits, and not only for the bytes.
func TestRoomForEdits(t *testing.T) {
	b := []byte{byte(wire.I8), 0, 1, 7, 0}
	for used, want := range map[int]error{1 << 10: nil, 2<<10 - editRoom>>20 + 10: ErrScattered} {
		p := parserFor(b)
		for range used {
			p.buf.AddForeign(b, false)
		}
		p.Windows, p.After = []Window{{Chunk: chain.Chunk{Mem: b[:4]}}, {Chunk: chain.Chunk{Mem: b[4:]}}}, len(b)
		if i := p.Enter(); (i < 0) != (want != nil) || i < 0 && p.Err.Err != want {
			t.Errorf("when %d MiB of positions are used: %d, %v", used, i, p.Err)
		}
		p.DropWindows()
		p.Drop()
	}
}

// TestIndexRoom: nothing is stored after the end of an index, of whatever size it is when a
// message is parsed.
func TestIndexRoom(t *testing.T) {
	inner, d := schema.NewStruct("Inner"), schema.NewStruct("Outer")
	inner.Define(schema.FieldDesc{ID: 1, Name: "x", Type: schema.TypeI8})
	d.Define(
		schema.FieldDesc{ID: 1, Name: "one", Type: schema.StructOf(inner)},
		schema.FieldDesc{ID: 2, Name: "texts", Type: schema.ListOf(schema.TypeString)},
		schema.FieldDesc{ID: 3, Name: "many", Type: schema.ListOf(schema.StructOf(inner))},
		schema.FieldDesc{ID: 4, Name: "last", Type: schema.StructOf(inner)},
	)
	const x, text = "\x03\x00\x01\x07\x00", "\x00\x00\x00\x01a"
	b := []byte("\x0c\x00\x01" + x + "\x0f\x00\x02\x0b\x00\x00\x00\x02" + text + text + "\x0f\x00\x03\x0c\x00\x00\x00\x02" + x + x + "\x0c\x00\x04" + x + "\x00")
	const after = 0xa5a5a5a5
	for n := d.Words() + 1; n < 100; n++ {
		words := make([]uint32, n+64)
		for i := range words[n:] {
			words[n+i] = after
		}
		p := parserFor(b)
		p.x.Words = words[:n:n]
		if p.Root(d); p.Err != nil {
			t.Fatalf("an index of %d words: %v", n, p.Err)
		}
		for i, w := range words[n:] {
			if w != after {
				t.Fatalf("an index of %d words: word %d is %d", n, n+i, w)
			}
		}
		p.Drop()
	}
}
