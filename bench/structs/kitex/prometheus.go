package kitex

import (
	"github.com/nocopythrift/nocopythrift/bench/data"
	"github.com/nocopythrift/nocopythrift/bench/generated/kitex/prom"
	"github.com/nocopythrift/nocopythrift/bench/structs"
)

func writeRequest(v *data.WriteRequest) structs.Message {
	return structs.Typed[prom.WriteRequest]{
		Fill:    func(m *prom.WriteRequest) { fillRequest(m, v) },
		Sum:     sumRequest,
		Partial: partialRequest,
		Edit: func(m *prom.WriteRequest) {
			t := m.Timeseries[len(m.Timeseries)-1]
			t.Labels[0].Value, t.Samples[0].Timestamp = data.EditText, data.EditInt
		},
		Values: requestValues,
	}.Message()
}

func fillRequest(m *prom.WriteRequest, v *data.WriteRequest) {
	m.Timeseries = structs.Room(m.Timeseries, len(v.Series))
	for i := range v.Series {
		t, from := structs.Some(&m.Timeseries[i]), &v.Series[i]
		t.Labels = structs.Room(t.Labels, len(from.Labels))
		for j := range from.Labels {
			l := structs.Some(&t.Labels[j])
			l.Name, l.Value = from.Labels[j].Name, from.Labels[j].Value
		}
		t.Samples = structs.Room(t.Samples, len(from.Samples))
		for j := range from.Samples {
			s := structs.Some(&t.Samples[j])
			s.Value, s.Timestamp = from.Samples[j].Value, from.Samples[j].Timestamp
		}
	}
}

func sumRequest(m *prom.WriteRequest) (sum uint64) {
	for _, t := range m.Timeseries {
		for _, l := range t.Labels {
			sum += data.Str(l.Name) + data.Str(l.Value)
		}
		for _, s := range t.Samples {
			sum += data.F64(s.Value) + uint64(s.Timestamp)
		}
	}
	return sum
}

func partialRequest(m *prom.WriteRequest) uint64 {
	t := m.Timeseries[len(m.Timeseries)-1]
	return data.Str(t.Labels[0].Value) + data.F64(t.Samples[0].Value) + uint64(t.Samples[0].Timestamp)
}

func requestValues(m *prom.WriteRequest) any {
	v := &data.WriteRequest{Series: make([]data.Series, len(m.Timeseries))}
	for i, t := range m.Timeseries {
		labels, samples := make([]data.Label, len(t.Labels)), make([]data.Sample, len(t.Samples))
		for j, l := range t.Labels {
			labels[j] = data.Label{Name: l.Name, Value: l.Value}
		}
		for j, s := range t.Samples {
			samples[j] = data.Sample{Value: s.Value, Timestamp: s.Timestamp}
		}
		v.Series[i] = data.Series{Labels: labels, Samples: samples}
	}
	return v
}
