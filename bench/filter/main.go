// Command filter measures two things that ingestion and proxies do with a write request, workload
// F: to forward half of its series, and to split it into eight requests. Each round runs every row
// twice, one after the other, and times the second time; before, it collects the garbage of other
// rows. It prints the median time of each row, and that of its ratio to the first.
//
//	go run -C bench ./filter
//
// Rows of filter, where half of the series stay, in runs of five or every second one:
//
//   - ranges: the request is parsed with nocopy.Recycle, and the bytes of those that stay are
//     copied by hand, from offsets that are known
//   - nocopy: DeleteFunc, with Recycle; nocopy/lazy: with Lazy, too
//   - kitex: FastRead, slices.DeleteFunc of a slice of pointers, FastWriteNocopy to a kept buffer
//   - VM prompb: as in vminsert, structs from its pool; Protocol Buffers
//
// Rows of split, by the last byte of a series' metric:
//
//   - ranges: the request is parsed with nocopy.Recycle, and the bytes of each series are copied
//     by hand to the end of one of eight requests, from offsets that are known
//   - nocopy/write: the handles of the series are put into eight slices, and WriteElements writes
//     the requests
//   - nocopy/append: Append of each series to one of eight requests, with Recycle
//   - kitex, VM prompb: each series' struct is put into one of eight slices
package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"time"

	"github.com/VictoriaMetrics/VictoriaMetrics/lib/prompb"

	"github.com/nocopythrift/nocopythrift/internal/command"
	"github.com/nocopythrift/nocopythrift/nocopy"

	"github.com/nocopythrift/nocopythrift/bench/data"
	kitex "github.com/nocopythrift/nocopythrift/bench/generated/kitex/prom"
	"github.com/nocopythrift/nocopythrift/bench/generated/nocopy/prom"
	"github.com/nocopythrift/nocopythrift/bench/limit"
)

const (
	rounds = 101
	shards = 8
)

// row is a way to do a task. It returns the size of its output.
type row struct {
	name string
	once func() int
}

func main() {
	command.ParseFlags()
	var v *data.WriteRequest
	for _, w := range data.All() {
		if w.Name == "F" {
			v = w.New().(*data.WriteRequest)
		}
	}
	in := newInput(v)
	for _, run := range []int{5, 1} {
		measure(fmt.Sprintf("filter, half of the series stay in runs of %d", run), in.filterRows(func(i int) bool { return i/run%2 == 0 }))
	}
	measure(fmt.Sprintf("split into %d", shards), in.splitRows())
}

// measure runs the rows and prints their times. Rows of Thrift must have the same output.
func measure(title string, rows []row) {
	fmt.Printf("%s\n", title)
	sizes := map[int]bool{}
	for _, r := range rows {
		if n := r.once(); r.name != "VM prompb" {
			sizes[n] = true
		}
	}
	if len(sizes) != 1 {
		panic(fmt.Sprintf("the outputs differ: %v", sizes))
	}
	times := make([][]float64, len(rows))
	for range rounds {
		for k, r := range rows {
			runtime.GC()
			r.once() // a collection empties pools
			start := time.Now()
			r.once()
			times[k] = append(times[k], float64(time.Since(start)))
		}
	}
	for k, r := range rows {
		ratios := make([]float64, rounds) // of the same round: other load of the machine is in both
		for i := range ratios {
			ratios[i] = times[k][i] / times[0][i]
		}
		slices.Sort(ratios)
		slices.Sort(times[k])
		fmt.Printf("    %-13s %8.0f µs  %5.2f\n", r.name, times[k][rounds/2]/1e3, ratios[rounds/2])
	}
}

// input is a write request in Thrift Binary, and in Protocol Buffers.
type input struct {
	wire, proto []byte
	offsets     []int // of the series in wire, and where the last one ends
}

func newInput(v *data.WriteRequest) *input {
	in := &input{wire: limit.Append(nil, v)}
	in.offsets = append(in.offsets, 3+5) // field header, list header
	s := must(prom.ParseWriteRequest(in.wire))
	for _, t := range s.GetTimeseries().All() {
		in.offsets = append(in.offsets, in.offsets[len(in.offsets)-1]+len(t.AppendTo(nil)))
	}
	var pb prompb.WriteRequest
	for i := range v.Series {
		var t prompb.TimeSeries
		for _, l := range v.Series[i].Labels {
			t.Labels = append(t.Labels, prompb.Label{Name: l.Name, Value: l.Value})
		}
		for _, x := range v.Series[i].Samples {
			t.Samples = append(t.Samples, prompb.Sample{Value: x.Value, Timestamp: x.Timestamp})
		}
		pb.Timeseries = append(pb.Timeseries, t)
	}
	in.proto = pb.MarshalProtobuf(nil)
	return in
}

// parse returns the request as a message.
func (in *input) parse(opts ...nocopy.Option) prom.WriteRequest {
	return must(prom.ParseWriteRequest(in.wire, opts...))
}

func (in *input) filterRows(stays func(i int) bool) []row {
	var buf []byte
	ours := func(opts ...nocopy.Option) func() int {
		return func() int {
			s, i := in.parse(opts...), -1
			s.GetTimeseries().DeleteFunc(func(t prom.TimeSeries) bool { i++; return !stays(i) || t.GetSamples().Len() == 0 })
			buf = s.Message().AppendTo(buf[:0])
			s.Release()
			return len(buf)
		}
	}
	return []row{
		{"ranges", func() int {
			s, from := in.parse(nocopy.Recycle), -1
			buf = append(buf[:0], in.wire[:in.offsets[0]]...)
			for i, t := range s.GetTimeseries().All() {
				switch stay := stays(i) && t.GetSamples().Len() > 0; {
				case stay && from < 0:
					from = in.offsets[i]
				case !stay && from >= 0:
					buf = append(buf, in.wire[from:in.offsets[i]]...)
					from = -1
				}
			}
			if from >= 0 {
				buf = append(buf, in.wire[from:len(in.wire)-1]...)
			}
			buf = append(buf, 0)
			s.Release()
			return len(buf)
		}},
		{"nocopy", ours(nocopy.Recycle)},
		{"nocopy/lazy", ours(nocopy.Recycle, nocopy.Lazy)},
		{"kitex", func() int {
			var s kitex.WriteRequest
			must(s.FastRead(in.wire))
			i := -1
			s.Timeseries = slices.DeleteFunc(s.Timeseries, func(t *kitex.TimeSeries) bool { i++; return !stays(i) || len(t.Samples) == 0 })
			buf = encode(buf, &s)
			return len(buf)
		}},
		{"VM prompb", func() int {
			u := prompb.GetWriteRequestUnmarshaler()
			s := must(u.UnmarshalProtobuf(in.proto))
			out, i := *s, -1
			out.Timeseries = nil
			for _, t := range s.Timeseries {
				if i++; stays(i) && len(t.Samples) > 0 {
					out.Timeseries = append(out.Timeseries, t)
				}
			}
			buf = out.MarshalProtobuf(buf[:0])
			prompb.PutWriteRequestUnmarshaler(u)
			return len(buf)
		}},
	}
}

func (in *input) splitRows() []row {
	var buf [shards][]byte
	size := func() (n int) {
		for _, b := range buf {
			n += len(b)
		}
		return n
	}
	var handles [shards][]prom.TimeSeries
	var out [shards]bytes.Buffer
	rows := []row{
		{"ranges", func() int {
			s := in.parse(nocopy.Recycle)
			var counts [shards]uint32
			for k := range buf {
				buf[k] = append(buf[k][:0], in.wire[:in.offsets[0]]...)
			}
			for i, t := range s.GetTimeseries().All() {
				k := shard(t.GetLabels().At(0).GetValue())
				buf[k] = append(buf[k], in.wire[in.offsets[i]:in.offsets[i+1]]...)
				counts[k]++
			}
			for k := range buf {
				binary.BigEndian.PutUint32(buf[k][in.offsets[0]-4:], counts[k])
				buf[k] = append(buf[k], 0)
			}
			s.Release()
			return size()
		}},
		{"nocopy/write", func() int {
			s := in.parse(nocopy.Recycle)
			for k := range handles {
				handles[k] = handles[k][:0]
			}
			for _, t := range s.GetTimeseries().All() {
				k := shard(t.GetLabels().At(0).GetValue())
				handles[k] = append(handles[k], t)
			}
			n := 0
			for k, part := range handles {
				out[k].Reset()
				must(nocopy.WriteElements(&out[k], prom.WriteRequest{}, "timeseries", len(part), each(part)))
				n += out[k].Len()
			}
			s.Release()
			return n
		}},
		{"nocopy/append", func() int {
			s := in.parse(nocopy.Recycle)
			var parts [shards]prom.WriteRequest
			var lists [shards]nocopy.StructList[prom.TimeSeries]
			for k := range parts {
				parts[k] = prom.NewWriteRequest(nocopy.Recycle)
				lists[k] = parts[k].NewTimeseries(0)
			}
			for _, t := range s.GetTimeseries().All() {
				lists[shard(t.GetLabels().At(0).GetValue())].Append(t)
			}
			for k, part := range parts {
				buf[k] = part.Message().AppendTo(buf[k][:0])
				part.Release()
			}
			s.Release()
			return size()
		}},
	}
	return append(rows, in.splitPeers(&buf, size)...)
}

// splitPeers returns the rows of split of other libraries. They write to buf, and return size.
func (in *input) splitPeers(buf *[shards][]byte, size func() int) []row {
	return []row{
		{"kitex", func() int {
			var s kitex.WriteRequest
			must(s.FastRead(in.wire))
			var parts [shards]kitex.WriteRequest
			for _, t := range s.Timeseries {
				k := shard(t.Labels[0].Value)
				parts[k].Timeseries = append(parts[k].Timeseries, t)
			}
			for k := range parts {
				buf[k] = encode(buf[k], &parts[k])
			}
			return size()
		}},
		{"VM prompb", func() int {
			u := prompb.GetWriteRequestUnmarshaler()
			s := must(u.UnmarshalProtobuf(in.proto))
			var parts [shards]prompb.WriteRequest
			for _, t := range s.Timeseries {
				k := shard(t.Labels[0].Value)
				parts[k].Timeseries = append(parts[k].Timeseries, t)
			}
			for k := range parts {
				buf[k] = parts[k].MarshalProtobuf(buf[k][:0])
			}
			prompb.PutWriteRequestUnmarshaler(u)
			return size()
		}},
	}
}

// each yields the elements of part.
func each[E any](part []E) iter.Seq2[E, error] {
	return func(yield func(E, error) bool) {
		for _, e := range part {
			if !yield(e, nil) {
				return
			}
		}
	}
}

func shard(metric string) int { return int(metric[len(metric)-1]) % shards }

// encode writes a struct of Kitex into a kept buffer.
func encode(buf []byte, s *kitex.WriteRequest) []byte {
	n := s.BLength()
	buf = slices.Grow(buf[:0], n)[:n]
	return buf[:s.FastWriteNocopy(buf, nil)]
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
