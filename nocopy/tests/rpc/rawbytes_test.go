// Messages made by hand, for what no client or server of ours sends.

package rpc_test

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
)

const (
	call      = 1
	reply     = 2
	exception = 3
	oneway    = 4
)

func be32(n int) []byte { return binary.BigEndian.AppendUint32(nil, uint32(n)) }

func frame(parts ...[]byte) []byte {
	b := bytes.Join(parts, nil)
	return append(be32(len(b)), b...)
}

func strict(typ byte, name string, seqid int, args []byte) []byte {
	return bytes.Join([][]byte{{0x80, 1, 0, typ}, be32(len(name)), []byte(name), be32(seqid), args}, nil)
}

func nonStrict(typ byte, name string, seqid int, args []byte) []byte {
	return bytes.Join([][]byte{be32(len(name)), []byte(name), {typ}, be32(seqid), args}, nil)
}

func addArgs(a, b int64) []byte {
	args := echo.NewEchoAddArgs()
	args.SetA(a)
	args.SetB(b)
	return args.Message().Bytes()
}

// sumResult is the struct of a reply to add.
func sumResult(n int64) []byte {
	r := echo.NewEchoAddResult()
	r.SetSuccess(n)
	return r.Message().Bytes()
}

func failure(text string, typ int) []byte {
	return bytes.Join([][]byte{{8, 0, 2}, be32(typ), {11, 0, 1}, be32(len(text)), []byte(text), {0}}, nil)
}

func send(t testing.TB, nc net.Conn, b []byte) {
	t.Helper()
	if _, err := nc.Write(b); err != nil {
		t.Fatal(err)
	}
}

// expect reads exactly the wanted bytes.
func expect(t testing.TB, nc net.Conn, want []byte) {
	t.Helper()
	got := make([]byte, len(want))
	if n, err := io.ReadFull(nc, got); err != nil || !bytes.Equal(got, want) {
		t.Fatalf("got\n%q (%v), want\n%q", got[:n], err, want)
	}
}

// readCall reads a framed call and returns its sequence id.
func readCall(nc net.Conn) (seqid int, err error) {
	var size [4]byte
	if _, err := io.ReadFull(nc, size[:]); err != nil {
		return 0, err
	}
	b := make([]byte, binary.BigEndian.Uint32(size[:]))
	if _, err := io.ReadFull(nc, b); err != nil {
		return 0, err
	}
	name := binary.BigEndian.Uint32(b[4:])
	return int(binary.BigEndian.Uint32(b[8+name:])), nil
}

// fakeServer accepts connections and has each handled by f until the test has ended.
func fakeServer(t testing.TB, f func(nc net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		var conns []chan struct{}
		for {
			nc, err := l.Accept()
			if err != nil {
				break
			}
			nc.SetDeadline(time.Now().Add(5 * time.Minute))
			end := make(chan struct{})
			conns = append(conns, end)
			go func() {
				defer close(end)
				defer nc.Close()
				f(nc)
			}()
		}
		for _, end := range conns {
			<-end
		}
	}()
	t.Cleanup(func() {
		l.Close()
		<-done
	})
	return l.Addr().String()
}
