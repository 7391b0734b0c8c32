package ours

import (
	"github.com/nocopythrift/nocopythrift/nocopy"

	"github.com/nocopythrift/nocopythrift/bench/data"
	"github.com/nocopythrift/nocopythrift/bench/generated/nocopy/peer"
	"github.com/nocopythrift/nocopythrift/bench/generated/nocopy/prom"
)

// Structs of plain values, as "nocopyc -fields" makes them. They, and their slices, are the
// application's own and used again.

// plain holds the operations on one type of plain values.
type plain struct {
	fill  func() // from the application's values
	sum   func() uint64
	write func(dst []byte) []byte
	parse func([]byte, ...nocopy.Option) error
}

func smallFields(v *data.Small) (*peer.SmallFields, *plain) {
	f := new(peer.SmallFields)
	return f, &plain{
		fill: func() {
			*f = peer.SmallFields{
				Service: v.Service, Method: v.Method, Caller: v.Caller, Code: v.Code, TraceId: v.TraceID, Timestamp: v.Timestamp,
				Sampled: v.Sampled, Weight: v.Weight, Sub: peer.SmallSubFields{Name: v.SubName, Region: v.SubRegion, ID: v.SubID},
			}
		},
		sum: func() uint64 {
			return data.Str(f.Service) + data.Str(f.Method) + data.Str(f.Caller) + uint64(f.Code) + uint64(f.TraceId) +
				uint64(f.Timestamp) + data.Bool(f.Sampled) + data.F64(f.Weight) +
				data.Str(f.Sub.Name) + data.Str(f.Sub.Region) + uint64(f.Sub.ID)
		},
		write: f.AppendTo,
		parse: f.Parse,
	}
}

func businessFields(v *data.Business) (*peer.BusinessFields, *plain) {
	type pair = nocopy.Pair[string, string]
	f := new(peer.BusinessFields)
	pairs := func(own []pair, from []data.Pair) []pair {
		for i := range from {
			own = append(own, pair(from[i]))
		}
		return own
	}
	user := func(v *data.User) peer.UserFields {
		return peer.UserFields{UID: v.UID, Name: v.Name, Email: v.Email, Age: v.Age, Vip: v.VIP}
	}
	sumUser := func(v *peer.UserFields) uint64 {
		return uint64(v.UID) + data.Str(v.Name) + data.Str(v.Email) + uint64(v.Age) + data.Bool(v.Vip)
	}
	return f, &plain{
		fill: func() {
			items := f.Items[:0]
			for i := range v.Items {
				from := &v.Items[i]
				items = append(items, peer.ItemFields{ID: from.ID, Name: from.Name, Desc: from.Desc, Count: from.Count, Price: from.Price, Ok: from.OK})
			}
			*f = peer.BusinessFields{
				ID: v.ID, Title: v.Title, Status: v.Status,
				Meta:  peer.MetaFields{Region: v.Region, Cluster: v.Cluster, User: user(&v.User), Tags: pairs(f.Meta.Tags[:0], v.Tags)},
				Items: items, Extra: pairs(f.Extra[:0], v.Extra), Nums: append(f.Nums[:0], v.Nums...), Words: append(f.Words[:0], v.Words...),
				Score: v.Score, Flag: v.Flag, Owner: user(&v.Owner), Ts: v.Ts, Trailer: v.Trailer,
			}
		},
		sum: func() uint64 {
			s := uint64(f.ID) + data.Str(f.Title) + uint64(f.Status) + data.Str(f.Meta.Region) + data.Str(f.Meta.Cluster) + sumUser(&f.Meta.User) +
				data.F64(f.Score) + data.Bool(f.Flag) + sumUser(&f.Owner) + uint64(f.Ts) + data.Str(f.Trailer)
			for i := range f.Meta.Tags {
				s += data.Str(f.Meta.Tags[i].Key) + data.Str(f.Meta.Tags[i].Value)
			}
			for i := range f.Items {
				it := &f.Items[i]
				s += uint64(it.ID) + data.Str(it.Name) + data.Str(it.Desc) + uint64(it.Count) + data.F64(it.Price) + data.Bool(it.Ok)
			}
			for i := range f.Extra {
				s += data.Str(f.Extra[i].Key) + data.Str(f.Extra[i].Value)
			}
			for _, n := range f.Nums {
				s += uint64(n)
			}
			for _, w := range f.Words {
				s += data.Str(w)
			}
			return s
		},
		write: f.AppendTo,
		parse: f.Parse,
	}
}

func vstreamRowsFields(v *data.VStreamRows) *plain {
	f := new(peer.VStreamRowsResponseFields)
	return &plain{
		fill: func() {
			f.Gtid = v.Gtid
			if len(f.Rows) != len(v.Rows) {
				f.Rows = make([]peer.RowFields, len(v.Rows))
			}
			for i := range v.Rows {
				f.Rows[i].Lengths = append(f.Rows[i].Lengths[:0], v.Rows[i].Lengths...)
				f.Rows[i].Values = v.Rows[i].Values
			}
		},
		sum: func() uint64 {
			s := data.Str(f.Gtid)
			for i := range f.Rows {
				for _, n := range f.Rows[i].Lengths {
					s += uint64(n)
				}
				s += data.Str(f.Rows[i].Values)
			}
			return s
		},
		write: f.AppendTo,
		parse: f.Parse,
	}
}

func vstreamRowsOf(v *data.VStreamRows) func(...nocopy.Option) peer.VStreamRowsResponse {
	var lengths []int64
	return func(opts ...nocopy.Option) peer.VStreamRowsResponse {
		m := peer.NewVStreamRowsResponse(opts...)
		m.SetGtid(v.Gtid)
		m.SetRowsBy(len(v.Rows), func(i int) peer.RowFields {
			lengths = append(lengths[:0], v.Rows[i].Lengths...)
			return peer.RowFields{Lengths: lengths, Values: v.Rows[i].Values}
		})
		return m
	}
}

func writeRequestFields(v *data.WriteRequest) *plain {
	f := new(prom.WriteRequestFields)
	return &plain{
		fill: func() {
			if len(f.Timeseries) != len(v.Series) {
				f.Timeseries = make([]prom.TimeSeriesFields, len(v.Series))
			}
			for i := range v.Series {
				t, from := &f.Timeseries[i], &v.Series[i]
				t.Labels, t.Samples = t.Labels[:0], t.Samples[:0]
				for _, l := range from.Labels {
					t.Labels = append(t.Labels, prom.LabelFields(l))
				}
				for _, s := range from.Samples {
					t.Samples = append(t.Samples, prom.SampleFields(s))
				}
			}
		},
		sum: func() (sum uint64) {
			for i := range f.Timeseries {
				t := &f.Timeseries[i]
				for j := range t.Labels {
					sum += data.Str(t.Labels[j].Name) + data.Str(t.Labels[j].Value)
				}
				for j := range t.Samples {
					sum += data.F64(t.Samples[j].Value) + uint64(t.Samples[j].Timestamp)
				}
			}
			return sum
		},
		write: f.AppendTo,
		parse: f.Parse,
	}
}

func writeRequestOf(v *data.WriteRequest) func(...nocopy.Option) prom.WriteRequest {
	var labels []prom.LabelFields
	var samples []prom.SampleFields
	return func(opts ...nocopy.Option) prom.WriteRequest {
		m := prom.NewWriteRequest(opts...)
		m.SetTimeseriesBy(len(v.Series), func(i int) prom.TimeSeriesFields {
			from := &v.Series[i]
			labels, samples = labels[:0], samples[:0]
			for _, l := range from.Labels {
				labels = append(labels, prom.LabelFields(l))
			}
			for _, s := range from.Samples {
				samples = append(samples, prom.SampleFields(s))
			}
			return prom.TimeSeriesFields{Labels: labels, Samples: samples}
		})
		return m
	}
}
