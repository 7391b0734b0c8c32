package limits_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/memory"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
)

// TestMaxBytesExactly: a message of as many bytes as the limit is accepted, and one of a byte more
// is refused, however it arrives.
func TestMaxBytesExactly(t *testing.T) {
	// 100 bytes
	b := join([]byte("\x0b\x00\x07\x00\x00\x00\x5c"), bytes.Repeat([]byte{'t'}, 92), []byte{0})
	ways := map[string]func(l engine.Limits) (engine.Struct, error){
		"Parse": func(l engine.Limits) (engine.Struct, error) { return engine.Parse(allDesc, b, l) },
		"ParseInto": func(l engine.Limits) (engine.Struct, error) {
			return engine.ParseInto(allDesc, new(engine.Message), b, []engine.Option{l})
		},
		"blocks": func(l engine.Limits) (engine.Struct, error) {
			return engine.ParseBlocks(allDesc, [][]byte{b[:40], b[40:]}, l)
		},
		"Read": func(l engine.Limits) (engine.Struct, error) {
			return engine.Read(allDesc, bytes.NewReader(b), len(b), l)
		},
		"a chunk": func(l engine.Limits) (engine.Struct, error) {
			c := memory.NewChunk(len(b), false)
			copy(c.Mem, b)
			return engine.ParseChunk(allDesc, c, l, 0)
		},
	}
	for name, parse := range ways {
		for most, fits := range map[int]bool{len(b) - 1: false, len(b): true, len(b) + 1: true} {
			s, err := parse(engine.Limits{MaxBytes: most})
			if (err == nil) != fits || err != nil && !errors.Is(err, nocopy.ErrLimit) {
				t.Errorf("%s, at most %d bytes: %v", name, most, err)
			}
			if err == nil && !bytes.Equal(s.Message().AppendTo(nil), b) {
				t.Errorf("%s: another message", name)
			}
			s.Release()
		}
	}
}
