package kerberos

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// raw logs in and returns the connection, and what protects its messages.
func raw(t *testing.T, addr string, q QOP) (net.Conn, layer) {
	t.Helper()
	nc, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nc.Close() })
	nc.SetDeadline(time.Now().Add(time.Minute))
	c := newClient(newKDC(), testService, q)
	message := func(status byte, payload []byte) {
		nc.Write(append(binary.BigEndian.AppendUint32([]byte{status}, uint32(len(payload))), payload...))
	}
	name, response, err := c.Start()
	message(1, []byte(name))
	for err == nil {
		message(2, response)
		var header [5]byte
		if _, err := io.ReadFull(nc, header[:]); err != nil {
			t.Fatal(err)
		}
		if header[0] == 5 {
			return nc, layer{c.context, q == AuthConf}
		}
		b := make([]byte, binary.BigEndian.Uint32(header[1:]))
		if _, err := io.ReadFull(nc, b); err != nil {
			t.Fatal(err)
		}
		response, err = c.Next(b)
	}
	t.Fatal(err)
	return nil, layer{}
}

// retrieve is a request of the store, in Thrift Binary.
var retrieve = []byte("\x80\x01\x00\x01\x00\x00\x00\x08retrieve\x00\x00\x00\x01\x0b\x00\x01\x00\x00\x00\x01k\x00")

func framedBytes(b []byte) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...)
}

// TestPieces: frames that arrive byte by byte are put together, and the reply is wrapped.
func TestPieces(t *testing.T) {
	t.Parallel()
	addr, _ := serve(t, newAcceptor(), AuthConf)
	nc, l := raw(t, addr, AuthConf)
	for range 2 {
		token, err := l.wrap(retrieve)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range framedBytes(token) {
			nc.Write([]byte{b})
		}
	}
	for range 2 {
		var length [4]byte
		if _, err := io.ReadFull(nc, length[:]); err != nil {
			t.Fatal(err)
		}
		b := make([]byte, binary.BigEndian.Uint32(length[:]))
		if _, err := io.ReadFull(nc, b); err != nil {
			t.Fatal(err)
		}
		if message, err := l.unwrap(b); err != nil || !bytes.Contains(message, []byte("retrieve")) {
			t.Errorf("%q %v", message, err)
		}
	}
}

// TestHostileFrames: frames that have no good token end their connection, and the log says why.
func TestHostileFrames(t *testing.T) {
	t.Parallel()
	addr, log := serve(t, newAcceptor(), AuthInt|AuthConf, func(s *rpc.Server) { s.MaxFrame = 1 << 20 })
	for _, c := range []struct {
		name string
		q    QOP
		make func(l layer) []byte
		log  string
	}{
		{"not wrapped", AuthConf, func(layer) []byte { return framedBytes(retrieve) }, "without protection"},
		{"empty", AuthInt, func(layer) []byte { return make([]byte, 4) }, "no Wrap token"},
		{"huge", AuthConf, func(layer) []byte { return []byte{0xff, 0xff, 0xff, 0xff} }, "a frame of 4294967295 bytes, more than MaxFrame = 1048576"},
		{"too large", AuthInt, func(layer) []byte { return []byte{0, 0x20, 0, 0} }, "a frame of 2097152 bytes"},
		{"a large one", AuthConf, func(l layer) []byte { b, _ := l.wrap(make([]byte, 1<<20+1)); return framedBytes(b) }, "a message of 1048577 bytes"},
		{"changed", AuthInt, func(l layer) []byte { b, _ := l.wrap(retrieve); b[20] ^= 1; return framedBytes(b) }, "was changed on its way"},
		{"cut", AuthConf, func(l layer) []byte { b, _ := l.wrap(retrieve); return framedBytes(b[:len(b)-1]) }, "was changed on its way"},
		{"not encrypted", AuthConf, func(l layer) []byte { l.sealed = false; b, _ := l.wrap(retrieve); return framedBytes(b) }, "not encrypted"},
		{"left out", AuthConf, func(l layer) []byte { l.wrap(nil); b, _ := l.wrap(retrieve); return framedBytes(b) }, "one was lost"},
	} {
		nc, l := raw(t, addr, c.q)
		nc.Write(c.make(l))
		if got, err := io.ReadAll(nc); errors.Is(err, os.ErrDeadlineExceeded) || len(got) > 200 {
			t.Errorf("%s: the connection stays: %d bytes, %v", c.name, len(got), err)
		}
		log.await(t, c.log)
	}
}

// interrupted is a connection whose every second Read a deadline ends.
type interrupted struct {
	net.Conn
	in    *bytes.Reader
	reads int
}

func (c *interrupted) Read(b []byte) (int, error) {
	if c.reads++; c.reads%2 == 0 {
		return 0, os.ErrDeadlineExceeded
	}
	return c.in.Read(b[:min(len(b), 3)])
}

// TestInterrupted: a Read that a deadline has ended goes on where it has stopped; the end of the
// stream within a frame is not the end of the stream.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	c, s := pair(t, allETypes[0])
	token, err := c.wrap([]byte("message"), true)
	if err != nil {
		t.Fatal(err)
	}
	read := func(stream []byte) (got []byte, err error) {
		s.receiveSeq = 7
		nc := protect(&interrupted{in: bytes.NewReader(stream)}, layer{s, true}, 100)
		for b := make([]byte, 4); ; {
			n, err := nc.Read(b)
			got = append(got, b[:n]...)
			if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
				return got, err
			}
		}
	}
	if got, err := read(framedBytes(token)); string(got) != "\x00\x00\x00\x07message" || err != io.EOF {
		t.Errorf("%q %v", got, err)
	}
	if got, err := read(framedBytes(token)[:30]); len(got) > 0 || err != io.ErrUnexpectedEOF {
		t.Errorf("%q %v", got, err)
	}
}
