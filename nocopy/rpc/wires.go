package rpc

import (
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/message"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/transport"
)

// Wires is a set of the ways in which a client may speak to a [Server], joined with |. The server
// tells by the first bytes of a connection whether it has frames, and by the first bytes of each
// message in which protocol it is.
type Wires uint16

// The ways to speak to a Server.
const (
	WireFramed          = Wires(transport.FramedBinary)    // Thrift Binary in frames
	WireUnframed        = Wires(transport.UnframedBinary)  // Thrift Binary without frames
	WireFramedCompact   = Wires(transport.FramedCompact)   // the compact protocol in frames
	WireUnframedCompact = Wires(transport.UnframedCompact) // the compact protocol without frames
	WireHTTP            = Wires(transport.HTTP)            // HTTP, with either protocol
	WireTHeader         = Wires(transport.InTHeader)       // frames of Apache's THeaderTransport
)

// Protocol is the encoding of a client's calls, and of the replies to them. It is an option of
// Dial:
//
//	rpc.Dial(ctx, "tcp", addr, rpc.Protocol(rpc.Compact))
//
// A server needs no option: it answers in the protocol of the call.
type Protocol uint8

const (
	Binary  Protocol = iota // Thrift Binary: messages are used in place
	Compact                 // Thrift's compact protocol: they are turned into Thrift Binary, and back
)

func (p Protocol) apply(o *options) {
	switch p {
	case Binary:
		o.style.Form = message.Strict
	case Compact:
		o.style.Form = message.Compact
	default:
		panic("nocopy: an unknown rpc.Protocol")
	}
}

// THeader makes a client speak with Apache's THeaderTransport: in frames that have headers besides
// the message, see SetHeader. Replies must come in such frames, too. Protocol chooses the encoding
// of the messages. THeader does not go together with Unframed.
//
//	rpc.Dial(ctx, "tcp", addr, rpc.THeader(rpc.Zlib), rpc.Protocol(rpc.Compact))
//
// A server needs no option: it answers with the protocol, transforms and flags of the call.
func THeader(opts ...THeaderOption) Option {
	var t message.THeader
	for _, opt := range opts {
		if opt != Zlib {
			panic("nocopy: an unknown rpc.THeaderOption")
		}
		t.Zlib = true
	}
	return optionFunc(func(o *options) { o.style.THeader = &t })
}

// THeaderOption is a setting of THeader.
type THeaderOption uint8

// Zlib compresses calls. A server of this package compresses the replies to them, as Apache's do.
// Compressed messages are decompressed into memory for at most MaxFrame bytes.
const Zlib THeaderOption = 1
