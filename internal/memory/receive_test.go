package memory

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"
	"testing/iotest"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
)

// TestReceiver takes chunks of random sizes out of a stream that arrives in random pieces. Every
// chunk keeps its contents while it is held, and belongs to its holder alone.
func TestReceiver(t *testing.T) {
	for _, recycle := range []bool{false, true} {
		t.Run(fmt.Sprint(recycle), func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 2))
			data := make([]byte, 8<<20)
			for i := range data {
				data[i] = byte(i * 7 >> 3)
			}
			var src io.Reader = bytes.NewReader(data)
			var rec Receiver
			rec.Reset(recycle)
			type held struct {
				Chunk
				want []byte
			}
			var chunks []held
			check := func(h held) {
				if !bytes.Equal(h.Mem, h.want) {
					t.Fatalf("recycle %v: a chunk of %d bytes has changed", recycle, len(h.want))
				}
				for i := range h.Mem {
					h.Mem[i] = 0xee // no other chunk may show this
				}
				h.Release()
			}
			for at := 0; at < len(data); {
				n := min(1<<r.IntN(21)+r.IntN(100), len(data)-at)
				for len(rec.Bytes()) < n {
					if err := rec.Fill(io.LimitReader(src, int64(1+r.IntN(100_000))), n); err != nil {
						t.Fatal(err)
					}
				}
				if r.IntN(8) == 0 {
					rec.Skip(n)
				} else {
					chunks = append(chunks, held{rec.Take(n), data[at : at+n]})
				}
				at += n
				for len(chunks) > r.IntN(6) {
					check(chunks[0])
					chunks = chunks[1:]
				}
			}
			if err := rec.Fill(src, 1); err != io.EOF {
				t.Errorf("at the end: %v", err)
			}
			rec.Free()
			for _, h := range chunks {
				check(h)
			}
		})
	}
}

// TestReceiverTrust: memory does not grow for expected bytes alone.
func TestReceiverTrust(t *testing.T) {
	for _, recycle := range []bool{false, true} {
		t.Run(fmt.Sprint(recycle), func(t *testing.T) {
			var rec Receiver
			rec.Reset(recycle)
			if err := rec.Fill(bytes.NewReader(make([]byte, 4)), 1<<30); err != nil {
				t.Fatal(err)
			}
			for arrived := 4; arrived < 1<<20; arrived = len(rec.Bytes()) {
				if most := max(2*SlabSize, 2*trust*arrived); len(rec.mem) > most {
					t.Fatalf("%d bytes of a promised GiB have arrived, %d are reserved", arrived, len(rec.mem))
				}
				if err := rec.Fill(bytes.NewReader(make([]byte, 1000)), 1<<30); err != nil {
					t.Fatal(err)
				}
			}
			rec.Free()
		})
	}
}

// TestReceiverPieces cuts chunks of a stream into pieces. The pieces are the bytes that have
// arrived, cut bytes are not copied, memory is proportional to the arrived bytes, and releasing
// all chunks frees it.
func TestReceiverPieces(t *testing.T) {
	blocks := BlocksInUse()
	for seed := range uint64(testmode.Of(12, 60)) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 0))
			recycle := seed%2 == 0
			data := make([]byte, 1<<(10+r.IntN(14)))
			for i := range data {
				data[i] = byte(i * 7 >> 3)
			}
			var rec Receiver
			rec.Reset(recycle)
			src := io.LimitReader(bytes.NewReader(data), int64(len(data)))
			most := 1 << r.IntN(20)
			n := 0
			for cut := 0; cut < len(data); {
				value := min(1+r.IntN(most), len(data)-cut)
				for len(rec.Bytes()) < value {
					if err := rec.Fill(src, value); err != nil {
						t.Fatal(err)
					}
					if limit := 2*trust*rec.Arrived() + 2*SlabSize; len(rec.mem) > limit {
						t.Fatalf("a block of %d bytes when %d have arrived", len(rec.mem), rec.Arrived())
					}
				}
				cut += value
				if cut == len(data) {
					n = value
					break
				}
				rec.Cut(value)
			}
			if rec.Arrived() != len(data) {
				t.Fatalf("%d of %d bytes have arrived", rec.Arrived(), len(data))
			}
			c := rec.Take(n)
			var got []byte
			for p := &c; p != nil; p = p.Next() {
				got = append(got, p.Mem...)
			}
			if !bytes.Equal(got, data) || c.Len() != len(data) {
				t.Fatalf("%d of %d bytes in pieces", c.Len(), len(data))
			}
			if mem := len(rec.mem) + len(rec.rest.mem); mem > 2*SlabSize {
				t.Errorf("%d bytes are kept of %d", mem, len(data))
			}
			again := c.From(len(c.Mem))
			again.Release()
			c.Release()
			rec.Free()
		})
	}
	if now := BlocksInUse(); now != blocks {
		t.Errorf("%d blocks in use, %d before", now, blocks)
	}
}

// TestReceiverAhead: reading without knowing how much will come copies each byte at most a few
// times.
func TestReceiverAhead(t *testing.T) {
	for _, recycle := range []bool{false, true} {
		t.Run(fmt.Sprint(recycle), func(t *testing.T) {
			var rec Receiver
			rec.Reset(recycle)
			src := make(endless, 1<<20)
			moved := 0
			for rec.Arrived() < 8<<20 {
				have := rec.Arrived()
				was := rec.mem
				rec.Fill(src, have+1)
				if len(was) > 0 && &was[0] != &rec.mem[0] {
					moved += have
				}
			}
			if moved > 3*rec.Arrived() {
				t.Errorf("%d bytes were moved when %d had arrived", moved, rec.Arrived())
			}
			rec.Free()
		})
	}
}

// TestReceiverStays: a Receiver that recycles, and whose chunks nobody holds, needs no new memory
// for small messages.
func TestReceiverStays(t *testing.T) {
	if Debugging {
		t.Skip("with nocopydebug nothing is used twice")
	}
	var rec Receiver
	rec.Reset(true)
	defer rec.Free()
	src := iotest.HalfReader(bytes.NewReader(make([]byte, 100)))
	rec.Fill(src, 100)
	first := &rec.mem[0]
	for range 10_000 {
		src := bytes.NewReader(make([]byte, 100))
		for len(rec.Bytes()) < 100 {
			rec.Fill(src, 100)
		}
		rec.Take(len(rec.Bytes())).Release()
	}
	if &rec.mem[0] != first {
		t.Error("it moved on")
	}
}

// TestReceiverContinues: after a large chunk, which has a block of its own, small ones are
// received into the rest of the slab that was used before.
func TestReceiverContinues(t *testing.T) {
	for _, recycle := range []bool{false, true} {
		var rec Receiver
		rec.Reset(recycle)
		take := func(n int) Chunk {
			if err := rec.FillTo(bytes.NewReader(make([]byte, n)), n, 0); err != nil {
				t.Fatal(err)
			}
			return rec.Take(n)
		}
		for rec.size < SlabSize { // the first blocks are small
			defer take(1000).Release()
		}
		defer take(1000).Release()
		end := &rec.mem[len(rec.mem)-1]
		for range 4 {
			defer take(2 * SlabSize).Release()
			defer take(1000).Release()
			if &rec.mem[len(rec.mem)-1] != end {
				t.Errorf("recycle %v: another slab is begun after a large chunk", recycle)
			}
		}
		rec.Free()
	}
}
