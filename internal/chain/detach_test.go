package chain

import (
	"bytes"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/memory"
)

// TestDetach fills and frees Buffers, and checks that pieces detached from earlier ones stay the
// same.
func TestDetach(t *testing.T) {
	var b Buffer
	var all [][][]byte
	var want [][]byte
	foreign := bytes.Repeat([]byte("foreign "), 4<<10)
	for i := range 50 {
		b.Begin(false, 8)
		_, mem := b.Extend(100 + i*1000)
		for j := range mem {
			mem[j] = byte(i + j)
		}
		at, _ := b.Extend(1)
		p := b.AddForeign(foreign[i:], false)
		b.Close()
		id := b.AddReplace(at, at+1)
		b.AddContent(id, p, p+Pos(len(foreign)-i))
		b.Seal()
		want = append(want, b.AppendTo(nil))
		all = append(all, b.Detach(4<<10, 32<<10))
		b.Free()
	}
	for i, pieces := range all {
		if got := bytes.Join(pieces, nil); !bytes.Equal(got, want[i]) {
			t.Errorf("message %d of %d bytes has changed", i, len(want[i]))
		}
		last := pieces[len(pieces)-1]
		if &last[0] != &foreign[i] {
			t.Errorf("message %d: the caller's memory was copied", i)
		}
		if own := len(want[i]) - len(last); own < 32<<10 && cap(pieces[0]) > own+1 {
			t.Errorf("message %d: %d bytes keep %d alive", i, own, cap(pieces[0]))
		}
	}
}

// TestMoveTo: a Batch's pieces are copied in their order, and it is empty then.
func TestMoveTo(t *testing.T) {
	var b Batch
	for range 2 {
		b.AddBytes([]byte("some "))
		b.AddBytes(bytes.Repeat([]byte("many "), 1000))
		dst := make([]byte, b.Len())
		if b.MoveTo(dst); string(dst) != "some "+string(bytes.Repeat([]byte("many "), 1000)) || b.Len() != 0 {
			t.Errorf("%.20q, %d left", dst, b.Len())
		}
	}
}

// TestCompactReturns: the memory of an Owner is returned when the message is given up, even if the
// message was compacted before. Until then slices may alias it.
func TestCompactReturns(t *testing.T) {
	freed := 0
	var b Buffer
	b.Reset(true)
	b.AddChunk(memory.HoldPieces([][]byte{[]byte("somebody's")}, func() { freed++ }))
	for range 3 {
		if b.Compact(false); freed != 0 {
			t.Fatalf("freed %d times", freed)
		}
	}
	if b.Free(); freed != 1 {
		t.Errorf("freed %d times", freed)
	}
}
