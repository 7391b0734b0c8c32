// Package idl has the messages' IDL, for peers that read it when they start.
package idl

import _ "embed"

// Peer is peer.thrift.
//
//go:embed peer.thrift
var Peer string
