package kitex

import (
	"github.com/nocopythrift/nocopythrift/bench/data"
	"github.com/nocopythrift/nocopythrift/bench/generated/kitex/peer"
	"github.com/nocopythrift/nocopythrift/bench/structs"
)

func myTest(v *data.MyTest) structs.Message {
	return structs.Typed[peer.MyTest]{
		Fill: func(m *peer.MyTest) {
			m.Num = v.Num
			structs.Some(&m.Ano).Num = v.Ano
			m.Nums = structs.Room(m.Nums, len(v.Nums))
			copy(m.Nums, v.Nums)
		},
		Sum: func(m *peer.MyTest) uint64 {
			s := uint64(m.Num) + uint64(m.Ano.Num)
			for _, n := range m.Nums {
				s += uint64(n)
			}
			return s
		},
		Values: func(m *peer.MyTest) any { return &data.MyTest{Num: m.Num, Ano: m.Ano.Num, Nums: data.OrNil(m.Nums)} },
	}.Message()
}

func small(v *data.Small) structs.Message {
	return structs.Typed[peer.Small]{
		Fill: func(m *peer.Small) {
			m.Service, m.Method, m.Caller = v.Service, v.Method, v.Caller
			m.Code, m.TraceId, m.Timestamp = v.Code, v.TraceID, v.Timestamp
			m.Sampled, m.Weight = v.Sampled, v.Weight
			sub := structs.Some(&m.Sub)
			sub.Name, sub.Region, sub.Id = v.SubName, v.SubRegion, v.SubID
		},
		Sum: func(m *peer.Small) uint64 {
			return data.Str(m.Service) + data.Str(m.Method) + data.Str(m.Caller) + uint64(m.Code) + uint64(m.TraceId) + uint64(m.Timestamp) +
				data.Bool(m.Sampled) + data.F64(m.Weight) + data.Str(m.Sub.Name) + data.Str(m.Sub.Region) + uint64(m.Sub.Id)
		},
		Partial: func(m *peer.Small) uint64 { return uint64(m.Timestamp) + data.F64(m.Weight) + data.Str(m.Sub.Name) },
		Edit:    func(m *peer.Small) { m.Sub.Name, m.Timestamp = data.EditText, data.EditInt },
		Values: func(m *peer.Small) any {
			return &data.Small{
				Service: m.Service, Method: m.Method, Caller: m.Caller, Code: m.Code, TraceID: m.TraceId, Timestamp: m.Timestamp,
				Sampled: m.Sampled, Weight: m.Weight, SubName: m.Sub.Name, SubRegion: m.Sub.Region, SubID: m.Sub.Id,
			}
		},
	}.Message()
}

func blob(v *data.Blob) structs.Message {
	return structs.Typed[peer.Blob]{
		Fill: func(m *peer.Blob) { m.Id, m.Name, m.Data, m.Code, m.Ok = v.ID, v.Name, v.Data, v.Code, v.OK },
		Sum: func(m *peer.Blob) uint64 {
			return uint64(m.Id) + data.Str(m.Name) + data.Str(m.Data) + uint64(m.Code) + data.Bool(m.Ok)
		},
		Values: func(m *peer.Blob) any {
			return &data.Blob{ID: m.Id, Name: m.Name, Data: m.Data, Code: m.Code, OK: m.Ok}
		},
	}.Message()
}
