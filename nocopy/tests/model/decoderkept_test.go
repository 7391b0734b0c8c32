//go:build !nocopydebug

// With the tag nocopydebug messages also hold the stacks that made them.

package model_test

import (
	"bytes"
	"runtime"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// TestDecoderKept: a kept small message of a stream keeps a block of at most 64 KiB alive. A copy
// of its bytes takes only about its size.
func TestDecoderKept(t *testing.T) {
	decodedDesc = thriftimpl.NewDesc("Kept")
	decodedDesc.Define(thriftimpl.FieldDesc{ID: 1, Name: "x", Type: thriftimpl.TypeI32})
	message := []byte{byte(nocopy.WireI32), 0, 1, 0, 0, 0, 7, 0}
	const streams, each = 40, 5000
	all := bytes.Repeat(message, each)
	keep := func(copied bool) (size int64) {
		var before, after runtime.MemStats
		var kept []thriftimpl.Struct
		runtime.GC()
		runtime.ReadMemStats(&before)
		for range streams {
			d, i := newDecoder(bytes.NewReader(all), false), 0
			for s, err := range d.All() {
				if err != nil {
					t.Fatal(err)
				}
				switch m := nocopy.Struct(s).Message(); {
				case i != each/2:
					m.Release()
				case copied:
					c, err := thriftimpl.Parse(decodedDesc, m.AppendTo(nil))
					if err != nil {
						t.Fatal(err)
					}
					kept = append(kept, c)
					m.Release()
				default:
					kept = append(kept, thriftimpl.Struct(s))
				}
				i++
			}
		}
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&after)
		runtime.KeepAlive(kept)
		return (int64(after.HeapAlloc) - int64(before.HeapAlloc)) / streams
	}
	// The heap also contains garbage of other tests: the minimum of some tries counts.
	least := func(copied bool, most int64) int64 {
		size := keep(copied)
		for try := 0; try < 5 && size > most; try++ {
			size = min(size, keep(copied))
		}
		return size
	}
	if most := int64(72 << 10); least(false, most) > most {
		t.Errorf("a message of %d bytes that is kept takes more than %d", len(message), most)
	}
	if most := int64(8 << 10); least(true, most) > most {
		t.Errorf("a copy of a message of %d bytes takes more than %d", len(message), most)
	}
}
