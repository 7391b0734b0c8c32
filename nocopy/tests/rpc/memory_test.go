package rpc_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/internal/entry"
	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// bulk is a method whose argument and result are a Bulk, which has a field of each type that may
// be large.
var (
	flatDesc  = thriftimpl.NewDesc("Flat")
	smallDesc = thriftimpl.NewDesc("Small")
	innerDesc = thriftimpl.NewDesc("Inner")
	bulkDesc  = thriftimpl.NewDesc("Bulk")
	argsDesc  = thriftimpl.NewDesc("Args")
	replyDesc = thriftimpl.NewDesc("Result")
	bulk      = &rpc.Method{Service: "Bulk", Name: "bulk", Args: argsDesc, Result: replyDesc, Success: wordOf(0, 1, nocopy.WireStruct, 0)}
)

// wordOf is the constant of the i-th of n fields.
func wordOf(i, n int, t nocopy.WireType, id int16) thriftimpl.Field {
	return thriftimpl.Field(uint64(entry.FirstNumber+i)<<entry.NumberShift | uint64(entry.FirstNumber+n)<<entry.EndShift |
		uint64(t)<<entry.WireShift | uint64(uint16(id)))
}

func init() {
	flatDesc.Define(
		thriftimpl.FieldDesc{ID: 1, Name: "id", Type: thriftimpl.TypeI64},
		thriftimpl.FieldDesc{ID: 2, Name: "name", Type: thriftimpl.TypeString},
	)
	smallDesc.Define(thriftimpl.FieldDesc{ID: 1, Name: "n", Type: thriftimpl.TypeI32})
	innerDesc.Define(
		thriftimpl.FieldDesc{ID: 1, Name: "id", Type: thriftimpl.TypeI64},
		thriftimpl.FieldDesc{ID: 2, Name: "labels", Type: thriftimpl.MapOf(thriftimpl.TypeString, thriftimpl.TypeString)},
		thriftimpl.FieldDesc{ID: 3, Name: "small", Type: thriftimpl.ListOf(thriftimpl.StructOf(smallDesc))},
		thriftimpl.FieldDesc{ID: 4, Name: "data", Type: thriftimpl.TypeBinary},
	)
	bulkDesc.Define(
		thriftimpl.FieldDesc{ID: 1, Name: "flat", Type: thriftimpl.ListOf(thriftimpl.StructOf(flatDesc))},
		thriftimpl.FieldDesc{ID: 2, Name: "small", Type: thriftimpl.ListOf(thriftimpl.StructOf(smallDesc))},
		thriftimpl.FieldDesc{ID: 3, Name: "inner", Type: thriftimpl.ListOf(thriftimpl.StructOf(innerDesc))},
		thriftimpl.FieldDesc{ID: 4, Name: "blob", Type: thriftimpl.TypeBinary},
		thriftimpl.FieldDesc{ID: 5, Name: "numbers", Type: thriftimpl.ListOf(thriftimpl.TypeI64)},
		thriftimpl.FieldDesc{ID: 6, Name: "texts", Type: thriftimpl.ListOf(thriftimpl.TypeString)},
		thriftimpl.FieldDesc{ID: 7, Name: "counts", Type: thriftimpl.MapOf(thriftimpl.TypeString, thriftimpl.TypeI32)},
		thriftimpl.FieldDesc{ID: 8, Name: "rows", Type: thriftimpl.ListOf(thriftimpl.ListOf(thriftimpl.TypeI32))},
		thriftimpl.FieldDesc{ID: 9, Name: "index", Type: thriftimpl.MapOf(thriftimpl.TypeI32, thriftimpl.StructOf(flatDesc))},
	)
	argsDesc.Define(thriftimpl.FieldDesc{ID: 1, Name: "bulk", Type: thriftimpl.StructOf(bulkDesc)})
	replyDesc.Define(thriftimpl.FieldDesc{ID: 0, Name: "success", Type: thriftimpl.StructOf(bulkDesc)})
}

// shape makes the wire bytes of a Bulk of about n bytes.
type shape struct {
	name string
	make func(n int) []byte
}

// many returns the bytes of field id, a list or map with this header and elements of n bytes each,
// about size bytes in all.
func many(id byte, head string, size, n int, elem func(b []byte, i int) []byte) []byte {
	wire := byte(15)
	if len(head) == 2 {
		wire = 13
	}
	b := append([]byte{wire, 0, id}, head...)
	count := max(size/n, 1)
	b = append(b, be32(count)...)
	for i := range count {
		b = elem(b, i)
	}
	return append(b, 0)
}

func appendText(b []byte, n int) []byte {
	b = append(b, be32(n)...)
	return append(b, bytes.Repeat([]byte{'x'}, n)...)
}

func appendFlat(b []byte, i int) []byte {
	b = append(b, 10, 0, 1, 0, 0, 0, 0)
	b = append(b, be32(i)...)
	b = append(b, 11, 0, 2)
	b = appendText(b, 5)
	return append(b, 0)
}

func appendSmall(b []byte, i int) []byte { return append(append(append(b, 8, 0, 1), be32(i)...), 0) }

func appendInner(b []byte, i int) []byte {
	b = append(b, 10, 0, 1, 0, 0, 0, 0)
	b = append(b, be32(i)...)
	b = append(b, 13, 0, 2, 11, 11, 0, 0, 0, 2)
	for _, n := range []int{5, 6, 7, 8} {
		b = appendText(b, n)
	}
	b = append(b, 15, 0, 3, 12, 0, 0, 0, 4)
	for k := range 4 {
		b = appendSmall(b, k)
	}
	b = append(b, 11, 0, 4)
	return append(appendText(b, 20), 0)
}

func texts(n int) shape {
	return shape{fmt.Sprint("texts of ", n), func(size int) []byte {
		return many(6, "\x0b", size, n+4, func(b []byte, i int) []byte { return appendText(b, n) })
	}}
}

var shapes = []shape{
	{"structs of a number and a text", func(n int) []byte { return many(1, "\x0c", n, 24, appendFlat) }},
	{"structs of a number", func(n int) []byte { return many(2, "\x0c", n, 8, appendSmall) }},
	{"structs with containers", func(n int) []byte { return many(3, "\x0c", n, 128, appendInner) }},
	{"one binary", func(n int) []byte { return append(appendText([]byte{11, 0, 4}, n), 0) }},
	{"numbers", func(n int) []byte {
		return many(5, "\x0a", n, 8, func(b []byte, i int) []byte { return binary.BigEndian.AppendUint64(b, uint64(i)) })
	}},
	texts(12), texts(2 << 10), texts(5 << 10), texts(33 << 10), texts(150 << 10), texts(700 << 10),
	{"a map of numbers", func(n int) []byte {
		return many(7, "\x0b\x08", n, 16, func(b []byte, i int) []byte {
			return append(append(append(b, 0, 0, 0, 8), fmt.Sprintf("%08d", i)...), be32(i)...)
		})
	}},
	{"a map of structs", func(n int) []byte {
		return many(9, "\x08\x0c", n, 28, func(b []byte, i int) []byte { return appendFlat(append(b, be32(i)...), i) })
	}},
	{"lists of numbers", func(n int) []byte {
		return many(8, "\x0f", n, 45, func(b []byte, i int) []byte { return append(append(b, 8, 0, 0, 0, 10), make([]byte, 40)...) })
	}},
	{"unknown structs", func(n int) []byte { return many(100, "\x0c", n, 24, appendFlat) }},
	{"lists of another type", func(n int) []byte {
		return many(8, "\x0f", n, 45, func(b []byte, i int) []byte { return append(append(b, 6, 0, 0, 0, 20), make([]byte, 40)...) })
	}},
}

// allocated returns how many bytes f allocates, in any goroutine.
func allocated(f func()) int {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int(after.TotalAlloc - before.TotalAlloc)
}

// inManyWays runs f for every shape, framed and not, with Recycle and without: in the short form
// for one of the four, by turns. first is true for one of the four.
func inManyWays(t *testing.T, f func(t *testing.T, s shape, framed, recycle, first bool)) {
	for k, s := range shapes {
		for i := range 4 {
			framed, recycle, first := i&1 == 0, i&2 != 0, i == k%4
			if !testmode.Long && !first {
				continue
			}
			t.Run(fmt.Sprintf("%s/framed %t/recycle %t", s.name, framed, recycle), func(t *testing.T) { f(t, s, framed, recycle, first) })
		}
	}
}

// sides are a client and a server that receive a value.
var sides = []struct {
	name    string
	receive func(t testing.TB, value []byte, framed, recycle bool) func()
}{{"client", replies}, {"server", requests}}

// TestReceivedMemory: receiving and parsing a large message allocates in proportion to it: the
// first time at most three times its size, and then hardly more than its size. This holds framed
// or not, for all contents, on both sides. Most of that memory has the message's bytes, from which
// nothing is copied.
func TestReceivedMemory(t *testing.T) {
	if testmode.Instrumented {
		t.Skip("this build allocates")
	}
	if !testmode.InOwnProcess(t) {
		return
	}
	way := 0
	inManyWays(t, func(t *testing.T, s shape, framed, recycle, first bool) {
		way++
		sizes := []int{1 << 20}
		if testmode.Long && first {
			sizes = append(sizes, 8<<20)
		}
		for _, size := range sizes {
			value := s.make(size)
			for k, side := range sides {
				if !testmode.Long && (way+way/4+k)%2 == 0 {
					continue // by turns
				}
				t.Run(fmt.Sprintf("%s/%d MiB", side.name, size>>20), func(t *testing.T) {
					checkAllocated(t, len(value), side.receive(t, value, framed, recycle))
				})
			}
		}
	})
}

// checkAllocated calls f, which receives size bytes, a few times, and checks what it allocates.
func checkAllocated(t *testing.T, size int, f func()) {
	emptyPools()
	first := float64(allocated(f)) / float64(size)
	var later []float64
	for range testmode.Of(3, 5) {
		later = append(later, float64(allocated(f))/float64(size))
	}
	slices.Sort(later) // a collection may empty the pools at any time
	if first > 3 || later[len(later)/2] > 1.2 {
		t.Errorf("allocated %.2f times as much as was received, then %.2f", first, later)
	}
}

func emptyPools() {
	for range 6 { // large memory of other tests is given up by a goroutine after five collections
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
}

const maxFrame = 100 << 20

// replies returns a function that makes a call whose result is this Bulk, reads from it and
// releases it.
func replies(t testing.TB, value []byte, framed, recycle bool) func() {
	opts := []rpc.Option{rpc.MaxFrame(maxFrame)}
	if !framed {
		opts = append(opts, rpc.Unframed)
	}
	if recycle {
		opts = append(opts, rpc.Recycle)
	}
	before, after, seqid := aroundBulk(reply, 0, value, framed)
	addr := fakeServer(t, func(nc net.Conn) {
		var call [200]byte
		for {
			if _, err := nc.Read(call[:]); err != nil { // it comes in one piece: it is that small
				return
			}
			copy(before[seqid:seqid+4], call[seqid:])
			time.Sleep(time.Millisecond) // the client's writing has ended, and its reader may rest
			if _, err := (&net.Buffers{before, value, after}).WriteTo(nc); err != nil {
				return
			}
		}
	})
	cl := dial(t, addr, opts...)
	return func() {
		res, err := cl.Call(bg, bulk, cl.NewArgs(bulk))
		if err != nil {
			t.Fatal(err)
		}
		if got := thriftimpl.Struct(res).Child(bulk.Success, replyDesc).Message().Len(); got != len(value)+4 {
			t.Errorf("%d bytes", got)
		}
		res.Release()
	}
}

// requests returns a function that sends a server a call with this Bulk, and waits until it has
// been answered and released.
func requests(t testing.TB, value []byte, framed, recycle bool) func() {
	want := len(value) + 4
	handler := bulk.HandledBy(func(_ context.Context, c *rpc.Call) error {
		if got := c.Args.Message().Len(); got != want && got != emptyBulk {
			t.Errorf("%d bytes", got)
		}
		return nil
	})
	srv := &rpc.Server{Processor: rpc.NewProcessor("Bulk", nil, handler), Recycle: recycle, MaxFrame: maxFrame}
	nc := dialRaw(t, serve(t, srv, nil))
	nc.SetDeadline(time.Now().Add(time.Minute))
	large, _ := bulkMessage(call, 1, value, framed)
	small, _ := bulkMessage(call, 1, []byte{0}, framed)
	answer := strict(reply, "bulk", 0, []byte{0})
	if framed {
		answer = frame(answer)
	}
	return func() {
		send(t, nc, large)
		expect(t, nc, answer)
		send(t, nc, small) // whose answer is written when the request before is released
		expect(t, nc, answer)
	}
}

// emptyBulk is the size of arguments with an empty Bulk.
const emptyBulk = 5

// bulkMessage returns a message whose struct has value in field id, and the offset of its sequence
// id.
func bulkMessage(typ byte, id byte, value []byte, framed bool) (msg []byte, seqid int) {
	before, after, seqid := aroundBulk(typ, id, value, framed)
	return slices.Concat(before, value, after), seqid
}

// aroundBulk returns the bytes before and after value in the message of bulkMessage, and the
// offset of its sequence id.
func aroundBulk(typ byte, id byte, value []byte, framed bool) (before, after []byte, seqid int) {
	before, after = strict(typ, "bulk", 0, []byte{12, 0, id}), []byte{0}
	seqid = 4 + 4 + len("bulk")
	if framed {
		return append(be32(len(before)+len(value)+len(after)), before...), after, 4 + seqid
	}
	return before, after, seqid
}

// TestIdleMemory: after a large message of any shape was handled, the connection keeps none of its
// memory, on both sides. The peers are in this process too, and have no copy of the message.
func TestIdleMemory(t *testing.T) {
	if testmode.Instrumented {
		t.Skip("this build keeps more")
	}
	if !testmode.InOwnProcess(t) {
		return
	}
	size := testmode.Of(1<<19, 1<<20)
	var values [][]byte
	for _, s := range shapes {
		values = append(values, s.make(size))
	}
	held := func() int {
		emptyPools()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	for i := range 4 {
		framed, recycle := i&1 == 0, i&2 != 0
		for k, side := range sides {
			if !testmode.Long && (framed == recycle) == (k == 0) {
				continue
			}
			t.Run(fmt.Sprintf("framed %t/recycle %t/%s", framed, recycle, side.name), func(t *testing.T) {
				before := held()
				for _, value := range values {
					side.receive(t, value, framed, recycle)()
				}
				// Less than one message. With Recycle a connection keeps a block of 64 KiB if its
				// reader waits again before the message is released.
				most := size - 32<<10
				kept := 0
				// Goroutines may take a moment to end
				for giveUp := until(time.Minute); !giveUp(); time.Sleep(20 * time.Millisecond) {
					if kept = held() - before; kept <= most {
						t.Log(kept/len(values), "bytes per connection")
						return
					}
				}
				t.Errorf("%d idle connections keep %d bytes", len(values), kept)
			})
		}
	}
}

// TestSlowSenderMemory: a message that comes byte by byte allocates no more than one that comes at
// once.
func TestSlowSenderMemory(t *testing.T) {
	if testmode.Instrumented {
		t.Skip("this build allocates")
	}
	if !testmode.InOwnProcess(t) {
		return
	}
	size := testmode.Of(8<<10, 16<<10)
	inManyWays(t, func(t *testing.T, s shape, framed, recycle, first bool) {
		value := s.make(size)
		if len(value) > 3*size && !(testmode.Long && first) {
			return // a text that is larger: one of that size will do
		}
		msg, _ := bulkMessage(call, 1, value, framed)
		handler := bulk.HandledBy(func(_ context.Context, c *rpc.Call) error { return nil })
		srv := &rpc.Server{Processor: rpc.NewProcessor("Bulk", nil, handler), Recycle: recycle, ReadTimeout: -1}
		near, far := net.Pipe()
		l := &oneConn{conns: make(chan net.Conn, 1)}
		l.conns <- far
		done := make(chan struct{})
		go func() {
			srv.Serve(l)
			close(done)
		}()
		once := func() {
			go func() {
				for i := range msg {
					near.Write(msg[i : i+1])
				}
			}()
			var b [100]byte
			if _, err := near.Read(b[:]); err != nil {
				t.Fatal(err)
			}
		}
		once()
		least := allocated(once)
		for range 5 { // what else is going on in this process is counted too
			if least <= 4*len(msg)+128<<10 {
				break
			}
			least = min(least, allocated(once))
		}
		if least > 4*len(msg)+128<<10 {
			t.Errorf("%d bytes allocated for %d", least, len(msg))
		}
		near.Close()
		srv.Shutdown(bg)
		<-done
	})
}

// oneConn is a listener that accepts the connections in conns until it is closed.
type oneConn struct {
	conns chan net.Conn
	once  sync.Once
}

func (l *oneConn) Accept() (net.Conn, error) {
	nc, ok := <-l.conns
	if !ok {
		return nil, net.ErrClosed
	}
	return nc, nil
}

func (l *oneConn) Close() error {
	l.once.Do(func() { close(l.conns) })
	return nil
}

func (l *oneConn) Addr() net.Addr { return &net.TCPAddr{} }
