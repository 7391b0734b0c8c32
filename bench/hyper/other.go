//go:build !amd64 && !arm64

package hyper

import "github.com/nocopythrift/nocopythrift/bench/peer"

// Peer has no rows: hyperpb does not compile for this processor.
func Peer() peer.Peer {
	return peer.Peer{Name: "hyperpb", Rows: func(*peer.Input, peer.Op) []peer.Row { return nil }}
}
