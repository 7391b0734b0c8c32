package ours

import (
	"github.com/nocopythrift/nocopythrift/nocopy"

	bench "github.com/nocopythrift/nocopythrift/bench/peer"
)

// Checked has the row nocopy/recycle+utf8 (read, partial): nocopy/recycle with the check that all
// strings are UTF-8, to compare with peers that make it, too.
func Checked() bench.Peer {
	return bench.Peer{Name: "nocopy/utf8", Rows: func(in *bench.Input, op bench.Op) []bench.Row {
		if op != bench.Read && op != bench.Partial {
			return nil
		}
		return []bench.Row{{Peer: "nocopy/recycle+utf8", Make: func() bench.Step {
			return of(in.Value).stepOf(in.Wire, op, nocopy.ValidUTF8, nocopy.Recycle)
		}}}
	}}
}
