package elements_test

import (
	"bytes"
	"io"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/memory"
	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
)

// TestBlocksGoBack: after the end of the stream, or an error, a decoder holds no block of the
// pools. It needs -tags nocopydebug, which counts them.
func TestBlocksGoBack(t *testing.T) {
	if !testmode.Debug {
		return
	}
	whole := newBatch(400)
	defer whole.Release()
	for _, f := range forms {
		for _, opts := range [][]nocopy.Option{nil, {nocopy.Recycle}} {
			for _, cut := range []bool{false, true} {
				in := f.send(whole)
				if cut {
					in = in[:len(in)/2]
				}
				before := memory.BlocksInUse()
				d := f.decoder(bytes.NewReader(in), "items", opts...)
				rest, err := d.Rest()
				engine.Struct(rest).Release()
				if !cut {
					_, err = d.Head()
				}
				if cut == (err == io.EOF) || err == nil {
					t.Fatal(err)
				}
				if now := memory.BlocksInUse(); now != before {
					t.Errorf("%s, %v, after %v: %d blocks are held", f.name, opts, err, now-before)
				}
			}
		}
	}
}
