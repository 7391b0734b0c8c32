// Command columns measures nocopy.Column beside getters, and beside other libraries that give the
// same slices. Each round runs every row once, by turns. The command prints the least and the
// median time per element, and the median of the ratios to the first row of the same round.
//
//	go run -C bench ./columns
//
// Its tasks:
//
//   - samples: both fields of 10,000 elements {double, i64}, of a message that was parsed; added:
//     the same after an element was added to the list
//   - samples, from bytes: the same with parsing; kitex: FastRead; easyproto: slices filled while
//     reading; hyperpb: an arena that is kept
//   - strings, bytes: a field of 10,000 labels, as strings or as offsets and bytes
//   - E: the values of E's rows as offsets and bytes
//   - F: both fields of F's samples, which are lists of one element: a call for each
package main

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/VictoriaMetrics/easyproto"

	"github.com/nocopythrift/nocopythrift/internal/command"
	"github.com/nocopythrift/nocopythrift/nocopy"

	"github.com/nocopythrift/nocopythrift/bench/data"
	kitex "github.com/nocopythrift/nocopythrift/bench/generated/kitex/prom"
	"github.com/nocopythrift/nocopythrift/bench/generated/nocopy/peer"
	"github.com/nocopythrift/nocopythrift/bench/generated/nocopy/prom"
	"github.com/nocopythrift/nocopythrift/bench/limit"
	"github.com/nocopythrift/nocopythrift/bench/vtproto"
)

const (
	rounds   = 301
	elements = 10_000
)

// row is a way to do a task. It fills the slices of the output.
type row struct {
	name string
	once func()
}

// output is what rows fill. Its memory is kept.
type output struct {
	values  []float64
	times   []int64
	strings []string
	offsets []int32
	bytes   []byte
}

var out output

// begin empties the output.
func begin() {
	out = output{out.values[:0], out.times[:0], out.strings[:0], out.offsets[:0], out.bytes[:0]}
}

// sum returns a number that depends on all of the output.
func (o *output) sum() (n uint64) {
	for i, v := range o.values {
		n += math.Float64bits(v)*3 + uint64(o.times[i])
	}
	for _, s := range o.strings {
		n += data.Str(s)
	}
	for _, v := range o.offsets {
		n += uint64(v)
	}
	return n + data.Str(string(o.bytes))
}

func main() {
	command.ParseFlags()
	in := newSamples()
	measure("samples", elements, columnRows(in.parse().GetSamples()))
	added := in.parse().GetSamples()
	added.AppendNew()
	measure("samples, added", elements, columnRows(added))
	measure("samples, from bytes", elements, in.rows())
	labels := newLabels()
	measure("strings", elements, []row{
		{"getters", func() {
			for _, l := range labels.All() {
				out.strings = append(out.strings, l.GetValue())
			}
		}},
		{"columns", func() { out.strings = nocopy.Column(out.strings, labels, 2) }},
	})
	measure("bytes", elements, []row{
		{"getters", func() {
			out.offsets = append(out.offsets, 0)
			for _, l := range labels.All() {
				out.bytes = append(out.bytes, l.GetValue()...)
				out.offsets = append(out.offsets, int32(len(out.bytes)))
			}
		}},
		{"columns", func() { out.offsets, out.bytes = nocopy.TextColumn(out.offsets, out.bytes, labels, 2) }},
	})
	rows := must(peer.ParseVStreamRowsResponse(wireOf("E"))).GetRows()
	measure("E", rows.Len(), []row{
		{"getters", func() {
			out.offsets = append(out.offsets, 0)
			for _, r := range rows.All() {
				out.bytes = append(out.bytes, r.GetValues()...)
				out.offsets = append(out.offsets, int32(len(out.bytes)))
			}
		}},
		{"columns", func() { out.offsets, out.bytes = nocopy.TextColumn(out.offsets, out.bytes, rows, 2) }},
	})
	series := must(prom.ParseWriteRequest(wireOf("F"))).GetTimeseries()
	measure("F", series.Len(), []row{
		{"getters", func() {
			for _, t := range series.All() {
				appendSamples(t.GetSamples())
			}
		}},
		{"columns", func() {
			for _, t := range series.All() {
				appendColumns(t.GetSamples())
			}
		}},
	})
}

// measure runs the rows and prints their times for n elements. All rows must give the same.
func measure(title string, n int, rows []row) {
	fmt.Printf("%-20s %8s %8s %6s\n", title, "least", "median", "ratio")
	times, ratios := make([][]float64, len(rows)), make([][]float64, len(rows))
	var want uint64
	for round := range rounds {
		for k, r := range rows {
			begin()
			start := time.Now()
			r.once()
			times[k] = append(times[k], float64(time.Since(start))/float64(n))
			ratios[k] = append(ratios[k], times[k][round]/times[0][round])
			if got := out.sum(); k == 0 {
				want = got
			} else if got != want {
				panic(title + ": " + r.name + " gives something else")
			}
		}
	}
	for k, r := range rows {
		slices.Sort(times[k])
		slices.Sort(ratios[k])
		fmt.Printf("    %-16s %8.2f %8.2f %6.2f\n", r.name, times[k][0], times[k][rounds/2], ratios[k][rounds/2])
	}
}

func appendSamples(l nocopy.StructList[prom.Sample]) {
	for _, s := range l.All() {
		out.values = append(out.values, s.GetValue())
		out.times = append(out.times, s.GetTimestamp())
	}
}

func appendColumns(l nocopy.StructList[prom.Sample]) {
	out.values = nocopy.Column(out.values, l, 1)
	out.times = nocopy.Column(out.times, l, 2)
}

func columnRows(l nocopy.StructList[prom.Sample]) []row {
	return []row{{"getters", func() { appendSamples(l) }}, {"columns", func() { appendColumns(l) }}}
}

// samples is a series of samples, in Thrift Binary and in Protocol Buffers.
type samples struct{ wire, request []byte }

func newSamples() *samples {
	v := &data.WriteRequest{Series: make([]data.Series, 1)}
	for i := range elements {
		v.Series[0].Samples = append(v.Series[0].Samples, data.Sample{Value: float64(i+1) / 7, Timestamp: 1709000000000 + int64(i)})
	}
	series := must(prom.ParseWriteRequest(limit.Append(nil, v))).GetTimeseries().At(0)
	return &samples{series.AppendTo(nil), vtproto.Marshal(v)}
}

func (in *samples) parse(opts ...nocopy.Option) prom.TimeSeries {
	return must(prom.ParseTimeSeries(in.wire, opts...))
}

func (in *samples) rows() []row {
	ours := func(fill func(nocopy.StructList[prom.Sample]), opts ...nocopy.Option) func() {
		return func() {
			s := in.parse(opts...)
			fill(s.GetSamples())
			s.Release()
		}
	}
	return append([]row{
		{"getters", ours(appendSamples, nocopy.Recycle)},
		{"columns", ours(appendColumns, nocopy.Recycle)},
		{"columns/lazy", ours(appendColumns, nocopy.Recycle, nocopy.Lazy)},
		{"by hand/lazy", in.byHand},
		{"kitex", func() {
			var s kitex.TimeSeries
			must(s.FastRead(in.wire))
			for _, x := range s.Samples {
				out.values = append(out.values, x.Value)
				out.times = append(out.times, x.Timestamp)
			}
		}},
		{"easyproto", func() { visit(in.request, 1, func(t []byte) { visit(t, 2, visitSample) }) }},
	}, hyperRows(in.request)...)
}

// byHand checks the bytes as Lazy does, and reads both fields at the distance of 23 bytes at which
// they are in all elements of these samples: what a column of a list without an index could save.
func (in *samples) byHand() {
	in.parse(nocopy.Recycle, nocopy.Lazy).Release()
	const first, size = 8, 3 + 8 + 3 + 8 + 1
	list := in.wire[len(in.wire)-1-elements*size:]
	for field := range 2 {
		for i := 0; i < elements*size; i += size {
			if b := list[i : i+size]; field == 0 {
				out.values = append(out.values, math.Float64frombits(binary.BigEndian.Uint64(b[3:])))
			} else {
				out.times = append(out.times, int64(binary.BigEndian.Uint64(b[14:])))
			}
		}
	}
}

// visit calls f with each message in the field of a message.
func visit(message []byte, field uint32, f func([]byte)) {
	var fc easyproto.FieldContext
	for len(message) > 0 {
		message = must(fc.NextField(message))
		if b, ok := fc.MessageData(); ok && fc.FieldNum == field {
			f(b)
		}
	}
}

func visitSample(message []byte) {
	var fc easyproto.FieldContext
	for len(message) > 0 {
		message = must(fc.NextField(message))
		switch fc.FieldNum {
		case 1:
			v, _ := fc.Double()
			out.values = append(out.values, v)
		case 2:
			v, _ := fc.Int64()
			out.times = append(out.times, v)
		}
	}
}

func newLabels() nocopy.StructList[prom.Label] {
	s := prom.NewTimeSeries()
	l := s.NewLabels(elements)
	for i := range elements {
		l.At(i).SetName("name")
		l.At(i).SetValue(fmt.Sprintf("value-%0*d", 1+i%20, i))
	}
	return must(prom.ParseTimeSeries(s.Message().AppendTo(nil))).GetLabels()
}

// wireOf returns the bytes of a workload.
func wireOf(name string) []byte {
	for _, w := range data.All() {
		if w.Name == name {
			return limit.Append(nil, data.Message(w.New()))
		}
	}
	panic("no workload " + name)
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
