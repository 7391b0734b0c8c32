package rpc

import "github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/transport"

// Wires is a set of the ways in which a client may speak to a [Server], joined with |. The server
// tells them apart by the first bytes, for each connection by itself.
type Wires uint16

// The ways to speak to a Server.
const (
	WireFramed   = Wires(transport.FramedBinary)   // Thrift Binary in frames
	WireUnframed = Wires(transport.UnframedBinary) // Thrift Binary without frames
)
