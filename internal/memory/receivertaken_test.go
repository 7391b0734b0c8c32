package memory

import (
	"bytes"
	"testing"
	"testing/iotest"
)

// TestReceiverPromised: for bytes that are only promised, a Receiver allocates 64 KiB, or 32 times
// as many bytes as have arrived.
func TestReceiverPromised(t *testing.T) {
	var r Receiver
	r.Reset(false)
	src := iotest.OneByteReader(bytes.NewReader(make([]byte, 40_000)))
	grown := 0
	for arrived := range 40_000 {
		before := len(r.mem)
		if err := r.Fill(src, 1<<30); err != nil {
			t.Fatal(err)
		}
		if now := len(r.mem); now != before {
			grown++
			if most := max(64<<10, 32*arrived); now > most {
				t.Fatalf("%d bytes have arrived, %d are allocated", arrived, now)
			}
		}
	}
	if grown == 0 || len(r.mem) < 40_000 {
		t.Errorf("it has grown %d times, to %d bytes", grown, len(r.mem))
	}
	r.Free()
}

// TestReceiverKeepsTaken: bytes that were taken stay as they are while they are held, whatever
// arrives next. Once they are released, their memory is used again.
func TestReceiverKeepsTaken(t *testing.T) {
	for _, wait := range []bool{false, true} {
		var r Receiver
		r.Reset(true)
		var held []Chunk
		for i := range byte(40) {
			if err := r.Fill(bytes.NewReader(bytes.Repeat([]byte{i}, 100)), 100); err != nil {
				t.Fatal(err)
			}
			held = append(held, r.Take(100))
			if wait {
				r.Idle = true
				r.Vacate()
				r.Idle = false
			}
		}
		for i, c := range held {
			if !bytes.Equal(c.Mem, bytes.Repeat([]byte{byte(i)}, 100)) {
				t.Errorf("waiting %t: chunk %d has changed", wait, i)
			}
			c.Release()
		}
		r.Free()
	}
	if Debugging {
		return // memory is not used again
	}
	var r Receiver
	r.Reset(true)
	var last *byte
	for i := range 10 {
		if err := r.Fill(bytes.NewReader(make([]byte, 100)), 100); err != nil {
			t.Fatal(err)
		}
		c := r.Take(100)
		if i > 0 && &c.Mem[0] != last {
			t.Error("memory that nobody holds is not used again")
		}
		last = &c.Mem[0]
		c.Release()
	}
	r.Free()
}
