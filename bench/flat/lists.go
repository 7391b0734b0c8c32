package flat

import (
	"slices"

	"github.com/google/flatbuffers/go"

	"github.com/nocopythrift/nocopythrift/bench/data"
	gen "github.com/nocopythrift/nocopythrift/bench/generated/flat"
)

func vstreamRows(v *data.VStreamRows) message {
	var offsets []flatbuffers.UOffsetT
	return message{
		fill: func(b *flatbuffers.Builder) flatbuffers.UOffsetT {
			offsets = offsets[:0]
			for i := range v.Rows {
				r := &v.Rows[i]
				values := b.CreateByteVector(r.Values)
				gen.RowStartLengthsVector(b, len(r.Lengths))
				lengths := int64s(b, r.Lengths)
				gen.RowStart(b)
				gen.RowAddLengths(b, lengths)
				gen.RowAddValues(b, values)
				offsets = append(offsets, gen.RowEnd(b))
			}
			gen.VStreamRowsResponseStartRowsVector(b, len(offsets))
			rows := vector(b, offsets, func(o flatbuffers.UOffsetT) { b.PrependUOffsetT(o) })
			gtid := b.CreateString(v.Gtid)
			gen.VStreamRowsResponseStart(b)
			gen.VStreamRowsResponseAddGtid(b, gtid)
			gen.VStreamRowsResponseAddRows(b, rows)
			return gen.VStreamRowsResponseEnd(b)
		},
		sum: func(wire []byte) uint64 {
			m := gen.GetRootAsVStreamRowsResponse(wire, 0)
			s := data.Str(m.Gtid())
			var r gen.Row
			for i := range m.RowsLength() {
				m.Rows(&r, i)
				for j := range r.LengthsLength() {
					s += uint64(r.Lengths(j))
				}
				s += data.Str(r.ValuesBytes())
			}
			return s
		},
		values: func(wire []byte) any {
			m := gen.GetRootAsVStreamRowsResponse(wire, 0)
			v := &data.VStreamRows{Gtid: string(m.Gtid())}
			var r gen.Row
			for i := range m.RowsLength() {
				m.Rows(&r, i)
				row := data.Row{Values: slices.Clone(r.ValuesBytes())}
				for j := range r.LengthsLength() {
					row.Lengths = append(row.Lengths, r.Lengths(j))
				}
				v.Rows = append(v.Rows, row)
			}
			return v
		},
	}
}

func writeRequest(v *data.WriteRequest) message {
	var series, labels []flatbuffers.UOffsetT
	return message{
		fill: func(b *flatbuffers.Builder) flatbuffers.UOffsetT {
			series = series[:0]
			for i := range v.Series {
				t := &v.Series[i]
				labels = labels[:0]
				for j := range t.Labels {
					name, value := b.CreateString(t.Labels[j].Name), b.CreateString(t.Labels[j].Value)
					gen.LabelStart(b)
					gen.LabelAddName(b, name)
					gen.LabelAddValue(b, value)
					labels = append(labels, gen.LabelEnd(b))
				}
				gen.TimeSeriesStartLabelsVector(b, len(labels))
				l := vector(b, labels, func(o flatbuffers.UOffsetT) { b.PrependUOffsetT(o) })
				gen.TimeSeriesStartSamplesVector(b, len(t.Samples))
				s := vector(b, t.Samples, func(s data.Sample) { gen.CreateSample(b, s.Value, s.Timestamp) })
				gen.TimeSeriesStart(b)
				gen.TimeSeriesAddLabels(b, l)
				gen.TimeSeriesAddSamples(b, s)
				series = append(series, gen.TimeSeriesEnd(b))
			}
			gen.WriteRequestStartTimeseriesVector(b, len(series))
			all := vector(b, series, func(o flatbuffers.UOffsetT) { b.PrependUOffsetT(o) })
			gen.WriteRequestStart(b)
			gen.WriteRequestAddTimeseries(b, all)
			return gen.WriteRequestEnd(b)
		},
		sum: sumRequest,
		partial: func(wire []byte) uint64 {
			m := gen.GetRootAsWriteRequest(wire, 0)
			var (
				t gen.TimeSeries
				l gen.Label
				s gen.Sample
			)
			m.Timeseries(&t, m.TimeseriesLength()-1)
			t.Labels(&l, 0)
			t.Samples(&s, 0)
			return data.Str(l.Value()) + data.F64(s.Value()) + uint64(s.Timestamp())
		},
		values: requestValues,
	}
}

func sumRequest(wire []byte) (sum uint64) {
	m := gen.GetRootAsWriteRequest(wire, 0)
	var (
		t gen.TimeSeries
		l gen.Label
		s gen.Sample
	)
	for i := range m.TimeseriesLength() {
		m.Timeseries(&t, i)
		for j := range t.LabelsLength() {
			t.Labels(&l, j)
			sum += data.Str(l.Name()) + data.Str(l.Value())
		}
		for j := range t.SamplesLength() {
			t.Samples(&s, j)
			sum += data.F64(s.Value()) + uint64(s.Timestamp())
		}
	}
	return sum
}

func requestValues(wire []byte) any {
	m := gen.GetRootAsWriteRequest(wire, 0)
	var (
		t gen.TimeSeries
		l gen.Label
		s gen.Sample
	)
	v := new(data.WriteRequest)
	for i := range m.TimeseriesLength() {
		var to data.Series
		m.Timeseries(&t, i)
		for j := range t.LabelsLength() {
			t.Labels(&l, j)
			to.Labels = append(to.Labels, data.Label{Name: string(l.Name()), Value: string(l.Value())})
		}
		for j := range t.SamplesLength() {
			t.Samples(&s, j)
			to.Samples = append(to.Samples, data.Sample{Value: s.Value(), Timestamp: s.Timestamp()})
		}
		v.Series = append(v.Series, to)
	}
	return v
}
