package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/prometheus/storage"

	"github.com/nocopythrift/nocopythrift/examples/ingest/api"
	"github.com/nocopythrift/nocopythrift/examples/ingest/store"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// serverFlags is where TestMain finds the flags of the server that it is to be.
const serverFlags = "INGEST_TEST_SERVER"

func TestMain(m *testing.M) {
	if flags := os.Getenv(serverFlags); flags != "" {
		os.Args = append(os.Args[:1], strings.Split(flags, " ")...)
		main()
		return
	}
	os.Exit(m.Run())
}

// child is a server in a process of its own.
type child struct {
	cmd  *exec.Cmd
	addr string
}

// startServer starts a server on a free port with further flags.
func startServer(t *testing.T, dir string, flags ...string) *child {
	t.Helper()
	return startAs(t, exec.Command(os.Args[0]), dir, flags...)
}

// startAs starts a server by a command that runs this program.
func startAs(t *testing.T, cmd *exec.Cmd, dir string, flags ...string) *child {
	t.Helper()
	all := append([]string{"-serve", "-addr", "127.0.0.1:0", "-dir", dir}, flags...)
	cmd.Env = append(os.Environ(), serverFlags+"="+strings.Join(all, " "))
	var log bytes.Buffer
	cmd.Stderr = &log
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c := &child{cmd: cmd}
	t.Cleanup(c.kill)
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		c.kill()
		t.Fatalf("the server said %q, %v, and on standard error\n%s", line, err, log.String())
	}
	c.addr = strings.TrimSpace(strings.TrimPrefix(line, "serving on "))
	return c
}

// kill ends the process at once, by SIGKILL.
func (c *child) kill() {
	c.cmd.Process.Kill()
	c.cmd.Wait()
}

func dial(t *testing.T, addr string, options ...rpc.Option) api.IngesterClient {
	t.Helper()
	conn, err := rpc.Dial(t.Context(), "tcp", addr, options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return api.NewIngesterClient(conn)
}

// query returns the samples of all series that a query gives, by the label "id".
func query(t *testing.T, client api.IngesterClient, at int64, promql string) map[string]map[int64]float64 {
	t.Helper()
	res, err := client.Query(t.Context(), func(args api.IngesterQueryArgs) {
		args.SetPromql(promql)
		args.SetTime(at)
	})
	if err != nil {
		t.Fatal(promql, err)
	}
	defer res.Release()
	all := map[string]map[int64]float64{}
	for _, series := range res.GetSuccess().All() {
		samples := map[int64]float64{}
		for _, p := range series.GetSamples().All() {
			samples[p.GetTimestamp()] = p.GetValue()
		}
		id := ""
		for _, l := range series.GetLabels().All() {
			if l.GetName() == "id" {
				id = strings.Clone(l.GetValue())
			}
		}
		all[id] = samples
	}
	return all
}

const (
	writers   = 4  // connections
	perWriter = 10 // series of each
)

// writer writes one sample of each of its series at a time, in the order of time.
type writer struct {
	id    int
	acked [][2]int64 // times, and the values of all series, that the server has acknowledged
	t     int64      // that was sent last
	value int64
}

func (w *writer) fill(args api.IngesterWriteArgs) {
	all := args.NewRequest().NewTimeseries(perWriter)
	for i := range perWriter {
		labels := all.At(i).NewLabels(3)
		for j, l := range [][2]string{{"__name__", "survives"}, {"id", fmt.Sprint(w.id*perWriter + i)}, {"writer", fmt.Sprint(w.id)}} {
			labels.At(j).SetName(l[0])
			labels.At(j).SetValue(l[1])
		}
		p := all.At(i).NewSamples(1).At(0)
		p.SetTimestamp(w.t)
		p.SetValue(float64(w.value + int64(i)))
	}
}

// run writes until the server is gone. acked counts all writers' acknowledged requests.
func (w *writer) run(ctx context.Context, client api.IngesterClient, acked *atomic.Int64) error {
	for {
		w.t++
		w.value += 100
		res, err := client.Write(ctx, w.fill)
		if errors.Is(err, rpc.ErrConnLost) || errors.Is(err, rpc.ErrNotSent) {
			return nil
		} else if err != nil {
			return err
		}
		res.Release()
		w.acked = append(w.acked, [2]int64{w.t, w.value})
		acked.Add(1)
	}
}

// TestKilled: all samples that the server has acknowledged are there after it was killed under
// load, three times, once with a cache that has hardly any room.
func TestKilled(t *testing.T) {
	dir := t.TempDir()
	now := time.Now().UnixMilli()
	all := make([]*writer, writers)
	for i := range all {
		all[i] = &writer{id: i, t: now}
	}
	for round := range 3 {
		server := startServer(t, dir, "-cache", []string{"1000000", "1", "1000000"}[round])
		if round > 0 {
			checkSurvivors(t, dial(t, server.addr), all)
		}
		var wg sync.WaitGroup
		var acked atomic.Int64
		for i, w := range all {
			options := []rpc.Option{rpc.PoolSize(1)}
			if i%2 == 1 {
				options = append(options, rpc.Unframed)
			}
			client := dial(t, server.addr, options...)
			wg.Go(func() {
				if err := w.run(t.Context(), client, &acked); err != nil {
					t.Error(err)
				}
			})
		}
		// More than a chunk of each series
		for deadline := time.Now().Add(2 * time.Minute); acked.Load() < 800; {
			if time.Sleep(time.Millisecond); time.Now().After(deadline) {
				t.Error("the server is too slow")
				break
			}
		}
		server.kill()
		wg.Wait()
		t.Logf("killed after %d requests", acked.Load())
	}
	server := startServer(t, dir)
	checkSurvivors(t, dial(t, server.addr), all)
}

// TestFullDisk: a server that can't write its log acknowledges nothing more and ends, and all that
// it has acknowledged is there afterwards. Files may have 300 KiB, which stands for the disk.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	server := startAs(t, exec.Command("bash", "-c", `ulimit -f 300; exec "$0"`, os.Args[0]), dir)
	w := &writer{t: time.Now().UnixMilli()}
	var acked atomic.Int64
	err := w.run(t.Context(), dial(t, server.addr, rpc.PoolSize(1)), &acked)
	var failed *rpc.ApplicationException
	if err != nil && !errors.As(err, &failed) {
		t.Error(err)
	}
	if err := server.cmd.Wait(); server.cmd.ProcessState.ExitCode() != 1 {
		t.Errorf("the server ended with %v", err)
	}
	t.Logf("%d requests were acknowledged", acked.Load())
	checkSurvivors(t, dial(t, startServer(t, dir).addr), []*writer{w})
}

// checkSurvivors checks that all acknowledged samples are there, and none that was not sent.
func checkSurvivors(t *testing.T, client api.IngesterClient, all []*writer) {
	t.Helper()
	at := time.Now().UnixMilli() + 60_000
	got := query(t, client, at, "survives[10m]")
	if len(got) != len(all)*perWriter {
		t.Errorf("%d series", len(got))
	}
	lost := 0
	for _, w := range all {
		for i := range perWriter {
			samples := got[strconv.Itoa(w.id*perWriter+i)]
			for _, a := range w.acked {
				if v, ok := samples[a[0]]; !ok || v != float64(a[1]+int64(i)) {
					lost++
				}
				delete(samples, a[0])
			}
			// A request that was under way when the server was killed may be there, too.
			if len(samples) > 3 {
				t.Errorf("series %d has %d samples that were not acknowledged", w.id*perWriter+i, len(samples))
			}
		}
	}
	if lost > 0 {
		t.Errorf("%d acknowledged samples are lost", lost)
	}
}

// slowDisk is a Head that commits nothing until it is closed.
type slowDisk struct {
	store.Discard
	ready   chan struct{}
	waiting atomic.Int64
}

func (d *slowDisk) Appender(context.Context) storage.Appender { return d }
func (d *slowDisk) Commit() error {
	d.waiting.Add(1)
	<-d.ready
	return nil
}

// TestSlowDisk: while nothing can be written, the server holds only one request of each
// connection, and the bytes that it reads ahead, however much clients send. All requests are
// answered afterwards.
func TestSlowDisk(t *testing.T) {
	const (
		conns    = 4
		requests = 60
		size     = 1 << 20
	)
	disk := &slowDisk{ready: make(chan struct{})}
	c := config{maxConns: conns, maxRequest: 2 * size}
	srv := c.server(store.New(disk, store.Options{}))
	defer srv.Close()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go srv.Serve(l)

	series := api.NewIngesterWriteArgs()
	one := series.NewRequest().NewTimeseries(1).At(0)
	label := one.NewLabels(1).At(0)
	label.SetName("__name__")
	label.SetValue("m")
	one.NewSamples(size / 23) // of 8 and 8 bytes, with two headers and a STOP
	frame := []byte("\x00\x00\x00\x00\x80\x01\x00\x01\x00\x00\x00\x05write\x00\x00\x00\x07")
	frame = series.Message().AppendTo(frame)
	binary.BigEndian.PutUint32(frame, uint32(len(frame)-4))

	before := heap()
	var sent atomic.Int64
	var wg sync.WaitGroup
	for range conns {
		conn, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		wg.Go(func() {
			for range requests {
				if _, err := conn.Write(frame); err != nil {
					t.Error(err)
					return
				}
				sent.Add(1)
			}
		})
		wg.Go(func() {
			const reply = 4 + 4 + 4 + len("write") + 4 + 1
			if _, err := io.ReadFull(conn, make([]byte, requests*reply)); err != nil {
				t.Error(err)
			}
		})
	}
	// Until no client can send more
	for last, same := int64(0), 0; same < 20; time.Sleep(10 * time.Millisecond) {
		if now := sent.Load(); now == last && disk.waiting.Load() > 0 {
			same++
		} else {
			last, same = now, 0
		}
	}
	// A request, its index, the bytes read ahead, and as much again for garbage
	if grown := heap() - before; grown > 2*conns*(4*size) {
		t.Errorf("%d MiB for %d connections that sent %d MiB", grown>>20, conns, sent.Load())
	}
	if sent.Load() == conns*requests {
		t.Error("all was sent while nothing could be stored")
	}
	close(disk.ready)
	wg.Wait()
}

// heap returns how many bytes are in use.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestServer: too large requests and samples are refused, and the server works on; a reply names
// the refused samples.
func TestServer(t *testing.T) {
	server := startServer(t, t.TempDir(), "-max-request", "20000", "-max-series", "50")
	for _, transport := range []rpc.Option{rpc.PoolSize(1), rpc.Unframed} {
		client := dial(t, server.addr, transport)
		now := time.Now().UnixMilli()
		write := func(client api.IngesterClient, n int, name string) error {
			res, err := client.Write(t.Context(), func(args api.IngesterWriteArgs) {
				all := args.NewRequest().NewTimeseries(n)
				for i := range n {
					l := all.At(i).NewLabels(2)
					l.At(0).SetName("__name__")
					l.At(0).SetValue(name)
					l.At(1).SetName("i")
					l.At(1).SetValue(fmt.Sprint(i))
					all.At(i).NewSamples(1).At(0).SetTimestamp(now)
				}
			})
			if err == nil {
				res.Release()
			}
			return err
		}
		var refused api.Refused
		if err := write(dial(t, server.addr, transport), 1000, "large"); err == nil || errors.As(err, &refused) {
			t.Error("a request that is too large:", err)
		}
		if err := write(client, 30, "m"); err != nil {
			t.Error(err)
		}
		if err := write(client, 30, "n"); !errors.As(err, &refused) || refused.GetTaken() != 20 || refused.GetRefused() != 10 ||
			refused.GetReason() != api.Reason_TOO_MANY_SERIES || refused.GetSeries() != 20 || refused.GetSample() != 0 {
			t.Error("too many series:", err)
		}
		if err := write(client, 3, "\xff"); !errors.As(err, &refused) || refused.GetTaken() != 0 || refused.GetReason() != api.Reason_INVALID_UTF8 {
			t.Error("not UTF-8:", err)
		}
		var bad api.BadQuery
		if _, err := client.Query(t.Context(), func(args api.IngesterQueryArgs) { args.SetPromql("sum(") }); !errors.As(err, &bad) {
			t.Error(err)
		}
		if n := len(query(t, client, now, `count({__name__=~"m|n"})`)); n != 1 {
			t.Error("no answer after all that")
		}
	}
}

// TestIndexLimit: a request that is small but takes much memory is refused.
func TestIndexLimit(t *testing.T) {
	server := startServer(t, t.TempDir(), "-max-request", "100000")
	client := dial(t, server.addr, rpc.MaxFrame(1<<20))
	_, err := client.Write(t.Context(), func(args api.IngesterWriteArgs) { args.NewRequest().NewTimeseries(90_000) })
	if err == nil || !strings.Contains(err.Error(), nocopy.ErrLimit.Error()) {
		t.Error(err)
	}
}

// TestLoad: the load generator writes, and finds what it has written.
func TestLoad(t *testing.T) {
	server := startServer(t, t.TempDir())
	var out bytes.Buffer
	c, err := parseFlags([]string{"-load", "-addr", server.addr, "-series", "205", "-samples", "50", "-connections", "3", "-duration", "300ms"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.run(t.Context(), &out); err != nil || strings.Count(out.String(), "\n") != 3 {
		t.Error(err, out.String())
	}
	out.Reset()
	if c, err = parseFlags([]string{"-query", "count(load_samples_total) by (job)", "-addr", server.addr}, io.Discard); err != nil {
		t.Fatal(err)
	}
	if err := c.run(t.Context(), &out); err != nil || !strings.HasPrefix(out.String(), `{job="load"}  205 @`) {
		t.Error(err, out.String())
	}
}

// TestFlags: contradictions and bounds are told.
func TestFlags(t *testing.T) {
	for _, args := range [][]string{
		{}, {"-serve", "-load"}, {"-load", "-query", "up"}, {"-serve", "x"}, {"-serve", "-max-series", "0"}, {"-serve", "-retention", "1m"},
		{"-load", "-series", "3"}, {"-load", "-duration", "0s"},
	} {
		if _, err := parseFlags(args, io.Discard); err == nil {
			t.Errorf("%q is accepted", args)
		}
	}
}

// TestReadme: the commands of README.md are such.
func TestReadme(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), "go run . "); ok {
			n++
			var args []string
			for i, part := range strings.Split(rest, "'") { // the text between two of them is one argument
				if i%2 == 1 {
					args = append(args, part)
				} else {
					args = append(args, strings.Fields(part)...)
				}
			}
			if _, err := parseFlags(args, io.Discard); err != nil {
				t.Errorf("%q: %v", args, err)
			}
		}
	}
	if n < 3 {
		t.Errorf("%d commands", n)
	}
}
