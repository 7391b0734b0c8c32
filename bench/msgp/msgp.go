// Package msgp is MessagePack with the code of tinylib/msgp.
package msgp

import (
	"bytes"

	"github.com/tinylib/msgp/msgp"

	"github.com/nocopythrift/nocopythrift/bench/data"
	"github.com/nocopythrift/nocopythrift/bench/peer"
	"github.com/nocopythrift/nocopythrift/bench/structs"
)

// Peer has the rows
//
//   - msgp: fresh structs and a fresh buffer of the size that msgp says
//   - msgp/reuse: structs and buffer that the application keeps
func Peer() peer.Peer {
	ops := []peer.Op{peer.Build, peer.Read, peer.Partial, peer.Edit}
	variants := []structs.Variant{
		{Row: "msgp", Ops: ops, Codec: fresh, Own: true},
		{Row: "msgp/reuse", Ops: ops, Codec: kept, Keep: true, Own: true},
	}
	return peer.Peer{
		Name:   "msgp",
		Format: "messagepack",
		Rows: func(in *peer.Input, op peer.Op) []peer.Row {
			return structs.Rows(of(in.Value), variants, in, op)
		},
		Decode: func(in *peer.Input, b []byte) (any, error) { return variants[0].Decode(of(in.Value), b) },
	}
}

// message is implemented by every generated message.
type message interface {
	msgp.Marshaler
	msgp.Unmarshaler
	msgp.Sizer
}

func fresh(structs.Message) structs.Codec {
	return structs.Codec{Encode: func(m any) []byte { return encode(m.(message), nil) }, Decode: decode}
}

func kept(structs.Message) structs.Codec {
	var buf []byte
	return structs.Codec{
		Encode: func(m any) []byte {
			buf = encode(m.(message), buf[:0])
			return buf
		},
		Decode: decode,
	}
}

// encode appends m to b.
func encode(m message, b []byte) []byte {
	b, err := m.MarshalMsg(b)
	if err != nil {
		panic(err)
	}
	return b
}

func decode(b []byte, m any) error {
	_, err := m.(message).UnmarshalMsg(b)
	return err
}

// of returns the operations on the message v, a pointer to one of package data's; the zero Message
// if msgp does not have it.
func of(v any) structs.Message {
	switch v := v.(type) {
	case *data.MyTest:
		return myTest(v)
	case *data.Small:
		return small(v)
	case *data.Business:
		return business(v)
	case *data.Blob:
		return blob(v)
	case *data.VStreamRows:
		return rows(v)
	case *data.WriteRequest:
		return request(v)
	case *data.Wide:
		return wideRows(v)
	}
	return structs.Message{}
}

func myTest(v *data.MyTest) structs.Message {
	return structs.Typed[MyTest]{
		Fill: func(m *MyTest) {
			m.Num, m.Ano.Num = v.Num, v.Ano
			m.Nums = structs.Room(m.Nums, len(v.Nums))
			copy(m.Nums, v.Nums)
		},
		Sum: func(m *MyTest) uint64 {
			s := uint64(m.Num) + uint64(m.Ano.Num)
			for _, n := range m.Nums {
				s += uint64(n)
			}
			return s
		},
		Values: func(m *MyTest) any { return &data.MyTest{Num: m.Num, Ano: m.Ano.Num, Nums: data.OrNil(m.Nums)} },
	}.Message()
}

func blob(v *data.Blob) structs.Message {
	return structs.Typed[Blob]{
		Fill: func(m *Blob) { m.ID, m.Name, m.Data, m.Code, m.OK = v.ID, v.Name, v.Data, v.Code, v.OK },
		Sum: func(m *Blob) uint64 {
			return uint64(m.ID) + data.Str(m.Name) + data.Str(m.Data) + uint64(m.Code) + data.Bool(m.OK)
		},
		Values: func(m *Blob) any {
			return &data.Blob{ID: m.ID, Name: m.Name, Data: m.Data, Code: m.Code, OK: m.OK}
		},
	}.Message()
}

func small(v *data.Small) structs.Message {
	return structs.Typed[Small]{
		Fill: func(m *Small) {
			m.Service, m.Method, m.Caller = v.Service, v.Method, v.Caller
			m.Code, m.TraceID, m.Timestamp = v.Code, v.TraceID, v.Timestamp
			m.Sampled, m.Weight = v.Sampled, v.Weight
			m.Sub = Sub{Name: v.SubName, Region: v.SubRegion, ID: v.SubID}
		},
		Sum: func(m *Small) uint64 {
			return data.Str(m.Service) + data.Str(m.Method) + data.Str(m.Caller) + uint64(m.Code) + uint64(m.TraceID) + uint64(m.Timestamp) +
				data.Bool(m.Sampled) + data.F64(m.Weight) + data.Str(m.Sub.Name) + data.Str(m.Sub.Region) + uint64(m.Sub.ID)
		},
		Partial: func(m *Small) uint64 { return uint64(m.Timestamp) + data.F64(m.Weight) + data.Str(m.Sub.Name) },
		Edit:    func(m *Small) { m.Sub.Name, m.Timestamp = data.EditText, data.EditInt },
		Values: func(m *Small) any {
			return &data.Small{
				Service: m.Service, Method: m.Method, Caller: m.Caller, Code: m.Code, TraceID: m.TraceID, Timestamp: m.Timestamp,
				Sampled: m.Sampled, Weight: m.Weight, SubName: m.Sub.Name, SubRegion: m.Sub.Region, SubID: m.Sub.ID,
			}
		},
	}.Message()
}

func rows(v *data.VStreamRows) structs.Message {
	return structs.Typed[Rows]{
		Fill: func(m *Rows) {
			m.Gtid = v.Gtid
			m.Rows = structs.Room(m.Rows, len(v.Rows))
			for i := range v.Rows {
				r, from := &m.Rows[i], &v.Rows[i]
				r.Lengths = append(r.Lengths[:0], from.Lengths...)
				r.Values = from.Values
			}
		},
		Sum: func(m *Rows) uint64 {
			s := data.Str(m.Gtid)
			for i := range m.Rows {
				for _, n := range m.Rows[i].Lengths {
					s += uint64(n)
				}
				s += data.Str(m.Rows[i].Values)
			}
			return s
		},
		Values: func(m *Rows) any {
			v := &data.VStreamRows{Gtid: m.Gtid, Rows: make([]data.Row, len(m.Rows))}
			for i, r := range m.Rows {
				v.Rows[i] = data.Row{Lengths: r.Lengths, Values: bytes.Clone(r.Values)}
			}
			return v
		},
	}.Message()
}

func request(v *data.WriteRequest) structs.Message {
	last := func(m *Request) *Series { return &m.Series[len(m.Series)-1] }
	return structs.Typed[Request]{
		Fill: func(m *Request) {
			m.Series = structs.Room(m.Series, len(v.Series))
			for i := range v.Series {
				t, from := &m.Series[i], &v.Series[i]
				t.Labels = structs.Room(t.Labels, len(from.Labels))
				for j, l := range from.Labels {
					t.Labels[j] = Label{Name: l.Name, Value: l.Value}
				}
				t.Samples = structs.Room(t.Samples, len(from.Samples))
				for j, s := range from.Samples {
					t.Samples[j] = Sample{Value: s.Value, Timestamp: s.Timestamp}
				}
			}
		},
		Sum: func(m *Request) (sum uint64) {
			for i := range m.Series {
				t := &m.Series[i]
				for j := range t.Labels {
					sum += data.Str(t.Labels[j].Name) + data.Str(t.Labels[j].Value)
				}
				for j := range t.Samples {
					sum += data.F64(t.Samples[j].Value) + uint64(t.Samples[j].Timestamp)
				}
			}
			return sum
		},
		Partial: func(m *Request) uint64 {
			t := last(m)
			return data.Str(t.Labels[0].Value) + data.F64(t.Samples[0].Value) + uint64(t.Samples[0].Timestamp)
		},
		Edit: func(m *Request) {
			t := last(m)
			t.Labels[0].Value, t.Samples[0].Timestamp = data.EditText, data.EditInt
		},
		Values: func(m *Request) any {
			v := &data.WriteRequest{Series: make([]data.Series, len(m.Series))}
			for i, t := range m.Series {
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
		},
	}.Message()
}
