package chain

import (
	"bytes"
	"io"
	"math/rand/v2"
	"net"
	"testing"
)

// sealed returns a sealed message of these pieces.
func sealed(pieces ...[]byte) *Buffer {
	b := new(Buffer)
	b.Reset(false)
	b.OpenRoot(8)
	for _, p := range pieces {
		_, mem := b.Extend(len(p))
		copy(mem, p)
		b.Place(1) // the next bytes are in another piece
	}
	b.Close()
	b.Seal()
	return b
}

func TestBatch(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	client, server := net.Pipe()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	tcp, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	accepted, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	for _, way := range []struct{ w, r net.Conn }{{client, server}, {tcp, accepted}} {
		var batch Batch
		for range 100 {
			var want []byte
			frame := r.IntN(2) == 0
			for range r.IntN(40) {
				var pieces [][]byte
				var whole []byte
				for range 1 + r.IntN(4) {
					p := bytes.Repeat([]byte{byte(r.Uint32())}, r.IntN(1+10<<r.IntN(10)))
					pieces = append(pieces, p)
					whole = append(whole, p...)
				}
				b := sealed(pieces...)
				batch.Add(b, frame)
				if frame {
					want = append(want, byte(len(whole)>>24), byte(len(whole)>>16), byte(len(whole)>>8), byte(len(whole)))
				}
				want = append(want, whole...)
			}
			if batch.Len() != len(want) {
				t.Fatalf("%d bytes, want %d", batch.Len(), len(want))
			}
			got := make([]byte, len(want))
			done := make(chan error, 1)
			go func() {
				_, err := io.ReadFull(way.r, got)
				done <- err
			}()
			stats, err := batch.Write(way.w)
			if err != nil || stats.Bytes != len(want) || <-done != nil || !bytes.Equal(got, want) {
				t.Fatalf("%d of %d bytes written, %v", stats.Bytes, len(want), err)
			}
			if batch.Len() != 0 {
				t.Fatal("the batch is not empty afterwards")
			}
		}
		way.w.Close()
		way.r.Close()
		batch.Add(sealed([]byte("x")), true)
		batch.Add(sealed(make([]byte, 5000)), true)
		if _, err := batch.Write(way.w); err == nil || batch.Len() != 0 {
			t.Errorf("to a closed connection: %v, %d bytes left", err, batch.Len())
		}
	}
}

// TestAppendOnce: AppendTo makes room for all pieces of a message at once.
func TestAppendOnce(t *testing.T) {
	var parts [][]byte
	for range 5000 {
		parts = append(parts, make([]byte, 1000))
	}
	b := sealed(parts...)
	// With the race detector, making room takes two allocations
	if n := testing.AllocsPerRun(5, func() { b.AppendTo(nil) }); n > 2 {
		t.Errorf("%v allocations", n)
	}
}
