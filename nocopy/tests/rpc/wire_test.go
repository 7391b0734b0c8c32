package rpc_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
)

const badRequest = "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nContent-Length: 31\r\nConnection: close\r\n\r\n" +
	"This port speaks Thrift's RPC.\n"

// TestWire: a server's replies to given bytes, byte by byte.
func TestWire(t *testing.T) {
	t.Parallel()
	h := &handler{notified: make(chan string, 100)}
	addr := serve(t, &rpc.Server{}, h)
	args, sum := addArgs(40, 2), sumResult(42)
	for _, c := range []struct {
		name     string
		in, want []byte
		closed   bool // the server closes the connection then
	}{
		{"strict, framed", frame(strict(call, "add", 7, args)), frame(strict(reply, "add", 7, sum)), false},
		{"strict, unframed", strict(call, "add", 7, args), strict(reply, "add", 7, sum), false},
		{"non-strict, framed", frame(nonStrict(call, "add", 7, args)), frame(nonStrict(reply, "add", 7, sum)), false},
		{"non-strict, unframed", nonStrict(call, "add", 7, args), nonStrict(reply, "add", 7, sum), false},
		{"any sequence id", frame(strict(call, "add", -5, args)), frame(strict(reply, "add", -5, sum)), false},
		{"the third byte means nothing", frame(append([]byte{0x80, 1, 0xee}, strict(call, "add", 7, args)[3:]...)), frame(strict(reply, "add", 7, sum)), false},
		{"forms in turn", frame(strict(call, "add", 1, args), nonStrict(call, "add", 2, args)),
			append(frame(strict(reply, "add", 1, sum)), frame(nonStrict(reply, "add", 2, sum))...), false},
		{"arguments missing", frame(strict(call, "add", 7, []byte{0})), frame(strict(reply, "add", 7, sumResult(0))), false},
		{"arguments unknown", frame(strict(call, "ping", 7, args)), frame(strict(reply, "ping", 7, []byte{0})), false},
		{"a normal method called oneway", frame(strict(oneway, "add", 7, args)), frame(strict(reply, "add", 7, sum)), false},
		{"a oneway method called", append(frame(strict(call, "notify", 6, []byte{0})), frame(strict(call, "add", 7, args))...), frame(strict(reply, "add", 7, sum)), false},
		{"unknown method", append(frame(strict(call, "nope", 6, args)), frame(strict(call, "add", 7, args))...),
			append(frame(strict(exception, "nope", 6, failure("nope", 1))), frame(strict(reply, "add", 7, sum))...), false},
		{"unknown method, unframed", append(strict(call, "nope", 6, args), strict(call, "add", 7, args)...),
			append(strict(exception, "nope", 6, failure("nope", 1)), strict(reply, "add", 7, sum)...), false},
		{"unknown oneway method", frame(strict(oneway, "nope", 6, args)), frame(strict(exception, "nope", 6, failure("nope", 1))), false},
		{"unknown method and another in the frame", frame(strict(call, "nope", 6, args), strict(call, "add", 7, args)),
			append(frame(strict(exception, "nope", 6, failure("nope", 1))), frame(strict(reply, "add", 7, sum))...), false},
		{"a reply", frame(strict(reply, "add", 7, args)), frame(strict(exception, "add", 7, failure("2", 2))), false},
		{"no message type", frame(nonStrict(9, "add", 7, args)), frame(nonStrict(exception, "add", 7, failure("9", 2))), false},
		{"arguments cut off", frame(strict(call, "add", 7, args[:5])),
			frame(strict(exception, "add", 7, failure("nocopy: add_args.a: offset 5: unexpected EOF", 7))), false},
		{"arguments of a type that there isn't", frame(strict(call, "add", 7, []byte{9, 0, 1, 0})),
			frame(strict(exception, "add", 7, failure("nocopy: add_args: offset 0: no such wire type: 9", 7))), false},
		{"the same, unframed", strict(call, "add", 7, []byte{9, 0, 1, 0}),
			strict(exception, "add", 7, failure("nocopy: add: offset 0: no such wire type: 9", 7)), true},
		{"a required argument missing", frame(strict(call, "put", 7, []byte{0})),
			frame(strict(exception, "put", 7, failure("nocopy: put_args.mode: offset 0: required field is missing", 7))), false},
		{"the same, unframed, and another", append(strict(call, "put", 7, []byte{0}), strict(call, "add", 8, args)...),
			append(strict(exception, "put", 7, failure("nocopy: put_args.mode: offset 0: required field is missing", 7)), strict(reply, "add", 8, sum)...), false},
		{"the same, and another in the frame", frame(strict(call, "put", 7, []byte{0}), strict(call, "add", 8, args)),
			append(frame(strict(exception, "put", 7, failure("nocopy: put_args.mode: offset 0: required field is missing", 7))), frame(strict(reply, "add", 8, sum))...), false},
		{"a malformed oneway call, and another", append(frame(strict(oneway, "notify", 7, []byte{9, 0, 1, 0})), frame(strict(call, "add", 8, args))...),
			frame(strict(reply, "add", 8, sum)), false},
		{"a oneway method called with malformed arguments, and another", append(frame(strict(call, "notify", 7, []byte{9, 0, 1, 0})), frame(strict(call, "add", 8, args))...),
			frame(strict(reply, "add", 8, sum)), false},
		{"trailing junk", frame(strict(call, "add", 7, args), []byte("junk")), frame(strict(reply, "add", 7, sum)), true},
		{"garbage", []byte("\xff\xfe\xfd\xfc\xfb\xfa"), nil, true},
		{"another version", []byte("\x80\x02\x00\x01\x00\x00\x00\x03add"), nil, true},
		{"another version in a frame", frame([]byte("\x80\x02\x00\x01\x00\x00\x00\x03add")), nil, true},
		{"HTTP after a call", append(frame(strict(call, "add", 7, args)), "POST / HTTP/1.1\r\nHost: localhost\r\n\r\n"...),
			append(frame(strict(reply, "add", 7, sum)), badRequest...), true},
		{"TLS", []byte("\x16\x03\x01\x02\x00\x01\x00"), []byte("\x15\x03\x01\x00\x02\x02\x28"), true},
		{"a negative frame", append(frame(strict(call, "add", 7, args)), 0xff, 0xff, 0xff, 0xf0), frame(strict(reply, "add", 7, sum)), true},
		{"an empty frame", append(frame(strict(call, "add", 7, args)), 0, 0, 0, 0), frame(strict(reply, "add", 7, sum)), true},
		{"a frame over the limit", append(be32(16_384_001), 0x80, 1, 0, 1), nil, true},
		{"a frame too short", frame([]byte{0x80, 1, 0, 1, 0, 0}), nil, true},
		{"a name of 2 GiB", frame([]byte{0x80, 1, 0, 1, 0x7f, 0xff, 0xff, 0xff}), nil, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			whole, pieces := dialRaw(t, addr), dialRaw(t, addr)
			send(t, whole, c.in)
			expect(t, whole, c.want)
			for i := range c.in { // the same bytes, one at a time
				if _, err := pieces.Write(c.in[i : i+1]); err != nil {
					break // the server has seen enough
				}
			}
			expect(t, pieces, c.want)
			if c.closed {
				closes(t, whole)
				closes(t, pieces)
				return
			}
			again := c.in[:len(c.in):len(c.in)]
			send(t, whole, again)
			expect(t, whole, c.want)
		})
	}
}

// TestPipelined: many calls in one write are all answered, in order.
func TestPipelined(t *testing.T) {
	t.Parallel()
	addr := serve(t, &rpc.Server{}, &handler{})
	for _, framing := range []func(...[]byte) []byte{frame, func(p ...[]byte) []byte { return bytes.Join(p, nil) }} {
		nc := dialRaw(t, addr)
		var in, want []byte
		for i := range 1000 {
			in = append(in, framing(strict(call, "add", i, addArgs(int64(i), 1)))...)
			want = append(want, framing(strict(reply, "add", i, sumResult(int64(i)+1)))...)
		}
		go nc.Write(in)
		expect(t, nc, want)
	}
}

// TestOrder: a slow call holds up replies, but not other calls; unordered replies overtake it.
func TestOrder(t *testing.T) {
	for _, unordered := range []bool{false, true} {
		t.Run(fmt.Sprint(unordered), func(t *testing.T) {
			h := &handler{waiting: make(chan struct{}, 1), release: make(chan struct{}), notified: make(chan string, 1)}
			nc := dialRaw(t, serve(t, &rpc.Server{Unordered: unordered}, h))
			wait := []byte("\x0b\x00\x01\x00\x00\x00\x04wait\x00")
			send(t, nc, frame(strict(call, "fail", 1, wait)))
			<-h.waiting
			send(t, nc, frame(strict(oneway, "notify", 2, []byte("\x0b\x00\x01\x00\x00\x00\x02hi\x00"))))
			if got := <-h.notified; got != "hi" { // handled while the first call is under way
				t.Errorf("notified of %q", got)
			}
			send(t, nc, frame(strict(call, "add", 3, addArgs(1, 2))))
			slow, fast := frame(strict(reply, "fail", 1, []byte{0})), frame(strict(reply, "add", 3, sumResult(3)))
			if unordered {
				expect(t, nc, fast)
				close(h.release)
				expect(t, nc, slow)
			} else {
				time.AfterFunc(20*time.Millisecond, func() { close(h.release) })
				expect(t, nc, append(slow, fast...))
			}
		})
	}
}

// TestByteByByte: a request without a frame that comes in single bytes, many of them.
func TestByteByByte(t *testing.T) {
	t.Parallel()
	nc := dialRaw(t, serve(t, &rpc.Server{}, &handler{}))
	args := echo.NewEchoPutArgs()
	item := args.NewItem()
	item.SetNumbers(make([]int64, 1000))
	labels := item.NewLabels()
	for i := range 800 {
		labels.Put(fmt.Sprint(i), "some text")
	}
	args.SetMode("link")
	result := echo.NewEchoPutResult()
	result.SetSuccess(args.GetItem())
	request := strict(call, "put", 1, args.Message().Bytes())
	for i := range request {
		send(t, nc, request[i:i+1])
	}
	expect(t, nc, strict(reply, "put", 1, result.Message().Bytes()))
}
