package transport

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/nocopythrift/nocopythrift/internal/memory"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/message"
)

// Wire is a way in which messages are spoken, or a set of such ways.
type Wire uint16

// The ways that there are.
const (
	FramedBinary Wire = 1 << iota
	UnframedBinary
	FramedCompact
	UnframedCompact
	HTTP // with any form; package rpc receives it
	InTHeader
)

var wireNames = []string{"framed Binary", "unframed Binary", "framed Compact", "unframed Compact", "HTTP", "THeader"}

// WireOf returns the way of messages of this style in a transport.
func WireOf(t Transport, s message.Style) Wire {
	if s.THeader != nil {
		return InTHeader
	}
	w := FramedBinary
	if s.Form == message.Compact {
		w = FramedCompact
	}
	if t == Unframed {
		w <<= 1
	}
	return w
}

// String returns the names of the ways.
func (w Wire) String() string {
	var names []string
	for i, name := range wireNames {
		if w&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// accepts reports whether r takes messages that come in this way.
func (r *Receiver) accepts(way Wire) bool { return r.Accept == 0 || r.Accept&way != 0 }

// reject releases the chunk of a message that came in a way which r does not accept, and returns
// the error.
func (r *Receiver) reject(h message.Header, c memory.Chunk) (message.Header, memory.Chunk, error) {
	way := WireOf(r.Transport, h.Style)
	h.Name = bytes.Clone(h.Name)
	c.Release()
	if !r.Requests {
		text := fmt.Sprintf("a reply in %v, where the client expects %v", way, r.Accept)
		return message.Header{}, memory.Chunk{}, &message.Refusal{Text: text, Ends: true, Err: message.ErrVersion}
	}
	text := fmt.Sprintf("a call in %v, where the server accepts %v", way, r.Accept)
	return h, memory.Chunk{}, &message.Refusal{Type: message.UnsupportedClientType, Text: text, Ends: true}
}
