package transport

import (
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/header"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/message"
)

// THeader sends frames that begin with a THeader. Servers need not choose it: frames tell.
var THeader Transport = new(theader)

type theader struct{ framed }

func (*theader) HasHeaders() bool { return true }

// opened is the THeader of a frame.
type opened struct {
	theader message.THeader
	headers header.List
	form    message.Form // of the messages; Strict stands for Old, too
}

// openTHeader is split for a frame that begins with a THeader.
func (r *Receiver) openTHeader(c chain.Chunk) (message.Header, chain.Chunk, error) {
	o := new(opened)
	var size int
	var err error
	o.theader, o.headers, o.form, size, err = message.ParseTHeader(c.Mem)
	rest := c
	if err == nil {
		if rest.Mem = c.Mem[size:]; o.theader.Zlib {
			rest, err = r.inflate(rest)
		}
	}
	if err != nil {
		known := len(c.Mem) >= message.THeaderSize
		c.Release()
		if !known {
			return message.Header{}, chain.Chunk{}, err
		}
		o.theader.Zlib = false // its reply is short
		return o.stranger(r.Requests), chain.Chunk{}, err
	}
	r.opened = o
	return r.splitNext(rest)
}

// stranger returns the header of a message that is not known, as far as the THeader tells it.
func (o *opened) stranger(request bool) message.Header {
	h := message.Header{Type: message.Reply, SeqID: o.theader.SeqID, Size: message.THeaderSize}
	if request {
		h.Type = message.Call
	}
	h.Form, h.THeader, h.Headers = o.form, &o.theader, &o.headers
	return h
}

// check completes the header of a message in the frame, or refuses a message that has another
// encoding than the THeader says. Then it releases the chunk.
func (o *opened) check(h message.Header, c chain.Chunk) (message.Header, chain.Chunk, error) {
	h.THeader, h.Headers = &o.theader, &o.headers
	if (h.Form == message.Compact) != (o.form == message.Compact) {
		h.Name, h.Form = bytes.Clone(h.Name), o.form
		c.Release()
		return h, chain.Chunk{}, &message.Refusal{Type: message.InvalidProtocol, Text: "THeader: the message is in another protocol than it says"}
	}
	return h, c, nil
}

// parseLarge is message.Parse for the message in a frame that is too large. Of one that is
// compressed, only what the THeader tells is known.
func (r *Receiver) parseLarge(b []byte) (h message.Header, need int, err error) {
	if !message.IsTHeader(b) {
		return message.Parse(b)
	}
	if len(b) < message.THeaderSize {
		return h, message.THeaderSize, nil
	}
	o := new(opened)
	var size int
	if size = message.SizeOfTHeader(b); len(b) < size {
		return h, size, nil
	}
	o.theader, o.headers, o.form, _, err = message.ParseTHeader(b[:size])
	if err != nil || o.theader.Zlib {
		o.theader.Zlib = false
		return o.stranger(r.Requests), 0, nil
	}
	h, need, err = message.Parse(b[size:])
	if need > 0 {
		need += size
	}
	h.Size += size
	h.THeader, h.Headers = &o.theader, &o.headers
	return h, need, err
}

// inflater decompresses messages, into memory that is used again.
type inflater struct {
	z   io.ReadCloser // also a zlib.Resetter; nil before the first use
	src bytes.Reader
	out chain.Receiver
}

var inflaters = sync.Pool{New: func() any { return new(inflater) }}

// inflate returns the decompressed bytes of c, which it takes over unless there is an error: a
// *message.Refusal. It takes memory and time for at most MaxFrame bytes.
func (r *Receiver) inflate(c chain.Chunk) (chain.Chunk, error) {
	f := inflaters.Get().(*inflater)
	defer f.free()
	if err := f.inflate(c.Mem, r.Limits.Frame); err != nil {
		if errors.Is(err, nocopy.ErrLimit) {
			err = fmt.Errorf("%w: more than %s = %d bytes when decompressed", nocopy.ErrLimit, r.Limits.Name, r.Limits.Frame)
		}
		return chain.Chunk{}, message.Malformed(err)
	}
	c.Release()
	out := f.out.Bytes()
	r.Stats.Converted(len(out))
	return r.in.Copy(out), nil
}

// inflate puts the decompressed bytes of b into f.out. They must be at most as many; else the
// error is nocopy.ErrLimit.
func (f *inflater) inflate(b []byte, most int) (err error) {
	f.src.Reset(b)
	f.out.Reset(true)
	if f.z == nil {
		f.z, err = zlib.NewReader(&f.src)
	} else {
		err = f.z.(zlib.Resetter).Reset(&f.src, nil)
	}
	in := io.LimitReader(f.z, int64(most)+1)
	for err == nil {
		err = f.out.Fill(in, len(f.out.Bytes())+1)
	}
	switch {
	case err != io.EOF:
		return err
	case len(f.out.Bytes()) > most:
		return nocopy.ErrLimit
	case f.src.Len() > 0:
		return fmt.Errorf("%w: %d bytes come after what is compressed", nocopy.ErrTrailing, f.src.Len())
	}
	return nil
}

func (f *inflater) free() {
	f.src.Reset(nil)
	f.out.Free()
	inflaters.Put(f)
}
