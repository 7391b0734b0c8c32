package rpc_test

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
)

// headed is a THeader frame with flags, a sequence id, the part of the header without a fixed
// size, which is padded, and the messages.
func headed(flags uint16, seqid int, head []byte, message ...[]byte) []byte {
	head = append(bytes.Clone(head), make([]byte, (4-len(head)%4)%4)...)
	b := []byte{0x0f, 0xff, byte(flags >> 8), byte(flags)}
	b = append(b, be32(seqid)...)
	b = binary.BigEndian.AppendUint16(b, uint16(len(head)/4))
	return frame(append([][]byte{b, head}, message...)...)
}

func deflated(b []byte) []byte {
	var out bytes.Buffer
	w := zlib.NewWriter(&out)
	w.Write(b)
	w.Close()
	return out.Bytes()
}

// inflated is nil if b can't be decompressed.
func inflated(b []byte) []byte {
	r, err := zlib.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil
	}
	out, _ := io.ReadAll(r)
	return out
}

// text is a key or a value in a THeader.
func text(s string) []byte { return append(binary.AppendUvarint(nil, uint64(len(s))), s...) }

// frameFrom reads a frame.
func frameFrom(t *testing.T, nc net.Conn) []byte {
	t.Helper()
	var size [4]byte
	if _, err := io.ReadFull(nc, size[:]); err != nil {
		t.Fatalf("no frame: %v", err)
	}
	b := make([]byte, binary.BigEndian.Uint32(size[:]))
	if _, err := io.ReadFull(nc, b); err != nil {
		t.Fatalf("no whole frame: %v", err)
	}
	return b
}

var (
	binaryHead  = []byte{0, 0} // no transforms
	compactHead = []byte{2, 0}
	zlibHead    = []byte{0, 1, 1}
)

// TestTHeaderWire tests a server's answers to THeader frames, byte for byte.
func TestTHeaderWire(t *testing.T) {
	t.Parallel()
	addr := serve(t, &rpc.Server{}, &handler{})
	add, sum := strict(call, "add", 7, addArgs(40, 2)), strict(reply, "add", 7, sumResult(42))
	old, oldSum := nonStrict(call, "add", 7, addArgs(40, 2)), nonStrict(reply, "add", 7, sumResult(42))
	cadd, csum := compactly(call, "add", 7, compactAdd(40, 2)), compactly(reply, "add", 7, compactSum(42))
	infos := func(head []byte, infos ...[]byte) []byte { return append(bytes.Clone(head), join(infos...)...) }
	for _, c := range []struct {
		what     string
		in, want []byte
	}{
		{"Binary", headed(0, 7, binaryHead, add), headed(0, 7, binaryHead, sum)},
		{"the old header", headed(0, 7, binaryHead, old), headed(0, 7, binaryHead, oldSum)},
		{"Compact", headed(0, 7, compactHead, cadd), headed(0, 7, compactHead, csum)},
		{"flags, another sequence id", headed(0xabcd, 99, binaryHead, add), headed(0xabcd, 7, binaryHead, sum)},
		{"transform 0", headed(0, 7, []byte{0, 1, 0}, add), headed(0, 7, binaryHead, sum)},
		{"no padding", headed(0, 7, []byte{0x80, 0x80, 0, 0}, add), headed(0, 7, binaryHead, sum)},
		{"more padding", headed(0, 7, append(bytes.Clone(binaryHead), make([]byte, 40)...), add), headed(0, 7, binaryHead, sum)},
		{"headers", headed(0, 7, infos(binaryHead, []byte{1, 1}, text("key"), text("value")), add), headed(0, 7, binaryHead, sum)},
		{"no headers", headed(0, 7, infos(binaryHead, []byte{1, 0}), add), headed(0, 7, binaryHead, sum)},
		{"an unknown info", headed(0, 7, infos(binaryHead, []byte{9, 0xff, 0xff}), add), headed(0, 7, binaryHead, sum)},
		{"many headers", headed(0, 7, infos(binaryHead, []byte{1, 0x80, 8}, make([]byte, 2048)), add), headed(0, 7, binaryHead, sum)},
		{"large headers", headed(0, 7, infos(binaryHead, []byte{1, 1}, text("k"), text(strings.Repeat("v", 250_000))), add), headed(0, 7, binaryHead, sum)},
		{"two messages", headed(0, 1, binaryHead, add, strict(call, "ping", 8, []byte{0})),
			join(headed(0, 7, binaryHead, sum), headed(0, 8, binaryHead, strict(reply, "ping", 8, []byte{0})))},
		{"two in Compact", headed(0, 1, compactHead, cadd, cadd), join(headed(0, 7, compactHead, csum), headed(0, 7, compactHead, csum))},
		{"a service's name", headed(0, 7, binaryHead, strict(call, "X:nope", 7, []byte{0})),
			headed(0, 7, binaryHead, strict(exception, "nope", 7, failure("X:nope", 1)))},
	} {
		t.Run(c.what, func(t *testing.T) {
			nc := dialRaw(t, addr)
			send(t, nc, c.in)
			expect(t, nc, c.want)
			// Others may follow on the same connection, as with Apache's THeader, in pieces, too
			more := join(frame(add), headed(1, 7, compactHead, cadd), frame(cadd), c.in)
			for b := range slices.Chunk(more, 1+len(more)/3000) {
				send(t, nc, b)
			}
			expect(t, nc, join(frame(sum), headed(1, 7, compactHead, csum), frame(csum), c.want))
		})
	}
}

// TestTHeaderZlib: a compressed call is answered with a compressed reply.
func TestTHeaderZlib(t *testing.T) {
	nc := dialRaw(t, serve(t, &rpc.Server{}, &handler{}))
	for _, c := range []struct{ head, in, want []byte }{
		{zlibHead, strict(call, "add", 7, addArgs(40, 2)), strict(reply, "add", 7, sumResult(42))},
		{[]byte{2, 1, 1}, compactly(call, "add", 7, compactAdd(40, 2)), compactly(reply, "add", 7, compactSum(42))},
		{[]byte{0, 2, 0, 1}, strict(call, "nope", 7, []byte{0}), strict(exception, "nope", 7, failure("nope", 1))},
	} {
		send(t, nc, headed(5, 7, c.head, deflated(c.in)))
		b := frameFrom(t, nc)
		want := headed(5, 7, []byte{c.head[0], 1, 1})[4:]
		if got := inflated(b[len(want):]); !bytes.HasPrefix(b, want) || !bytes.Equal(got, c.want) {
			t.Errorf("%x: %q, its message %q", c.head, b, got)
		}
	}
}

// TestTHeaderRefused: a frame that can't be read is answered with the reason, under the sequence
// id of its header, and calls after it are handled.
func TestTHeaderRefused(t *testing.T) {
	t.Parallel()
	addr := serve(t, &rpc.Server{MaxFrame: 300_000}, &handler{})
	add, sum := strict(call, "add", 7, addArgs(40, 2)), strict(reply, "add", 7, sumResult(42))
	tooLarge := binary.BigEndian.AppendUint16(join([]byte{0x0f, 0xff, 0, 0}, be32(99)), 1000)
	for _, c := range []struct {
		what string
		in   []byte
		typ  rpc.ExceptionType
		text string
	}{
		{"Snappy", headed(0, 99, []byte{0, 1, 3}, add), rpc.InvalidTransform, "transform 3 (Snappy) is not supported"},
		{"an unknown transform", headed(0, 99, []byte{0, 2, 1, 77}, deflated(add)), rpc.InvalidTransform, "transform 77 is not"},
		{"zlib twice", headed(0, 99, []byte{0, 2, 1, 1}, deflated(deflated(add))), rpc.InvalidTransform, "compressed twice"},
		{"JSON", headed(0, 99, []byte{1, 0}, add), rpc.InvalidProtocol, "protocol 1 is not supported"},
		{"Compact in Binary", headed(0, 99, binaryHead, compactly(call, "add", 99, compactAdd(1, 2))), rpc.InvalidProtocol, "another protocol"},
		{"Binary in Compact", headed(0, 99, compactHead, strict(call, "add", 99, addArgs(1, 2))), rpc.InvalidProtocol, "another protocol"},
		{"not compressed", headed(0, 99, zlibHead, add), rpc.ProtocolError, "zlib"},
		{"compressed and cut", headed(0, 99, zlibHead, deflated(add)[:20]), rpc.ProtocolError, "EOF"},
		{"compressed, and more", headed(0, 99, zlibHead, append(deflated(add), 0, 0)), rpc.ProtocolError, "2 bytes come after"},
		{"compressed in two", headed(0, 99, zlibHead, append(deflated(add), deflated(add)...)), rpc.ProtocolError, "bytes come after"},
		{"a wrong sum", headed(0, 99, zlibHead, append(deflated(add)[:len(deflated(add))-1], 0)), rpc.ProtocolError, "zlib"},
		{"a bomb", headed(0, 99, zlibHead, deflated(make([]byte, 20<<20))), rpc.ProtocolError, "rpc.Server.MaxFrame = 300000 bytes when decompressed"},
		{"beyond the frame", frame(tooLarge, add), rpc.ProtocolError, "4010 bytes in a frame of"},
		{"no protocol", headed(0, 99, nil, add), rpc.ProtocolError, "ends within a number"},
		{"2^31 transforms", headed(0, 99, []byte{0, 0xff, 0xff, 0xff, 0xff, 7, 0}, add), rpc.ProtocolError, "ends within a number"},
		{"2^31 headers", headed(0, 99, []byte{0, 0, 1, 0xff, 0xff, 0xff, 0xff, 7}, add), rpc.ProtocolError, "ends within"},
		{"2^32 headers", headed(0, 99, []byte{0, 0, 1, 0x80, 0x80, 0x80, 0x80, 0x10}, add), rpc.ProtocolError, "31 bits"},
		{"a varint that does not end", headed(0, 99, bytes.Repeat([]byte{0xff}, 12), add), rpc.ProtocolError, "31 bits"},
		{"a header beyond the headers", headed(0, 99, []byte{0, 0, 1, 1, 5, 'k'}, add), rpc.ProtocolError, "ends within a text of 5 bytes"},
	} {
		t.Run(c.what, func(t *testing.T) {
			nc := dialRaw(t, addr)
			send(t, nc, join(c.in, headed(0, 7, binaryHead, add)))
			b := frameFrom(t, nc)
			seqid := binary.BigEndian.Uint32(b[4:])
			if !bytes.HasPrefix(b, []byte{0x0f, 0xff}) || seqid != 99 || !bytes.Contains(b, []byte(c.text)) || !bytes.Contains(b, be32(int(c.typ))) && !bytes.Contains(b, []byte{0x25, byte(c.typ * 2)}) {
				t.Errorf("the answer is %q", b)
			}
			expect(t, nc, headed(0, 7, binaryHead, sum))
		})
	}
	nc := dialRaw(t, addr)
	send(t, nc, join(headed(0, 99, compactHead, strict(oneway, "notify", 99, []byte{0})), headed(0, 7, binaryHead, add)))
	expect(t, nc, headed(0, 7, binaryHead, sum)) // a oneway call gets no answer
	nc = dialRaw(t, addr)
	send(t, nc, frame([]byte{0x0f, 0xff, 0, 0, 0}))
	closes(t, nc)
}

// TestTHeaderTooLarge: a frame that is too large is answered, by the method's name unless it is
// compressed. Calls after it are handled.
func TestTHeaderTooLarge(t *testing.T) {
	addr := serve(t, &rpc.Server{MaxFrame: 4000}, &handler{})
	add, sum := strict(call, "add", 7, addArgs(40, 2)), strict(reply, "add", 7, sumResult(42))
	large := strict(call, "echo", 9, bigArgs(5000))
	for _, c := range []struct {
		in   []byte
		name string
	}{
		{headed(0, 9, binaryHead, large), "echo"},
		{headed(0, 9, append(bytes.Clone(binaryHead), make([]byte, 4000)...), large), "echo"},
		{headed(0, 9, zlibHead, make([]byte, 5000)), ""},
		{headed(0, 9, []byte{0, 1, 3}, make([]byte, 5000)), ""},
	} {
		nc := dialRaw(t, addr)
		send(t, nc, join(c.in, headed(0, 7, binaryHead, add)))
		want := headed(0, 9, binaryHead, strict(exception, c.name, 9, nil))[4:]
		if b := frameFrom(t, nc); !bytes.HasPrefix(b, want) || !bytes.Contains(b, []byte("rpc.Server.MaxFrame = 4000")) {
			t.Errorf("%q: %q", c.name, b)
		}
		expect(t, nc, headed(0, 7, binaryHead, sum))
	}
	nc := dialRaw(t, addr)
	send(t, nc, join(headed(0, 9, binaryHead, strict(oneway, "notify", 9, bigArgs(5000))), headed(0, 7, binaryHead, add)))
	expect(t, nc, headed(0, 7, binaryHead, sum))
}

// TestTHeaderBomb: a compressed message takes memory for MaxFrame bytes at most.
func TestTHeaderBomb(t *testing.T) {
	if !testmode.InOwnProcess(t) {
		return
	}
	const most = 1 << 20
	nc := dialRaw(t, serve(t, &rpc.Server{MaxFrame: most}, &handler{}))
	bomb := headed(0, 99, zlibHead, deflated(make([]byte, 30<<20)))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 3 {
		send(t, nc, bomb)
		frameFrom(t, nc)
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 20*most && !testmode.Instrumented {
		t.Errorf("%d bytes were allocated for three", n)
	}
}

// TestTHeaderHeaders: headers come in any info that has them, and not more than there may be.
func TestTHeaderHeaders(t *testing.T) {
	got := make(chan map[string]string, 1)
	srv := &rpc.Server{Interceptors: []rpc.Interceptor{func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
		all := map[string]string{}
		for k, v := range rpc.Headers(ctx) {
			all[k] = v
		}
		got <- all
		return next(ctx, c)
	}}}
	nc := dialRaw(t, serve(t, srv, &handler{}))
	add, sum := strict(call, "add", 7, addArgs(40, 2)), strict(reply, "add", 7, sumResult(42))
	head := join(binaryHead, []byte{2, 1}, text("kept"), text("of fbthrift"), []byte{1, 2}, text("a b"), text("\x00\xff"), text(""), text("empty"))
	send(t, nc, headed(0, 7, head, add))
	if all := <-got; len(all) != 3 || all["kept"] != "of fbthrift" || all["a b"] != "\x00\xff" || all[""] != "empty" {
		t.Errorf("%q", all)
	}
	expect(t, nc, headed(0, 7, binaryHead, sum))
	head = join(binaryHead, []byte{1, 0xc8, 1})
	for i := range 200 {
		head = join(head, text(fmt.Sprint("key", i)), text("value"))
	}
	send(t, nc, headed(0, 7, head, add))
	if all := <-got; len(all) != rpc.MaxHeaders || all["key99"] != "value" {
		t.Errorf("%d headers", len(all))
	}
	expect(t, nc, headed(0, 7, binaryHead, sum))
}

// TestTHeaderReplies: a client that has asked in THeader takes only such replies. One that it
// can't read fails its own call; others on the connection go on.
func TestTHeaderReplies(t *testing.T) {
	t.Parallel()
	sum := strict(reply, "add", 1, sumResult(3))
	for _, c := range []struct {
		answer []byte
		opts   []rpc.Option
		text   string
	}{
		{frame(sum), []rpc.Option{rpc.THeader()}, "a reply in framed Binary, where the client expects THeader"},
		{headed(0, 1, binaryHead, sum), nil, "a reply in THeader, where the client expects framed Binary"},
		{headed(0, 1, binaryHead, sum), []rpc.Option{rpc.Unframed}, "a reply in a frame, where the client expects none"},
		{frame(sum), []rpc.Option{rpc.Unframed}, "a reply in a frame"},
		{frame(compactly(reply, "add", 1, compactSum(3))), []rpc.Option{rpc.Unframed, rpc.Compact}, "a reply in a frame"},
		{sum, []rpc.Option{rpc.THeader()}, "a message without a frame"},
		{[]byte("HTTP/1.1 400 Bad Request\r\n\r\n"), []rpc.Option{rpc.THeader()}, "HTTP"},
	} {
		addr := fakeServer(t, func(nc net.Conn) {
			nc.Read(make([]byte, 1000))
			nc.Write(c.answer)
			io.Copy(io.Discard, nc)
		})
		_, err := echo.NewEchoClient(dial(t, addr, c.opts...)).Add(bg, nil)
		if !errors.Is(err, rpc.ErrConnLost) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%v instead of %q", err, c.text)
		}
	}
	addr := fakeServer(t, func(nc net.Conn) {
		answers := [][]byte{
			headed(0, 1, []byte{0, 1, 3}, []byte("snappy")),
			headed(0, 2, zlibHead, deflated(make([]byte, 10<<20))),
			headed(0, 3, []byte{0, 0, 1, 0xff, 0xff, 0xff, 0xff, 7}, sum),
			headed(0, 4, binaryHead, strict(reply, "add", 4, make([]byte, 2<<20))),
			headed(0, 5, []byte{0, 1, 3}, make([]byte, 2<<20)),
			headed(0, 6, compactHead, compactly(reply, "add", 6, compactSum(3))),
		}
		for _, b := range answers {
			var size [4]byte
			io.ReadFull(nc, size[:])
			io.ReadFull(nc, make([]byte, binary.BigEndian.Uint32(size[:])))
			nc.Write(b)
		}
		io.Copy(io.Discard, nc)
	})
	c := echo.NewEchoClient(dial(t, addr, rpc.THeader(), rpc.PoolSize(1), rpc.MaxFrame(1<<20)))
	for i, text := range []string{"transform 3 (Snappy) is not supported", "the option rpc.MaxFrame = 1048576 bytes when decompressed", "ends within",
		"the option rpc.MaxFrame = 1048576", "the option rpc.MaxFrame = 1048576"} {
		_, err := c.Add(bg, nil)
		if err == nil || !strings.Contains(err.Error(), text) || (i == 1 || i > 2) != errors.Is(err, nocopy.ErrLimit) {
			t.Errorf("%v instead of %q", err, text)
		}
	}
	if res, err := c.Add(bg, nil); err != nil || res.GetSuccess() != 3 {
		t.Errorf("afterwards: %v", err)
	}
}

// TestKitexAtOurServer: the log names the protocol of a client that speaks TTHeader.
func TestKitexAtOurServer(t *testing.T) {
	q := new(quiet)
	nc := dialRaw(t, serve(t, &rpc.Server{Logger: q.logger()}, &handler{}))
	send(t, nc, frame([]byte{0x10, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0}, strict(call, "add", 1, addArgs(1, 2))))
	closes(t, nc)
	logs(t, q, "Kitex's TTHeader")
}

// TestTHeaderOptions: options that contradict each other panic.
func TestTHeaderOptions(t *testing.T) {
	for what, f := range map[string]func(){
		"Unframed": func() { rpc.Dial(bg, "tcp", "127.0.0.1:1", rpc.Unframed, rpc.THeader()) },
		"unknown":  func() { rpc.THeader(7) },
		"protocol": func() { rpc.Dial(bg, "tcp", "127.0.0.1:1", rpc.Protocol(7)) },
	} {
		func() {
			defer func() {
				if s, ok := recover().(string); !ok || !strings.HasPrefix(s, "nocopy: ") {
					t.Errorf("%s: no panic, but %q", what, s)
				}
			}()
			f()
		}()
	}
}

// TestTHeaderWaiting: compressed calls that wait for their replies hold only their bytes, and not
// the zlib.Writer that has compressed them.
func TestTHeaderWaiting(t *testing.T) {
	if !testmode.InOwnProcess(t) {
		return
	}
	const calls, most = 200, 100 << 20
	h := waitingHandler()
	h.waiting = make(chan struct{}, calls)
	c := echo.NewEchoClient(dial(t, serve(t, &rpc.Server{Concurrency: calls}, h), rpc.THeader(rpc.Zlib)))
	heap := func() int {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	before := heap()
	var wg sync.WaitGroup
	for range calls {
		wg.Go(func() { c.Fail(bg, func(args echo.EchoFailArgs) { args.SetHow("wait") }) })
	}
	for range calls {
		<-h.waiting
	}
	settles(t, "the calls take little memory", func() bool { return heap()-before <= most })
	close(h.release)
	wg.Wait()
}
