package rpc_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/linkbuf"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// Tests of what a peer can cause with few bytes. They run in a bubble of package synctest: time
// passes only when they say so.

// work counts what a server or a client does.
type work struct {
	begun, refused, converted, sent, replies atomic.Int64
}

func (w *work) stats() *rpc.Stats {
	return &rpc.Stats{
		Converted: func(n int) { w.converted.Add(int64(n)) },
		Sent:      func(s linkbuf.Stats) { w.sent.Add(int64(s.Bytes)) },
		Refused:   func(rpc.ExceptionType) { w.refused.Add(1) },
	}
}

// zipped is a THeader frame with a message in Binary, compressed.
func zipped(seqid int, message ...[]byte) []byte {
	return headed(0, seqid, zlibHead, deflated(join(message...)))
}

// zippedCompact is zipped in the compact protocol.
func zippedCompact(seqid int, message ...[]byte) []byte {
	return headed(0, seqid, []byte{2, 1, 1}, deflated(join(message...)))
}

// TestAmplification: for each MB that a client sends, in any way, a server holds at most 64 MB of
// the heap, does work for at most 128 MB of messages, and sends at most 16 MB; over HTTP, to calls
// in gzip, at most 32 MB.
func TestAmplification(t *testing.T) {
	// Instrumented builds allocate more, and take minutes
	if testmode.Instrumented || !testmode.InOwnProcess(t) {
		return
	}
	const size, mostHeap, mostConverted, mostSent = 1 << 20, 64, 128, 16
	// Over HTTP, replies to compressed calls are not compressed, since the client has not asked for
	// it. Two rows get 26 to 31 bytes for each that was sent
	const mostUnzipped = 32
	zeros := func(n int) []byte { return join([]byte{11, 0, 1}, be32(n), make([]byte, n), []byte{0}) }
	// structs without fields
	unknown := join([]byte{15, 0, 9, 12}, be32(1_000_000), make([]byte, 1_000_001))
	compactZeros := func(n int) []byte { return join([]byte{0x18}, compactNumber(n), make([]byte, n+1)) }
	part := testmode.Of(size/5, size-1000) // less than each connection sends
	numbers := join([]byte{0x1c, 0x39, 0xf6}, compactNumber(part), make([]byte, part+1), []byte("\x18\x01x\x00"))
	nested := join(bytes.Repeat([]byte{12, 0, 9}, 17), make([]byte, 18))
	http := func(message []byte) []byte {
		return fmt.Appendf(nil, "POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-thrift\r\nContent-Length: %d\r\n\r\n%s", len(message), message)
	}
	gzip := func(message []byte) []byte { return codings["gzip"].call(message) }
	repeat := func(b []byte, n int) []byte { return bytes.Repeat(b, max(n/len(b), 1)) }
	ping, nameless := strict(call, "ping", 1, []byte{0}), strict(call, "", 1, []byte{0})
	cping, cnameless := compactly(call, "ping", 1, []byte{0}), compactly(call, "", 1, []byte{0})
	const large = 16_000_000
	for what, one := range map[string][]byte{
		"framed, pings":             frame(ping),
		"framed, pings in a frame":  frame(repeat(ping, part)),
		"framed, unknown":           frame(repeat(nameless, part)),
		"framed, oneway":            frame(repeat(strict(oneway, "notify", 1, []byte{0}), part)),
		"framed, nested":            frame(repeat(strict(call, "ping", 1, nested), part)),
		"framed, large":             frame(strict(call, "echo", 1, zeros(15_000))),
		"framed, too large":         join(be32(17_000_000), strict(call, "ping", 1, nil)),
		"unframed, pings":           ping,
		"unframed, unknown":         nonStrict(call, "", 1, []byte{0}),
		"unframed, large":           strict(call, "echo", 1, zeros(part)),
		"Compact, pings":            frame(repeat(cping, part)),
		"Compact, unknown":          frame(repeat(cnameless, part)),
		"Compact, large":            frame(compactly(call, "echo", 1, compactZeros(15_000))),
		"Compact, numbers":          frame(compactly(call, "put", 1, numbers)),
		"unframed Compact, pings":   cping,
		"unframed Compact, numbers": compactly(call, "put", 1, numbers),
		"THeader, pings":            headed(0, 1, binaryHead, repeat(ping, part)),
		"THeader, unknown":          headed(0, 1, compactHead, repeat(cnameless, part)),
		"HTTP, pings":               http(ping),
		"HTTP, unknown":             http(cnameless),
		"HTTP, large":               http(strict(call, "echo", 1, zeros(15_000))),
		"zlib, pings":               zipped(1, ping),
		"zlib, unknown":             zippedCompact(1, cnameless),
		"zlib, a long name":         zipped(1, strict(call, strings.Repeat("x", 60_000), 1, []byte{0})),
		"zlib, many in a frame":     zippedCompact(1, repeat(cnameless, large)),
		"zlib, large":               zipped(1, strict(call, "echo", 1, zeros(large))),
		"zlib, large oneway":        zipped(1, strict(oneway, "notify", 1, zeros(large))),
		"zlib, structs":             zipped(1, strict(call, "echo", 1, unknown)),
		"zlib, medium":              zipped(1, strict(call, "echo", 1, zeros(100_000))),
		"zlib Compact, large":       zippedCompact(1, compactly(call, "echo", 1, compactZeros(large))),
		"zlib Compact, numbers":     zippedCompact(1, compactly(call, "put", 1, numbers)),
		"zlib, too large":           zipped(1, strict(call, "echo", 1, zeros(30_000_000))),
		"gzip, pings":               gzip(ping),
		"gzip, unknown":             gzip(cnameless),
		"gzip, a long name":         gzip(strict(call, strings.Repeat("x", 60_000), 1, []byte{0})),
		"gzip, many in a body":      gzip(repeat(cnameless, large)),
		"gzip, large":               gzip(strict(call, "echo", 1, zeros(large))),
		"gzip, large oneway":        gzip(strict(oneway, "notify", 1, zeros(large))),
		"gzip, structs":             gzip(strict(call, "echo", 1, unknown)),
		"gzip, medium":              gzip(strict(call, "echo", 1, zeros(100_000))),
		"gzip, no call":             gzip(make([]byte, large)),
		"gzip Compact, large":       gzip(compactly(call, "echo", 1, compactZeros(large))),
		"gzip Compact, numbers":     gzip(compactly(call, "put", 1, numbers)),
		"gzip, too large":           gzip(strict(call, "echo", 1, zeros(30_000_000))),
		"zlib, malformed":           headed(0, 1, zlibHead, deflated(make([]byte, 15_000_000))[:10_000]),
	} {
		zips := strings.HasPrefix(what, "zlib") || strings.HasPrefix(what, "gzip")
		for _, conns := range []int{1, 32} {
			size := size
			if !zips {
				size = testmode.Of(size/4, size)
			}
			b := bytes.Repeat(one, size/conns/len(one))
			if len(b) == 0 || conns > 1 && !testmode.Long {
				continue
			}
			t.Run(fmt.Sprint(what, ", ", conns), func(t *testing.T) {
				w, release := new(work), make(chan struct{})
				srv := &rpc.Server{Stats: w.stats(), Interceptors: []rpc.Interceptor{func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
					w.begun.Add(1)
					select {
					case <-release:
					case <-ctx.Done():
					}
					return next(ctx, c)
				}}}
				inBubble(t, srv, &handler{}, func(t *testing.T, connect func() net.Conn) {
					release = make(chan struct{})
					before := heapInUse()
					for range conns {
						nc := connect()
						defer nc.Close()
						go io.Copy(io.Discard, nc)
						go nc.Write(b)
					}
					synctest.Wait()
					sent := conns * len(b)
					check := func(when string) {
						if n := (heapInUse() - before) / sent; n > mostHeap && !testmode.Instrumented && testmode.Unsafe {
							t.Errorf("%s: %d bytes of the heap for each that was sent", when, n)
						}
						if n := int(w.converted.Load()) / sent; n > mostConverted {
							t.Errorf("%s: %d bytes converted for each that was sent", when, n)
						}
						mostSent := mostSent
						if what == "gzip, a long name" || what == "gzip, medium" {
							mostSent = mostUnzipped
						}
						if n := int(w.sent.Load()) / sent; n > mostSent {
							t.Errorf("%s: %d bytes sent for each that was sent", when, n)
						}
						if n := int(w.begun.Load() + w.refused.Load()); n > sent/5 { // the smallest has 5 bytes
							t.Errorf("%s: %d calls were handled or refused", when, n)
						}
					}
					check("handlers wait")
					close(release)
					time.Sleep(time.Second)
					check("handlers return")
				})
			})
		}
	}
}
