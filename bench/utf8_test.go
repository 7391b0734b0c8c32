package main

import (
	"io"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/bench/data"
	"github.com/nocopythrift/nocopythrift/bench/hyper"
	"github.com/nocopythrift/nocopythrift/bench/limit"
	"github.com/nocopythrift/nocopythrift/bench/ours"
	"github.com/nocopythrift/nocopythrift/bench/peer"
)

// TestUTF8 gives a text that is not UTF-8 to our rows and hyperpb's: those named utf8 refuse it,
// and no others, so that the same names are the same work.
func TestUTF8(t *testing.T) {
	v := &data.Small{Service: "service", SubName: "\xff\xfe"}
	in := &peer.Input{Value: v, Wire: limit.Append(nil, v)}
	for _, p := range []peer.Peer{ours.Peer(), ours.Checked(), hyper.Peer()} {
		for _, op := range []peer.Op{peer.Read, peer.Partial} {
			for _, r := range p.Rows(in, op) {
				if r.Peer == "nocopy/plain" {
					continue // its structs hold the text as bytes come
				}
				refused := panics(r)
				if want := strings.HasSuffix(r.Peer, "utf8"); refused != want {
					t.Errorf("%s %s: refuses text that is not UTF-8: %v, want %v", r.Peer, op, refused, want)
				}
			}
		}
	}
}

// panics runs a row once and reports whether it panicked.
func panics(r peer.Row) (panicked bool) {
	defer func() { panicked = recover() != nil }()
	r.Make()(io.Discard)
	return false
}
