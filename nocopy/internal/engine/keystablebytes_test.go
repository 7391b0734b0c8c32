package engine

import (
	"bytes"
	"strconv"
	"testing"
	"time"
)

// TestTableOfChangedBytes: bytes that are changed after they were checked, as a trusted peer can
// change those in shared memory, may make a lookup panic, but not the next one wait for ever, in
// this message or in another one that uses its memory again.
func TestTableOfChangedBytes(t *testing.T) {
	built := New(allDesc)
	counts := Map[string, int64, AsString, AsInt64](built.NewChild(fieldNamed(allDesc, "counts"), allDesc, 0))
	for i := range 257 {
		counts.Put("key"+strconv.Itoa(i), int64(i))
	}
	wire := built.m.AppendTo(nil)
	built.Release()
	uses := []func(Map[string, int64, AsString, AsInt64]){
		func(p Map[string, int64, AsString, AsInt64]) { _ = p.Len() },
		func(p Map[string, int64, AsString, AsInt64]) { p.Get("key1") },
		func(p Map[string, int64, AsString, AsInt64]) {
			for range p.All() {
			}
		},
	}
	for _, first := range uses {
		b := bytes.Clone(wire)
		root := mustParse(t, allDesc, b)
		counts := Map[string, int64, AsString, AsInt64](root.Child(fieldNamed(allDesc, "counts"), allDesc))
		b[bytes.Index(b, []byte("key200"))-4] = 0x7f // the length of the key
		use := func(f func(Map[string, int64, AsString, AsInt64])) (panicked bool) {
			defer func() { panicked = recover() != nil }()
			f(counts)
			return
		}
		if !use(first) {
			t.Fatal("a key that is longer than the message was looked at")
		}
		done := make(chan struct{})
		go func() {
			for _, f := range uses {
				use(f)
			}
			close(done)
		}()
		select {
		case <-done:
		case <-time.After(time.Minute):
			t.Fatal("the tables stay locked")
		}
		root.Release()
	}
}
