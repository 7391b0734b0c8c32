package ours

import (
	"github.com/nocopythrift/nocopythrift/nocopy"

	"github.com/nocopythrift/nocopythrift/bench/data"
	"github.com/nocopythrift/nocopythrift/bench/generated/nocopy/prom"
)

func writeRequest(v *data.WriteRequest) message[prom.WriteRequest] {
	last := len(v.Series) - 1
	return message[prom.WriteRequest]{
		make:    prom.NewWriteRequest,
		parse:   prom.ParseWriteRequest,
		of:      writeRequestOf(v),
		plain:   writeRequestFields(v),
		fill:    func(m prom.WriteRequest) { fillRequest(m, v) },
		sum:     sumRequest,
		partial: partialRequest,
		peek: peek(prom.WriteRequestDesc, func(v []nocopy.Value) uint64 {
			return data.Str(v[0].Text()) + data.F64(v[1].Float64()) + uint64(v[2].Int64())
		}, []int{1, last, 1, 0, 2}, []int{1, last, 2, 0, 1}, []int{1, last, 2, 0, 2}),
		edit: func(m prom.WriteRequest) {
			series := m.GetTimeseries()
			t := series.At(series.Len() - 1)
			t.GetLabels().At(0).SetValue(data.EditText)
			t.GetSamples().At(0).SetTimestamp(data.EditInt)
		},
		values: requestValues,
	}
}

func fillRequest(m prom.WriteRequest, v *data.WriteRequest) {
	series := m.NewTimeseries(len(v.Series))
	for i := range v.Series {
		t, from := series.At(i), &v.Series[i]
		labels := t.NewLabels(len(from.Labels))
		for j := range from.Labels {
			l := labels.At(j)
			l.SetName(from.Labels[j].Name)
			l.SetValue(from.Labels[j].Value)
		}
		samples := t.NewSamples(len(from.Samples))
		for j := range from.Samples {
			s := samples.At(j)
			s.SetValue(from.Samples[j].Value)
			s.SetTimestamp(from.Samples[j].Timestamp)
		}
	}
}

func sumRequest(m prom.WriteRequest) (sum uint64) {
	for _, t := range m.GetTimeseries().All() {
		for _, l := range t.GetLabels().All() {
			sum += data.Str(l.GetName()) + data.Str(l.GetValue())
		}
		for _, s := range t.GetSamples().All() {
			sum += data.F64(s.GetValue()) + uint64(s.GetTimestamp())
		}
	}
	return sum
}

func partialRequest(m prom.WriteRequest) uint64 {
	series := m.GetTimeseries()
	t := series.At(series.Len() - 1)
	s := t.GetSamples().At(0)
	return data.Str(t.GetLabels().At(0).GetValue()) + data.F64(s.GetValue()) + uint64(s.GetTimestamp())
}

func requestValues(m prom.WriteRequest) any {
	v := &data.WriteRequest{}
	for _, t := range m.GetTimeseries().All() {
		var from data.Series
		for _, l := range t.GetLabels().All() {
			from.Labels = append(from.Labels, data.Label{Name: l.GetName(), Value: l.GetValue()})
		}
		for _, s := range t.GetSamples().All() {
			from.Samples = append(from.Samples, data.Sample{Value: s.GetValue(), Timestamp: s.GetTimestamp()})
		}
		v.Series = append(v.Series, from)
	}
	return v
}
