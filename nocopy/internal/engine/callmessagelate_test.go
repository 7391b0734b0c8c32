package engine

import (
	"bytes"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/memory"
)

// TestCallMessageTooLate: a release after the call has ended does nothing, least of all to the
// message of another call.
func TestCallMessageTooLate(t *testing.T) {
	wire := fullWire(t)
	for range 20 {
		first, _ := ParseForCall(allDesc, memory.Chunk{Mem: bytes.Clone(wire)}, Limits{}, Recycle)
		handle := Struct(first.Root())
		var pointer *Message
		if shown := first.gen%2 == 0; shown {
			pointer = handle.Message()
		}
		first.EndHandles()
		first.EndOfCall()
		second, _ := ParseForCall(allDesc, memory.Chunk{Mem: bytes.Clone(wire)}, Limits{}, Recycle)
		s := Struct(second.Root())
		handle.Release()
		if pointer != nil {
			pointer.Release()
		}
		if second.IsDisowned() || s.Text(fieldNamed(allDesc, "text")) != "some text" {
			t.Fatal("another message was released")
		}
		second.EndOfCall()
	}
}
