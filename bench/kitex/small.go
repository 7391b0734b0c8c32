package kitex

import (
	"github.com/cloudwego/gopkg/protocol/thrift"

	"github.com/nocopythrift/nocopythrift/bench/data"
	"github.com/nocopythrift/nocopythrift/bench/generated/kitex/peer"
	"github.com/nocopythrift/nocopythrift/bench/generated/kitex/subset"
)

func myTest(v *data.MyTest) message[peer.MyTest] {
	return message[peer.MyTest]{
		codec: func(m *peer.MyTest) thrift.FastCodec { return m },
		fill: func(m *peer.MyTest) {
			m.Num = v.Num
			some(&m.Ano).Num = v.Ano
			m.Nums = room(m.Nums, len(v.Nums))
			copy(m.Nums, v.Nums)
		},
		sum: func(m *peer.MyTest) uint64 {
			s := uint64(m.Num) + uint64(m.Ano.Num)
			for _, n := range m.Nums {
				s += uint64(n)
			}
			return s
		},
		values: func(m *peer.MyTest) any { return &data.MyTest{Num: m.Num, Ano: m.Ano.Num, Nums: m.Nums} },
	}
}

func small(v *data.Small) message[peer.Small] {
	return message[peer.Small]{
		codec: func(m *peer.Small) thrift.FastCodec { return m },
		fill: func(m *peer.Small) {
			m.Service, m.Method, m.Caller = v.Service, v.Method, v.Caller
			m.Code, m.TraceId, m.Timestamp = v.Code, v.TraceID, v.Timestamp
			m.Sampled, m.Weight = v.Sampled, v.Weight
			sub := some(&m.Sub)
			sub.Name, sub.Region, sub.Id = v.SubName, v.SubRegion, v.SubID
		},
		sum: func(m *peer.Small) uint64 {
			return data.Str(m.Service) + data.Str(m.Method) + data.Str(m.Caller) + uint64(m.Code) + uint64(m.TraceId) + uint64(m.Timestamp) +
				data.Bool(m.Sampled) + data.F64(m.Weight) + data.Str(m.Sub.Name) + data.Str(m.Sub.Region) + uint64(m.Sub.Id)
		},
		partial: func(m *peer.Small) uint64 { return uint64(m.Timestamp) + data.F64(m.Weight) + data.Str(m.Sub.Name) },
		subset: func(wire []byte) uint64 {
			m := new(subset.Small)
			fastRead(m, wire)
			return uint64(m.Timestamp) + data.F64(m.Weight) + data.Str(m.Sub.Name)
		},
		edit: func(m *peer.Small) { m.Sub.Name, m.Timestamp = data.EditText, data.EditInt },
		values: func(m *peer.Small) any {
			return &data.Small{
				Service: m.Service, Method: m.Method, Caller: m.Caller, Code: m.Code, TraceID: m.TraceId, Timestamp: m.Timestamp,
				Sampled: m.Sampled, Weight: m.Weight, SubName: m.Sub.Name, SubRegion: m.Sub.Region, SubID: m.Sub.Id,
			}
		},
	}
}

func blob(v *data.Blob) message[peer.Blob] {
	return message[peer.Blob]{
		codec: func(m *peer.Blob) thrift.FastCodec { return m },
		fill:  func(m *peer.Blob) { m.Id, m.Name, m.Data, m.Code, m.Ok = v.ID, v.Name, v.Data, v.Code, v.OK },
		sum: func(m *peer.Blob) uint64 {
			return uint64(m.Id) + data.Str(m.Name) + data.Str(m.Data) + uint64(m.Code) + data.Bool(m.Ok)
		},
		values: func(m *peer.Blob) any {
			return &data.Blob{ID: m.Id, Name: m.Name, Data: m.Data, Code: m.Code, OK: m.Ok}
		},
	}
}
