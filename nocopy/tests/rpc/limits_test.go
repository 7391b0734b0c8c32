package rpc_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/memory"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// TestLimits: both sides hold what they receive to their Limits, and accept more than the default
// where those say so.
func TestLimits(t *testing.T) {
	t.Parallel()
	const size = 2000
	args := echo.NewEchoEchoArgs()
	args.SetPayload(make([]byte, size))
	result := echo.NewEchoEchoResult()
	result.SetSuccess(make([]byte, size))
	argsSize, resultSize := args.Message().Len(), result.Message().Len()
	for i, transport := range [][]rpc.Option{nil, {rpc.Unframed}, {rpc.Compact}, {rpc.Unframed, rpc.Compact}, {rpc.THeader()}, {rpc.THeader(rpc.Zlib), rpc.Compact}} {
		call := func(srv *rpc.Server, opts ...rpc.Option) error {
			c := echo.NewEchoClient(dial(t, serve(t, srv, &handler{}), append(opts, transport...)...))
			_, err := c.Echo(bg, func(args echo.EchoEchoArgs) { args.SetPayload(make([]byte, size)) })
			return err
		}
		for _, l := range []struct {
			name     string
			fits     nocopy.Limits // of a request of argsSize
			too      nocopy.Limits
			replyFit nocopy.Limits
			replyToo nocopy.Limits
		}{
			{"MaxBytes", nocopy.Limits{MaxBytes: argsSize}, nocopy.Limits{MaxBytes: argsSize - 1},
				nocopy.Limits{MaxBytes: resultSize}, nocopy.Limits{MaxBytes: resultSize - 1}},
			{"MaxIndex", nocopy.Limits{MaxIndex: 1 << 10}, nocopy.Limits{MaxIndex: 4},
				nocopy.Limits{MaxIndex: 1 << 10}, nocopy.Limits{MaxIndex: 4}},
		} {
			t.Run(fmt.Sprint(l.name, i), func(t *testing.T) {
				for _, recycle := range []bool{false, true} {
					if err := call(&rpc.Server{Limits: l.fits, Recycle: recycle}); err != nil {
						t.Errorf("a request that fits: %v", err)
					}
					var ae *rpc.ApplicationException
					if err := call(&rpc.Server{Limits: l.too, Recycle: recycle}); !errors.As(err, &ae) || ae.Type != rpc.ProtocolError {
						t.Errorf("a request that does not fit: %v", err)
					}
				}
				if err := call(&rpc.Server{}, rpc.Limits(l.replyFit)); err != nil {
					t.Errorf("a reply that fits: %v", err)
				}
				if err := call(&rpc.Server{}, rpc.Limits(l.replyToo)); !errors.Is(err, nocopy.ErrLimit) {
					t.Errorf("a reply that does not fit: %v", err)
				}
			})
		}
	}
}

// TestMaxBytesAndMaxFrame: the smaller counts if both are set; one alone replaces the default of
// the other.
func TestMaxBytesAndMaxFrame(t *testing.T) {
	t.Parallel()
	const over = 17 << 20 // a frame's default is 16,384,000
	echoes := func(srv *rpc.Server, n int, opts ...rpc.Option) error {
		c := echo.NewEchoClient(dial(t, serve(t, srv, &handler{}), opts...))
		_, err := c.Echo(bg, func(args echo.EchoEchoArgs) { args.SetPayload(make([]byte, n)) })
		return err
	}
	if err := echoes(&rpc.Server{MaxFrame: 18 << 20}, over, rpc.MaxFrame(18<<20)); err != nil {
		t.Errorf("MaxFrame alone: %v", err)
	}
	more := nocopy.Limits{MaxBytes: 18 << 20}
	if err := echoes(&rpc.Server{Limits: more}, over, rpc.Limits(more)); err != nil {
		t.Errorf("MaxBytes alone: %v", err)
	}
	if err := echoes(&rpc.Server{MaxFrame: 1000, Limits: more}, 2000); err == nil {
		t.Error("a request over MaxFrame is accepted because of MaxBytes")
	}
	if err := echoes(&rpc.Server{}, 2000, rpc.MaxFrame(1000), rpc.Limits(more)); !errors.Is(err, memory.ErrFrameSize) {
		t.Errorf("a reply over MaxFrame: %v", err)
	}
}

// TestMaxDepth: arguments nested deeper than the default are accepted if Limits allow it.
func TestMaxDepth(t *testing.T) {
	t.Parallel()
	nested := func(depth int) []byte {
		b := bytes.Repeat([]byte{12, 0, 99}, depth)
		return append(append(b, make([]byte, depth)...), addArgs(1, 2)...)
	}
	for _, framing := range []func(...[]byte) []byte{frame, func(p ...[]byte) []byte { return bytes.Join(p, nil) }} {
		for _, c := range []struct {
			limits nocopy.Limits
			depth  int
			fits   bool
		}{
			{nocopy.Limits{}, 60, true},
			{nocopy.Limits{}, 70, false},
			{nocopy.Limits{MaxDepth: 200}, 190, true},
			{nocopy.Limits{MaxDepth: 200}, 210, false},
			{nocopy.Limits{MaxDepth: 10}, 20, false},
		} {
			nc := dialRaw(t, serve(t, &rpc.Server{Limits: c.limits}, &handler{}))
			send(t, nc, framing(strict(call, "add", 7, nested(c.depth))))
			got := make([]byte, len(framing())+4)
			if _, err := io.ReadFull(nc, got); err != nil || bytes.HasPrefix(got[len(framing()):], []byte{0x80, 1, 0, reply}) != c.fits {
				t.Errorf("depth %d, %+v: %x, %v", c.depth, c.limits, got, err)
			}
		}
	}
}

// treeDesc describes a struct that has another in it, treeResultDesc a result that is one.
var treeDesc, treeResultDesc = thriftimpl.NewDesc("Tree"), thriftimpl.NewDesc("grow_result")

const (
	treeInner   thriftimpl.Field = 2<<48 | 4<<32 | 12<<16 | 1
	treeSuccess thriftimpl.Field = 2<<48 | 4<<32 | 12<<16
)

func init() {
	tree := thriftimpl.StructOf(treeDesc)
	treeDesc.Define(thriftimpl.FieldDesc{ID: 1, Name: "inner", Type: tree, Req: thriftimpl.Optional})
	treeResultDesc.Define(thriftimpl.FieldDesc{ID: 0, Name: "success", Type: tree, Req: thriftimpl.Optional})
}

// TestDeepResult: a result that is nested deeper than the server's Limits allow is an internal
// error, whether a handler or an interceptor has made it.
func TestDeepResult(t *testing.T) {
	grow := &rpc.Method{Service: "Tree", Name: "grow", Args: echo.EchoAddArgsDesc, Result: treeResultDesc, Success: treeSuccess}
	build := func(result nocopy.Struct, depth int64) {
		s := thriftimpl.Struct(result).NewChild(treeSuccess, treeResultDesc, 0)
		for range depth - 2 {
			s = s.NewChild(treeInner, treeDesc, 0)
		}
	}
	p := rpc.NewProcessor("Tree", nil, grow.HandledBy(func(_ context.Context, c *rpc.Call) error {
		args := echo.EchoAddArgs(c.Args)
		if args.GetB() > 0 {
			own := nocopy.Struct(thriftimpl.New(treeResultDesc, nocopy.Limits{MaxDepth: 1000}))
			build(own, args.GetA())
			c.Result = own
			return nil
		}
		build(c.Result, args.GetA())
		return nil
	}))
	for limit, depths := range map[int]map[int64]byte{0: {64: reply, 65: exception, 500: exception}, 200: {190: reply, 210: exception}} {
		q := new(quiet)
		nc := dialRaw(t, serve(t, &rpc.Server{Processor: p, Logger: q.logger(), Limits: nocopy.Limits{MaxDepth: limit}}, nil))
		for depth, want := range depths {
			for own := range int64(2) {
				send(t, nc, frame(strict(call, "grow", 7, addArgs(depth, own))))
				typ, name, seqid, body := readMessage(t, nc, true)
				if typ != want || name != "grow" || seqid != 7 {
					t.Errorf("depth %d of %d, own %d: the reply is of type %d, %.100q", depth, limit, own, typ, body)
				}
			}
		}
		logs(t, q, "bad result")
	}
}
