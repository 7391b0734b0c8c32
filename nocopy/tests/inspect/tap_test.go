package inspect_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nocopythrift/nocopythrift/examples/kv"
	"github.com/nocopythrift/nocopythrift/nocopy/inspect"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

func loadKV(t testing.TB) *inspect.IDL {
	t.Helper()
	l, err := inspect.LoadIDL(filepath.Join("..", "..", "..", "examples", "kv", "kvstore.thrift"))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// output is a Writer that a test reads.
type output struct {
	mu     sync.Mutex
	b      bytes.Buffer
	writes int
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.writes++
	return o.b.Write(b)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

func newTap(t testing.TB, w io.Writer, opt inspect.Options) *inspect.Tap {
	t.Helper()
	tap, err := inspect.NewTap(w, opt)
	if err != nil {
		t.Fatal(err)
	}
	return tap
}

func waitFor(t testing.TB, tap *inspect.Tap) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := tap.Wait(ctx); err != nil {
		t.Error(err)
	}
}

// store is a handler.
type store struct {
	kv.KeyValueHandler // the other methods are not called
	values             sync.Map
}

func (s *store) Update(_ context.Context, args kv.KeyValueUpdateArgs, _ kv.KeyValueUpdateResult) error {
	s.values.Store(string(args.GetKey()), args.GetValue())
	return nil
}

func (s *store) Retrieve(_ context.Context, args kv.KeyValueRetrieveArgs, result kv.KeyValueRetrieveResult) error {
	v, ok := s.values.Load(string(args.GetKey()))
	if !ok {
		result.NewMissing().SetKey(args.GetKey())
		return nil
	}
	result.SetSuccess(v.([]byte))
	return nil
}

func serveKV(t testing.TB, l net.Listener) {
	t.Helper()
	srv := &rpc.Server{Processor: kv.NewKeyValueProcessor(new(store))}
	done := make(chan struct{})
	go func() {
		defer close(done)
		srv.Serve(l)
	}()
	t.Cleanup(func() {
		srv.Close()
		<-done
	})
}

func listen(t testing.TB) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// kinds returns the kinds of the messages in a dump, in order.
func kinds(text string) []string {
	var all []string
	for _, m := range regexp.MustCompile(`message: (\w+ "\w+")`).FindAllStringSubmatch(text, -1) {
		all = append(all, m[1])
	}
	return all
}

// TestTap: the messages of a call are dumped in order, on the server's and on the client's side,
// with and without frames.
func TestTap(t *testing.T) {
	for name, opts := range map[string][]rpc.Option{"framed": nil, "unframed": {rpc.Unframed}} {
		var atServer, atClient output
		opt := inspect.Options{IDL: loadKV(t)}
		serverTap, clientTap := newTap(t, &atServer, opt), newTap(t, &atClient, opt)
		l := listen(t)
		serveKV(t, serverTap.Listener(l))
		cl, err := rpc.Dial(t.Context(), "tcp", l.Addr().String(), append(opts, rpc.Dialer(clientTap.DialContext), rpc.PoolSize(1))...)
		if err != nil {
			t.Fatal(err)
		}
		c := kv.NewKeyValueClient(cl)
		for i := range 20 {
			if _, err := c.Update(t.Context(), func(args kv.KeyValueUpdateArgs) {
				args.SetKey([]byte("key"))
				args.SetValue(fmt.Append(nil, "value ", i))
			}); err != nil {
				t.Fatal(err)
			}
		}
		var missing kv.NotFound
		if _, err := c.Retrieve(t.Context(), func(args kv.KeyValueRetrieveArgs) { args.SetKey([]byte("no")) }); !errors.As(err, &missing) {
			t.Error(err)
		}
		waitFor(t, clientTap)
		cl.Close()
		waitFor(t, serverTap)
		var want []string
		for range 20 {
			want = append(want, `call "update"`, `reply "update"`)
		}
		want = append(want, `call "retrieve"`, `reply "retrieve"`)
		for side, text := range map[string]string{"server": atServer.String(), "client": atClient.String()} {
			if diff := cmp.Diff(want, kinds(text)); diff != "" {
				t.Errorf("%s, %s: the messages are others:\n%s\n%s", name, side, diff, text)
			}
			if !strings.Contains(text, `2 value: binary 0x`) || !strings.Contains(text, "1 missing: NotFound") || !strings.Contains(text, "-> "+l.Addr().String()) {
				t.Errorf("%s, %s: there are no names or addresses in\n%s", name, side, text)
			}
		}
		if atClient.writes != len(want) {
			t.Errorf("%s: %d Writes of %d messages", name, atClient.writes, len(want))
		}
	}
}

// TestTapConcurrently: messages of many connections and calls don't mix, and none is missing.
func TestTapConcurrently(t *testing.T) {
	var out output
	tap := newTap(t, &out, inspect.Options{IDL: loadKV(t), JSON: true})
	l := listen(t)
	serveKV(t, tap.Listener(l))
	const clients, calls = 4, 50
	var wg sync.WaitGroup
	for range clients {
		wg.Go(func() {
			cl, err := rpc.Dial(t.Context(), "tcp", l.Addr().String())
			if err != nil {
				t.Error(err)
				return
			}
			defer cl.Close()
			for range calls {
				if _, err := kv.NewKeyValueClient(cl).Update(t.Context(), func(args kv.KeyValueUpdateArgs) { args.SetKey([]byte("key")) }); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	waitFor(t, tap)
	messages := map[string]int{}
	var current struct{ From, To string }
	for line := range strings.Lines(out.String()) {
		var row struct {
			Kind, Message, From, To string
			Time                    time.Time
		}
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatal(err)
		}
		if row.Kind == "traffic" {
			current.From, current.To = row.From, row.To
		}
		if row.Kind == "fault" || row.Kind == "left out" || row.From != current.From || row.To != current.To || time.Since(row.Time) > time.Minute {
			t.Fatalf("%s among rows of %v", line, current)
		}
		messages[row.Message]++
	}
	if messages["call"] != clients*calls || messages["reply"] != clients*calls {
		t.Errorf("%d calls and %d replies of %d", messages["call"], messages["reply"], clients*calls)
	}
}

// pipe returns a connection through a Tap and its other end, which only reads.
func pipe(t testing.TB, tap *inspect.Tap) (tapped, other net.Conn) {
	t.Helper()
	here, there := net.Pipe()
	t.Cleanup(func() {
		here.Close()
		there.Close()
	})
	return tap.Conn(here), there
}

func drain(c net.Conn) { go io.Copy(io.Discard, c) }

// TestTapGoesOn: after a malformed message the dump continues with the next message; with frames,
// with the very next one.
func TestTapGoesOn(t *testing.T) {
	good := strict(1, "get", 1) + stop
	bad := strict(1, "bad", 1) + "\x63\x00\x01" + strings.Repeat("x", 50)
	for name, pieces := range map[string][]string{
		"framed":               {frame(good), frame(bad), frame(good), frame(good)},
		"framed, one piece":    {frame(good) + frame(bad) + frame(good) + frame(good)},
		"framed, single bytes": strings.Split(frame(good)+frame(bad)+frame(good)+frame(good), ""),
		"unframed":             {good, bad, good, good},
		"unframed, one piece":  {good + bad + good + good},
		"first bad":            {"\x63\x00", good, good, good},
	} {
		var out output
		tap := newTap(t, &out, inspect.Options{})
		c, other := pipe(t, tap)
		drain(other)
		for _, p := range pieces {
			if n, err := c.Write([]byte(p)); n != len(p) || err != nil {
				t.Fatalf("%s: %d, %v", name, n, err)
			}
		}
		c.Close()
		waitFor(t, tap)
		text := out.String()
		if n := strings.Count(text, `call "get"`); n != 3 || !strings.Contains(text, "FAULT") || !strings.Contains(text, "bytes left out") {
			t.Errorf("%s: %d of 3 good messages in\n%s", name, n, text)
		}
	}
}

// TestTapBounded: a Writer that blocks delays nothing, memory is bounded, and omitted bytes are
// reported.
func TestTapBounded(t *testing.T) {
	for name, wire := range map[string]string{
		"framed":      frame(strict(1, "get", 1) + field(11, 1, str(strings.Repeat("x", 10_000))) + stop),
		"unframed":    strict(1, "get", 1) + field(11, 1, str(strings.Repeat("x", 10_000))) + stop,
		"large":       frame(strict(1, "get", 1) + field(11, 1, str(strings.Repeat("x", 3<<20))) + stop),
		"many values": frame(strict(1, "get", 1) + field(15, 1, "\x02"+i32(200_000)+strings.Repeat("\x01", 200_000)) + stop),
	} {
		w := newGate()
		tap := newTap(t, w, inspect.Options{})
		c, other := pipe(t, tap)
		drain(other)
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		total := 0
		for total < 30<<20 {
			n, err := c.Write([]byte(wire))
			if err != nil {
				t.Fatal(err)
			}
			total += n
		}
		<-w.reached // rows are made until then
		runtime.GC()
		runtime.ReadMemStats(&after)
		if n := int64(after.HeapAlloc) - int64(before.HeapAlloc); n > 16<<20 {
			t.Errorf("%s: %d bytes wait", name, n)
		}
		close(w.open)
		waitFor(t, tap)
		if _, err := c.Write([]byte(wire)); err != nil {
			t.Error(err)
		}
		waitFor(t, tap)
		c.Close()
		waitFor(t, tap)
		text := w.String()
		left := 0
		for _, m := range regexp.MustCompile(`… (\d+) bytes left out`).FindAllStringSubmatch(text, -1) {
			var n int
			fmt.Sscan(m[1], &n)
			left += n
		}
		if left < total/4 || left > total+len(wire) {
			t.Errorf("%s: %d of %d bytes left out", name, left, total)
		}
		if name != "large" && !strings.Contains(text[strings.LastIndex(text, "left out"):], "get") && name != "many values" {
			t.Errorf("%s: there is no message after what was left out:\n%.3000s", name, text[max(0, len(text)-3000):])
		}
		if n := strings.Count(text, "FAULT"); n > 0 {
			t.Errorf("%s: %d faults in\n%.3000s", name, n, text)
		}
	}
}

// gate is a Writer that blocks until it is opened.
type gate struct {
	output
	open, reached chan struct{}
	once          sync.Once
}

func newGate() *gate { return &gate{open: make(chan struct{}), reached: make(chan struct{})} }

func (g *gate) Write(b []byte) (int, error) {
	g.once.Do(func() { close(g.reached) })
	<-g.open
	return g.output.Write(b)
}

// TestTapFaults: a Writer that fails or panics disturbs no connection, and Wait returns its error.
func TestTapFaults(t *testing.T) {
	broken := errors.New("broken")
	for name, w := range map[string]io.Writer{"failing": failing{broken}, "panicking": panicking{}} {
		tap := newTap(t, w, inspect.Options{})
		l := listen(t)
		serveKV(t, tap.Listener(l))
		cl, err := rpc.Dial(t.Context(), "tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if _, err := kv.NewKeyValueClient(cl).Update(t.Context(), func(args kv.KeyValueUpdateArgs) { args.SetKey([]byte("key")) }); err != nil {
				t.Error(name, err)
			}
		}
		cl.Close()
		if err := tap.Wait(t.Context()); err == nil || name == "failing" && err != broken {
			t.Errorf("%s: Wait returns %v", name, err)
		}
	}
	stuck := newTap(t, newGate(), inspect.Options{})
	c, other := pipe(t, stuck)
	drain(other)
	io.WriteString(c, frame(strict(1, "get", 1)+stop))
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := stuck.Wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Wait for a Writer that stands still: %v", err)
	}
	for range 3 { // it does not delay further connections
		c, other := pipe(t, stuck)
		drain(other)
		io.WriteString(c, frame(strict(1, "get", 1)+stop))
		c.Close()
	}
	if _, err := inspect.NewTap(io.Discard, inspect.Options{Type: "X"}); err == nil {
		t.Error("a type without an IDL is no error")
	}
}

type panicking struct{}

func (panicking) Write([]byte) (int, error) { panic("no") }

// TestTapPassesThrough: deadlines, Close, CloseWrite, addresses and errors are the connection's.
func TestTapPassesThrough(t *testing.T) {
	var out output
	tap := newTap(t, &out, inspect.Options{})
	l := listen(t)
	defer l.Close()
	nc, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	other, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	c := tap.Conn(nc)
	if c.LocalAddr() != nc.LocalAddr() || c.RemoteAddr() != nc.RemoteAddr() || c.(interface{ NetConn() net.Conn }).NetConn() != nc {
		t.Error("other addresses")
	}
	c.SetReadDeadline(time.Unix(1, 0))
	if _, err := c.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error(err)
	}
	c.SetReadDeadline(time.Time{})
	message := frame(strict(2, "get", 1) + stop)
	go io.WriteString(other, message)
	// The dump continues after a deadline
	if _, err := io.ReadFull(c, make([]byte, len(message))); err != nil {
		t.Error(err)
	}
	if err := c.(interface{ CloseWrite() error }).CloseWrite(); err != nil {
		t.Error(err)
	}
	if _, err := other.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("the other side reads %v after CloseWrite", err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if _, err := c.Write([]byte("x")); !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
	waitFor(t, tap)
	if diff := cmp.Diff([]string{`reply "get"`}, kinds(out.String())); diff != "" {
		t.Error(diff)
	}
	half, _ := pipe(t, tap)
	if _, ok := half.(interface{ CloseWrite() error }); ok {
		t.Error("a pipe can't be closed for sending alone")
	}
}

// TestTapUnsent: bytes that could not be written are reported as not sent.
func TestTapUnsent(t *testing.T) {
	var out output
	tap := newTap(t, &out, inspect.Options{})
	c, _ := pipe(t, tap)
	c.SetWriteDeadline(time.Unix(1, 0))
	message := frame(strict(1, "get", 1) + stop)
	if n, err := io.WriteString(c, message); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatal(n, err)
	}
	c.Close()
	waitFor(t, tap)
	if want := fmt.Sprintf("… %d bytes  (not sent: write pipe: i/o timeout)", len(message)); !strings.Contains(out.String(), want) {
		t.Errorf("no %q in\n%s", want, out.String())
	}
}

// TestTapEnds: a closed connection leaves no goroutine, used or not.
func TestTapEnds(t *testing.T) {
	before := runtime.NumGoroutine()
	tap := newTap(t, io.Discard, inspect.Options{})
	for i := range 50 {
		c, other := net.Pipe()
		tapped := tap.Conn(c)
		if i%2 == 0 {
			drain(other)
			io.WriteString(tapped, frame(strict(1, "get", 1) + stop)[:i%20])
		}
		tapped.Close()
		other.Close()
	}
	waitFor(t, tap)
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if runtime.NumGoroutine() <= before {
			return
		}
	}
	t.Errorf("%d goroutines more", runtime.NumGoroutine()-before)
}

// FuzzTap: any bytes, in any pieces, pass unchanged, and their dump is harmless.
func FuzzTap(f *testing.F) {
	good := frame(strict(1, "get", 1) + stop)
	f.Add([]byte(good+good), uint8(3))
	f.Add([]byte(good+"\x63\x00\x01"+good), uint8(200))
	f.Add([]byte(strict(1, "get", 1)+"\x01"+strict(1, "get", 1)+stop), uint8(40))
	f.Fuzz(func(t *testing.T, b []byte, cut uint8) {
		var out output
		tap := newTap(t, &out, inspect.Options{})
		c, other := net.Pipe()
		tapped := tap.Conn(c)
		arrived := make(chan []byte)
		go func() {
			all, _ := io.ReadAll(other)
			arrived <- all
		}()
		for rest := b; len(rest) > 0; {
			n := min(len(rest), int(cut)+1)
			if _, err := tapped.Write(rest[:n]); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		tapped.Close()
		if all := <-arrived; !bytes.Equal(all, b) {
			t.Errorf("%x arrived of %x", all, b)
		}
		waitFor(t, tap)
		checkHarmless(t, out.String())
		if strings.Contains(out.String(), "# inspect:") {
			t.Error(out.String())
		}
	})
}
