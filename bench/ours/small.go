package ours

import (
	"slices"

	"github.com/nocopythrift/nocopythrift/nocopy"

	"github.com/nocopythrift/nocopythrift/bench/data"
	"github.com/nocopythrift/nocopythrift/bench/generated/nocopy/peer"
)

func myTest(v *data.MyTest) message[peer.MyTest] {
	// The application's own slice: it fills it with its numbers for every message, as the other rows
	// fill theirs, and reads a message's into it.
	var nums []int64
	return message[peer.MyTest]{
		make:  peer.NewMyTest,
		parse: peer.ParseMyTest,
		fill: func(m peer.MyTest) {
			m.SetNum(v.Num)
			m.NewAno().SetNum(v.Ano)
			nums = append(nums[:0], v.Nums...)
			m.SetNums(nums)
		},
		sum: func(m peer.MyTest) uint64 {
			s := uint64(m.GetNum()) + uint64(m.GetAno().GetNum())
			nums = m.GetNums().AppendTo(nums[:0])
			for _, n := range nums {
				s += uint64(n)
			}
			return s
		},
		values: func(m peer.MyTest) any {
			return &data.MyTest{Num: m.GetNum(), Ano: m.GetAno().GetNum(), Nums: data.OrNil(m.GetNums().AppendTo(nil))}
		},
	}
}

func small(v *data.Small) message[peer.Small] {
	f, p := smallFields(v)
	return message[peer.Small]{
		make:  peer.NewSmall,
		parse: peer.ParseSmall,
		of:    func(opts ...nocopy.Option) peer.Small { p.fill(); return peer.NewSmallOf(*f, opts...) },
		plain: p,
		kept:  true,
		fill: func(m peer.Small) {
			m.SetService(v.Service)
			m.SetMethod(v.Method)
			m.SetCaller(v.Caller)
			m.SetCode(v.Code)
			m.SetTraceId(v.TraceID)
			m.SetTimestamp(v.Timestamp)
			m.SetSampled(v.Sampled)
			m.SetWeight(v.Weight)
			sub := m.NewSub()
			sub.SetName(v.SubName)
			sub.SetRegion(v.SubRegion)
			sub.SetID(v.SubID)
		},
		sum: func(m peer.Small) uint64 {
			sub := m.GetSub()
			return data.Str(m.GetService()) + data.Str(m.GetMethod()) + data.Str(m.GetCaller()) + uint64(m.GetCode()) + uint64(m.GetTraceId()) +
				uint64(m.GetTimestamp()) + data.Bool(m.GetSampled()) + data.F64(m.GetWeight()) +
				data.Str(sub.GetName()) + data.Str(sub.GetRegion()) + uint64(sub.GetID())
		},
		partial: func(m peer.Small) uint64 {
			return uint64(m.GetTimestamp()) + data.F64(m.GetWeight()) + data.Str(m.GetSub().GetName())
		},
		peek: peek(peer.SmallDesc, func(v []nocopy.Value) uint64 {
			return uint64(v[0].Int64()) + data.F64(v[1].Float64()) + data.Str(v[2].Text())
		}, []int{6}, []int{8}, []int{9, 1}),
		edit: func(m peer.Small) {
			m.GetSub().SetName(data.EditText)
			m.SetTimestamp(data.EditInt)
		},
		values: func(m peer.Small) any {
			sub := m.GetSub()
			return &data.Small{
				Service: m.GetService(), Method: m.GetMethod(), Caller: m.GetCaller(), Code: m.GetCode(), TraceID: m.GetTraceId(), Timestamp: m.GetTimestamp(),
				Sampled: m.GetSampled(), Weight: m.GetWeight(), SubName: sub.GetName(), SubRegion: sub.GetRegion(), SubID: sub.GetID(),
			}
		},
	}
}

func blob(v *data.Blob) message[peer.Blob] {
	return message[peer.Blob]{
		make:  peer.NewBlob,
		parse: peer.ParseBlob,
		fill: func(m peer.Blob) {
			m.SetID(v.ID)
			m.SetName(v.Name)
			m.SetData(v.Data)
			m.SetCode(v.Code)
			m.SetOk(v.OK)
		},
		sum: func(m peer.Blob) uint64 {
			return uint64(m.GetID()) + data.Str(m.GetName()) + data.Str(m.GetData()) + uint64(m.GetCode()) + data.Bool(m.GetOk())
		},
		values: func(m peer.Blob) any {
			return &data.Blob{ID: m.GetID(), Name: m.GetName(), Data: slices.Clone(m.GetData()), Code: m.GetCode(), OK: m.GetOk()}
		},
	}
}
