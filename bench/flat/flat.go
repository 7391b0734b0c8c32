// Package flat is FlatBuffers, with code by flatc: accessors on the message's bytes, like ours, in
// a format made for that. Only the numbers of a received message can be edited.
package flat

import (
	"io"

	"github.com/google/flatbuffers/go"

	"github.com/nocopythrift/nocopythrift/bench/data"
	gen "github.com/nocopythrift/nocopythrift/bench/generated/flat"
	"github.com/nocopythrift/nocopythrift/bench/peer"
)

// Peer has the rows
//
//   - flatbuffers: a new Builder each time; reading needs nothing that could be kept
//   - flatbuffers/reuse (build): one Builder, which is reset
func Peer() peer.Peer {
	return peer.Peer{
		Name:   "flatbuffers",
		Format: "flatbuffers",
		Rows: func(in *peer.Input, op peer.Op) []peer.Row {
			m := of(in.Value)
			if m.fill == nil {
				return nil
			}
			return m.rows(op)
		},
		Decode: func(in *peer.Input, b []byte) (any, error) { return of(in.Value).values(b), nil },
	}
}

// message holds the operations on one message type. Operations that the type does not have are
// nil.
type message struct {
	fill    func(*flatbuffers.Builder) flatbuffers.UOffsetT
	sum     func([]byte) uint64
	partial func([]byte) uint64
	values  func([]byte) any
}

func of(v any) message {
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
		return vstreamRows(v)
	case *data.WriteRequest:
		return writeRequest(v)
	case *data.Wide:
		return wideRows(v)
	}
	return message{}
}

func (m message) encode(b *flatbuffers.Builder) []byte {
	b.Finish(m.fill(b))
	return b.FinishedBytes()
}

func (m message) rows(op peer.Op) []peer.Row {
	switch op {
	case peer.Build:
		return []peer.Row{
			{Peer: "flatbuffers", Make: func() peer.Step {
				return func(w io.Writer) uint64 { return write(w, m.encode(flatbuffers.NewBuilder(0))) }
			}},
			{Peer: "flatbuffers/reuse", Make: func() peer.Step {
				b := flatbuffers.NewBuilder(0)
				return func(w io.Writer) uint64 {
					b.Reset()
					return write(w, m.encode(b))
				}
			}},
		}
	case peer.Read:
		return m.reading(m.sum)
	case peer.Partial:
		return m.reading(m.partial)
	}
	return nil
}

func (m message) reading(read func([]byte) uint64) []peer.Row {
	return []peer.Row{{Peer: "flatbuffers", Make: func() peer.Step {
		wire := append([]byte(nil), m.encode(flatbuffers.NewBuilder(0))...)
		return func(io.Writer) uint64 { return read(wire) }
	}}}
}

func write(w io.Writer, b []byte) uint64 {
	n, err := w.Write(b)
	if err != nil {
		panic(err)
	}
	return uint64(n)
}

// vector writes the elements of v, whose vector has been started, from the last to the first, as a
// Builder wants them.
func vector[T any](b *flatbuffers.Builder, v []T, prepend func(T)) flatbuffers.UOffsetT {
	for i := len(v) - 1; i >= 0; i-- {
		prepend(v[i])
	}
	return b.EndVector(len(v))
}

// int64s writes the elements of v, whose vector has been started, from the last to the first. Its
// loop calls nothing but the Builder.
func int64s(b *flatbuffers.Builder, v []int64) flatbuffers.UOffsetT {
	for i := len(v) - 1; i >= 0; i-- {
		b.PrependInt64(v[i])
	}
	return b.EndVector(len(v))
}

func myTest(v *data.MyTest) message {
	return message{
		fill: func(b *flatbuffers.Builder) flatbuffers.UOffsetT {
			gen.MyTestStartNumsVector(b, len(v.Nums))
			nums := int64s(b, v.Nums)
			gen.AnoStart(b)
			gen.AnoAddNum(b, v.Ano)
			ano := gen.AnoEnd(b)
			gen.MyTestStart(b)
			gen.MyTestAddNum(b, v.Num)
			gen.MyTestAddAno(b, ano)
			gen.MyTestAddNums(b, nums)
			return gen.MyTestEnd(b)
		},
		sum: func(wire []byte) uint64 {
			m := gen.GetRootAsMyTest(wire, 0)
			s := uint64(m.Num()) + uint64(m.Ano(nil).Num())
			for i := range m.NumsLength() {
				s += uint64(m.Nums(i))
			}
			return s
		},
		values: func(wire []byte) any {
			m := gen.GetRootAsMyTest(wire, 0)
			v := &data.MyTest{Num: m.Num(), Ano: m.Ano(nil).Num()}
			for i := range m.NumsLength() {
				v.Nums = append(v.Nums, m.Nums(i))
			}
			return v
		},
	}
}

func small(v *data.Small) message {
	return message{
		fill: func(b *flatbuffers.Builder) flatbuffers.UOffsetT {
			name, region := b.CreateString(v.SubName), b.CreateString(v.SubRegion)
			gen.SmallSubStart(b)
			gen.SmallSubAddName(b, name)
			gen.SmallSubAddRegion(b, region)
			gen.SmallSubAddId(b, v.SubID)
			sub := gen.SmallSubEnd(b)
			service, method, caller := b.CreateString(v.Service), b.CreateString(v.Method), b.CreateString(v.Caller)
			gen.SmallStart(b)
			gen.SmallAddService(b, service)
			gen.SmallAddMethod(b, method)
			gen.SmallAddCaller(b, caller)
			gen.SmallAddCode(b, v.Code)
			gen.SmallAddTraceId(b, v.TraceID)
			gen.SmallAddTimestamp(b, v.Timestamp)
			gen.SmallAddSampled(b, v.Sampled)
			gen.SmallAddWeight(b, v.Weight)
			gen.SmallAddSub(b, sub)
			return gen.SmallEnd(b)
		},
		sum: func(wire []byte) uint64 {
			m := gen.GetRootAsSmall(wire, 0)
			var sub gen.SmallSub
			m.Sub(&sub)
			return data.Str(m.Service()) + data.Str(m.Method()) + data.Str(m.Caller()) + uint64(m.Code()) + uint64(m.TraceId()) + uint64(m.Timestamp()) +
				data.Bool(m.Sampled()) + data.F64(m.Weight()) + data.Str(sub.Name()) + data.Str(sub.Region()) + uint64(sub.Id())
		},
		partial: func(wire []byte) uint64 {
			m := gen.GetRootAsSmall(wire, 0)
			var sub gen.SmallSub
			return uint64(m.Timestamp()) + data.F64(m.Weight()) + data.Str(m.Sub(&sub).Name())
		},
		values: func(wire []byte) any {
			m := gen.GetRootAsSmall(wire, 0)
			sub := m.Sub(nil)
			return &data.Small{
				Service: string(m.Service()), Method: string(m.Method()), Caller: string(m.Caller()), Code: m.Code(), TraceID: m.TraceId(), Timestamp: m.Timestamp(),
				Sampled: m.Sampled(), Weight: m.Weight(), SubName: string(sub.Name()), SubRegion: string(sub.Region()), SubID: sub.Id(),
			}
		},
	}
}

func blob(v *data.Blob) message {
	return message{
		fill: func(b *flatbuffers.Builder) flatbuffers.UOffsetT {
			bytes, name := b.CreateByteVector(v.Data), b.CreateString(v.Name)
			gen.BlobStart(b)
			gen.BlobAddId(b, v.ID)
			gen.BlobAddName(b, name)
			gen.BlobAddData(b, bytes)
			gen.BlobAddCode(b, v.Code)
			gen.BlobAddOk(b, v.OK)
			return gen.BlobEnd(b)
		},
		sum: func(wire []byte) uint64 {
			m := gen.GetRootAsBlob(wire, 0)
			return uint64(m.Id()) + data.Str(m.Name()) + data.Str(m.DataBytes()) + uint64(m.Code()) + data.Bool(m.Ok())
		},
		values: func(wire []byte) any {
			m := gen.GetRootAsBlob(wire, 0)
			return &data.Blob{ID: m.Id(), Name: string(m.Name()), Data: m.DataBytes(), Code: m.Code(), OK: m.Ok()}
		},
	}
}
