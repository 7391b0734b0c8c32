package rpc_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
)

// compactly returns a message in the compact protocol. args are in it, too.
func compactly(typ byte, name string, seqid int, args []byte) []byte {
	b := []byte{0x82, typ<<5 | 1}
	b = binary.AppendUvarint(b, uint64(uint32(seqid)))
	b = binary.AppendUvarint(b, uint64(len(name)))
	return append(append(b, name...), args...)
}

func compactAdd(a, b int64) []byte {
	args := echo.NewEchoAddArgs()
	args.SetA(a)
	args.SetB(b)
	return args.Message().AppendCompact(nil)
}

func compactSum(n int64) []byte {
	r := echo.NewEchoAddResult()
	r.SetSuccess(n)
	return r.Message().AppendCompact(nil)
}

// compactFailure is the struct of a TApplicationException.
func compactFailure(text string, typ int) []byte {
	b := []byte{0x25} // field 2, an i32
	b = append(b, byte(typ*2), 8, 2)
	return append(append(append(b, byte(len(text))), text...), 0)
}

func join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

// TestCompactWire tests a server's answers to messages in the compact protocol, byte for byte.
func TestCompactWire(t *testing.T) {
	addr := serve(t, &rpc.Server{}, &handler{})
	add := compactly(call, "add", 7, compactAdd(40, 2))
	sum := compactly(reply, "add", 7, compactSum(42))
	for _, c := range []struct {
		what     string
		in, want []byte
	}{
		{"a call", add, sum},
		{"a call of version 2", join([]byte{0x82, 0x22}, add[2:]), sum},
		{"a negative sequence id", compactly(call, "add", -7, compactAdd(1, 2)), compactly(reply, "add", -7, compactSum(3))},
		{"a sequence id of 10 bytes", join([]byte{0x82, 0x21}, bytes.Repeat([]byte{0xff}, 9), []byte{1, 3}, []byte("add"), compactAdd(1, 2)),
			compactly(reply, "add", -1, compactSum(3))},
		{"an unknown method", compactly(call, "nope", 8, compactAdd(1, 2)), compactly(exception, "nope", 8, compactFailure("nope", 1))},
		{"a service's name", compactly(call, "X:nope", 8, []byte{0}), compactly(exception, "nope", 8, compactFailure("X:nope", 1))},
		{"no arguments", compactly(call, "version", 9, []byte{0}), compactly(reply, "version", 9, []byte("\x08\x00\x03one\x00"))},
		{"a reply", compactly(reply, "add", 7, []byte{0}), compactly(exception, "add", 7, compactFailure("2", 2))},
		{"no type", compactly(7, "add", 7, []byte{0}), compactly(exception, "add", 7, compactFailure("7", 2))},
	} {
		for _, framed := range []bool{true, false} {
			in, want := c.in, c.want
			if framed {
				in, want = frame(in), frame(want)
			}
			nc := dialRaw(t, addr)
			send(t, nc, in)
			expect(t, nc, want)
			for _, b := range in { // byte by byte, on the same connection
				send(t, nc, []byte{b})
			}
			expect(t, nc, want)
			send(t, nc, join(in, in, in))
			expect(t, nc, join(want, want, want))
		}
	}
}

// TestProtocolsMixed: a server answers each message in its own protocol, also where that changes
// on a connection, and where several are in a frame.
func TestProtocolsMixed(t *testing.T) {
	addr := serve(t, &rpc.Server{}, &handler{})
	add, sum := compactly(call, "add", 1, compactAdd(1, 2)), compactly(reply, "add", 1, compactSum(3))
	plainAdd, plainSum := strict(call, "add", 2, addArgs(1, 2)), strict(reply, "add", 2, sumResult(3))
	oldAdd, oldSum := nonStrict(call, "add", 3, addArgs(1, 2)), nonStrict(reply, "add", 3, sumResult(3))
	nc := dialRaw(t, addr)
	send(t, nc, join(frame(add), frame(plainAdd, add, oldAdd), frame(add, add, plainAdd)))
	expect(t, nc, join(frame(sum), frame(plainSum), frame(sum), frame(oldSum), frame(sum), frame(sum), frame(plainSum)))
	nc = dialRaw(t, addr)
	send(t, nc, join(add, plainAdd, add, oldAdd))
	expect(t, nc, join(sum, plainSum, sum, oldSum))
}

// TestCompactBadCalls: malformed arguments are answered. In a frame, the calls after them are
// handled.
func TestCompactBadCalls(t *testing.T) {
	q := new(quiet)
	addr := serve(t, &rpc.Server{Logger: q.logger(), MaxFrame: 5000, Limits: nocopy.Limits{MaxDepth: 10}}, &handler{})
	good, sum := frame(compactly(call, "add", 7, compactAdd(40, 2))), frame(compactly(reply, "add", 7, compactSum(42)))
	// A list of i64
	zeros := join([]byte{0x19, 0xf6}, binary.AppendUvarint(nil, 1000), make([]byte, 1000), []byte{0})
	for _, c := range []struct {
		what     string
		args     []byte
		text     string
		needsEnd bool // without a frame, more bytes could follow
	}{
		{"a type that is none", []byte{0x1e, 0}, "add_args.a: offset 1: no such wire type", false},
		{"a varint that does not end", join([]byte{0x16}, bytes.Repeat([]byte{0x80}, 11)), "varint of more than 10 bytes", false},
		{"a length that is negative", []byte{0x98, 0xff, 0xff, 0xff, 0xff, 0x0f}, "negative", false},
		{"a length that is not there", []byte{0x98, 0x80, 0x80, 0x80, 1}, "rpc.Server.MaxFrame = 5000 in Thrift Binary", false},
		{"a count that is not there", []byte{0x99, 0xf6, 0xff, 0xff, 0xff, 0xff, 7}, "unexpected EOF", true},
		{"too large in Thrift Binary", zeros, "rpc.Server.MaxFrame = 5000 in Thrift Binary", false},
		{"too deep", join(bytes.Repeat([]byte{0x9c}, 20), make([]byte, 21)), "nested", true},
	} {
		t.Run(c.what, func(t *testing.T) {
			nc := dialRaw(t, addr)
			send(t, nc, join(frame(compactly(call, "add", 7, c.args)), good))
			typ, name, seqid, body := readCompact(t, nc)
			if typ != exception || name != "add" || seqid != 7 || !strings.Contains(string(body), c.text) {
				t.Errorf("the answer is of type %d, to %s, %d: %q", typ, name, seqid, body)
			}
			expect(t, nc, sum)
			if c.needsEnd {
				return
			}
			nc = dialRaw(t, addr)
			send(t, nc, compactly(call, "add", 7, c.args))
			answer, err := io.ReadAll(nc)
			if err != nil || !bytes.HasPrefix(answer, compactly(exception, "add", 7, nil)) || !strings.Contains(string(answer), c.text) {
				t.Errorf("the answer without a frame is %q, %v", answer, err)
			}
		})
	}
	logs(t, q, "method=add")
}

// readCompact reads a framed message in the compact protocol.
func readCompact(t *testing.T, nc net.Conn) (typ byte, name string, seqid int, body []byte) {
	t.Helper()
	var size [4]byte
	if _, err := io.ReadFull(nc, size[:]); err != nil {
		t.Fatalf("no message: %v", err)
	}
	b := make([]byte, binary.BigEndian.Uint32(size[:]))
	if _, err := io.ReadFull(nc, b); err != nil || len(b) < 4 || b[0] != 0x82 {
		t.Fatalf("no message: %q, %v", b, err)
	}
	id, n := binary.Uvarint(b[2:])
	length, m := binary.Uvarint(b[2+n:])
	at := 2 + n + m
	return b[1] >> 5, string(b[at : at+int(length)]), int(id), b[at+int(length):]
}

// TestCompactGarbage: bytes that are no message in the compact protocol end the connection at
// once.
func TestCompactGarbage(t *testing.T) {
	addr := serve(t, &rpc.Server{}, &handler{})
	for what, b := range map[string][]byte{
		"another version":               {0x82, 0x23, 1, 1, 'a', 0},
		"a name that is too long":       {0x82, 0x21, 1, 0x81, 0x80, 0x04},
		"a sequence id that never ends": join([]byte{0x82, 0x21}, bytes.Repeat([]byte{0xff}, 11)),
		"a length that never ends":      join([]byte{0x82, 0x21, 1}, bytes.Repeat([]byte{0xff}, 11)),
	} {
		t.Run(what, func(t *testing.T) {
			for _, b := range [][]byte{b, frame(b)} {
				nc := dialRaw(t, addr)
				send(t, nc, b)
				closes(t, nc)
			}
		})
	}
}

// TestCompactSlowly: an unframed message that stops half-way ends the connection after
// ReadTimeout, wherever it stops.
func TestCompactSlowly(t *testing.T) {
	t.Parallel()
	addr := serve(t, &rpc.Server{ReadTimeout: 50 * time.Millisecond}, &handler{})
	b := compactly(call, "add", 7, compactAdd(40, 2))
	var conns []net.Conn
	for n := 1; n < len(b); n++ {
		nc := dialRaw(t, addr)
		send(t, nc, b[:n])
		conns = append(conns, nc)
	}
	for _, nc := range conns {
		closes(t, nc)
	}
}

// TestOtherReplies: a client that gets a reply in another protocol than its call's names the
// protocol.
func TestOtherReplies(t *testing.T) {
	answers := func(b []byte) string {
		return fakeServer(t, func(nc net.Conn) {
			nc.Read(make([]byte, 1000))
			nc.Write(b)
			io.Copy(io.Discard, nc)
		})
	}
	compactSum, sum := compactly(reply, "add", 1, compactSum(3)), strict(reply, "add", 1, sumResult(3))
	for _, c := range []struct {
		answer []byte
		opts   []rpc.Option
		text   string
	}{
		{frame(compactSum), nil, "a reply in framed Compact, where the client expects framed Binary"},
		{compactSum, nil, "a message without a frame, in the compact protocol"},
		{compactSum, []rpc.Option{rpc.Unframed}, "a reply in unframed Compact, where the client expects unframed Binary"},
		{frame(sum), []rpc.Option{rpc.Compact}, "a reply in framed Binary, where the client expects framed Compact"},
		{sum, []rpc.Option{rpc.Compact}, "a message without a frame"},
		{sum, []rpc.Option{rpc.Compact, rpc.Unframed}, "a reply in unframed Binary, where the client expects unframed Compact"},
	} {
		_, err := echo.NewEchoClient(dial(t, answers(c.answer), c.opts...)).Add(bg, nil)
		if !errors.Is(err, rpc.ErrConnLost) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%v instead of %q", err, c.text)
		}
	}
	for _, opts := range [][]rpc.Option{nil, {rpc.Unframed}, {rpc.Compact}} {
		addr := fakeServer(t, func(nc net.Conn) { // of TLS: its alert is all that comes
			nc.Read(make([]byte, 1000))
			nc.Write([]byte("\x15\x03\x03\x00\x02\x02\x32"))
		})
		if _, err := echo.NewEchoClient(dial(t, addr, opts...)).Add(bg, nil); !errors.Is(err, rpc.ErrTLS) {
			t.Errorf("a server of TLS: %v", err)
		}
	}
}

// TestBadCompactReply: a malformed reply fails its own call, others on the connection go on.
func TestBadCompactReply(t *testing.T) {
	addr := fakeServer(t, func(nc net.Conn) {
		for {
			var size [4]byte
			if _, err := io.ReadFull(nc, size[:]); err != nil {
				return
			}
			b := make([]byte, binary.BigEndian.Uint32(size[:]))
			io.ReadFull(nc, b)
			id, _ := binary.Uvarint(b[2:])
			result := compactSum(3)
			if id == 1 {
				result = []byte{0x06, 0x00, 0xff}
			}
			if id == 2 { // another reply in the same frame
				result = join(result, compactly(reply, "add", int(id), result))
			}
			nc.Write(frame(compactly(reply, "add", int(id), result)))
		}
	})
	c := echo.NewEchoClient(dial(t, addr, rpc.Compact, rpc.PoolSize(1)))
	_, err := c.Add(bg, nil)
	var bad *nocopy.Error
	if !errors.As(err, &bad) || bad.Path != "add_result.success" || bad.Offset != 0 {
		t.Errorf("%v", err)
	}
	if _, err := c.Add(bg, nil); !errors.Is(err, nocopy.ErrTrailing) {
		t.Errorf("two replies in a frame: %v", err)
	}
	if sum, err := c.Add(bg, nil); err != nil || sum.GetSuccess() != 3 {
		t.Errorf("afterwards: %v", err)
	}
}

// TestCompactToBinary: a proxy whose client speaks Compact forwards empty maps with the types of
// the IDL, which the compact protocol leaves out.
func TestCompactToBinary(t *testing.T) {
	t.Parallel()
	var got []byte
	backend := serve(t, &rpc.Server{Interceptors: []rpc.Interceptor{func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
		got = bytes.Clone(c.Args.Message().Bytes())
		return next(ctx, c)
	}}}, &handler{})
	for _, lazy := range []bool{true, false} {
		p := echo.NewEchoProcessor(echo.UnimplementedEchoHandler{}).WithHandler(rpc.Forward(dial(t, backend)))
		c := echo.NewEchoClient(dial(t, serve(t, &rpc.Server{Processor: p, Lazy: lazy}, nil), rpc.Compact))
		if _, err := c.Put(bg, func(args echo.EchoPutArgs) { args.NewItem().NewLabels(); args.SetMode("fill") }); err != nil {
			t.Fatal(err)
		}
		want := echo.NewEchoPutArgs()
		want.NewItem().NewLabels()
		want.SetMode("fill")
		if !bytes.Equal(got, want.Message().Bytes()) {
			t.Errorf("lazy %v: %q instead of %q", lazy, got, want.Message().Bytes())
		}
	}
}

// TestCompactExtras: fields without IDL, headers, deadlines and health checks work in the compact
// protocol.
func TestCompactExtras(t *testing.T) {
	l := &timed{}
	var seen, text string
	srv := &rpc.Server{Processor: echo.NewEchoProcessor(l), Deadlines: true, Health: &rpc.Health{},
		Interceptors: []rpc.Interceptor{func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
			seen = rpc.Header(ctx, "key")
			text, _ = c.Text(77)
			return next(ctx, c)
		}}}
	for _, opts := range [][]rpc.Option{{rpc.Compact}, {rpc.Compact, rpc.Unframed}} {
		seen, text = "", ""
		cl := dial(t, serve(t, srv, nil), append(opts, rpc.Deadlines, rpc.Interceptors(func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
			c.SetText(77, "more")
			return next(rpc.SetHeader(ctx, "key", "value"), c)
		}))...)
		ctx, cancel := context.WithTimeout(bg, time.Hour)
		defer cancel()
		sum, err := echo.NewEchoClient(cl).Add(ctx, func(args echo.EchoAddArgs) { args.SetA(40); args.SetB(2) })
		if err != nil || sum.GetSuccess() != 42 || seen != "value" || text != "more" || time.Duration(l.time.Load()) < 50*time.Minute {
			t.Errorf("%v, %v: header %q, field %q, time %v", sum, err, seen, text, time.Duration(l.time.Load()))
		}
		if err := rpc.CheckHealth(bg, cl); err != nil {
			t.Errorf("health: %v", err)
		}
		srv = &rpc.Server{Processor: srv.Processor, Deadlines: true, Health: srv.Health, Interceptors: srv.Interceptors}
	}
}

// TestConverted: Stats count bytes that were converted from and to another protocol, and do not
// count them as sent without copying.
func TestConverted(t *testing.T) {
	t.Parallel()
	const size = 100_000
	for _, way := range spoken {
		server, client := newCounts(), newCounts()
		c := echo.NewEchoClient(dial(t, serve(t, &rpc.Server{Stats: &server.Stats}, &handler{}), append(way.opts, &client.Stats)...))
		res, err := c.Echo(bg, func(args echo.EchoEchoArgs) { args.SetPayload(make([]byte, size)) })
		if err != nil {
			t.Fatal(err)
		}
		res.Release()
		settles(t, way.name+": both sides have counted", func() bool {
			for _, side := range []*counts{server, client} {
				ref, converted := side.byRef.get(), side.converted.get()
				if way.inPlace && (ref < size || converted != 0) || !way.inPlace && (ref != 0 || converted < 2*size) {
					return false
				}
			}
			return true
		})
	}
}

// TestConvertedMemory: receiving a large message allocates in proportion to it, also if it is
// turned into Thrift Binary or decompressed, and little more than once when one like it has come.
func TestConvertedMemory(t *testing.T) {
	if testmode.Instrumented {
		t.Skip("this build allocates")
	}
	if !testmode.InOwnProcess(t) {
		return
	}
	const size = 1 << 20
	value := bytes.Repeat([]byte("some text "), size/10)
	compact := join([]byte{0x18}, text(string(value)), []byte{0})
	plain := join([]byte{11, 0, 1}, be32(len(value)), value, []byte{0})
	for _, c := range []struct {
		name        string
		in, out     []byte
		first, then float64
	}{
		{"framed Compact", frame(compactly(call, "ping", 7, compact)), frame(compactly(reply, "ping", 7, []byte{0})), 8, 2.5},
		{"unframed Compact", compactly(call, "ping", 7, compact), compactly(reply, "ping", 7, []byte{0}), 8, 2.5},
		{"THeader", headed(0, 7, binaryHead, strict(call, "ping", 7, plain)), headed(0, 7, binaryHead, strict(reply, "ping", 7, []byte{0})), 3, 1.2},
		{"zlib", headed(0, 7, zlibHead, deflated(strict(call, "ping", 7, plain))), nil, 8, 2.5},
	} {
		t.Run(c.name, func(t *testing.T) {
			nc := dialRaw(t, serve(t, &rpc.Server{}, &handler{}))
			got := make([]byte, 1000)
			f := func() {
				send(t, nc, c.in)
				if c.out == nil {
					frameFrom(t, nc)
					return
				}
				if _, err := io.ReadFull(nc, got[:len(c.out)]); err != nil || !bytes.Equal(got[:len(c.out)], c.out) {
					t.Fatal(err)
				}
			}
			emptyPools()
			first := float64(allocated(f)) / size
			var then []float64
			for range 5 {
				then = append(then, float64(allocated(f))/size)
			}
			// A collection may empty the pools at any time
			if least := slices.Min(then); first > c.first || least > c.then {
				t.Errorf("allocated %.2f times as much as was received, then %.2f", first, then)
			}
		})
	}
}
