package rpc_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
)

// spoken are the ways in which clients of this package speak, with their options.
var spoken = []struct {
	name    string
	wire    rpc.Wires
	opts    []rpc.Option
	inPlace bool // messages are used as they come
	zlib    bool
}{
	{"framed", rpc.WireFramed, nil, true, false},
	{"unframed", rpc.WireUnframed, []rpc.Option{rpc.Unframed}, true, false},
	{"framed Compact", rpc.WireFramedCompact, []rpc.Option{rpc.Protocol(rpc.Compact)}, false, false},
	{"unframed Compact", rpc.WireUnframedCompact, []rpc.Option{rpc.Compact, rpc.Unframed}, false, false},
	{"THeader", rpc.WireTHeader, []rpc.Option{rpc.THeader()}, true, false},
	{"THeader, Compact", rpc.WireTHeader, []rpc.Option{rpc.THeader(), rpc.Protocol(rpc.Compact)}, false, false},
	{"THeader, zlib", rpc.WireTHeader, []rpc.Option{rpc.THeader(rpc.Zlib)}, false, true},
	{"THeader, Compact, zlib", rpc.WireTHeader, []rpc.Option{rpc.Compact, rpc.THeader(rpc.Zlib)}, false, true},
}

// TestWires: a server answers clients of the wires that it accepts. It refuses the others in their
// own way, and closes their connections.
func TestWires(t *testing.T) {
	t.Parallel()
	for _, accepted := range spoken {
		q := new(quiet)
		addr := serve(t, &rpc.Server{Wires: accepted.wire, Logger: q.logger()}, &handler{})
		for _, tried := range spoken {
			c := echo.NewEchoClient(dial(t, addr, append(tried.opts, rpc.PoolSize(1))...))
			_, err := c.Add(bg, func(args echo.EchoAddArgs) { args.SetA(1) })
			if tried.wire == accepted.wire {
				if err != nil {
					t.Errorf("wire %d of %d: %v", tried.wire, accepted.wire, err)
				}
				continue
			}
			var ae *rpc.ApplicationException
			if !errors.As(err, &ae) || ae.Type != rpc.UnsupportedClientType || !strings.Contains(ae.Message, "where the server accepts") {
				t.Errorf("wire %d where the server accepts %d: %v", tried.wire, accepted.wire, err)
			}
			logs(t, q, "where the server accepts")
		}
	}
}

// TestRefusedWireEnds: a refused connection is closed after its answer, and oneway calls get none.
func TestRefusedWireEnds(t *testing.T) {
	addr := serve(t, &rpc.Server{Wires: rpc.WireUnframed, Logger: new(quiet).logger()}, &handler{})
	nc := dialRaw(t, addr)
	send(t, nc, frame(strict(call, "add", 7, addArgs(1, 2))))
	if typ, name, seqid, _ := readMessage(t, nc, true); typ != exception || name != "add" || seqid != 7 {
		t.Errorf("the answer is of type %d, to %q, %d", typ, name, seqid)
	}
	closes(t, nc)
	nc = dialRaw(t, addr)
	send(t, nc, frame(strict(oneway, "notify", 8, []byte{0})))
	closes(t, nc)
}
