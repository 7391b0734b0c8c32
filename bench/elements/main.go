// Command elements measures a write request of 1 GB, workload F's series again and again, that is
// read element by element, beside one that is parsed in memory. Each row runs in a process of its
// own, which also shows the most memory that it takes. It prints the median of the processor times
// per series, and of their ratios to the first row of the same round.
//
//	go run -C bench ./elements
//
// Rows:
//
//   - parse: all of the request in memory, parsed with nocopy.Recycle into an index that earlier
//     requests have left; then a loop over its series
//   - parse once: the first request of a process
//   - elements, elements/recycle: nocopy.ElementDecoder, from a Reader that copies the series
//   - write: nocopy.WriteElements of one series again and again, to a Writer that drops it
package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"time"

	"github.com/nocopythrift/nocopythrift/bench/data"
	"github.com/nocopythrift/nocopythrift/bench/generated/nocopy/prom"
	"github.com/nocopythrift/nocopythrift/bench/limit"
	"github.com/nocopythrift/nocopythrift/internal/command"
	"github.com/nocopythrift/nocopythrift/nocopy"
)

const (
	rounds = 5
	total  = 1e9 // bytes of a request
	start  = 8   // the headers of the field and its list
)

var rows = []struct {
	name string
	run  func(r *request) time.Duration
}{
	{"parse", func(r *request) time.Duration { r.parse(); return timed(r.parse) }},
	{"parse once", func(r *request) time.Duration { return timed(r.parse) }},
	{"elements", func(r *request) time.Duration { return timed(func() { r.elements() }) }},
	{"elements/recycle", func(r *request) time.Duration { return timed(func() { r.elements(nocopy.Recycle) }) }},
	{"write", func(r *request) time.Duration { return timed(r.write) }},
}

func main() {
	row := flag.String("row", "", "what the command runs for itself: this row, of the series in the standard input")
	command.ParseFlags()
	if *row != "" {
		child(*row)
		return
	}
	file := must(os.CreateTemp("", "series"))
	defer os.Remove(file.Name())
	for _, w := range data.All() {
		if w.Name == "F" {
			must(file.Write(limit.Append(nil, data.Message(w.New()))))
		}
	}
	type result struct{ ns, ratio, mib []float64 }
	results := make([]result, len(rows))
	for range rounds {
		var first float64
		for i, r := range rows {
			c := exec.Command(must(os.Executable()), "-row", r.name)
			c.Stdin, c.Stderr = must(os.Open(file.Name())), os.Stderr
			var ns float64
			check(json.Unmarshal(must(c.Output()), &ns))
			if i == 0 {
				first = ns
			}
			x := &results[i]
			x.ns, x.ratio = append(x.ns, ns), append(x.ratio, first/ns)
			x.mib = append(x.mib, float64(c.ProcessState.SysUsage().(*syscall.Rusage).Maxrss)/1024)
		}
	}
	median := func(x []float64) float64 { slices.Sort(x); return x[len(x)/2] }
	fmt.Printf("%-18s %9s %9s %9s\n", "", "ns/series", "speed", "MiB")
	for i, r := range rows {
		x := results[i]
		fmt.Printf("%-18s %9.0f %9.2f %9.0f\n", r.name, median(x.ns), median(x.ratio), median(x.mib))
	}
}

// child runs a row and prints its time per series in ns.
func child(name string) {
	wire := must(io.ReadAll(os.Stdin))
	r := &request{series: wire[start : len(wire)-1], count: int(binary.BigEndian.Uint32(wire[start-4:]))}
	r.times = total / len(r.series)
	if name == rows[0].name || name == rows[1].name {
		r.whole = must(io.ReadAll(r.reader()))
	}
	for _, row := range rows {
		if row.name == name {
			fmt.Print(float64(row.run(r)) / float64(r.times*r.count))
		}
	}
}

// request is a write request of these series, so many times.
type request struct {
	series       []byte
	count, times int
	whole        []byte
}

// header returns the bytes before the first series.
func (r *request) header() []byte {
	return binary.BigEndian.AppendUint32([]byte{15, 0, 1, 12}, uint32(r.times*r.count))
}

func (r *request) reader() io.Reader {
	parts := []io.Reader{bytes.NewReader(r.header())}
	for range r.times {
		parts = append(parts, bytes.NewReader(r.series))
	}
	return io.MultiReader(append(parts, bytes.NewReader([]byte{0}))...)
}

func (r *request) parse() {
	s := must(prom.ParseWriteRequest(r.whole, nocopy.Recycle, nocopy.Limits{MaxBytes: 1 << 30}))
	n := 0
	for range s.GetTimeseries().All() {
		n++
	}
	r.mustBeAll(n)
	s.Release()
}

func (r *request) elements(opts ...nocopy.Option) {
	d := nocopy.NewElementDecoder[prom.WriteRequest, prom.TimeSeries](r.reader(), "timeseries", opts...)
	n := 0
	for _, err := range d.All() {
		check(err)
		n++
	}
	r.mustBeAll(n)
	must(d.Rest()).Release()
}

func (r *request) write() {
	d := nocopy.NewElementDecoder[prom.WriteRequest, prom.TimeSeries](r.reader(), "timeseries")
	one := must(d.Next())
	n := r.times * r.count
	must(nocopy.WriteElements(io.Discard, prom.WriteRequest{}, "timeseries", n, func(yield func(prom.TimeSeries, error) bool) {
		for i := 0; i < n && yield(one, nil); i++ {
		}
	}))
}

func (r *request) mustBeAll(n int) {
	if n != r.times*r.count {
		panic(fmt.Sprintf("%d series of %d", n, r.times*r.count))
	}
}

// timed returns the processor time of f.
func timed(f func()) time.Duration {
	before := processor()
	f()
	return processor() - before
}

func processor() time.Duration {
	var u syscall.Rusage
	check(syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func must[T any](v T, err error) T {
	check(err)
	return v
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
