package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/nocopythrift/nocopythrift/examples/kv"
	"github.com/nocopythrift/nocopythrift/examples/programs/kvstore/store"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(patient{m}) }

// patient runs tests, and waits until goroutines have ended: goleak does so for less than a
// second.
type patient struct{ *testing.M }

func (p patient) Run() int {
	code := p.M.Run()
	for end := time.Now().Add(time.Minute); code == 0 && goleak.Find() != nil && time.Now().Before(end); {
	}
	return code
}

// lockedBuffer is a buffer that a program may write to while a test reads it.
type lockedBuffer struct {
	mu sync.Mutex
	bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.String()
}

// run runs the program with a command line.
func run(t *testing.T, ctx context.Context, out io.Writer, args ...string) error {
	t.Helper()
	c, err := parseFlags(args, out)
	if err != nil {
		t.Fatal(err)
	}
	return c.run(ctx, out)
}

const figures = `+\d+ calls/s  p50 \S+ +p99 \S+ +[\d.]+ MB/s +[\d.]+ allocs/call`

// TestProgram runs server and clients in one process: a line every second and a summary for each
// client.
func TestProgram(t *testing.T) {
	t.Parallel()
	var out lockedBuffer
	if err := run(t, context.Background(), &out, "-duration=1200ms", "-client=both", "-value-size=20000", "-connections=2", "-inflight=8"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"(?m)^blocking client: 2 connections, 1 call in flight on each, values of 20000 bytes on average$",
		"(?m)^pipelined client: 2 connections, 8 calls in flight on each, values of 20000 bytes on average$",
		"(?m)^   1 s " + figures + "$",
		"(?m)^in all " + figures + `  [1-9]\d* calls  [1-9]\d* refused$`,
	} {
		if n := len(regexp.MustCompile(want).FindAllString(out.String(), -1)); n == 0 {
			t.Errorf("no line is %s:\n%s", want, out.String())
		}
	}
}

// TestHalves runs a server and two clients as separate programs.
func TestHalves(t *testing.T) {
	t.Parallel()
	ctx, interrupt := context.WithCancel(context.Background())
	var out lockedBuffer
	served := make(chan error, 1)
	c, err := parseFlags([]string{"-serve", "-listen=127.0.0.1:0"}, &out)
	if err != nil {
		t.Fatal(err)
	}
	go func() { served <- c.run(ctx, &out) }()
	var addr string
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if line, _, ok := strings.Cut(out.String(), "\n"); ok {
			addr = strings.TrimPrefix(line, "serving on ")
			break
		}
	}
	for _, client := range []string{"blocking", "pipelined"} {
		var said lockedBuffer
		if err := run(t, context.Background(), &said, "-connect="+addr, "-client="+client, "-duration=200ms", "-value-size=0"); err != nil {
			t.Errorf("%v:\n%s", err, said.String())
		}
	}
	interrupt()
	if err := <-served; err != nil {
		t.Error(err)
	}
	if !regexp.MustCompile("(?m)^in all " + figures + `  [1-9]\d* calls  \d+ keys?$`).MatchString(out.String()) {
		t.Errorf("no summary:\n%s", out.String())
	}
}

// TestDelays: a blocking client gets through as many calls as the delays leave it, a pipelined one
// through more.
func TestDelays(t *testing.T) {
	t.Parallel()
	calls := func(client string) (n int, took time.Duration) {
		var out lockedBuffer
		start := time.Now()
		if err := run(t, context.Background(), &out, "-duration=1s", "-client="+client, "-delays", "-connections=1", "-value-size=100"); err != nil {
			t.Fatal(err)
		}
		found := regexp.MustCompile(`(\d+) calls  \d+ refused`).FindStringSubmatch(out.String())
		if found == nil {
			t.Fatalf("no summary:\n%s", out.String())
		}
		fmt.Sscan(found[1], &n)
		return n, time.Since(start)
	}
	one, took := calls("blocking")
	many := 0
	for range 5 { // a busy machine may not let one of them go on
		if many, _ = calls("pipelined"); many >= 4*one {
			break
		}
	}
	if one > int(took/store.ReadDelay) {
		t.Errorf("%d calls one after the other within %v", one, took)
	}
	if many < 4*one {
		t.Errorf("%d calls with 32 in flight, %d with one", many, one)
	}
}

func TestInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	var out lockedBuffer
	start := time.Now()
	if err := run(t, ctx, &out, "-duration=1h"); err != nil {
		t.Error(err)
	}
	if took := time.Since(start); took > time.Minute || !strings.Contains(out.String(), "in all") {
		t.Errorf("ended after %v:\n%s", took, out.String())
	}
}

func TestNoServer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	var out lockedBuffer
	if err := run(t, context.Background(), &out, "-connect="+l.Addr().String()); err == nil {
		t.Error("no error")
	}
}

func TestCommandLine(t *testing.T) {
	for _, args := range []string{"-client=lazy", "-connections=0", "-inflight=0", "-duration=0", "-value-size=-1", "-value-size=100000000", "-serve -connect=x", "stray"} {
		var complaints bytes.Buffer
		if _, err := parseFlags(strings.Fields(args), &complaints); err == nil || complaints.Len() == 0 {
			t.Errorf("%s: error %v, complaint %q", args, err, complaints.String())
		}
	}
	if _, err := parseFlags([]string{"-h"}, io.Discard); !errors.Is(err, flag.ErrHelp) {
		t.Error(err)
	}
}

// startStore starts the service and returns a client of it. Both end with the test.
func startStore(t *testing.T) (*store.Service, kv.KeyValueClient) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := store.NewService(false)
	srv := &rpc.Server{Processor: kv.NewKeyValueProcessor(s)}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(l) }()
	cl, err := rpc.Dial(context.Background(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cl.Close()
		srv.Close()
		<-served
	})
	return s, kv.NewKeyValueClient(cl)
}

func put(t *testing.T, c kv.KeyValueClient, key, value []byte) {
	t.Helper()
	r, err := c.Create(context.Background(), func(a kv.KeyValueCreateArgs) { a.SetKey(key); a.SetValue(value) })
	if err != nil {
		t.Fatal(err)
	}
	r.Release()
}

func get(t *testing.T, c kv.KeyValueClient, key []byte) []byte {
	t.Helper()
	r, err := c.Retrieve(context.Background(), func(a kv.KeyValueRetrieveArgs) { a.SetKey(key) })
	if err != nil {
		t.Fatal(err)
	}
	return r.GetSuccess()
}

func random(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rand.Uint32())
	}
	return b
}

// TestValuesLast: values in the store, and values that a client has retrieved, do not change when
// later calls use memory again, nor when the value in the store is replaced.
func TestValuesLast(t *testing.T) {
	_, c := startStore(t)
	values := map[string][]byte{}
	for _, size := range []int{0, 1, 100, 4095, 4096, store.KeepFrom - 1, store.KeepFrom, 70_000, 3 << 20} {
		key := fmt.Sprint("size ", size)
		values[key] = random(size)
		put(t, c, []byte(key), values[key])
	}
	retrieved := map[string][]byte{}
	for key := range values {
		retrieved[key] = get(t, c, []byte(key))
	}
	for i := range 300 { // so that freed memory is used again
		key := []byte(fmt.Sprint("other ", i))
		put(t, c, key, random(i*400))
		if r, err := c.Delete(context.Background(), func(a kv.KeyValueDeleteArgs) { a.SetKey(key) }); err != nil {
			t.Fatal(err)
		} else {
			r.Release()
		}
	}
	for key, want := range values {
		if !bytes.Equal(get(t, c, []byte(key)), want) {
			t.Errorf("%s has changed in the store", key)
		}
		r, err := c.Update(context.Background(), func(a kv.KeyValueUpdateArgs) { a.SetKey([]byte(key)); a.SetValue(random(len(want))) })
		if err != nil {
			t.Fatal(err)
		}
		r.Release()
		if !bytes.Equal(retrieved[key], want) {
			t.Errorf("%s has changed where it was retrieved", key)
		}
	}
}

// TestMemoryKept: requests cost the store about what their values do.
func TestMemoryKept(t *testing.T) {
	s, c := startStore(t)
	for _, size := range []int{100, 10_000, store.KeepFrom, 50_000, 100_000} {
		value := random(size)
		n := (5 << 20) / (size + 500)
		before := heap()
		for i := range n {
			put(t, c, fmt.Appendf(nil, "%d/%d", size, i), value)
			// A request of another call, whose memory must not be kept, lies next to it.
			if _, err := c.Delete(context.Background(), func(a kv.KeyValueDeleteArgs) { a.SetKey(value[:min(size, 20_000)]) }); err == nil {
				t.Fatal("there is no such key")
			}
		}
		if each := (heap() - before) / n; each > 2*size+400 {
			t.Errorf("a value of %d bytes keeps %d", size, each)
		}
	}
	runtime.KeepAlive(s)
}

func heap() int {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// TestDeclaredExceptions: the client gets each declared exception, with its key.
func TestDeclaredExceptions(t *testing.T) {
	_, c := startStore(t)
	ctx, key := context.Background(), []byte("\x00key\xff")
	var missing kv.NotFound
	_, err := c.Retrieve(ctx, func(a kv.KeyValueRetrieveArgs) { a.SetKey(key) })
	if !errors.As(err, &missing) || !bytes.Equal(missing.GetKey(), key) {
		t.Errorf("retrieve: %v", err)
	}
	_, err = c.Update(ctx, func(a kv.KeyValueUpdateArgs) { a.SetKey(key); a.SetValue(key) })
	if !errors.As(err, &missing) || !bytes.Equal(missing.GetKey(), key) {
		t.Errorf("update: %v", err)
	}
	_, err = c.Delete(ctx, func(a kv.KeyValueDeleteArgs) { a.SetKey(key) })
	if !errors.As(err, &missing) || !bytes.Equal(missing.GetKey(), key) {
		t.Errorf("delete: %v", err)
	}
	put(t, c, key, nil)
	var exists kv.AlreadyExists
	_, err = c.Create(ctx, func(a kv.KeyValueCreateArgs) { a.SetKey(key); a.SetValue(key) })
	if !errors.As(err, &exists) || !bytes.Equal(exists.GetKey(), key) {
		t.Errorf("create: %v", err)
	}
	if v := get(t, c, key); len(v) != 0 {
		t.Errorf("the value is now %q", v)
	}
}
