package transport

import (
	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/message"
)

// Whole returns the message that c is, such as the body of a request of HTTP, as Next does. It
// takes c over. That bytes follow the message is an error, in Thrift Binary one of parsing the
// struct. The Receiver needs no connection.
func (r *Receiver) Whole(c chain.Chunk) (message.Header, chain.Chunk, error) {
	size := len(c.Mem)
	h, c, err := r.splitNext(c)
	if rest := len(r.frameRest.Mem); err == nil && rest > 0 {
		r.Free()
		c.Release()
		err = badStruct{&nocopy.Error{Offset: size - rest, Path: string(h.Name), Err: nocopy.ErrTrailing}}
	}
	return h, c, err
}
