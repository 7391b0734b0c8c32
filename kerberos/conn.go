package kerberos

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"slices"
)

// layerRoom is how many bytes a wrapped message may have more than the message. A layer of
// Kerberos adds less than 100.
const layerRoom = 1 << 10

// mostKept is the largest memory that is kept from one message for the next.
const mostKept = 64 << 10

// protect returns a connection on which a layer protects each frame: the frame's length, which is
// not protected, is then that of the wrapped bytes, as with Apache's TSaslTransport. Frames that
// are received may have at most maxFrame bytes.
func protect(nc net.Conn, l layer, maxFrame int) net.Conn {
	return &protected{Conn: nc, in: unwrapper{in: nc, layer: l, most: min(maxFrame, math.MaxInt32-layerRoom)}, out: wrapper{out: nc, layer: l}}
}

// protected is a connection with a layer. One goroutine may read while another one writes.
type protected struct {
	net.Conn
	in  unwrapper
	out wrapper
}

// NetConn returns the connection beneath.
func (p *protected) NetConn() net.Conn { return p.Conn }

func (p *protected) Read(b []byte) (int, error)  { return p.in.Read(b) }
func (p *protected) Write(b []byte) (int, error) { return p.out.Write(b) }

// CloseWrite tells the other end that no more frames come, where nc can.
func (p *protected) CloseWrite() error {
	if half, ok := p.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}

const lengthSize = 4

// unwrapper reads frames. A read that a deadline has ended can be repeated.
type unwrapper struct {
	in      io.Reader
	layer   layer
	most    int
	wrapped []byte // what has arrived of the frame, with its length
	length  int    // of the frame with its length; 0 as long as that is not known
	plain   []byte // unwrapped and not read yet
	kept    []byte // the memory of plain
	err     error  // of the layer: nothing can be read any more
}

func (u *unwrapper) Read(b []byte) (int, error) {
	for len(u.plain) == 0 {
		if u.err != nil {
			return 0, u.err
		}
		if err := u.next(); err != nil {
			return 0, err
		}
	}
	n := copy(b, u.plain)
	u.plain = u.plain[n:]
	return n, nil
}

// next receives a frame.
func (u *unwrapper) next() error {
	if u.length == 0 {
		if err := u.fill(lengthSize); err != nil {
			return err
		}
		n := binary.BigEndian.Uint32(u.wrapped)
		if int64(n) > int64(u.most+layerRoom) {
			u.err = fmt.Errorf("kerberos: a frame of %d bytes, more than MaxFrame = %d; or the other end has no layer", n, u.most)
			return u.err
		}
		u.length = lengthSize + int(n)
	}
	if err := u.fill(u.length); err != nil {
		return err
	}
	message, err := u.layer.unwrap(u.wrapped[lengthSize:])
	switch {
	case err != nil:
		u.err = within("a message", err)
		return u.err
	case len(message) > u.most:
		u.err = fmt.Errorf("kerberos: a message of %d bytes, more than MaxFrame = %d", len(message), u.most)
		return u.err
	}
	u.plain = append(binary.BigEndian.AppendUint32(u.kept[:0], uint32(len(message))), message...)
	u.kept, u.wrapped, u.length = kept(u.plain), kept(u.wrapped), 0
	return nil
}

// fill receives until wrapped has n bytes. It takes memory for twice of what has arrived at most.
func (u *unwrapper) fill(n int) error {
	for len(u.wrapped) < n {
		have := len(u.wrapped)
		u.wrapped = slices.Grow(u.wrapped, min(n-have, max(have, 4<<10)))
		got, err := u.in.Read(u.wrapped[have:min(n, cap(u.wrapped))])
		u.wrapped = u.wrapped[:have+got]
		switch {
		case len(u.wrapped) == n:
			return nil // the error comes again
		case err == io.EOF && len(u.wrapped) > 0:
			return io.ErrUnexpectedEOF
		case err != nil:
			return err
		}
	}
	return nil
}

// wrapper writes frames. Bytes of a frame that is not complete wait for the others.
type wrapper struct {
	out   io.Writer
	layer layer
	plain []byte // what was written of a frame, with its length
	frame []byte // the memory of the last wrapped one
	err   error
}

func (w *wrapper) Write(b []byte) (n int, err error) {
	for n < len(b) && w.err == nil {
		w.err = w.write(b, &n)
	}
	return n, w.err
}

// write takes bytes of b from *n on, and writes the frame that they complete, if any.
func (w *wrapper) write(b []byte, n *int) error {
	if len(w.plain) < lengthSize {
		*n += w.take(b[*n:], lengthSize)
		if len(w.plain) < lengthSize {
			return nil
		}
	}
	length := lengthSize + int(binary.BigEndian.Uint32(w.plain))
	*n += w.take(b[*n:], length)
	if len(w.plain) < length {
		return nil
	}
	wrapped, err := w.layer.wrap(w.plain[lengthSize:])
	if err != nil {
		return within("a message", err)
	}
	if len(wrapped) > math.MaxInt32 {
		return fmt.Errorf("kerberos: a frame of %d bytes", len(wrapped))
	}
	w.plain = kept(w.plain)
	w.frame = append(binary.BigEndian.AppendUint32(w.frame[:0], uint32(len(wrapped))), wrapped...)
	_, err = w.out.Write(w.frame)
	w.frame = kept(w.frame)
	return err
}

// take adds bytes of b to plain until it has n, and returns how many.
func (w *wrapper) take(b []byte, n int) int {
	b = b[:min(len(b), n-len(w.plain))]
	w.plain = append(w.plain, b...)
	return len(b)
}

// kept returns b without its bytes, for the next message, or nil if it is large.
func kept(b []byte) []byte {
	if cap(b) > mostKept {
		return nil
	}
	return b[:0]
}
