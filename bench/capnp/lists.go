package capnp

import (
	"slices"

	"capnproto.org/go/capnp/v3"

	"github.com/nocopythrift/nocopythrift/bench/data"
	gen "github.com/nocopythrift/nocopythrift/bench/generated/capnp"
)

func vstreamRows(v *data.VStreamRows) message {
	return message{
		fill: func(s *capnp.Segment) {
			m := must(gen.NewRootVStreamRowsResponse(s))
			check(m.SetGtid(v.Gtid))
			rows := must(m.NewRows(int32(len(v.Rows))))
			for i := range v.Rows {
				r, from := rows.At(i), &v.Rows[i]
				lengths := must(r.NewLengths(int32(len(from.Lengths))))
				for j, n := range from.Lengths {
					lengths.Set(j, n)
				}
				check(r.SetValues(from.Values))
			}
		},
		sum: func(root capnp.Struct) uint64 {
			m := gen.VStreamRowsResponse(root)
			s := data.Str(must(m.GtidBytes()))
			rows := must(m.Rows())
			for i := range rows.Len() {
				r := rows.At(i)
				lengths := must(r.Lengths())
				for j := range lengths.Len() {
					s += uint64(lengths.At(j))
				}
				s += data.Str(must(r.Values()))
			}
			return s
		},
		values: func(root capnp.Struct) any {
			m := gen.VStreamRowsResponse(root)
			v := &data.VStreamRows{Gtid: must(m.Gtid())}
			rows := must(m.Rows())
			for i := range rows.Len() {
				r := rows.At(i)
				v.Rows = append(v.Rows, data.Row{Lengths: int64s(must(r.Lengths())), Values: slices.Clone(must(r.Values()))})
			}
			return v
		},
	}
}

func writeRequest(v *data.WriteRequest) message {
	return message{
		fill:    func(s *capnp.Segment) { fillRequest(must(gen.NewRootWriteRequest(s)), v) },
		sum:     func(root capnp.Struct) uint64 { return sumRequest(gen.WriteRequest(root)) },
		partial: func(root capnp.Struct) uint64 { return partialRequest(gen.WriteRequest(root)) },
		edit: func(root capnp.Struct) {
			series := must(gen.WriteRequest(root).Timeseries())
			t := series.At(series.Len() - 1)
			check(must(t.Labels()).At(0).SetValue(data.EditText))
			must(t.Samples()).At(0).SetTimestamp(data.EditInt)
		},
		values: func(root capnp.Struct) any { return requestValues(gen.WriteRequest(root)) },
	}
}

func fillRequest(m gen.WriteRequest, v *data.WriteRequest) {
	series := must(m.NewTimeseries(int32(len(v.Series))))
	for i := range v.Series {
		t, from := series.At(i), &v.Series[i]
		labels := must(t.NewLabels(int32(len(from.Labels))))
		for j := range from.Labels {
			l := labels.At(j)
			check(l.SetName(from.Labels[j].Name))
			check(l.SetValue(from.Labels[j].Value))
		}
		samples := must(t.NewSamples(int32(len(from.Samples))))
		for j := range from.Samples {
			s := samples.At(j)
			s.SetValue(from.Samples[j].Value)
			s.SetTimestamp(from.Samples[j].Timestamp)
		}
	}
}

func sumRequest(m gen.WriteRequest) (sum uint64) {
	series := must(m.Timeseries())
	for i := range series.Len() {
		t := series.At(i)
		labels := must(t.Labels())
		for j := range labels.Len() {
			l := labels.At(j)
			sum += data.Str(must(l.NameBytes())) + data.Str(must(l.ValueBytes()))
		}
		samples := must(t.Samples())
		for j := range samples.Len() {
			s := samples.At(j)
			sum += data.F64(s.Value()) + uint64(s.Timestamp())
		}
	}
	return sum
}

func partialRequest(m gen.WriteRequest) uint64 {
	series := must(m.Timeseries())
	t := series.At(series.Len() - 1)
	s := must(t.Samples()).At(0)
	return data.Str(must(must(t.Labels()).At(0).ValueBytes())) + data.F64(s.Value()) + uint64(s.Timestamp())
}

func requestValues(m gen.WriteRequest) any {
	v := new(data.WriteRequest)
	series := must(m.Timeseries())
	for i := range series.Len() {
		var to data.Series
		t := series.At(i)
		labels := must(t.Labels())
		for j := range labels.Len() {
			l := labels.At(j)
			to.Labels = append(to.Labels, data.Label{Name: must(l.Name()), Value: must(l.Value())})
		}
		samples := must(t.Samples())
		for j := range samples.Len() {
			s := samples.At(j)
			to.Samples = append(to.Samples, data.Sample{Value: s.Value(), Timestamp: s.Timestamp()})
		}
		v.Series = append(v.Series, to)
	}
	return v
}
