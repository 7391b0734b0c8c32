package ours

import (
	"github.com/nocopythrift/nocopythrift/nocopy"

	"github.com/nocopythrift/nocopythrift/bench/data"
	"github.com/nocopythrift/nocopythrift/bench/generated/nocopy/peer"
	"github.com/nocopythrift/nocopythrift/bench/generated/nocopy/prom"
)

// Messages of structs of plain values, as "nocopyc -fields" makes them. Slices are the
// application's own and used again.

func smallOf(v *data.Small) func(...nocopy.Option) peer.Small {
	return func(opts ...nocopy.Option) peer.Small {
		return peer.NewSmallOf(peer.SmallFields{
			Service: v.Service, Method: v.Method, Caller: v.Caller, Code: v.Code, TraceId: v.TraceID, Timestamp: v.Timestamp,
			Sampled: v.Sampled, Weight: v.Weight, Sub: peer.SmallSubFields{Name: v.SubName, Region: v.SubRegion, ID: v.SubID},
		}, opts...)
	}
}

func businessOf(v *data.Business) func(...nocopy.Option) peer.Business {
	type pair = nocopy.Pair[string, string]
	var items []peer.ItemFields
	var tags, extra []pair
	var nums []int64
	var words []string
	pairs := func(own []pair, from []data.Pair) []pair {
		for i := range from {
			own = append(own, pair(from[i]))
		}
		return own
	}
	user := func(v *data.User) peer.UserFields {
		return peer.UserFields{UID: v.UID, Name: v.Name, Email: v.Email, Age: v.Age, Vip: v.VIP}
	}
	return func(opts ...nocopy.Option) peer.Business {
		items = items[:0]
		for i := range v.Items {
			from := &v.Items[i]
			items = append(items, peer.ItemFields{ID: from.ID, Name: from.Name, Desc: from.Desc, Count: from.Count, Price: from.Price, Ok: from.OK})
		}
		tags, extra = pairs(tags[:0], v.Tags), pairs(extra[:0], v.Extra)
		nums, words = append(nums[:0], v.Nums...), append(words[:0], v.Words...)
		return peer.NewBusinessOf(peer.BusinessFields{
			ID: v.ID, Title: v.Title, Status: v.Status,
			Meta:  peer.MetaFields{Region: v.Region, Cluster: v.Cluster, User: user(&v.User), Tags: tags},
			Items: items, Extra: extra, Nums: nums, Words: words,
			Score: v.Score, Flag: v.Flag, Owner: user(&v.Owner), Ts: v.Ts, Trailer: v.Trailer,
		}, opts...)
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
