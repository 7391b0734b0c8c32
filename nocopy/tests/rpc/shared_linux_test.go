//go:build !nounsafe

package rpc_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/internal/shm"
	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
)

// serveUnix is serve on a unix socket.
func serveUnix(t testing.TB, srv *rpc.Server, h *handler) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	serveOn(t, srv, h, l)
	return path
}

var sharedModes = []rpc.SharedMemory{rpc.CopyFromPeer, rpc.TrustPeer}

// numbered returns n bytes, other ones for other seeds.
func numbered(n, seed int) []byte { return numbers[seed%256:][:n:n] }

var numbers = func() []byte {
	b := make([]byte, 4<<20)
	for i := range b {
		b[i] = byte(i*7 + i>>8)
	}
	return b
}()

// maps returns how often shared memory is mapped in this process.
func maps(t testing.TB) int {
	t.Helper()
	b, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Count(b, []byte("memfd:nocopy-rpc"))
}

func openFiles(t testing.TB) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

// mapped waits until so many mappings are left.
func mapped(t testing.TB, want int) {
	t.Helper()
	for end := time.Now().Add(time.Minute); maps(t) != want; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("shared memory is mapped %d times, not %d", maps(t), want)
		}
	}
}

// filesClosed waits until no more files are open than n.
func filesClosed(t testing.TB, n int) {
	t.Helper()
	for end := time.Now().Add(time.Minute); openFiles(t) > n; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d files are open, and %d were", openFiles(t), n)
		}
	}
}

// TestSharedMemory: calls of all sizes, one at a time and many, where both sides copy or trust.
func TestSharedMemory(t *testing.T) {
	if !testmode.InOwnProcess(t) {
		return
	}
	sizes := []int{0, 1, 16 << 10, 32<<10 - 100, 32 << 10, 32<<10 + 1, 100_000, 1 << 20, 3 << 20}
	for _, server := range sharedModes {
		for _, client := range sharedModes {
			for _, unordered := range []bool{false, true} {
				if !testmode.Long && unordered == (server == client) {
					continue
				}
				t.Run(fmt.Sprint(server, client, unordered), func(t *testing.T) {
					before := maps(t)
					var placed atomic.Int64
					stats := &rpc.Stats{Received: func(n int) {
						const rest = 4 + 4 + 4 + 4 + 7 + 7 + 1 // header and struct without the payload
						if slices.Contains([]int{100_000 + rest, 1<<20 + rest, 3<<20 + rest}, n) {
							placed.Add(1)
						}
					}}
					h := &handler{}
					path := serveUnix(t, &rpc.Server{SharedMemory: server, MaxShared: 16 << 20, Unordered: unordered, Stats: stats}, h)
					cl := dial(t, path, client, rpc.MaxShared(16<<20), rpc.PoolSize(1))
					c := echo.NewEchoClient(cl)
					if n := connsLinked(cl); n != 1 {
						t.Fatalf("%d connections with shared memory", n)
					}
					call := func(n, seed int) {
						payload := numbered(n, seed)
						res, err := c.Echo(bg, func(args echo.EchoEchoArgs) { args.SetPayload(payload); args.SetDelayMs(int32(seed % 2)) })
						if err != nil || !bytes.Equal(res.GetSuccess(), payload) {
							t.Errorf("%d bytes: %d came, %v", n, len(res.GetSuccess()), err)
							return
						}
						res.Release()
					}
					for i, n := range sizes {
						call(n, i)
						call(n, i)
					}
					if n := placed.Load(); n != 6 {
						t.Errorf("%d messages came in one piece, not 6", n)
					}
					var wg sync.WaitGroup
					for g := range 16 {
						wg.Go(func() {
							for i := range testmode.Of(4, 20) {
								call(sizes[(g+i)%len(sizes)], g*i)
							}
						})
					}
					wg.Wait()
					cl.Close()
					mapped(t, before)
				})
			}
		}
	}
}

// TestSharedEverything: arguments that lie in read-only memory are read, changed in every way,
// linked into results and forwarded; and what a result has can be kept when it is linked into a
// message of one's own.
func TestSharedEverything(t *testing.T) {
	t.Parallel()
	for _, mode := range sharedModes {
		t.Run(fmt.Sprint(mode), func(t *testing.T) {
			path := serveUnix(t, &rpc.Server{SharedMemory: mode, Interceptors: []rpc.Interceptor{changeItem}}, &handler{})
			proxied := serveUnix(t, &rpc.Server{SharedMemory: mode, Processor: echo.NewEchoProcessor(&handler{}).WithHandler(rpc.Forward(dial(t, path, mode)))}, nil)
			for _, path := range []string{path, proxied} {
				c := echo.NewEchoClient(dial(t, path, mode))
				for _, how := range []string{"link", "fill"} {
					data := numbered(200_000, 1)
					res, err := c.Put(bg, func(args echo.EchoPutArgs) {
						args.SetMode(how)
						item := args.NewItem()
						item.SetName(strings.Repeat("n", 50))
						item.SetData(data)
						item.SetNumbers([]int64{1, 2, 3})
						item.NewLabels().Put("key", "value")
					})
					if err != nil {
						t.Fatal(how, err)
					}
					kept := echo.NewItem()
					own := echo.NewEchoPutResult()
					own.SetSuccess(res.GetSuccess())
					kept.SetName("kept")
					got := res.GetSuccess()
					if got.GetName() != "changed" || !bytes.Equal(got.GetData(), data) {
						t.Errorf("%s: %.100v", how, got)
					}
					if how == "link" {
						if v, ok := got.GetLabels().Get("key"); got.GetNumbers().At(1) != 20 || !ok || v != "other" {
							t.Errorf("%s: %v %v", how, got.GetNumbers(), got.GetLabels())
						}
					}
					got.SetName("again")
					got.NewLabels().Put("more", "labels")
					res.Release()
					if s := own.GetSuccess(); s.GetName() != "changed" || !bytes.Equal(s.GetData(), data) {
						t.Errorf("%s: what was linked is %.100v", how, s)
					}
				}
			}
		})
	}
}

// changeItem changes the arguments of Put before they are handled.
func changeItem(ctx context.Context, call *rpc.Call, next rpc.Handler) error {
	if call.Method.Name == "put" {
		item := echo.EchoPutArgs(call.Args).GetItem()
		item.SetName("changed")
		item.GetNumbers().Set(1, 20)
		item.GetLabels().Put("key", "other")
	}
	return next(ctx, call)
}

// TestSharedFull: when the memory is full, or of the wrong size for a message, the socket carries
// it.
func TestSharedFull(t *testing.T) {
	t.Parallel()
	h := &handler{waiting: make(chan struct{}, 10), release: make(chan struct{})}
	path := serveUnix(t, &rpc.Server{SharedMemory: rpc.TrustPeer, MaxShared: 1 << 20}, h)
	c := echo.NewEchoClient(dial(t, path, rpc.TrustPeer, rpc.MaxShared(300_000), rpc.PoolSize(1)))
	var kept []echo.EchoEchoResult
	for i := range 10 {
		for _, n := range []int{200_000, 2 << 20} {
			payload := numbered(n, i)
			res, err := c.Echo(bg, func(args echo.EchoEchoArgs) { args.SetPayload(payload) })
			if err != nil || !bytes.Equal(res.GetSuccess(), payload) {
				t.Fatalf("%d bytes: %v", n, err)
			}
			kept = append(kept, res) // it keeps its room until it is released
		}
	}
	for i, res := range kept {
		if want := numbered([]int{200_000, 2 << 20}[i%2], i/2); !bytes.Equal(res.GetSuccess(), want) {
			t.Errorf("result %d has changed", i)
		}
		res.Release()
	}
}

// TestSharedSizes: MaxShared is brought into its bounds.
func TestSharedSizes(t *testing.T) {
	t.Parallel()
	for _, server := range []int{1 << 20, 1, -1, 64<<10 + 1, 1<<31 - 1} {
		for _, client := range []int{1 << 20, 1, -1, 100_000} {
			path := serveUnix(t, &rpc.Server{SharedMemory: rpc.CopyFromPeer, MaxShared: server}, &handler{})
			cl := dial(t, path, rpc.TrustPeer, rpc.MaxShared(client), rpc.PoolSize(1))
			if connsLinked(cl) != 1 {
				t.Errorf("%d and %d bytes: no shared memory", server, client)
			}
			c := echo.NewEchoClient(cl)
			for _, n := range []int{40_000, 60_000, 70_000, 200_000} {
				res, err := c.Echo(bg, func(args echo.EchoEchoArgs) { args.SetPayload(numbered(n, n)) })
				if err != nil || !bytes.Equal(res.GetSuccess(), numbered(n, n)) {
					t.Errorf("%d and %d bytes: a message of %d: %v", server, client, n, err)
					continue
				}
				res.Release()
			}
			cl.Close()
		}
	}
}

// TestSharedLarge: a message above MaxFrame is answered, as one over the socket is.
func TestSharedLarge(t *testing.T) {
	t.Parallel()
	for _, mode := range sharedModes {
		path := serveUnix(t, &rpc.Server{SharedMemory: mode, MaxFrame: 100_000}, &handler{})
		c := echo.NewEchoClient(dial(t, path, mode))
		_, err := c.Echo(bg, func(args echo.EchoEchoArgs) { args.SetPayload(make([]byte, 200_000)) })
		var e *rpc.ApplicationException
		if !errors.As(err, &e) || e.Type != rpc.ProtocolError {
			t.Errorf("a request: %v", err)
		}
		path = serveUnix(t, &rpc.Server{SharedMemory: mode}, &handler{})
		c = echo.NewEchoClient(dial(t, path, mode, rpc.MaxFrame(100_000)))
		if _, err := c.Echo(bg, func(args echo.EchoEchoArgs) { args.SetPayload(make([]byte, 200_000)) }); !errors.Is(err, nocopy.ErrLimit) {
			t.Errorf("a reply: %v", err)
		}
	}
}

// hostile is a client made by hand.
type hostile struct {
	nc   *net.UnixConn
	link *shm.Link
}

// sharedFrame returns a framed call with a struct.
func sharedFrame(name string, seqid int, args []byte) []byte {
	b := append(be32(4+4+len(name)+4+len(args)), 0x80, 1, 0, 1)
	b = append(append(b, be32(len(name))...), name...)
	return append(append(b, be32(seqid)...), args...)
}

// hello returns the call that asks for shared memory.
func hello(maps uint64) []byte {
	args := binary.BigEndian.AppendUint64([]byte{11, 0, 1, 0, 0, 0, 9, 1}, maps)
	return sharedFrame("nocopy.sharedMemory", 0, append(args, 0))
}

// dialHostile negotiates shared memory.
func dialHostile(t *testing.T, path string) *hostile {
	t.Helper()
	nc := dialUnix(t, path)
	link, err := shm.New(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(link.Close)
	if err := shm.SendFD(nc, hello(1<<20), link.FD()); err != nil {
		t.Fatal(err)
	}
	r := shm.NewReader(nc)
	nextFrame(t, r)
	fd, err := r.TakeFD()
	if err == nil {
		_, err = link.Attach(fd, 1<<20)
	}
	if err != nil {
		t.Fatal(err)
	}
	return &hostile{nc, link}
}

func dialUnix(t *testing.T, path string) *net.UnixConn {
	t.Helper()
	nc, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nc.Close() })
	nc.SetDeadline(time.Now().Add(time.Minute))
	return nc.(*net.UnixConn)
}

// nextFrame returns the next frame, without its length.
func nextFrame(t *testing.T, r io.Reader) []byte {
	t.Helper()
	var length [4]byte
	if _, err := io.ReadFull(r, length[:]); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, min(binary.BigEndian.Uint32(length[:]), 10<<20))
	if _, err := io.ReadFull(r, b); err != nil {
		t.Fatal(err)
	}
	return b
}

// position returns a position in shared memory.
func position(slot, generation, n uint32, at uint64) []byte {
	b := binary.BigEndian.AppendUint32(nil, shm.Mark)
	b = binary.BigEndian.AppendUint32(b, slot)
	b = binary.BigEndian.AppendUint32(b, generation)
	b = binary.BigEndian.AppendUint32(b, n)
	return binary.BigEndian.AppendUint64(b, at)
}

// echoArgs are the arguments of Echo with a payload that begins at its byte 7.
func echoArgs(payload []byte) []byte {
	return append(append(append([]byte{11, 0, 1}, be32(len(payload))...), payload...), 0)
}

// put puts a message into shared memory, and returns its position and where it is.
func (h *hostile) put(t *testing.T, message []byte) (position, mem []byte) {
	t.Helper()
	s, ok := h.link.Place(len(message))
	if !ok {
		t.Fatal("no room")
	}
	copy(s.Bytes(), message)
	position = s.AppendPosition(nil, 0, len(message))
	s.Sent()
	s.Return()
	return position, s.Bytes()
}

// TestSharedHostilePositions: wrong positions, and positions without a message, end the connection
// and nothing else.
func TestSharedHostilePositions(t *testing.T) {
	t.Parallel()
	for _, mode := range sharedModes {
		q := new(quiet)
		path := serveUnix(t, &rpc.Server{SharedMemory: mode, Logger: q.logger()}, &handler{})
		good := echo.NewEchoClient(dial(t, path, mode))
		for _, p := range [][]byte{
			position(256, 1, 100, 0), position(1<<32-1, 1, 100, 0), position(0, 1, 0, 0), position(0, 1, 1<<20+1, 0),
			position(0, 1, 1, 1<<20), position(0, 1, 2, 1<<20-1), position(0, 1, 1<<31, 0), position(0, 1, 1<<32-1, 1),
			position(0, 1, 1, 1<<63), position(0, 1, 100, 1<<64-50),
			append(binary.BigEndian.AppendUint32(nil, shm.Mark^2), make([]byte, 20)...), // another mark
		} {
			h := dialHostile(t, path)
			if _, err := h.nc.Write(p); err != nil {
				t.Fatal(err)
			}
			io.Copy(io.Discard, h.nc) // until the server closes it
			unharmed(t, good)
		}
		// The same message again and again, never sent anew
		h := dialHostile(t, path)
		p, _ := h.put(t, sharedFrame("echo", 1, echoArgs(numbered(100_000, 0)))[4:])
		for range 3 {
			h.nc.Write(p)
		}
		for range 3 {
			var first [4]byte
			if _, err := io.ReadFull(h.nc, first[:]); err != nil {
				t.Fatal(err)
			}
			rest := make([]byte, shm.PositionSize-4)
			if binary.BigEndian.Uint32(first[:]) != shm.Mark {
				t.Fatalf("a frame of %x bytes", first)
			}
			io.ReadFull(h.nc, rest)
		}
		// Zeroes, which were never allocated: no call
		h.nc.Write(position(9, 1, 100_000, 500_000))
		if b := nextFrame(t, h.nc); b[len(b)-1] != 0 {
			t.Errorf("zeroes get %x", b)
		}
		// A position that is cut off
		h.nc.Write(p[:10])
		h.nc.CloseWrite()
		io.Copy(io.Discard, h.nc)
		unharmed(t, good)
	}
}

// TestSharedUnasked: on a connection without shared memory a position is a malformed frame.
func TestSharedUnasked(t *testing.T) {
	path := serveUnix(t, &rpc.Server{SharedMemory: rpc.CopyFromPeer}, &handler{})
	nc := dialUnix(t, path)
	nc.Write(position(0, 1, 100, 0))
	closes(t, nc)
}

// TestSharedHostileHello: bad calls for shared memory are answered like calls of an unknown
// method, whichever descriptors are passed with them, and leave nothing open.
func TestSharedHostileHello(t *testing.T) {
	path := serveUnix(t, &rpc.Server{SharedMemory: rpc.CopyFromPeer}, &handler{})
	files, before := openFiles(t), maps(t)
	link, err := shm.New(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	other := hello(1 << 20)
	other[len(other)-10] = 2 // version
	short := sharedFrame("nocopy.sharedMemory", 0, []byte{0})
	for name, v := range map[string]struct {
		frame []byte
		fds   []int
	}{
		"no descriptor":   {hello(1 << 20), nil},
		"a file":          {hello(1 << 20), []int{int(null.Fd())}},
		"two descriptors": {hello(1 << 20), []int{link.FD(), link.FD()}},
		"too many":        {hello(1 << 20), []int{link.FD(), 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}},
		"another version": {other, []int{link.FD()}},
		"no arguments":    {short, []int{link.FD()}},
		"another call":    {sharedFrame("nope", 0, []byte{0}), []int{link.FD()}},
	} {
		nc := dialUnix(t, path)
		var oob []byte
		if v.fds != nil {
			oob = syscall.UnixRights(v.fds...)
		}
		if _, _, err := nc.WriteMsgUnix(v.frame, oob, nil); err != nil {
			t.Fatal(err)
		}
		if b := nextFrame(t, nc); b[3] != 3 {
			t.Errorf("%s: not an exception: %x", name, b)
		}
		nc.Write(sharedFrame("add", 1, []byte{10, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0}))
		if b := nextFrame(t, nc); b[3] != 2 {
			t.Errorf("%s: the next call gets %x", name, b)
		}
		nc.Close()
	}
	// As the second call, and byte by byte with a descriptor each
	nc := dialUnix(t, path)
	nc.Write(sharedFrame("ping", 1, []byte{0}))
	nextFrame(t, nc)
	shm.SendFD(nc, hello(1<<20), link.FD())
	if b := nextFrame(t, nc); b[3] != 3 {
		t.Errorf("as the second call: %x", b)
	}
	nc.Close()
	nc = dialUnix(t, path)
	for _, b := range hello(1 << 20) {
		shm.SendFD(nc, []byte{b}, link.FD())
	}
	if b := nextFrame(t, nc); b[3] != 3 {
		t.Errorf("with many descriptors: %x", b)
	}
	nc.Close()
	link.Close()
	null.Close()
	mapped(t, before)
	filesClosed(t, files)
}

// TestSharedChanged: bytes that the peer changes when it has sent them change nothing where they
// were copied; where the peer is trusted they may be seen, and harm nothing else.
func TestSharedChanged(t *testing.T) {
	for _, mode := range sharedModes {
		t.Run(fmt.Sprint(mode), func(t *testing.T) {
			entered, changed := make(chan struct{}), make(chan struct{})
			srv := &rpc.Server{SharedMemory: mode, Interceptors: []rpc.Interceptor{func(ctx context.Context, call *rpc.Call, next rpc.Handler) error {
				if call.Method.Name == "echo" {
					entered <- struct{}{}
					<-changed
				}
				return next(ctx, call)
			}}}
			path := serveUnix(t, srv, &handler{})
			payload := numbered(100_000, 3)
			for _, how := range []string{"length", "bytes"} {
				h := dialHostile(t, path)
				p, mem := h.put(t, sharedFrame("echo", 1, echoArgs(payload))[4:])
				h.nc.Write(p)
				<-entered
				const head = 4 + 4 + 4 + 4 // of the message
				if how == "length" {
					binary.BigEndian.PutUint32(mem[head+3:], 1<<30)
				} else {
					clear(mem[head+7 : len(mem)-1])
				}
				changed <- struct{}{}
				reply := make([]byte, shm.PositionSize)
				if _, err := io.ReadFull(h.nc, reply[:4]); err != nil {
					t.Fatal(err)
				}
				if n := binary.BigEndian.Uint32(reply); n != shm.Mark {
					if mode == rpc.CopyFromPeer {
						t.Errorf("%s: a reply of %d bytes", how, n)
					}
					continue // an internal error
				}
				io.ReadFull(h.nc, reply[4:])
				taken, err := h.link.Take(reply)
				if err != nil {
					t.Fatal(err)
				}
				if same := bytes.Contains(taken.Mem, payload); !same && mode == rpc.CopyFromPeer {
					t.Errorf("%s: the change was seen", how)
				}
				taken.Return()
			}
			unharmed(t, echo.NewEchoClient(dial(t, path, mode)))
		})
	}
}

// TestSharedNeverReturned: a peer that returns nothing gets its replies over the socket.
func TestSharedNeverReturned(t *testing.T) {
	path := serveUnix(t, &rpc.Server{SharedMemory: rpc.CopyFromPeer, MaxShared: 1 << 20}, &handler{})
	h := dialHostile(t, path)
	payload := numbered(300_000, 0)
	inMemory, overSocket := 0, 0
	for i := range 20 {
		h.nc.Write(sharedFrame("echo", i, echoArgs(payload)))
		var first [4]byte
		if _, err := io.ReadFull(h.nc, first[:]); err != nil {
			t.Fatal(err)
		}
		if n := binary.BigEndian.Uint32(first[:]); n == shm.Mark {
			inMemory++
			io.CopyN(io.Discard, h.nc, shm.PositionSize-4)
		} else {
			overSocket++
			io.CopyN(io.Discard, h.nc, int64(n))
		}
	}
	if inMemory != 3 || overSocket != 17 {
		t.Errorf("%d replies in memory and %d over the socket, not 3 and 17", inMemory, overSocket)
	}
}

// TestSharedHeaders: headers of calls and replies go through shared memory with the messages.
func TestSharedHeaders(t *testing.T) {
	s := newSpeaking()
	s.own, s.err = [][2]string{{"served-by", "one"}}, make(chan error, 1000)
	for _, mode := range []rpc.SharedMemory{rpc.CopyFromPeer, rpc.TrustPeer} {
		path := serveUnix(t, &rpc.Server{Processor: echo.NewEchoProcessor(s), SharedMemory: mode}, nil)
		conn, err := rpc.Dial(bg, "unix", path, mode, rpc.PoolSize(1))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		putSpeaking(t, conn, 7)
	}
}
