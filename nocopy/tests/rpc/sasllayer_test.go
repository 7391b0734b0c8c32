package rpc_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
)

// toyLayer is a security layer of nobody's: it inverts the bytes, and adds a checksum.
type toyLayer struct{ fail string }

func (l toyLayer) Wrap(message []byte) ([]byte, error) {
	if l.fail == "Wrap" {
		return nil, errors.New("no key")
	}
	b := make([]byte, len(message), len(message)+4)
	for i, c := range message {
		b[i] = ^c
	}
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b)), nil
}

func (l toyLayer) Unwrap(b []byte) ([]byte, error) {
	switch {
	case l.fail == "Unwrap panics":
		panic("no key")
	case len(b) < 4 || binary.BigEndian.Uint32(b[len(b)-4:]) != crc32.ChecksumIEEE(b[:len(b)-4]):
		return nil, errors.New("changed on its way")
	}
	b = b[:len(b)-4]
	for i := range b {
		b[i] = ^b[i]
	}
	return b, nil
}

// protecting is both sides of a mechanism that has a layer.
type protecting struct {
	layer rpc.SASLLayer
	err   error
}

func (p protecting) Start() (string, []byte, error)    { return "TOY", []byte("x"), nil }
func (p protecting) SASLLayer() (rpc.SASLLayer, error) { return p.layer, p.err }
func (protecting) Next([]byte) ([]byte, error)         { return nil, nil }
func (p protecting) server() rpc.SASLServer            { return protectingServer{p} }

type protectingServer struct{ protecting }

func (protectingServer) Next([]byte) ([]byte, bool, error) { return nil, true, nil }

// serveProtected starts a server whose clients log in with m.
func serveProtected(t *testing.T, m protecting) (addr string, q *quiet) {
	q = new(quiet)
	srv := &rpc.Server{Logger: q.logger(), MaxFrame: 1 << 20, SASL: func(context.Context, string) rpc.SASLServer { return m.server() }}
	return serve(t, srv, &handler{}), q
}

// TestSASLLayer: calls of all sizes, and many at a time, pass a security layer, in both
// directions.
func TestSASLLayer(t *testing.T) {
	t.Parallel()
	addr, _ := serveProtected(t, protecting{layer: toyLayer{}})
	c := dial(t, addr, rpc.SASL(protecting{layer: toyLayer{}}))
	var wg sync.WaitGroup
	for _, n := range []int{0, 1, 100, 4_000, 5_000, 70_000, 900_000} {
		wg.Go(func() {
			for range 20 {
				payload := bytes.Repeat([]byte("x"), n)
				res, err := echo.NewEchoClient(c).Echo(bg, func(args echo.EchoEchoArgs) { args.SetPayload(payload) })
				if err != nil || !bytes.Equal(res.GetSuccess(), payload) {
					t.Errorf("%d bytes: %d came back, %v", n, len(res.GetSuccess()), err)
				}
				res.Release()
			}
		})
	}
	wg.Wait()
	// None was agreed on
	addr, _ = serveProtected(t, protecting{})
	if _, err := echo.NewEchoClient(dial(t, addr, rpc.SASL(protecting{}))).Echo(bg, nil); err != nil {
		t.Error(err)
	}
}

// TestSASLLayerRefuses: a mechanism that is not satisfied in the end refuses the other side.
func TestSASLLayerRefuses(t *testing.T) {
	t.Parallel()
	addr, _ := serveProtected(t, protecting{})
	_, err := rpc.Dial(bg, "tcp", addr, rpc.SASL(protecting{err: errors.New("too early")}))
	if !errors.Is(err, rpc.ErrLogin) || !strings.Contains(err.Error(), "too early") {
		t.Error(err)
	}
	addr, q := serveProtected(t, protecting{err: errors.New("too late")})
	c := dial(t, addr, rpc.SASL(protecting{}))
	if _, err := echo.NewEchoClient(c).Echo(bg, nil); err == nil {
		t.Error("a call was answered")
	}
	logs(t, q, "too late")
}

// TestSASLLayerBytes: frames that arrive in pieces are put together; the reply is wrapped.
func TestSASLLayerBytes(t *testing.T) {
	t.Parallel()
	addr, _ := serveProtected(t, protecting{layer: toyLayer{}})
	nc := loggedIn(t, addr)
	wrapped := wrappedFrame(strict(call, "echo", 1, []byte{0}))
	for _, b := range append(wrapped, wrapped...) {
		send(t, nc, []byte{b})
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
		if message, err := (toyLayer{}).Unwrap(b); err != nil || !bytes.Contains(message, []byte("echo")) {
			t.Errorf("%q %v", message, err)
		}
	}
}

// loggedIn returns a connection after a login with TOY.
func loggedIn(t *testing.T, addr string) net.Conn {
	t.Helper()
	nc := dialRaw(t, addr)
	send(t, nc, append(saslMessage(1, "TOY"), saslMessage(2, "x")...))
	expect(t, nc, saslMessage(5, ""))
	return nc
}

func wrappedFrame(message []byte) []byte {
	b, _ := toyLayer{}.Wrap(message)
	return frame(b)
}

// TestSASLLayerHostile: frames that are no wrapped ones end their connection, and the log says
// why; memory is taken for what has arrived only.
func TestSASLLayerHostile(t *testing.T) {
	t.Parallel()
	addr, q := serveProtected(t, protecting{layer: toyLayer{}})
	good := wrappedFrame(strict(call, "echo", 1, []byte{0}))
	changed := bytes.Clone(good)
	changed[7] ^= 1
	for name, c := range map[string]struct {
		b   []byte
		log string
	}{
		"not wrapped": {frame(strict(call, "echo", 1, []byte{0})), "changed on its way"},
		"changed":     {changed, "changed on its way"},
		"empty":       {[]byte{0, 0, 0, 0}, "changed on its way"},
		"huge":        {[]byte{0xff, 0xff, 0xff, 0xff}, "a frame of 4294967295 bytes, more than MaxFrame = 1048576"},
		"too large":   {[]byte{0, 0x20, 0, 0, 1}, "a frame of 2097152 bytes, more than MaxFrame"},
		"a large one": {wrappedFrame(make([]byte, 1<<20+1)), "a message of 1048577 bytes, more than MaxFrame"},
	} {
		nc := loggedIn(t, addr)
		nc.SetDeadline(time.Now().Add(time.Minute))
		nc.Write(c.b)
		if got, err := io.ReadAll(nc); errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: the connection stays: %q %v", name, got, err)
		}
		logs(t, q, c.log)
	}
	for _, m := range []protecting{{layer: toyLayer{"Wrap"}}, {layer: toyLayer{"Unwrap panics"}}} {
		addr, _ := serveProtected(t, protecting{layer: toyLayer{}})
		c := dial(t, addr, rpc.SASL(m), rpc.Logger(new(quiet).logger()))
		if _, err := echo.NewEchoClient(c).Echo(bg, nil); err == nil {
			t.Errorf("%v: a call was answered", m)
		}
		addr, _ = serveProtected(t, m)
		c = dial(t, addr, rpc.SASL(protecting{layer: toyLayer{}}), rpc.Logger(new(quiet).logger()))
		if _, err := echo.NewEchoClient(c).Echo(bg, nil); err == nil {
			t.Errorf("server, %v: a call was answered", m)
		}
	}
}
