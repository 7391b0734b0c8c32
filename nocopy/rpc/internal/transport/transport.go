package transport

import (
	"errors"
	"fmt"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/internal/memory"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/message"
)

// A Transport is a way in which messages follow one another on a connection. Each is a file of its
// own.
type Transport interface {
	// next receives the next message of r, and returns its header and the bytes after that, as
	// Receiver.Next does.
	next(r *Receiver) (message.Header, memory.Chunk, error)
	// arrived reports whether the whole next message has arrived, if r can tell; else false.
	arrived(r *Receiver) bool
	// HasHeaders reports whether messages have a place for the headers of calls and replies. Then
	// next sets message.Header's Headers. Otherwise they are in a field of the struct.
	HasHeaders() bool
	// AppendFront appends the bytes before a plain message of n bytes, which include its header.
	AppendFront(b []byte, n int) []byte
	// Add adds a plain message to a batch, with the bytes before it. m has room for them, see
	// message.HeaderRoom.
	Add(b *chain.Batch, m *nocopy.Message)
}

// detect sets Transport by the first bytes. It leaves it nil if they are HTTP, which is for others
// to receive.
func (r *Receiver) detect() error {
	for {
		b := r.in.Bytes()
		if n := len(b); n >= 5 || n >= 2 && b[0] == message.Version1>>8 {
			break
		}
		if err := r.fill(5); err != nil {
			return err
		}
	}
	t, err := transportOf(r.in.Bytes())
	if errors.Is(err, message.ErrHTTP) {
		return err
	}
	r.Transport = t
	r.Stats.Received(r.Buffered())
	return err
}

// transportOf returns the Transport of a connection that begins with b. b has at least five bytes,
// or two if the first is 0x80. It returns a Transport with an error, too.
func transportOf(b []byte) (Transport, error) {
	switch {
	case b[0] == message.Version1>>8:
		if b[1] != message.Version1&0xff {
			return Unframed, fmt.Errorf("%w: version %#x%02x", message.ErrVersion, b[0], b[1])
		}
		return Unframed, nil // a strict header: frames are not that long
	case b[0] == message.CompactID:
		return Unframed, nil
	case message.Foreign(b) != nil:
		return Unframed, message.Foreign(b)
	case message.InFrame(b[4]):
		return Framed, nil // a header after the length, or that of a name shorter than 16 MiB
	case b[0]&0x80 != 0 || b[4] < ' ' || b[4] > '~':
		return Unframed, fmt.Errorf("%w: it begins with % x", message.ErrVersion, b[:5])
	}
	return Unframed, nil // a name's length and its first character
}
